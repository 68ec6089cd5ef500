"""Numbers among the arguments that vary from call to call: one plan serves them all."""

import json
import math
import random

import lucid
import numpy
import pytest
from same import bits

NAN, INF = math.nan, math.inf
FLOATS = [0.5, -0.0, 0.0, 1.0, -1.5, 3.25, 1e-40, 1e38, 1e300, INF, -INF, NAN, 2.0, 7.0]
INTS = [1, 2, 0, -1, 3, 7, 8, 255, 256, -129, 2**31, 2**53 + 1, 2**62, -(2**63), 2**63, 10**30]


def outcome_of(function, *args, **kwargs):
    try:
        return bits(function(*args, **kwargs))
    except Exception as error:
        return type(error), str(error)


def check(function, calls, compiles=None, hits=None):
    """Calls a function with the arguments of each call, compiled and not."""
    fast = lucid.compile(function)
    for args in calls:
        for _ in range(2):
            assert outcome_of(fast, *args) == outcome_of(function, *args), args
    info = fast.cache_info()
    if compiles is not None:
        assert info.compiles <= compiles, fast.explain()
    if hits is not None:
        assert info.hits >= hits, fast.explain()
    return fast


X = lucid.linspace(-2.0, 2.0, 12).reshape(3, 4)


def test_a_float_varies():
    calls = [(X, value) for value in FLOATS]
    fast = check(lambda x, k: (x * k + k * k).tanh(), calls, compiles=2, hits=2 * len(calls) - 2)
    assert "argument k may vary" in fast.explain()


def test_an_integer_varies():
    calls = [(X, value) for value in INTS if -(2**63) <= value < 2**63]
    check(lambda x, n: x * n + (n - 1), calls[:8], compiles=2, hits=14)
    check(lambda x, n: x * n + (n - 1), calls)


def test_integers_that_do_not_fit_in_64_bits_raise_as_in_eager_mode():
    check(lambda x, n: x * (n * n), [(X, value) for value in INTS])


def test_several_numbers_vary_one_after_the_other():
    def function(x, a, b=1.0, *, c=2.0):
        return (x - a) * b / c

    fast = lucid.compile(function)
    for k in range(1, 12):
        assert bits(fast(X, 1.0, c=k * 0.5)) == bits(function(X, 1.0, c=k * 0.5))
        assert bits(fast(X, k / 3, c=2.0)) == bits(function(X, k / 3, c=2.0))
        assert bits(fast(X, k / 3, c=k * 0.25)) == bits(function(X, k / 3, c=k * 0.25))
    assert fast.cache_info().compiles <= 3, fast.explain()


def test_a_float_and_an_integer_have_plans_of_their_own():
    check(lambda x, k: x / k, [(X, 2.0), (X, 3.0), (X, 2), (X, 3), (X, 4.5), (X, 5), (X, True)], compiles=5)


def test_the_graph_shows_the_number_as_an_input():
    fast = check(lambda x, k: x * k, [(X, 2.5), (X, 3.5)])
    assert "%1: f32[] input" in str(fast.graph(X, 9.5))


