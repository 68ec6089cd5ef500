"""Compiled matches eager bit for bit: shapes, dtypes, values and errors. Numbers refer to docs/failures.md."""

import lucid
import lucid.nn as nn
import lucid.nn.functional as F
import numpy as np
import pytest
from same import bits, check, check_scenario
from worlds import IMAGES, Net, calls, given, module_world, numbered, pure

SHAPES = {
    "39 scalar": (lambda x: x * 3 - 1, ()),
    "39 scalar that is reduced": (lambda x: x.sum() + x.max(), ()),
    "39 scalar expanded": (lambda x: x.reshape(1, 1).expand(2, 3) * 2, ()),
    "39 empty": (lambda x: (x * 2).sum(), (0, 3)),
    "39 empty rows": (lambda x: x.sum(0), (0, 3)),
    "39 empty products": (lambda x: x.T @ x, (0, 3)),
    "39 empty columns": (lambda x: x.softmax(0) + 1, (3, 0)),
    "39 empty joined": (lambda x: lucid.cat([x, lucid.ones(2, 3)]), (0, 3)),
    "39 empty linear": (lambda x: F.linear(x, lucid.ones(2, 3)), (0, 3)),
    "39 one": (lambda x: x.mean(0) + x, (1, 4)),
    "39 one of one": (lambda x: x.squeeze() * x.var(), (1, 1)),
    "39 one broadcast": (lambda x: x + lucid.ones(3, 1), (1, 4)),
    "39 many dimensions": (lambda x: x.sum((0, 2, 4)) * 2, (1, 2, 1, 2, 1, 2)),
    "42 softmax": (lambda x: lucid.softmax(x, -1).log(), (3, 7)),
    "42 integers": (lambda x: (x * 10).to(lucid.i32) // 3 << 2, (3, 7)),
    "42 shape": (lambda x: x * x.shape[0] + len(x), (3, 7)),
    "42 numel": (lambda x: x / x.numel() * x.ndim, (3, 7)),
    "42 size in a condition": (lambda x: x * 2 if x.shape[1] > 5 else x, (3, 7)),
}


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(SHAPES)
def test_shapes(case, grad):
    function, shape = case
    check(pure(function, shape, grad=grad), min_hits=2)


def test_39_the_last_short_batch():
    def world():
        net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU())

        def make():
            for _ in range(3):
                for size in (8, 8, 8, 5):
                    yield [lucid.randn(size, 3)]

        return net, make, lambda: [*net.parameters(), *net.buffers()]

    check(world, compiles=2, min_hits=10)


@pytest.mark.parametrize("size", [0, 1, 2])
def test_39_batches_of_a_network(size):
    check(module_world(Net, (size, *IMAGES[1:]), prepare=lambda net: net.eval()), min_hits=2)


@pytest.mark.parametrize("count", [40])
def test_40_many_lengths(count):
    def world():
        layer = nn.Linear(4, 4)
        lengths = np.random.RandomState(1).randint(1, 200, count)

        def make():
            for length in lengths:
                yield [lucid.full((2, int(length), 4), 1.0 / int(length))]

        return lambda x: layer(x).tanh().sum(1), make, lambda: list(layer.parameters())

    check(world, min_hits=0)


# Strides.


def strided(base):
    """Tensors of one shape with all kinds of memory layouts."""
    return {
        "contiguous": base[:3, :4].contiguous(),
        "a part": base[:3, :4],
        "a part with an offset": base[1:4, 2:6],
        "transposed": base.transpose(0, 1)[:3, :4],
        "steps": base[::2, ::2],
        "broadcast rows": base[0, :4].expand(3, 4),
        "broadcast columns": base[:3, :1].expand(3, 4),
        "broadcast number": base[1, 1].expand(3, 4),
        "flipped": base[:3, :4].flip(0),
        "permuted": base.reshape(2, 3, 8).permute(1, 0, 2)[:, 0, :4],
    }


BASE = np.arange(48, dtype=np.float32).reshape(6, 8) / 7


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@pytest.mark.parametrize("kind", strided(lucid.tensor(BASE)))
def test_41_strides(kind, grad):
    def f(x):
        return x * 2 + x.sum(0), (x @ x.T).exp(), x.reshape(-1)[1:]

    def make(number):
        return [strided(lucid.tensor(BASE + number))[kind].requires_grad_(grad)]

    check(given(f, *(lambda n=n: make(n) for n in range(4))), min_hits=2)


