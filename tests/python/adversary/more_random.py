"""Random numbers: generators that are passed, kept, copied and seeded."""

import lucid
from lucid import nn

from ._harness import prog, x0


@prog
def a_generator_as_an_argument(run):
    f = run.compile(lambda x, g: x + lucid.rand(3, generator=g))
    g, h = lucid.Generator().manual_seed(3), lucid.Generator().manual_seed(4)
    for i, gen in enumerate((g, g, g, h, g, h, h)):
        if i == 4:
            g.manual_seed(3)
        run.call(f, x0(), gen)
    run.see(g.get_state(), h.get_state())


@prog
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


@prog
def seeds_read_inside(run):
    g = lucid.Generator().manual_seed(5)
    f = run.compile(lambda x: x * g.initial_seed() + lucid.initial_seed() % 7)
    for i in range(6):
        if i == 3:
            g.manual_seed(6)
        if i == 4:
            lucid.manual_seed(8)
        run.call(f, x0())


@prog
def a_generator_copied_inside(run):
    g = lucid.Generator().manual_seed(5)

    def draw(x):
        h = lucid.Generator()
        h.set_state(g.get_state())
        return x + lucid.rand(3, generator=h), lucid.rand(2, generator=g)

    f = run.compile(draw)
    for _ in range(5):
        run.call(f, x0())
    run.see(g.get_state())


@prog
def random_state_forked(run):
    def noisy(x):
        state = lucid.get_rng_state()
        a = lucid.rand(3)
        lucid.set_rng_state(state)
        return x + a, lucid.rand(3)

    f = run.compile(noisy)
    for _ in range(5):
        run.call(f, x0())


@prog
def draws_that_depend_on_a_flag(run):
    flag = [True]
    f = run.compile(lambda x: x + lucid.rand(3) if flag[0] else x)
    for i in range(9):
        flag[0] = i % 3 != 2
        run.call(f, x0())
        run.see(lucid.rand(1))