COMPARISONS = {
    "sign": lambda x, k: x * k if k > 0 else x - k,
    "equal": lambda x, k: x + k if k == 2.0 else x * k,
    "truth": lambda x, k: x * k if k else x + 1,
    "clamp": lambda x, k: x * min(max(k, -1.0), 2.0),
    "abs": lambda x, k: x + abs(k) - -k + +k,
    "round": lambda x, k: x * round(k) if abs(k) < 1e6 else x,
    "round_digits": lambda x, k: x * round(k, 1),
    "parts": lambda x, k: x * (k // 2) + k % 3 if k else x,
    "divmod": lambda x, k: x * divmod(k, 2)[0] + divmod(7.0, k)[1],
    "power": lambda x, k: x * k**2 + 2.0**k if abs(k) < 100 else x,
    "division": lambda x, k: x * (1 / k),
    "floor": lambda x, k: x * math.floor(k) + math.ceil(k) + math.trunc(k),
    "integer": lambda x, k: x * int(k),
    "float": lambda x, k: x * float(k),
    "math": lambda x, k: x * math.sqrt(abs(k)) + math.cos(k),
    "method": lambda x, k: x * 2 if k.is_integer() else x * k,
    "real": lambda x, k: x * k.real + k.imag,
    "text": lambda x, k: x * len(str(k)) + len(f"{k:.3f}"),
    "percent": lambda x, k: x * len("%.2f" % k),  # noqa: UP031
    "key": lambda x, k: x * {0.5: 3.0, 1.0: 4.0}.get(k, 5.0),
    "member": lambda x, k: x * k if k in (0.5, 7.0) else x,
    "sum": lambda x, k: x * sum([k, k, 1.0]),
    "sorted": lambda x, k: x * sorted([k, 1.5, -2.0])[1],
    "instance": lambda x, k: x * k if isinstance(k, float) and not isinstance(k, (int, bool)) else x,
    "type": lambda x, k: x * k if type(k) is float else x * (k * k),
    "class": lambda x, k: x * k if k.__class__ is float else x * (k * k),
    "is": lambda x, k: x * k if k is not None else x,
    "complex": lambda x, k: x * complex(k, 1.0).imag,
    "numpy": lambda x, k: x * float(numpy.float32(k)),
    "array": lambda x, k: x * lucid.tensor(numpy.full(4, 2.0, numpy.float32) * k),
    "from_array": lambda x, k: x * lucid.tensor(k * numpy.full(4, 2.0, numpy.float32)),
    "tensor": lambda x, k: x * lucid.tensor(k),
    "list": lambda x, k: x * lucid.tensor([k, 1.0, k, 2.0]),
    "full": lambda x, k: x + lucid.full((4,), k),
    "attribute": lambda x, k: lucid.nn.functional.leaky_relu(x, k),
    "clip": lambda x, k: x.clamp(min=-abs(k)),
    "pow": lambda x, k: x.abs() ** k,
    "rpow": lambda x, k: abs(k) ** x,
    "where": lambda x, k: lucid.where(x > 0, k, x),
    "where_both": lambda x, k: lucid.where(x > k, k, -k),
    "compare": lambda x, k: (x > k) | (x == k),
    "left": lambda x, k: (k - x) + (k / x) + (k * x),
    "in_place": lambda x, k: x.clone().mul_(k).add_(k),
    "setitem": lambda x, k: _set_item(x, k),
    "integers": lambda x, k: x.to(lucid.int32) * k,
    "floor_division": lambda x, k: x // k,
    "remainder": lambda x, k: x % k,
    "nested": lambda x, k: (lambda scale: x * scale)(k * 2),
    "generator": lambda x, k: x * max(k * i for i in range(3)),
    "closed": lambda x, k: [x * k, x + k][0],
    "returned": lambda x, k: (x * k, k),
    "returned_sum": lambda x, k: {"y": x * k, "k": k + 1},
    "unused": lambda x, k: x * 2,
    "json": lambda x, k: x * len(json.dumps(k)),
    "swallowed": lambda x, k: _swallow(x, k),
    "hasattr": lambda x, k: x * (k if hasattr(k, "hex") else 1.0) + hasattr(k, "item"),
    "pairs": lambda x, k: lucid.maximum(x, k) if False else lucid.lerp(x, x * 2, k),
    "chained": lambda x, k: x if not -1 < k < 2 else x * k,
    "copy": lambda x, k: __import__("copy").copy(k) * x,
}


def _set_item(x, k):
    y = x.clone()
    y[0] = k
    return y


def _swallow(x, k):
    try:
        text = json.dumps(k)
    except TypeError:
        return x * 0
    return x * k + len(text)


@pytest.mark.parametrize("name", COMPARISONS)
def test_python_code_that_uses_the_number(name):
    values = [0.5, 1.0, 1.0, 7.0, -0.0, 0.0, 3.25, -2.5, 0.5, 2.0, INF, NAN, 1e300, -7.0]
    with numpy.errstate(all="ignore"):
        check(COMPARISONS[name], [(X, value) for value in values])


INDICES = {
    "range": lambda x, n: sum((x * i for i in range(n)), x),
    "item": lambda x, n: x[n],
    "slice": lambda x, n: x[:, :n] * n,
    "list": lambda x, n: x * [1.0, 2.0, 3.0][n],
    "shape": lambda x, n: x.reshape(n, -1) if n > 0 else x,
    "sum": lambda x, n: x.sum(n),
    "times": lambda x, n: x * len([0] * n),
    "bits": lambda x, n: x * (n & 1) + (n >> 1) + (n << 1) + (n ^ 3) + ~n + (n | 4),
    "length": lambda x, n: x * n.bit_length(),
    "power": lambda x, n: x * 2**n,
    "modular": lambda x, n: x * pow(n, 2, 5),
    "zeros": lambda x, n: x + lucid.zeros(n, 1, 1),
    "repeat": lambda x, n: x.repeat(n, 1),
    "hash": lambda x, n: x * hash(n),
}


@pytest.mark.parametrize("name", INDICES)
def test_python_code_that_uses_the_integer(name):
    check(INDICES[name], [(X, n) for n in (1, 0, 2, -1, 1, 3, 2, 12, 1, 5)])


def test_comparisons_lead_to_sibling_plans():
    fast = lucid.compile(COMPARISONS["sign"])
    values = [(-1) ** k * (k + 0.5) for k in range(40)]
    for value in values:
        assert bits(fast(X, value)) == bits(COMPARISONS["sign"](X, value))
    info = fast.cache_info()
    assert info.compiles <= 3, fast.explain()
    assert info.hits >= 36, fast.explain()


def test_each_index_has_its_own_plan_and_is_not_traced_again():
    runs = []
    fast = lucid.compile(INDICES["item"])
    trace = fast._compiled._trace
    fast._compiled._trace = lambda *args: runs.append(1) or trace(*args)
    for n in (0, 1, 2, 1, 2, 0):
        assert bits(fast(X, n)) == bits(X[n])
    assert (fast.cache_info().compiles, fast.cache_info().hits, len(runs)) == (3, 3, 1)


def test_a_call_with_effects_runs_once():
    ran = []

    def step(x, w, k):
        w.add_(x * k)
        return w * 1

    weights = [lucid.zeros(3, 4), lucid.zeros(3, 4)]
    fast = lucid.compile(step)
    for k in range(8):
        assert bits(fast(X, weights[0], k * 0.5)) == bits(step(X, weights[1], k * 0.5))
        ran.append(bits(weights[0]) == bits(weights[1]))
    assert all(ran)


def test_a_call_that_draws_random_numbers_runs_once():
    def noisy(x, k):
        return lucid.nn.functional.dropout(x, 0.5) * k

    fast = lucid.compile(noisy)
    seen = []
    for function in (fast, noisy):
        lucid.manual_seed(0)
        seen.append([bits(function(X, k * 0.5)) for k in range(8)])
    assert seen[0] == seen[1]


def test_gradients_of_results_use_the_number_of_their_call():
    def scaled(x, k):
        return (x * k).tanh() * k

    fast = lucid.compile(scaled)
    for k in (0.5, 1.5, 2.5, 0.5, 3.5):
        gradients = []
        for function in (fast, scaled):
            x = X.clone().requires_grad_()
            function(x, k).sum().backward()
            gradients.append(bits(x.grad))
        assert gradients[0] == gradients[1]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int64", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 4), ()])
def test_the_dtype_of_the_result_is_that_of_eager_mode(dtype, shape):
    x = lucid.ones(shape).to(getattr(lucid, dtype))
    for function in (lambda x, k: x * k, lambda x, k: k - x if x.dtype != lucid.bool else x + k, lambda x, k: x / k):
        check(function, [(x, value) for value in (0.1, 1e-3, 70000.0, -3.5)])
        check(function, [(x, value) for value in (1, 3, 300, -2)])


def expression(random, depth):
    """A random Python expression in the numbers a, b and n and the tensor x."""
    if depth == 0:
        return random.choice(["a", "b", "n", "1.5", "2", "0.1", "3"])
    one, two = expression(random, depth - 1), expression(random, depth - 1)
    kind = random.randrange(9)
    if kind < 4:
        return f"({one} {random.choice('+-*/')} {two})"
    if kind == 4:
        return f"({one} {random.choice(['//', '%'])} {two})"
    if kind == 5:
        return f"({one} if {two} {random.choice(['<', '<=', '==', '!=', '>', '>='])} {random.choice('abn')} else {two})"
    if kind == 6:
        return random.choice(["abs({})", "round({})", "-{}", "max(0.5, {})", "min(2, {})"]).format(one)
    if kind == 7:
        return f"max({one}, {two})"
    return f"({one} and {two})"


def test_random_expressions_are_evaluated_as_python_evaluates_them():
    generator = random.Random(5)
    compiled = 0
    for _ in range(60):
        texts = [expression(generator, generator.randrange(1, 4)) for _ in range(3)]
        function = eval(f"lambda x, a, b, n: x * ({texts[0]}) + ({texts[1]}) - x * ({texts[2]})")
        values = [*FLOATS[:8], 0.25, -3.0]
        calls = [(X, generator.choice(values), generator.choice(values), generator.randrange(-3, 9)) for _ in range(8)]
        compiled += check(function, calls).cache_info().hits > 8
    assert compiled > 20