def test_41_the_same_shape_with_other_strides():
    def world():
        def make():
            for number in range(3):
                for x in strided(lucid.tensor(BASE + number)).values():
                    yield (x,)

        return lambda x: x * 2 + x.sum(0), make, []

    check(world, min_hits=16, max_cache_entries=16)


@pytest.mark.parametrize("step", [-1, -2])
def test_41_negative_steps_of_arrays(step):
    def make(number):
        array = (BASE + number)[::step]
        return [lucid.tensor(array), lucid.from_numpy(np.ascontiguousarray(array))]

    check(given(lambda x, y: x * y.flip(0), *(lambda n=n: make(n) for n in range(4))), min_hits=2)


def test_41_borrowed_memory():
    def make(number):
        array = np.arange(12, dtype=np.float32).reshape(3, 4) + number
        return lucid.from_numpy(array).requires_grad_(), lucid.from_numpy(array[::-1] > 5)

    check(given(lambda x, mask: lucid.where(mask, x * x, 0).norm(), *(lambda n=n: make(n) for n in range(4))))


# Types.

FLOATS = [lucid.f64, lucid.f32, lucid.f16, lucid.bf16]
INTEGERS = [lucid.u8, lucid.i8, lucid.i16, lucid.i32, lucid.i64]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_42_floats(dtype):
    check(pure(lambda x, y: (x * y + 1).tanh() @ y.transpose(0, 1), (3, 4), (3, 4), dtype=dtype, grad=True))
    check(pure(lambda x: (x.softmax(-1), x.sum(), x.std(0), x.cumsum(1)), (3, 4), dtype=dtype, grad=True))


