"""Modules that are copied, shared, passed and switched inside of calls."""

import copy

import lucid
from lucid import nn

from .._harness import Programs, vary, x0
from ..modules.changes import Net


class ModuleUses(Programs):
    def copies_share_nothing(run):
        m = Net()
        f = run.compile(m)
        x = lucid.randn(4, 3)
        run.repeat(f, x, n=2)
        g = copy.deepcopy(f)
        m.a.weight.data.zero_()
        run.repeat(g, x, before=lambda _: run.call(f, x))
        g.a.weight.data.fill_(1)
        g.gain = 7.0
        run.repeat(g, x, n=2, before=lambda _: run.call(f, x))

    def parameters_shared_with_another(run):
        m, other = nn.Linear(3, 3), nn.Linear(3, 3)
        other.weight = m.weight
        f = run.compile(lambda x: other(m(x)).sum())
        for i in range(6):
            if i == 3:
                m.weight = nn.Parameter(lucid.ones(3, 3))
            if i == 4:
                other.weight = m.weight
            run.call(f, x0()).backward()
            run.see(m.weight.grad, other.weight.grad, other.weight is m.weight)

    def train_and_eval_inside_the_call(run):
        m = Net()

        def evaluate(x):
            was = m.training
            m.eval()
            y = m(x)
            m.train(was)
            return y

        f = run.compile(evaluate)
        x = lucid.randn(4, 3)
        run.repeat(f, x, n=6, at={4: lambda: m.eval()}, see=lambda: (m.training, m.drop.training, m.norm.running_mean))

    def the_mode_of_children_restored(run):
        m = Net()
        m.drop.eval()

        def evaluate(x):
            modes = [(c, c.training) for c in m.modules()]
            m.eval()
            y = m(x)
            for c, mode in modes:
                c.training = mode
            return y

        f = run.compile(evaluate)
        run.repeat(f, vary(lambda _: lucid.ones(4, 3)), n=5, see=lambda: ([c.training for c in m.modules()],))

    def a_module_passed_and_changed(run):
        f = run.compile(lambda m, x: m(x) * m.gain)
        m, n = Net(), Net()
        for i in range(9):
            if i == 4:
                m.gain = 5.0
            if i == 6:
                m, n = n, m
            if i == 7:
                m.eval()
            run.call(f, m, lucid.ones(4, 3))

    def modules_in_an_argument_list(run):
        f = run.compile(lambda ms, x: [m(x) for m in ms])
        ms = [nn.Linear(3, 3), nn.Linear(3, 3)]
        for i in range(8):
            if i == 3:
                ms.append(nn.Tanh())
            if i == 5:
                ms[0] = nn.Linear(3, 3)
            if i == 6:
                ms.reverse()
            run.call(f, ms, x0())

    def a_module_found_by_name(run):
        m = Net()
        f = run.compile(lambda x, name: m.get_submodule(name)(x))
        for i, name in enumerate(("a", "a", "a", "b", "b", "a", "b")):
            if i == 5:
                m.a = nn.Linear(3, 3)
            run.call(f, x0(), name)

    def named_parts_listed(run):
        m = Net()
        f = run.compile(lambda x: (x * sum(p.sum() for p in m.parameters()), [n for n, _ in m.named_parameters()]))
        run.repeat(f, x0, n=6, at={3: lambda: setattr(m, "c", nn.Linear(1, 1)), 5: lambda: delattr(m, "a")})

    def extra_repr_and_names(run):
        m = Net()
        f = run.compile(lambda x: (x * 2, m._get_name(), m.a.in_features, str(m.a)))
        run.repeat(f, x0, n=5, at={3: lambda: setattr(m.a, "in_features", 99)})

    def functional_call_like_swaps(run):
        m = nn.Linear(3, 3)

        def with_weight(x, w):
            old = m.weight
            del m.weight
            m.weight = w
            try:
                return m(x)
            finally:
                m.weight = old

        f = run.compile(with_weight)
        run.repeat(f, x0, vary(lambda _: nn.Parameter(lucid.randn(3, 3))), n=4, see=lambda: (m.weight,))

    def apply_and_init_inside(run):
        m = nn.Linear(3, 3)

        def reset(x):
            nn.init.normal_(m.weight)
            nn.init.zeros_(m.bias)
            return m(x)

        run.repeat(run.compile(reset), x0, n=4, see=lambda: (m.weight,))

    def an_average_of_weights(run):
        m = nn.Linear(3, 3)
        ema = copy.deepcopy(m)
        decay = [0.9]

        def update():
            with lucid.no_grad():
                for e, p in zip(ema.parameters(), m.parameters()):
                    e.lerp_(p, 1 - decay[0])
                for e, b in zip(ema.buffers(), m.buffers()):
                    e.copy_(b)

        f = run.compile(update)
        for i in range(6):
            m.weight.data.add_(1)
            if i == 4:
                decay[0] = 0.5
            run.call(f)
            run.see(ema.weight)
