"""Hooks and settings of modules."""

import lucid
from lucid import nn

from .._harness import Programs, vary, x0


class ModuleHooks(Programs):
    def fwd_hooks(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        k = [2]
        h = m.register_forward_hook(lambda m, i, o: o * k[0])
        run.repeat(f, x0())
        k[0] = 5
        run.repeat(f, x0(), n=2)
        h.remove()
        run.repeat(f, x0(), n=2)
        h = m.register_forward_pre_hook(lambda m, i: (i[0] * 3,))
        run.repeat(f, x0(), n=2)
        h.remove()
        run.repeat(f, x0(), n=2)

    def bwd_hooks(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        log = []

        def step():
            x = x0().requires_grad_()
            run.call(f, x).sum().backward()
            run.see(x.grad, m.weight.grad, list(log))
            m.zero_grad()

        step()
        step()
        h = m.register_full_backward_hook(lambda m, gi, go: log.append(1))
        step()
        step()
        step()
        h.remove()
        step()
        step()
        h = m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 2,))
        step()
        step()
        step()
        h.remove()
        step()

    def tensor_hooks(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        log = []

        def step():
            x = x0().requires_grad_()
            y = run.call(f, x)
            y.sum().backward()
            run.see(x.grad, m.weight.grad, list(log))
            m.zero_grad()

        step()
        step()
        step()
        h = m.weight.register_hook(lambda g: g * 2)
        step()
        step()
        h.remove()
        step()
        h = m.weight.register_post_accumulate_grad_hook(lambda p: log.append(float(p.grad.sum().item())))
        step()
        step()
        h.remove()
        step()

    def global_hooks(run):
        f = run.compile(nn.Linear(3, 3))
        run.repeat(f, x0(), n=2)
        h = nn.register_module_forward_hook(lambda m, i, o: o * 2)
        try:
            run.repeat(f, x0(), n=2)
        finally:
            h.remove()
        run.repeat(f, x0(), n=2)

    def spectral(run):
        m = nn.utils.spectral_norm(nn.Linear(4, 4))
        f = run.compile(m)
        x = lucid.randn(2, 4)
        for _ in range(4):
            run.call(f, x).sum().backward()
            run.see(m.state_dict())
            run.see(*[p.grad for p in m.parameters()])
        m.eval()
        run.repeat(f, x, n=4, at={2: lambda: nn.utils.remove_spectral_norm(m)})

    def weightnorm(run):
        m = nn.utils.weight_norm(nn.Linear(4, 4))
        f = run.compile(m)
        x = lucid.randn(2, 4)
        run.repeat(f, x, n=2)
        for p in m.parameters():
            with lucid.no_grad():
                p.mul_(1.5)
        run.repeat(f, x, n=4, at={2: lambda: nn.utils.remove_weight_norm(m)})

    def prune(run):
        m = nn.Linear(4, 4)
        f = run.compile(m)
        x = lucid.randn(2, 4)
        run.repeat(f, x, n=2)
        with run.errors():
            nn.utils.prune.l1_unstructured(m, "weight", amount=0.5)
        run.repeat(f, x)
        with run.errors():
            nn.utils.prune.remove(m, "weight")
        run.repeat(f, x, n=2)

    def bn_momentum_none(run):
        m = nn.BatchNorm1d(3, momentum=None)
        f = run.compile(m)
        run.repeat(f, vary(lambda _: lucid.randn(4, 3)), n=4, see=lambda: (m.state_dict(),))
        m.momentum = 0.3
        run.repeat(f, vary(lambda _: lucid.randn(4, 3)), see=lambda: (m.state_dict(),))
        m.reset_running_stats()
        run.call(f, lucid.randn(4, 3))
        run.see(m.state_dict())
        m.track_running_stats = False
        run.call(f, lucid.randn(4, 3))
        run.see(m.state_dict())
        m.running_mean = None
        m.running_var = None
        m.eval()
        run.call(f, lucid.randn(4, 3))

    def settings_sweep(run):
        """every setting of every layer, changed between calls"""
        mk = [
            (nn.Dropout(0.5), lucid.ones(4, 4)),
            (nn.BatchNorm1d(4), lucid.randn(4, 4)),
            (nn.LayerNorm(4), lucid.randn(4, 4)),
            (nn.LeakyReLU(0.1), lucid.randn(4, 4)),
            (nn.ELU(), lucid.randn(4, 4)),
            (nn.Softmax(-1), lucid.randn(4, 4)),
            (nn.GroupNorm(2, 4), lucid.randn(2, 4, 4)),
            (nn.Conv2d(2, 2, 3), lucid.randn(1, 2, 8, 8)),
            (nn.MaxPool2d(2), lucid.randn(1, 2, 8, 8)),
            (nn.AvgPool2d(2), lucid.randn(1, 2, 8, 8)),
            (nn.Hardtanh(), lucid.randn(4, 4)),
            (nn.Threshold(0.1, 2), lucid.randn(4, 4)),
            (nn.GELU(), lucid.randn(4, 4)),
            (nn.Flatten(), lucid.randn(2, 2, 2)),
            (nn.Embedding(5, 4), lucid.tensor([1, 2])),
            (nn.Upsample(scale_factor=2), lucid.randn(1, 2, 4, 4)),
            (nn.PReLU(), lucid.randn(4, 4)),
            (nn.GRU(4, 4), lucid.randn(3, 2, 4)),
            (nn.LSTM(4, 4, num_layers=2, dropout=0.0), lucid.randn(3, 2, 4)),
            (nn.MultiheadAttention(4, 2), None),
            (nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), lucid.randn(3, 2, 4)),
            (nn.InstanceNorm1d(2), lucid.randn(2, 2, 5)),
            (nn.RMSNorm(4), lucid.randn(4, 4)),
            (nn.PixelShuffle(2), lucid.randn(1, 4, 2, 2)),
            (nn.Unfold(2), lucid.randn(1, 2, 4, 4)),
            (nn.RReLU(), lucid.randn(4, 4)),
            (nn.CELU(), lucid.randn(4, 4)),
            (nn.Softplus(), lucid.randn(4, 4)),
            (nn.GLU(), lucid.randn(4, 4)),
            (nn.LocalResponseNorm(2), lucid.randn(1, 4, 4, 4)),
            (nn.ConstantPad1d(1, 2.0), lucid.randn(1, 2, 4)),
            (nn.CosineSimilarity(), None),
            (nn.AdaptiveAvgPool2d(2), lucid.randn(1, 2, 8, 8)),
        ]
        n = 0
        for m, x in mk:
            args = (
                (x,)
                if x is not None
                else (lucid.randn(3, 2, 4),) * 3
                if isinstance(m, nn.MultiheadAttention)
                else (lucid.randn(2, 4),) * 2
            )
            f = run.compile(lambda *a: m(*a))
            run.repeat(f, *args, n=2)
            for k in sorted(set(dir(m))):
                if k.startswith("_") or k in ("training", "T_destination", "call_super_init", "dump_patches"):
                    continue
                try:
                    v = getattr(m, k)
                except Exception:
                    continue
                new = None
                if isinstance(v, bool):
                    new = not v
                elif isinstance(v, int):
                    new = v + 1
                elif isinstance(v, float):
                    new = v * 0.5 + 0.1
                elif isinstance(v, str):
                    new = {
                        "zeros": "reflect",
                        "reflect": "zeros",
                        "nearest": "bilinear",
                        "none": "tanh",
                        "mean": "sum",
                    }.get(v, "nope")
                elif isinstance(v, tuple) and v and isinstance(v[0], int):
                    new = tuple(q + 1 for q in v)
                else:
                    continue
                try:
                    setattr(m, k, new)
                except Exception as e:
                    run.see(k, type(e).__name__)
                    continue
                n += 1
                lucid.manual_seed(5)
                run.see(type(m).__name__, k)
                run.repeat(f, *args, n=2)
                setattr(m, k, v)
                lucid.manual_seed(5)
                run.call(f, *args)
        print("settings", n)
