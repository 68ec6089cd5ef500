"""Compiled matches eager bit for bit: typical errors of recording. Numbers refer to docs/failures.md."""

import functools

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import pytest
from same import check, check_scenario
from worlds import calls, given, module_world, numbered, pure

# Functions of tensors.


def unpadded(x):
    y = F.pad(x, (1, 1, 2, 2))
    return y[2:-2, 1:-1] + y.sum()


def both_chunks(x):
    a, b = x.chunk(2, dim=1)
    return a * b


FUNCTIONS = {
    "1 slice": (lambda x: x[1:, ::2] * 2, (4, 6)),
    "1 slice of one dimension": (lambda x: x[2] + x[-1], (4, 6)),
    "1 slice from the end": (lambda x: x[..., -3:] * x[:, :3], (4, 6)),
    "1 new dimension": (lambda x: x[:, None] - x[None], (4,)),
    "1 narrow and select": (lambda x: x.narrow(0, 1, 2) + x.select(1, 3).sum(), (4, 6)),
    "1 detach": (lambda x: x.detach() + x, (4,)),
    "1 detach of a part": (lambda x: x[1:].detach() * x[:-1], (4,)),
    "1 to": (lambda x: x.to(lucid.f64).exp().to(lucid.f32), (4,)),
    "1 to integers": (lambda x: (x * 10).to(lucid.i64) + x, (4,)),
    "1 to and back": (lambda x: x.half().float() - x.bfloat16().float(), (4, 3)),
    "1 to the same": (lambda x: x.to(lucid.f32) * 2, (4,)),
    "2 transpose": (lambda x: x.transpose(0, 1) @ x, (4, 6)),
    "2 permute": (lambda x: x.permute(2, 0, 1).contiguous() + 1, (2, 3, 4)),
    "2 pad": (lambda x: F.pad(x, (1, 2)) * x.sum(), (3, 4)),
    "2 pad and cut": (unpadded, (3, 4)),
    "2 reshape": (lambda x: x.reshape(-1)[::3], (3, 4)),
    "2 reshape of a transposed": (lambda x: x.T.reshape(2, -1) * 2, (3, 4)),
    "2 einsum": (lambda x: lucid.einsum("ij,kj->ik", x, x), (3, 4)),
    "2 einsum of a diagonal": (lambda x: lucid.einsum("bij,bjk->bik", x, x).sum(1), (2, 3, 3)),
    "2 stack": (lambda x: lucid.stack([x, x * 2], dim=1), (3, 4)),
    "2 cat": (lambda x: lucid.cat([x, x[:1], x * 2], dim=0), (3, 4)),
    "2 split": (lambda x: [part.sum() for part in x.split(2)], (5, 3)),
    "2 split and use both": (both_chunks, (5, 4)),
    "2 unbind": (lambda x: sum(row * i for i, row in enumerate(x.unbind(0))), (3, 4)),
    "2 flip and roll": (lambda x: x.flip(0) + x.roll(1, 1), (3, 4)),
    "2 expand and repeat": (lambda x: x.unsqueeze(0).expand(2, 3, 4) + x.repeat(2, 1, 1), (3, 4)),
    "2 gather": (lambda x: x.gather(1, (x > 0).long()) * 2, (3, 4)),
    "2 tril and triu": (lambda x: x.tril() @ x.triu(), (4, 4)),
    "2 unfold": (lambda x: F.unfold(x, 2).sum(1), (1, 2, 4, 4)),
    "9 generator": (lambda x: sum(x * i for i in range(4)), (3,)),
    "9 lambda inside": (lambda x: (lambda y: y * 2)(x) + 1, (3,)),
    "9 map": (lambda x: lucid.stack(list(map(lucid.exp, [x, x + 1]))), (3,)),
    "9 sorted by a key": (lambda x: sorted([(2, x), (1, x * 2)], key=lambda pair: pair[0])[0][1], (3,)),
    "9 reduce": (lambda x: functools.reduce(lambda a, b: a * b, [x, x + 1, x + 2]), (3,)),
    "9 comprehension": (lambda x: lucid.stack([x * i for i in range(3) if i != 1]), (3,)),
    "9 closure made inside": (lambda x: [k(x) for k in [lambda y, i=i: y + i for i in range(3)]][2], (3,)),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(FUNCTIONS)
def test_functions(case, grad):
    function, shape = case
    check(pure(function, shape, grad=grad), min_hits=2)


@pytest.mark.parametrize("train", [True, False])
def test_2_attention(train):
    class Attention(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(8, 2, dropout=0.2, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x)[0]

    check(module_world(Attention, (2, 5, 8), prepare=lambda m: m.train(train), grad=True), min_hits=2)


# Tensors from changing data.


@pytest.mark.parametrize("where", ["argument", "closure", "list"])
def test_3_tensors_from_changing_data(where):
    def world():
        box = [0]
        functions = {
            "argument": lambda x, n: x * lucid.tensor([n, n + 1.0]),
            "closure": lambda x, n: x * lucid.tensor([box[0], 2.0]),
            "list": lambda x, n: x * lucid.tensor(box * 2),
        }

        def make():
            for number in (1, 1, 1, 2, 2, 2):
                box[0] = number
                yield lucid.ones(2), number

        return functions[where], make, []

    check(world, compiles=2, min_hits=4)


def test_3_tensors_from_data_that_never_repeats():
    check(given(lambda x, n: x * lucid.tensor([n]), *(lambda n=n: (lucid.ones(2), n) for n in range(12))), min_hits=0)


# Tensors from outside.


def holders(weight):
    """Functions that hold a tensor in every possible way."""

    def default(x, w=weight):
        return x * w

    def keyword_default(x, *, w=weight):
        return x * w

    class Holder:
        def __init__(self):
            self.w = weight

        def method(self, x):
            return x * self.w

        def __call__(self, x):
            return x * self.w

    Holder.shared = weight
    boxes = {"w": [weight]}
    default.attribute = weight
    return {
        "closure": lambda x: x * weight,
        "default": default,
        "keyword default": keyword_default,
        "partial": functools.partial(lambda w, x: x * w, weight),
        "partial keyword": functools.partial(lambda x, w: x * w, w=weight),
        "method": Holder().method,
        "callable": Holder(),
        "class attribute": lambda x: x * Holder.shared,
        "nested": lambda x: x * boxes["w"][0],
        "function attribute": lambda x: x * default.attribute,
        "global": times_global,
    }


GLOBAL = lucid.ones(4)


def times_global(x):
    return x * GLOBAL


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("kind", holders(GLOBAL))
def test_4_tensors_from_outside(kind, grad):
    def world():
        global GLOBAL
        GLOBAL = weight = lucid.arange(4.0).requires_grad_(grad)
        function = holders(weight)[kind]

        def change(number):
            with lucid.no_grad():
                weight.mul_(1.5).add_(number)

        return function, calls((3, 4), before=change), [weight]

    check(world, min_hits=2)


REBOUND = {
    "5 a tensor": lambda number: lucid.full((3,), float(number // 3)),
    "5 a number": lambda number: float(number // 3),
    "5 an integer": lambda number: number // 3,
    "5 another type": lambda number: [2, 2.0, True][number // 3],
    "5 another shape": lambda number: lucid.ones([(), (1,), (3,)][number // 3]),
    "5 another dtype": lambda number: lucid.ones(3, dtype=[lucid.f32, lucid.f64, lucid.i32][number // 3]),
}


@pytest.mark.parametrize("where", ["dict", "closure", "attribute", "list", "global"])
@numbered(REBOUND)
def test_rebinding(case, where):
    def world():
        global factor
        closed = factor = case(0)
        box = {"k": closed}
        items = [closed]

        def f(x):
            return x * closed

        functions = {
            "dict": lambda x: x * box["k"],
            "closure": f,
            "attribute": lambda x: x * f.k,
            "list": lambda x: x * items[0],
            "global": lambda x: x * factor,
        }

        def change(number):
            nonlocal closed
            global factor
            if number % 3 == 0:
                closed = factor = case(number)
                box["k"] = items[0] = f.k = closed

        return functions[where], calls((3,), count=9, before=change), []

    check(world, min_hits=3)


def test_5_rebinding_a_function():
    def world():
        others = [lucid.exp, lucid.tanh, lambda x: x * 3]
        helper = {}

        def inner(x):
            return helper["f"](x) + 1

        def change(number):
            helper["f"] = others[number // 3]

        return lambda x: inner(x) * 2, calls((3,), count=9, before=change), []

    check(world, compiles=3, min_hits=4)


def test_5_rebinding_a_method_and_a_class():
    class Doubling:
        def act(self, x):
            return x * 2

    def world():
        thing = Doubling()

        def change(number):
            if number == 3:
                thing.act = lambda x: x * 5
            if number == 6:
                del thing.act

        return lambda x: thing.act(x), calls((3,), count=9, before=change), []

    check(world, min_hits=4)


# Callables.


class Calling:
    def __init__(self):
        self.k = 3.0

    def __call__(self, x):
        return x * self.k

    def method(self, x):
        return x - self.k

    @staticmethod
    def static(x):
        return x + 1

    @classmethod
    def of_class(cls, x):
        return x * len(cls.__name__)

    @property
    def scale(self):
        return self.k * 2


def power(x, n):
    return x if n == 0 else power(x, n - 1) * x


def values_of(x):
    yield x
    yield x * 2


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args) + 1

    return wrapper


INNER = lucid.compile(lambda x: x.exp())
CALLING = Calling()
CALLABLES = {
    "9 lambda": lambda x: x - 1,
    "9 partial": functools.partial(power, n=3),
    "9 object": CALLING,
    "9 method": CALLING.method,
    "9 static method": Calling.static,
    "9 class method": Calling.of_class,
    "9 property": lambda x: x * CALLING.scale,
    "9 recursive": lambda x: power(x, 4),
    "9 generator function": lambda x: sum(values_of(x)),
    "9 decorated": decorated(lambda x: x * 2),
    "9 op of ours": lucid.exp,
    "9 module": nn.Tanh(),
    "9 compiled inside": lambda x: INNER(x) + 1,
    "9 compiled inside twice": lambda x: INNER(INNER(x)) * INNER(x),
    "9 methodcaller": lambda x: x.exp() + 1,
}


@numbered(CALLABLES)
def test_callables(case):
    check(pure(case, (3,), grad=True), min_hits=2)


def test_9_an_inner_compiled_function_is_part_of_the_outer_plan():
    inner = lucid.compile(lambda x: x * 2)
    outer = lucid.compile(lambda x: inner(x) + 1)
    for _ in range(3):
        outer(lucid.ones(3))
    assert outer.cache_info()[:4] == (2, 1, 1, 0)
    assert inner.cache_info()[:4] == (0, 0, 0, 0)
    assert [node.op for node in outer.graph(lucid.ones(3)).nodes] == ["mul", "add"]


# Exceptions.


def failing(kind):
    """A world of a function that counts its calls and raises in some of them."""

    def world():
        count = lucid.zeros(1)
        box = lucid.zeros(2)

        def f(x, fail):
            count.add_(1)
            if fail and kind == "raised":
                raise ValueError("no")
            if fail and kind == "of an op":
                lucid.ones(2) @ lucid.ones(3)
            if fail and kind == "of python":
                [][0]
            box.copy_(x * count)
            if fail and kind == "at the end":
                raise KeyError("late")
            if fail and kind == "caught":
                try:
                    raise RuntimeError("inside")
                except RuntimeError:
                    count.add_(10)
            if fail and kind == "after a random op":
                lucid.rand(3)
                raise ValueError("after a random op")
            return x + count + lucid.rand(2)

        def make():
            for number in range(3):
                for fail in [True, False, False, True, False]:
                    yield lucid.full((2,), number + 1.0), fail

        return f, make, [count, box]

    return world


@pytest.mark.parametrize("kind", ["raised", "of an op", "of python", "at the end", "caught", "after a random op"])
def test_10_state_after_exceptions_matches_eager(kind):
    check(failing(kind), min_hits=3)


def test_10_an_exception_ends_the_recording():
    def scenario(wrap):
        @wrap
        def f(x):
            y = x * 2
            if scenario.fail:
                raise ValueError("stop")
            return y + 1

        seen = []
        for scenario.fail in [True, False, False, False]:
            try:
                seen.append(f(lucid.ones(2)))
            except ValueError as error:
                seen.append(str(error))
            seen.append(lucid.ones(2) * 3)
        return seen

    check_scenario(scenario)
    assert not lucid._core.is_tracing()
