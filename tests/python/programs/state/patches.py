"""Methods, functions and classes that are replaced between calls."""

import lucid
from lucid import nn

from .._harness import Programs, patched, x0

F = nn.functional


class Patches(Programs):
    def forward_patch_instance(run):
        m = nn.Linear(3, 3)
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.forward = lambda x: x * 5
        run.repeat(f, x0(), n=2)
        del m.forward
        run.repeat(f, x0(), n=2)

    def forward_patch_class(run):
        class M(nn.Module):
            def forward(self, x):
                return x * 2

        f = run.compile(M())
        run.repeat(f, x0(), n=2)
        M.forward = lambda s, x: x * 5
        run.repeat(f, x0(), n=2)
        M.__call__ = lambda s, x: x * 7
        run.repeat(f, x0(), n=2)

    def forward_patch_lucid_class(run):
        m = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        with patched(nn.ReLU, "forward", lambda s, x: x * 5):
            run.repeat(f, x0(), n=2)
        run.repeat(f, x0(), n=2)

    def functional_patch(run):
        """monkeypatching lucid.nn.functional, which modules written in Python use"""
        m = nn.MultiheadAttention(4, 2, batch_first=True).eval()
        f = run.compile(lambda x: m(x, x, x)[0])
        x = lucid.randn(1, 3, 4)
        run.repeat(f, x, n=2)
        old = F.scaled_dot_product_attention
        with patched(F, "scaled_dot_product_attention", lambda *a, **k: old(*a, **k) * 0):
            run.repeat(f, x, n=2)
        run.repeat(f, x, n=2)

    def functional_patch_all(run):
        """every function of functional in turn: replaced by one that doubles"""
        mods = {
            "relu": nn.ReLU(),
            "gelu": nn.GELU(),
            "linear": nn.Linear(4, 4),
            "layer_norm": nn.LayerNorm(4),
            "softmax": nn.Softmax(-1),
            "dropout": nn.Dropout(0.0),
            "mse_loss": nn.MSELoss(),
            "batch_norm": nn.BatchNorm1d(4),
            "embedding": nn.Embedding(5, 4),
            "rms_norm": nn.RMSNorm(4),
        }
        for name, m in mods.items():
            if name == "mse_loss":
                args = (lucid.ones(2, 4), lucid.zeros(2, 4))
            elif name == "embedding":
                args = (lucid.tensor([1, 2]),)
            else:
                args = (lucid.randn(2, 4),)
            f = run.compile(lambda *a: m(*a))
            run.repeat(f, *args, n=2)
            old = getattr(F, name)
            try:
                setattr(F, name, lambda *a, **k: old(*a, **k) * 2)
                run.repeat(f, *args, n=2)
            finally:
                setattr(F, name, old)

    def lucid_fn_patch(run):
        f = run.compile(lambda x: lucid.relu(x) + F.gelu(x))
        run.repeat(f, x0(), n=2)
        o = lucid.relu
        with patched(lucid, "relu", lambda x: x * 9):
            run.repeat(f, x0(), n=2)
        o = F.gelu
        with patched(F, "gelu", lambda x: x * 9):
            run.repeat(f, x0(), n=2)
        run.repeat(f, x0(), n=2)

    def tensor_method_patch(run):
        f = run.compile(lambda x: x.relu() + x)
        run.repeat(f, x0() - 2, n=2)
        o = lucid.Tensor.relu
        with patched(lucid.Tensor, "relu", lambda s: s * 9):
            run.repeat(f, x0() - 2, n=2)
        run.repeat(f, x0() - 2, n=2)
        o = lucid.Tensor.__add__
        with patched(lucid.Tensor, "__add__", lambda s, t: s * 9):
            run.repeat(f, x0() - 2, n=2)
        run.repeat(f, x0() - 2, n=2)

    def tensor_method_added_state(run):
        k = [2]
        with patched(lucid.Tensor, "my_scale", lambda s: s * k[0]):
            f = run.compile(lambda x: x.my_scale())
            run.repeat(f, x0())
            k[0] = 3
            run.repeat(f, x0(), n=2)

    def module_setattr(run):
        class M(nn.Module):
            def __init__(self):
                super().__init__()
                self.k = 2
                self.l = nn.Linear(3, 3)

            def forward(self, x):
                return self.l(x) * self.k

        m = M()
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.k = 3
        run.repeat(f, x0(), n=2)
        f.k = 4
        run.repeat(f, x0(), n=2)
        m.k = True
        run.repeat(f, x0(), n=2)
        m.k = 1.0
        run.repeat(f, x0(), n=2)
        m.k = lucid.ones(3)
        run.repeat(f, x0(), n=2)
        m.k = nn.Parameter(lucid.ones(3))

    def module_class_swap(run):
        class A(nn.Module):
            def forward(self, x):
                return x * 2

        class B(nn.Module):
            def forward(self, x):
                return x * 3

        m = A()
        f = run.compile(m)
        run.repeat(f, x0(), n=2)
        m.__class__ = B
        run.repeat(f, x0(), n=2)