INTEGER_OPS = {
    "42 overflow": lambda a, b: (a * b, a + b, a - b, -a),
    "42 division": lambda a, b: (a // b, a % b, a / b),
    "42 shifts": lambda a, b: (a << 3, a >> 1, a << (b & 7)),
    "42 bits": lambda a, b: (a & b, a | b, a ^ b, ~a),
    "42 sums": lambda a, b: (a.sum(), a.prod(), a.cumsum(0), a.max(), b.argmin()),
    "42 comparisons": lambda a, b: (a > b, a == b, (a < 0).any(), (b != 0).all()),
    "42 powers": lambda a, b: a**2 + a.abs(),
    "42 clamps": lambda a, b: (a.clamp(-3, 3), lucid.minimum(a, b)),
}


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@numbered(INTEGER_OPS)
def test_integers(case, dtype):
    values = np.array([-128, -100, -7, -1, 0, 1, 3, 100, 127])

    def make(number):
        a = lucid.tensor(np.roll(values, number)).to(dtype)
        return a, lucid.tensor(np.where(values == 0, 2, values)).to(dtype)

    check(given(case, *(lambda n=n: make(n) for n in range(4))), min_hits=2)


@pytest.mark.parametrize("left", [lucid.bool, *INTEGERS, *FLOATS], ids=str)
def test_42_promotion(left):
    rights = [lucid.bool, lucid.u8, lucid.i64, lucid.f16, lucid.bf16, lucid.f64]

    def f(x, *others):
        return [x * y for y in others], x * 2, x * 2.5, x.sum() + 1

    def make(number):
        x = lucid.tensor([0, 1, number]).to(left)
        return [x, *(lucid.tensor([1, 1, 0]).to(right) for right in rights)]

    check(given(f, *(lambda n=n: make(n) for n in range(4))), min_hits=2)


SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-42, -1e-42, 1e38, -3.5, 1.0, 2.5, 0.5]
SPECIAL_OPS = {
    "42 max": lambda x: (x.max(), x.max(dim=0), x.amax(1)),
    "42 min": lambda x: (x.min(), x.min(dim=1), x.amin(0)),
    "42 argmax": lambda x: (x.argmax(), x.argmax(1), x.argmin(0)),
    "42 sort": lambda x: (x.sort(0), x.sort(1, descending=True), x.argsort(1), x.topk(2)),
    "42 median": lambda x: (x.median(), x.median(dim=0), x.kthvalue(2)),
    "42 arithmetic": lambda x: (x + x.T, x - x, x * 0, x / x, 1 / x),
    "42 comparisons of NaN": lambda x: (x == x, x < 0, x >= x, x.isnan(), x.isinf()),
    "42 signs": lambda x: (x.abs(), -x, x.sign(), x * -1, lucid.where(x == 0, 1 / x, x)),
    "42 roots": lambda x: (x.sqrt(), x.rsqrt(), x.log(), x.exp(), x.log1p()),
    "42 rounding": lambda x: (x.floor(), x.ceil(), x.round(), x.trunc(), x % 2, x // 2),
    "42 clamps of NaN": lambda x: (x.clamp(-1, 1), x.relu(), lucid.maximum(x, x.T), x.nan_to_num()),
    "42 denormals": lambda x: (x * 0.5, x + 1e-45, x.exp2(), x.tanh(), x.sin()),
    "42 denormal numbers": lambda x: (x * 1e-38, 1e-38 / x, x > 1e-40, x.clamp(1e-40, 1), lucid.where(x > 0, 1e-41, x)),
    "42 sums of NaN": lambda x: (x.sum(), x.mean(0), x.nansum(), x.prod(1), x.cumsum(0)),
    "42 to integers": lambda x: (x.clamp(-9, 9).nan_to_num().long(), x.bool(), x.half(), x.bfloat16()),
    "42 powers of everything": lambda x: (x**2, x**0.5, x**-1, x**3, 2**x),
    "42 softmax of everything": lambda x: (x.softmax(0), x.logsumexp(1), x.sigmoid()),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@numbered(SPECIAL_OPS)
def test_special_numbers(case, dtype):
    def make(number):
        square = np.resize(np.roll(np.array(SPECIAL, dtype=np.float32), number), (5, 5))
        return [lucid.tensor(square).to(dtype)]

    check(given(case, *(lambda n=n: make(n) for n in range(3))), min_hits=1)


# Errors.


x3 = lambda: lucid.arange(3.0)  # noqa: E731
rows = lambda: lucid.arange(12.0).reshape(3, 4)  # noqa: E731
ERRORS = {
    "43 index": (lambda x, i: x[i] * 2, x3, [0, 1], [0, 3]),
    "43 negative index": (lambda x, i: x[i] * 2, x3, [-1, 1], [0, -4]),
    "43 rows": (lambda x, i: x[i].sum(1), rows, [0, 2], [3, 0]),
    "43 index_select": (lambda x, i: x.index_select(0, i) + 1, rows, [0, 2], [0, 9]),
    "43 gather": (lambda x, i: x.gather(0, i) + 1, x3, [0, 2], [0, 9]),
    "43 embedding": (lambda x, i: F.embedding(i, x) * 2, rows, [0, 2], [0, 9]),
    "43 class": (lambda x, i: F.cross_entropy(x[:2], i), rows, [0, 3], [0, 4]),
    "43 nll": (lambda x, i: F.nll_loss(x[:2].log_softmax(1), i), rows, [0, 3], [0, -5]),
    "43 division": (lambda x, i: (x[:2].long() * 7) // i, rows, [[1], [2]], [[1], [0]]),
    "43 remainder": (lambda x, i: (x[:2].long() * 7) % i, rows, [[1], [2]], [[1], [0]]),
    "43 one_hot": (lambda x, i: F.one_hot(i, 3) * x, x3, [0, 2], [0, 3]),
}


WRITE_ERRORS = {
    "43 scatter": (lambda x, i: x.scatter_(0, i, lucid.ones(2)), x3, [0, 2], [0, 9]),
    "43 index_add": (lambda x, i: x.index_add_(0, i, lucid.ones(2)), x3, [0, 2], [0, 9]),
    "43 assignment": (lambda x, i: x.index_put_((i,), lucid.tensor(5.0)), x3, [0, 2], [0, 9]),
}


def calls_with_errors(case, grad=False):
    function, make, good, bad = case
    indices = [good, good, good, bad, good, bad]
    return given(function, *(lambda i=i: (make().requires_grad_(grad), lucid.tensor(i)) for i in indices))


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "grad"])
@numbered(ERRORS)
def test_checked_errors(case, grad):
    check(calls_with_errors(case, grad), min_hits=2)


@numbered(WRITE_ERRORS)
def test_checked_errors_write_nothing(case):
    check(calls_with_errors(case), min_hits=2)


INVALID_CALLS = {
    "43 shapes": lambda x: x @ lucid.ones(7, 7),
    "43 broadcast": lambda x: x + lucid.ones(7),
    "43 dimension": lambda x: x.sum(5),
    "43 reshape": lambda x: x.reshape(7),
    "43 dtype": lambda x: x & 1,
    "43 device": lambda x: x.to("cuda"),
}


@numbered(INVALID_CALLS)
def test_invalid_calls(case):
    compiled = check(pure(case, (3, 4)), min_hits=0)
    assert compiled.cache_info().compiles == 0


# Threads and alignment.


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", ["44 sum", "44 product", "44 softmax", "44 network"])
def test_threads(kind, threads):
    def work(wrap):
        net = Net().eval()
        functions = {
            "44 sum": lambda x: (x * 3).sum() + x.sum(0),
            "44 product": lambda x: x @ x.T,
            "44 softmax": lambda x: x.softmax(-1).log().mean(0),
            "44 network": lambda x: net(x[:, :64].reshape(-1, 1, 8, 8)),
        }
        f = wrap(functions[kind])
        return [f(x) for (x,) in calls((130, 517), grad=True)()]

    before = lucid.get_num_threads()
    lucid.manual_seed(3)
    expected = bits(work(lambda function: function))
    lucid.set_num_threads(threads)
    try:
        check_scenario(work, min_hits=3)
        lucid.manual_seed(3)
        assert bits(work(lucid.compile)) == expected
    finally:
        lucid.set_num_threads(before)


@pytest.mark.parametrize("offset", range(1, 8))
def test_44_alignment(offset):
    def make(number):
        return [(lucid.arange(200.0) + number)[offset : offset + 150]]

    check(given(lambda x: (x.exp().sum(), x * 2), *(lambda n=n: make(n) for n in range(3))), min_hits=1)


def test_44_results_do_not_depend_on_the_plan():
    f = lucid.compile(lambda x: x.softmax(-1).sum(0), max_cache_entries=1)
    x = lucid.randn(5, 9)
    results = set()
    for size in (9, 9, 3, 9, 9, 4, 9):
        results.add(bits(f(x)) if size == 9 else None)
        f(x[:, :size].contiguous())
    assert len(results - {None}) == 1
    assert f.cache_info().fallbacks == 0


NUMBERS_BESIDE = {
    "42 sum": lambda x, c: x + c,
    "42 difference": lambda x, c: c - x,
    "42 product": lambda x, c: x * c,
    "42 quotient": lambda x, c: x / c,
    "42 floor of a quotient": lambda x, c: x // c,
    "42 remainder": lambda x, c: x % c,
    "42 fmod": lucid.fmod,
    "42 power": lambda x, c: x.abs() ** c,
    "42 power of a number": lambda x, c: c**x,
    "42 less": lambda x, c: x < c,
    "42 maximum": lambda x, c: lucid.clamp(x, min=c),
    "42 where": lambda x, c: lucid.where(x > 1, x, c),
    "42 lerp": lambda x, c: lucid.lerp(x, x * 2, c),
    "42 in place": lambda x, c: x.clone().mul_(c),
}


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16], ids=["f16", "bf16"])
@numbered(NUMBERS_BESIDE)
def test_numbers_are_rounded_alike_for_scalars_and_vectors(case, dtype):
    lucid.manual_seed(0)
    values = (lucid.randn(100) * 3).to(dtype)
    number = 0.6931471805599453
    compiled = lucid.compile(case)
    expected = bits(case(values, number))
    assert bits(lucid.stack([case(value, number) for value in values])) == expected
    assert bits(lucid.stack([compiled(value, number) for value in values])) == expected
    assert compiled.cache_info().hits == 99


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16, lucid.float64], ids=["f16", "bf16", "f64"])
def test_42_functions_of_constants(dtype):
    def function(x):
        constant = lucid.full((4, 2), 1.3, dtype=dtype)
        return constant.tanh(), (constant.double() + 0.7).to(dtype).exp() * x.to(dtype)

    check(pure(function, (4, 2)), min_hits=2)
