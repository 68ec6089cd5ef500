"""Random numbers: generators that are passed, kept, copied and seeded."""

import lucid
from lucid import nn

from .._harness import Programs, x0


class Generators(Programs):
    def a_generator_as_an_argument(run):
        f = run.compile(lambda x, g: x + lucid.rand(3, generator=g))
        g, h = lucid.Generator().manual_seed(3), lucid.Generator().manual_seed(4)
        for i, gen in enumerate((g, g, g, h, g, h, h)):
            if i == 4:
                g.manual_seed(3)
            run.call(f, x0(), gen)
        run.see(g.get_state(), h.get_state())

    def a_generator_as_an_attribute(run):
        class Noise(nn.Module):
            def __init__(self):
                super().__init__()
                self.gen = lucid.Generator().manual_seed(1)

            def forward(self, x):
                return x + lucid.randn(3, generator=self.gen)

        m = Noise()
        f = run.compile(m)
        for i in range(8):
            if i == 3:
                m.gen = lucid.Generator().manual_seed(1)
            if i == 5:
                state = m.gen.get_state()
            if i == 7:
                m.gen.set_state(state)
            run.call(f, x0())

    def seeds_read_inside(run):
        g = lucid.Generator().manual_seed(5)
        f = run.compile(lambda x: x * g.initial_seed() + lucid.initial_seed() % 7)
        run.repeat(f, x0, n=6, at={3: lambda: g.manual_seed(6), 4: lambda: lucid.manual_seed(8)})

    def a_generator_copied_inside(run):
        g = lucid.Generator().manual_seed(5)

        def draw(x):
            h = lucid.Generator()
            h.set_state(g.get_state())
            return x + lucid.rand(3, generator=h), lucid.rand(2, generator=g)

        run.repeat(run.compile(draw), x0, n=5)
        run.see(g.get_state())

    def random_state_forked(run):
        def noisy(x):
            state = lucid.get_rng_state()
            a = lucid.rand(3)
            lucid.set_rng_state(state)
            return x + a, lucid.rand(3)

        run.repeat(run.compile(noisy), x0, n=5)

    def draws_that_depend_on_a_flag(run):
        flag = [True]
        f = run.compile(lambda x: x + lucid.rand(3) if flag[0] else x)
        run.repeat(f, x0, n=9, before=lambda i: flag.__setitem__(0, i % 3 != 2), see=lambda: (lucid.rand(1),))
