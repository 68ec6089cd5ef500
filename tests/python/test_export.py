"""lucid.export and lucid.load_program: programs compute what the function computes, bit for bit."""

import concurrent.futures
import contextlib
import gc

import lucid
import numpy as np
import pytest
from lucid import nn
from same import bits

F = nn.functional
SIZES = (1, 2, 3, 8, 31, 64)
LEVELS = ["scalar", "avx2", "avx512"]
# The levels that this machine can run.
RUNNABLE = LEVELS[: LEVELS.index(lucid._core.cpu_level()) + 1]
BOTH = pytest.mark.parametrize("trusted", [False, True])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


def as_tuple(value):
    return value if isinstance(value, tuple) else (value,)


def row_major(tensor):
    return tensor.detach().clone().reshape(-1).reshape(tensor.shape)


def tensors_of(result):
    """The tensors of a result, in row-major order: what a program returns."""
    if isinstance(result, lucid.Tensor):
        return [row_major(result)]
    items = result.values() if isinstance(result, dict) else result
    return [tensor for item in items for tensor in tensors_of(item)]


def run(program, call):
    return tensors_of(program(*[arg for arg in as_tuple(call) if isinstance(arg, lucid.Tensor)]))


def check(make, args, path, *, calls=None, **options):
    """Exports `make()`, and compares calls of the program with those of another `make()`. Returns the last program."""
    lucid.manual_seed(1)
    lucid.export(make(), args, path, **options)
    for trusted in (False, True):
        lucid.manual_seed(1)
        function = make()
        program = lucid.load_program(path, trusted=trusted)
        for call in calls or [args]:
            assert bits(run(program, call)) == bits(tensors_of(function(*as_tuple(call)))), (trusted, call)
    return program


def check_or_refuse(reason, make, args, path, *, calls=None, **options):
    """Like check(). The export may also refuse the function, and say why."""
    try:
        lucid.export(make(), args, path, **options)
    except ValueError as error:
        assert reason in str(error)  # noqa: PT017
    else:
        check(make, args, path, calls=calls, **options)


def check_sizes(function, path, *, sizes=SIZES, columns=3, **bounds):
    """Checks a function of one f32[n,columns] for several n."""
    calls = [lucid.randn(size, columns) for size in sizes]
    return check(
        lambda: function,
        lucid.randn(4, columns),
        path,
        calls=calls,
        dynamic={"x": {0: lucid.Dim("n", **bounds)}},
    )


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", lucid.zeros(1))
        self.linear = nn.Linear(3, 2)

    def forward(self, x):
        self.count += 1
        return self.linear(x) * self.count


# ---- Functions and modules.


def test_function(path):
    program = check(lambda: lambda x: (x * 2).relu() + 1, lucid.randn(4, 3), path)
    assert program.inputs == ["x: f32[4,3]"]
    assert program.outputs == ["output0: f32[4,3]"]


def test_module(path):
    program = check(lambda: nn.Sequential(nn.Linear(3, 5), nn.GELU(), nn.LayerNorm(5)), lucid.randn(4, 3), path)
    assert program.name == "Sequential"
    assert list(program.state_dict()) == ["0.weight", "0.bias", "2.weight", "2.bias"]


def test_method(path):
    model = nn.Linear(3, 2)
    program = check(lambda: model.forward, lucid.randn(4, 3), path)
    assert list(program.state_dict()) == ["weight", "bias"]


@pytest.mark.parametrize("target", [nn.Linear(3, 2), lambda x: x * 2 + 1], ids=["module", "function"])
def test_what_was_compiled_is_exported(target, path):
    compiled = lucid.compile(target)
    check(lambda: compiled, lucid.randn(4, 3), path, calls=[lucid.randn(4, 3)] * 3)


def test_function_that_calls_a_compiled_one(path):
    inner = lucid.compile(lambda x: x * 2 + 1)
    for _ in range(3):
        inner(lucid.ones(4, 3))
    check_sizes(lambda x: inner(x) - inner(x + 1), path)


def test_function_that_calls_a_program(path, tmp_path):
    """What a program computes is not recorded, but must not become a constant."""
    lucid.export(lambda x: x * 2, lucid.ones(3), tmp_path / "inner")
    inner = lucid.load_program(tmp_path / "inner")
    calls = [lucid.ones(3), lucid.ones(3) * 5]
    check_or_refuse("rogram", lambda: lambda x: inner(x) + 1, calls[0], path, calls=calls)


def test_function_that_loads_what_it_saved(path, tmp_path):
    def function(x):
        lucid.save({"x": x}, tmp_path / "x")
        return lucid.load(tmp_path / "x")["x"] * 2

    calls = [lucid.ones(3), lucid.ones(3) * 5]
    check_or_refuse("calls", lambda: function, calls[0], path, calls=calls)


def test_compiled_function_that_calls_a_program(path):
    lucid.export(Counter(), lucid.ones(4, 3), path)
    program, expected = lucid.load_program(path), lucid.load_program(path)
    compiled = lucid.compile(lambda x: program(x) + 1)
    for _ in range(4):
        x = lucid.randn(4, 3)
        assert bits(compiled(x)) == bits(expected(x) + 1)


def test_modules_compute_no_gradients(path):
    model = nn.Linear(3, 2)
    lucid.export(model, lucid.ones(4, 3).requires_grad_(), path)
    assert not lucid.load_program(path)(lucid.ones(4, 3).requires_grad_()).requires_grad
    assert model.weight.grad is None


def test_several_inputs(path):
    args = lucid.randn(4, 3), lucid.randn(3, 5), lucid.randn(5)
    program = check(lambda: lambda x, weight, bias: x @ weight + bias, args, path)
    assert program.inputs == ["x: f32[4,3]", "weight: f32[3,5]", "bias: f32[5]"]


def test_one_tensor_as_two_inputs(path):
    x, y = lucid.randn(3), lucid.randn(3)
    check(lambda: lambda a, b: a * b, (x, x), path, calls=[(x, x), (x, y)])


def test_positional_inputs(path):
    x = lucid.randn(3)
    program = check(lambda: lambda *xs: xs[0] - xs[1], (x, x), path, calls=[(x, x + 1)])
    assert program.inputs == ["input_0: f32[3]", "input_1: f32[3]"]


def test_no_inputs(path):
    check(lambda: lambda: lucid.arange(5) * 2, (), path)


def test_arguments_that_are_no_tensors(path):
    x = lucid.randn(4, 3)
    program = check(lambda: lambda x, factor, negate: -x * factor if negate else x, (x, 3, True), path)
    assert program.inputs == ["x: f32[4,3]"]


def test_strided_inputs(path):
    calls = [lucid.randn(3, 4).T, lucid.randn(8, 3)[::2], lucid.randn(1, 3).expand(4, 3)]
    check(lambda: lambda x: x.sum(0) + x, calls[0], path, calls=calls)


# ---- Results.


def test_tuple(path):
    program = check_sizes(lambda x: (x + 1, x.sum(0)), path)
    assert program.outputs == ["output0: f32[n,3]", "output1: f32[3]"]
    assert isinstance(program(lucid.ones(2, 3)), tuple)


def test_list(path):
    check_sizes(lambda x: [x + 1, [x.sum(0), x.sum(1)]], path)


def test_a_dict_names_the_outputs(path):
    program = check_sizes(lambda x: {"scores": x + 1, "total": x.sum()}, path)
    assert program.outputs == ["scores: f32[n,3]", "total: f32[]"]


def test_a_list_in_a_dict_does_not_shift_names(path):
    program = check_sizes(lambda x: {"parts": [x + 1, x - 1], "total": x.sum()}, path)
    assert program.outputs[2] == "total: f32[]"


def test_outputs_of_another_size_for_other_calls_are_not_promised(path):
    def function(x):
        return x + 1 if x.shape[0] > 10 else x[:1] + 1

    program = check_sizes(function, path)
    assert program.outputs == ["output0: f32[?,3]"]


def test_results_that_share_memory_become_separate(path):
    def function(x):
        y = x * 2
        return y, y, y.T, y[0], y[:, 1:2]

    program = check_sizes(function, path)
    first, second, *_ = program(lucid.ones(2, 3))
    first.zero_()
    assert second.tolist() == [[2, 2, 2]] * 2


def test_results_are_new_at_each_call(path):
    program = check_sizes(lambda x: x + 1, path)
    first = program(lucid.ones(2, 3))
    program(lucid.zeros(2, 3))
    assert first.tolist() == [[2, 2, 2]] * 2


def test_no_result(path):
    lucid.export(lambda x: None, lucid.ones(3), path)
    assert lucid.load_program(path)(lucid.ones(3)) == ()


def test_empty_results(path):
    check_sizes(lambda x: (x[x.shape[0] :] + 1, x[:, :0] * 2), path)
    check(lambda: lambda x: (x + 1, x.sum(), x.sum(0)), lucid.zeros(0, 3), path)


def test_0d(path):
    check(lambda: lambda x: (x + 1, x > 0), lucid.tensor(2.0), path)


# ---- Dtypes.


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float64"])
def test_numbers(dtype, path):
    weight = (lucid.randn(3) * 5).to(getattr(lucid, dtype))
    calls = [(lucid.randn(size, 3) * 5).to(weight.dtype) for size in (1, 2, 7)]
    dynamic = {"x": {0: lucid.Dim("n", max=8)}}
    check(lambda: lambda x: (x * weight, x.sum(0), x.float()), calls[1], path, calls=calls, dynamic=dynamic)


def test_bools(path):
    mask = lucid.tensor([True, False, True])
    check(lambda: lambda x: (x & mask, ~x, x.any(0)), lucid.randn(4, 3) > 0, path)


@pytest.mark.parametrize("dtype", [lucid.float16, lucid.bfloat16, lucid.float64])
def test_layer(dtype, path):
    check(lambda: nn.Linear(16, 8).to(dtype), lucid.randn(4, 16).to(dtype), path)


# ---- Sizes that vary.


def test_one_name_for_several_dimensions(path):
    calls = [(lucid.randn(n, 3), lucid.randn(3, n)) for n in SIZES]
    dynamic = {"x": {0: "n"}, "y": {1: "n"}}
    program = check(lambda: lambda x, y: x @ y + x.sum(), calls[1], path, calls=calls, dynamic=dynamic)
    assert program.inputs == ["x: f32[n,3]", "y: f32[3,n]"]
    assert program.outputs == ["output0: f32[n,n]"]
    with pytest.raises(ValueError, match=r"n from 1 to 64, got shapes \[4,3\], \[3,5\]"):
        program(lucid.ones(4, 3), lucid.ones(3, 5))


def test_several_names(path):
    calls = [(lucid.randn(a, b), lucid.randn(b, c)) for a in (1, 2, 9) for b in (1, 2, 16) for c in (1, 3, 33)]
    dynamic = {"x": {0: "a", 1: "b"}, "y": {0: "b", 1: "c"}}
    check(lambda: lambda x, y: (x @ y).relu(), calls[-1], path, calls=calls, dynamic=dynamic)


def test_two_sizes_that_broadcast(path):
    calls = [(lucid.randn(a, 3), lucid.randn(b, 3)) for a in (1, 2, 3) for b in (1, 2, 3)]
    dynamic = {"x": {0: lucid.Dim("a", max=4)}, "y": {0: lucid.Dim("b", max=4)}}
    check(lambda: lambda x, y: x.unsqueeze(1) * y, calls[-1], path, calls=calls, dynamic=dynamic)


@BOTH
def test_sizes_outside_the_bounds(path, trusted):
    lucid.export(lambda x: x + 1, lucid.ones(4, 3), path, dynamic={"x": {0: lucid.Dim("batch", min=3, max=5)}})
    program = lucid.load_program(path, trusted=trusted)
    for size in (3, 4, 5):
        assert program(lucid.ones(size, 3)).shape == (size, 3)
    for size in (0, 1, 2, 6, 1000):
        with pytest.raises(ValueError, match=rf"batch from 3 to 5, got shapes \[{size},3\]"):
            program(lucid.ones(size, 3))


def test_only_the_size_of_the_example_if_it_is_not_dynamic(path):
    program = check(lambda: lambda x: x + 1, lucid.ones(4, 3), path)
    with pytest.raises(ValueError, match=r"x: f32\[4,3\]\), got shapes \[5,3\]"):
        program(lucid.ones(5, 3))


def test_large_bounds(path):
    check_sizes(lambda x: x.sum(0) * x.shape[0], path, sizes=(1, 2, 77, 1023, 1024, 1025, 9999), max=10000)


def test_too_many_plans(path):
    """A scan has a plan for each size."""
    with pytest.raises(ValueError, match="need more than 512 plans; export smaller ranges"):
        check_sizes(lambda x: x.cumsum(0), path, max=1000)


def test_machine_code_serves_all_sizes_within_the_bounds(path):
    """Not all sizes of a large range are tried by the export."""
    calls = [lucid.randn(size) for size in (1, 40, 41, 100, 69999)]
    dynamic = {"x": {0: lucid.Dim("n", max=70000)}}
    check_or_refuse("smaller ranges", lambda: lambda x: x.cumsum(0), calls[1], path, calls=calls, dynamic=dynamic)


def test_bounds_need_not_include_the_example(path):
    check_sizes(lambda x: x + x.shape[0], path, sizes=(10, 15, 20), min=10, max=20)


def test_function_that_does_something_else_for_other_sizes(path):
    program = check_sizes(lambda x: x * 2 if x.shape[0] > 10 else x - 1, path, sizes=(1, 2, 9, 10, 11, 12, 64))
    assert program.graph().count("graph ") == 3  # one size, up to 10, from 11 on


def test_function_that_differs_for_each_size(path):
    def function(x):
        total = x[0] * 1
        for i in range(1, x.shape[0]):
            total = total * 0.5 + x[i]
        return total

    check_sizes(function, path, sizes=(1, 2, 3, 7, 8), max=8)


def test_a_single_other_size(path):
    check_sizes(lambda x: x * 2 if x.shape[0] == 777 else x - 1, path, sizes=(1, 776, 777, 778), max=1000)


def test_a_single_other_size_in_a_large_range(path):
    sizes = (1, 77776, 77777, 77778)
    check_sizes(lambda x: x * 2 if x.shape[0] == 77777 else x - 1, path, sizes=sizes, max=100000)


def test_sizes_that_other_libraries_read(path):
    check_sizes(lambda x: x * float(np.sqrt(x.shape[0])), path, sizes=(1, 2, 8), max=8)


def test_results_of_many_gigabytes(path):
    """No machine has the memory for the largest size. The others work, or the export says what to change."""
    calls = [lucid.randn(size) for size in (1, 2, 100)]
    dynamic = {"x": {0: lucid.Dim("n", max=100000)}}
    check_or_refuse(
        "smaller ranges", lambda: lambda x: x.unsqueeze(1) * x, calls[1], path, calls=calls, dynamic=dynamic
    )


def test_function_that_differs_for_too_many_sizes(path):
    with pytest.raises(ValueError, match="does something else for each of 64 sizes, and for n=65 too"):
        lucid.export(lambda x: x.sum() * hash(x.shape), lucid.ones(3), path, dynamic={"x": {0: lucid.Dim("n", max=70)}})
    assert not path.exists()


def test_error_of_a_size_that_was_not_in_the_examples_names_the_size(path):
    dynamic = {"x": {0: "a"}, "y": {0: "b"}}
    with pytest.raises(ValueError, match=r"a=1.*b=|a=2.*b="):
        lucid.export(lambda x, y: x + y, (lucid.ones(4), lucid.ones(4)), path, dynamic=dynamic)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (x + 1).reshape(x.shape[0] * 2, -1),
        lambda x: (x + 1).reshape(2, -1),
        lambda x: lucid.cat([x, x * 2, x[:1]]),
        lambda x: [part + 1 for part in x.split(2, 1)],
        lambda x: (x.cumsum(0), x.argmax(0), x.argmax(), x.max(1)),
        lambda x: F.softmax(x, 0) + x.mean() + x.std(1).sum(),
        lambda x: (x @ x.T).tril(),
        lambda x: x.flip(0) + x.roll(1, 0) + lucid.arange(x.shape[0]).unsqueeze(1),
        lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    ],
    ids=["reshape", "halves", "cat", "split", "scans", "softmax", "square", "order", "attention"],
)
def test_ops_with_sizes_that_vary(function, path):
    check_sizes(function, path, columns=4)


def test_convolution_with_sizes_that_vary(path):
    calls = [lucid.randn(n, 3, side, side) for n in (1, 2, 5) for side in (3, 8, 9, 16)]
    dynamic = {"input": {0: lucid.Dim("n", max=6), 2: lucid.Dim("side", min=3, max=16), 3: "side"}}
    check(lambda: nn.Conv2d(3, 4, 3), calls[1], path, calls=calls, dynamic=dynamic)


# ---- Branches on values.


def test_branches(path):
    def function(x):
        return x * 2 if x.sum() > 0 else x - 1

    x = lucid.ones(3)
    check(lambda: function, x, path, calls=[x, -x, x * 5, -x], examples=[-x])


def test_branches_within_branches(path):
    def function(x):
        if x.sum() > 0:
            return x * 2 if x[0] > 5 else x * 3
        return x - 1 if x[1] > 0 else x - 2

    examples = [lucid.tensor(values) for values in ([6.0, 0], [1.0, 1], [-3.0, 1], [-1.0, -1])]
    check(lambda: function, examples[0], path, calls=examples * 2, examples=examples[1:])


def test_branches_at_sizes_that_vary(path):
    x = lucid.ones(4, 3)
    calls = [sign * lucid.ones(size, 3) for size in SIZES for sign in (1, -1)]
    options = {"examples": [-x, x[:1], -x[:1]], "dynamic": {"x": {0: "n"}}}
    check(lambda: lambda x: x * 2 if x.sum() > 0 else x - 1, x, path, calls=calls, **options)


def test_branches_at_sizes_that_are_recorded_by_themselves(path):
    """All examples are resized for sizes that need calls of their own, such as 1."""
    x = lucid.ones(4)
    calls = [sign * lucid.ones(size) for size in (1, 2, 9) for sign in (1, -1)]
    options = {"examples": [-x], "dynamic": {"x": {0: "n"}}}
    check(lambda: lambda x: x * 2 if x.sum() > 0 else x - 1, x, path, calls=calls, **options)


@BOTH
def test_branch_that_was_not_exported(path, trusted):
    def function(x):
        return x * 2 if x.sum() > 0 else x - 1  # the branch

    lucid.export(function, lucid.ones(3), path)
    program = lucid.load_program(path, trusted=trusted)
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(
        RuntimeError, match=rf"branch .* was not exported.* at test_export.py:{line}; export it with an"
    ):
        program(-lucid.ones(3))
    assert program(lucid.ones(3)).tolist() == [2, 2, 2]


# ---- State.


@BOTH
def test_counter_reset_and_copy(path, trusted):
    model, x = Counter(), lucid.randn(4, 3)
    lucid.export(model, x, path)
    assert model.count.item() == 0
    expected = [model(x).detach() for _ in range(3)]
    program = lucid.load_program(path, trusted=trusted)
    assert bits([program(x) for _ in range(2)]) == bits(expected[:2])
    copy = program.copy()
    assert bits(copy(x)) == bits(expected[0])
    assert bits(program(x)) == bits(expected[2])
    assert program.state_dict()["count"].item() == 3
    program.reset()
    assert program.state_dict()["count"].item() == 0
    assert bits(program(x)) == bits(expected[0])
    assert copy.state_dict()["count"].item() == 1


def test_state_that_was_not_zero(path):
    model = Counter()
    for _ in range(5):
        model(lucid.ones(4, 3))
    lucid.export(model, lucid.ones(4, 3), path)
    assert model.count.item() == 5
    assert lucid.load_program(path).state_dict()["count"].item() == 5


def test_calls_of_several_sizes_share_state(path):
    def make():
        count = lucid.zeros(1)

        def function(x):
            count.add_(10 if x.shape[0] > 10 else 1)
            return x + count

        return function

    calls = [lucid.randn(size, 3) for size in (1, 2, 20, 3, 64, 1)]
    program = check(make, lucid.randn(4, 3), path, calls=calls, dynamic={"x": {0: "n"}})
    assert program.state_dict()["count"].item() == 24


def test_branches_share_state(path):
    def make():
        high, low = lucid.zeros(3), lucid.zeros(3)

        def function(x):
            if x.sum() > 0:
                high.add_(x)
                return high - low
            low.add_(x)
            return low * high

        return function

    x = lucid.randn(3).abs()
    check(make, x, path, calls=[x, x, -x, x, -x, -x], examples=[-x])


def test_branch_that_depends_on_state(path):
    def make():
        count = lucid.zeros(1)

        def function(x):
            count.add_(1)
            if count.sum() > 1:
                count.zero_()
            return x + count

        return function

    lucid.export(make(), lucid.ones(3), path)
    program = lucid.load_program(path)
    assert program(lucid.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(RuntimeError, match="was not exported"):
        program(lucid.ones(3))
    assert program.state_dict()["count"].item() == 1


def test_cache_that_is_written_at_a_position(path):
    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("rows", lucid.zeros(4, 3))
            self.register_buffer("position", lucid.zeros(1, dtype=lucid.int64))

        def forward(self, x):
            self.rows.index_put_([self.position], x)
            self.position += 1
            return self.rows.sum(0)

    calls = [lucid.randn(1, 3) for _ in range(4)]
    program = check(Cache, calls[0], path, calls=calls)
    before = bits(program.state_dict())
    with pytest.raises(ValueError, match="index"):
        program(calls[0])
    assert bits(program.state_dict()) == before


def test_writes_to_views_of_state(path):
    def make():
        base = lucid.zeros(3, 4)
        columns, middle = base.T, base.reshape(-1)[3:9]

        def function(x):
            columns[1].add_(x.sum())
            middle.mul_(2)
            base[0].sub_(1)
            return columns + 1, middle - 1, base.sum()

        return function

    check(make, lucid.ones(3), path, calls=[lucid.randn(3) for _ in range(4)])


def test_views_and_strided_tensors(path):
    base = lucid.arange(24.0)
    parts = base[::2], base[3:9].reshape(2, 3), base.reshape(4, 6).T, base[5], base[:1].expand(4)
    program = check(lambda: lambda x: [part * x for part in parts], lucid.tensor(2.0), path)
    assert len(program.state_dict()) == 1


def test_batch_normalization_in_training(path):
    calls = [lucid.randn(size, 3) for size in (2, 3, 8)]
    dynamic = {"input": {0: lucid.Dim("n", min=2, max=8)}}
    check(lambda: nn.BatchNorm1d(3).train(), calls[1], path, calls=calls * 2, dynamic=dynamic)


def test_tied_weights(path):
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding, self.head = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
            self.head.weight = self.embedding.weight

        def forward(self, tokens):
            return self.head(self.embedding(tokens))

    program = check(Tied, lucid.tensor([1, 2]), path, calls=[lucid.tensor([3, 5])])
    assert list(program.state_dict()) == ["embedding.weight"]


def test_weights_keep_their_values(path):
    model, x = nn.Linear(3, 2), lucid.randn(4, 3)
    lucid.export(model, x, path)
    program, expected = lucid.load_program(path), model(x).detach()
    with lucid.no_grad():
        model.weight.zero_()
    program.state_dict()["weight"].zero_()
    assert bits(program(x)) == bits(expected)


def test_constants_made_in_the_function(path):
    check_sizes(lambda x: lucid.zeros(3).add_(x.sum(0)) * lucid.tensor([1.0, 2.0, 3.0]), path)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("hidden", lucid.zeros(3))

    def forward(self, x):
        self.hidden = self.hidden + x
        return self.hidden * 2


def test_attribute_that_is_replaced(path):
    check_or_refuse("hidden", Recurrent, lucid.ones(3), path, calls=[lucid.ones(3)] * 3)


def test_export_leaves_attributes_as_they_were(path):
    model = Recurrent()
    with contextlib.suppress(ValueError):
        lucid.export(model, lucid.ones(3), path)
    assert model.hidden.tolist() == [0, 0, 0]


def test_number_that_each_call_changes(path):
    def make():
        counts = [0]

        def function(x):
            counts[0] += 1
            return x + counts[0]

        return function

    check_or_refuse("", make, lucid.ones(3), path, calls=[lucid.ones(3)] * 3)


def test_a_write_to_state_fails_as_a_whole(path):
    def make():
        total = lucid.zeros(3)

        def function(x, index):
            total.add_(x)
            return total.clone(), x[index]

        return function

    x = lucid.ones(3)
    lucid.export(make(), (x, lucid.tensor([1])), path)
    program = lucid.load_program(path, trusted=True)
    with pytest.raises(ValueError, match="out of range"):
        program(x, lucid.tensor([7]))
    assert program(x, lucid.tensor([0]))[0].tolist() == [1, 1, 1]


# ---- Random numbers.


def test_dropout(path):
    def make():
        return nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.5)).train()

    check(make, lucid.randn(4, 3), path, calls=[lucid.ones(4, 3)] * 4)


def test_dropout_at_sizes_that_vary(path):
    calls = [lucid.ones(size, 3) for size in (1, 4, 2, 7, 7)]
    check(lambda: nn.Dropout(0.5).train(), calls[1], path, calls=calls, dynamic={"input": {0: lucid.Dim("n", max=8)}})


def test_random_numbers_of_several_kinds(path):
    check(lambda: lambda x: (x + lucid.rand(3), lucid.randn(5), lucid.randint(0, 9, (4,))), lucid.ones(3), path)


def test_generator_of_the_function(path):
    def make():
        generator = lucid.Generator()
        generator.manual_seed(5)
        return lambda x: x + lucid.rand(3, generator=generator)

    check(make, lucid.ones(3), path, calls=[lucid.ones(3)] * 4)


def test_export_leaves_the_generator_as_it_was(path):
    lucid.manual_seed(4)
    before = bits(lucid.get_rng_state())
    lucid.export(nn.Dropout(0.5).train(), lucid.ones(4), path, dynamic={"input": {0: "n"}})
    assert bits(lucid.get_rng_state()) == before


def test_programs_do_not_advance_the_generator(path):
    lucid.export(nn.Dropout(0.5).train(), lucid.ones(64), path)
    program = lucid.load_program(path)
    before = bits(lucid.get_rng_state())
    first, second = program(lucid.ones(64)), program(lucid.ones(64))
    assert bits(lucid.get_rng_state()) == before
    assert bits(first) != bits(second)
    program.reset()
    assert bits(program(lucid.ones(64))) == bits(first)


# ---- Training.


def training(optimizer, dropout=0.0):
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(dropout), nn.Linear(8, 1))
    optimizer = optimizer(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return model, optimizer, step


OPTIMIZERS = [
    lambda parameters: lucid.optim.SGD(parameters, lr=0.1, momentum=0.9),
    lambda parameters: lucid.optim.Adam(parameters, lr=0.01),
    lambda parameters: lucid.optim.AdamW(parameters, lr=0.01),
]


@BOTH
@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=["sgd", "adam", "adamw"])
def test_training_step(optimizer, path, trusted):
    lucid.manual_seed(2)
    model, optimizer, step = training(optimizer, dropout=0.25)
    batches = [(lucid.randn(4, 3), lucid.randn(4, 1)) for _ in range(21)]
    step(*batches.pop())
    before = bits(model.state_dict())
    lucid.export(step, batches[0], path)
    assert bits(model.state_dict()) == before
    program = lucid.load_program(path, trusted=trusted)
    for batch in batches:
        assert bits(program(*batch)) == bits(step(*batch).detach())
    found = program.state_dict()
    for name, weight in model.state_dict().items():
        assert bits(found[f"model.{name}"]) == bits(weight.detach()), name
    for parameter, state in optimizer.state.items():
        name = next(name for name, each in model.named_parameters() if each is parameter)
        for key, value in state.items():
            if isinstance(value, lucid.Tensor):
                assert bits(found[f"optimizer.model.{name}.{key}"]) == bits(value), (name, key)


def test_training_step_at_sizes_that_vary(path):
    def make():
        _, _, step = training(OPTIMIZERS[1])
        step(lucid.ones(4, 3), lucid.ones(4, 1))
        return step

    calls = [(lucid.randn(size, 3), lucid.randn(size, 1)) for size in (1, 2, 4, 6, 3)]
    check(make, calls[2], path, calls=calls, dynamic={"x": {0: lucid.Dim("n", max=6)}, "y": {0: "n"}})


def test_gradients_computed_in_the_function(path):
    def function(x):
        y = (x * 1).requires_grad_()
        return lucid.autograd.grad((y**3).sum(), y)[0]

    check_sizes(function, path)


def test_export_leaves_gradients_as_they_were(path):
    model = nn.Linear(3, 1)

    def function(x):
        model.zero_grad()
        loss = model(x).sum()
        loss.backward()
        return loss

    with contextlib.suppress(ValueError):
        lucid.export(function, lucid.ones(2, 3), path)
    assert model.weight.grad is None


def test_first_training_step_is_refused(path):
    _, _, step = training(OPTIMIZERS[1])
    with pytest.raises(ValueError, match=r"creates state .* optimizer's; call the function once before"):
        lucid.export(step, (lucid.ones(4, 3), lucid.ones(4, 1)), path)


def test_gradients_from_before_the_call_are_refused(path):
    model = nn.Linear(3, 1)

    def function(x):
        loss = model(x).sum()
        loss.backward()
        return loss

    function(lucid.ones(2, 3))
    with pytest.raises(ValueError, match=r"gradients from before it; call zero_grad\(\)"):
        lucid.export(function, lucid.ones(2, 3), path)


# ---- Targets.


@pytest.mark.parametrize("level", RUNNABLE)
def test_target(level, path):
    calls = [lucid.randn(size, 3) for size in SIZES]
    options = {"dynamic": {"input": {0: "n"}}, "targets": [level]}
    check(lambda: nn.Linear(3, 5), calls[1], path, calls=calls, **options)


def test_all_targets_at_once(path):
    """Code for CPUs that this one is not is written too."""
    calls = [lucid.randn(size, 3) for size in SIZES]
    options = {"dynamic": {"input": {0: "n"}}, "targets": LEVELS}
    check(lambda: nn.Linear(3, 5), calls[1], path, calls=calls, **options)
    names = set(lucid.load(path))
    assert {f"lucid.code.{level}" for level in LEVELS} <= names


def test_no_targets(path):
    check(lambda: nn.Linear(3, 5), lucid.randn(4, 3), path, targets=[])
    assert not [name for name in lucid.load(path) if name.startswith("lucid.code")]


def test_unknown_target(path):
    with pytest.raises(ValueError, match="'neon' is not a target; targets are 'scalar', 'avx2' and 'avx512'"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, targets=["neon"])


# ---- What cannot be exported.


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (3, TypeError, "expects a module or a function, got int"),
        (lambda x: x, ValueError, "result 0 shares the memory of input x; return a copy"),
        (lambda x: (x + 1, x[1:]), ValueError, "result 1 shares the memory of input x; return a copy"),
        (lambda x: x.add_(1) * 2, ValueError, "writes to its input x; return the new value"),
        (lambda x: lucid.multinomial(x, 2), ValueError, "multinomial runs on the host"),
        (lambda x: lucid.nonzero(x), ValueError, r"test_export.py:\d+: the output size of nonzero depends on values"),
        (lambda x: x[x > 0], ValueError, "the output size of masked_select depends on values"),
        (lambda x: x * x.sum().item(), ValueError, r"test_export.py:\d+: reads a value of a tensor"),
        (lambda x: (x + 1).numpy(), (TypeError, ValueError), "lucid.export: "),
        (lambda x: {x + 1}, TypeError, "lucid.export: "),
    ],
    ids=["int", "input", "view", "write", "multinomial", "nonzero", "mask", "item", "numpy", "set"],
)
def test_refused(function, error, message, path):
    with pytest.raises(error, match=message):
        lucid.export(function, lucid.ones(4), path)
    assert not path.exists()


def test_result_that_is_state(path):
    total = lucid.zeros(3)
    with pytest.raises(ValueError, match="result 0 shares the memory of total; return a copy"):
        lucid.export(lambda x: total.add_(x), lucid.ones(3), path)
    assert total.tolist() == [0, 0, 0]


def test_result_that_is_a_weight(path):
    weight = lucid.ones(3)
    with pytest.raises(ValueError, match=r"result 1 shares the memory of weight|handle on the memory of a tensor"):
        lucid.export(lambda x: (x + 1, weight), lucid.ones(3), path)


def test_tensors_in_a_list_are_not_taken_for_constants(path):
    with pytest.raises((TypeError, ValueError), match=r"lucid\.export: "):
        lucid.export(lambda xs: xs[0] + xs[1], ([lucid.ones(3), lucid.ones(3)],), path)


def test_export_while_a_call_is_recorded(path):
    compiled = lucid.compile(lambda x: lucid.export(lambda x: x * 2, x, path))
    with pytest.raises(RuntimeError, match="cannot be called by a function that is being recorded"):
        compiled(lucid.ones(3))


def test_export_inside_an_export(path):
    def function(x):
        lucid.export(lambda x: x * 2, lucid.ones(3), path)
        return x + 1

    with pytest.raises(RuntimeError, match="cannot be called by a function that is being recorded"):
        lucid.export(function, lucid.ones(3), path)


def test_exception_of_the_function(path):
    total = lucid.zeros(3)

    def function(x):
        total.add_(1)
        raise KeyboardInterrupt

    lucid.manual_seed(3)
    before = bits(lucid.get_rng_state())
    with pytest.raises(KeyboardInterrupt):
        lucid.export(function, lucid.ones(3), path)
    assert total.tolist() == [0, 0, 0]
    assert bits(lucid.get_rng_state()) == before
    assert not path.exists()
    lucid.export(lambda x: x + 1, lucid.ones(3), path)


@pytest.mark.parametrize(
    ("dynamic", "error", "message"),
    [
        ({"z": {0: "n"}}, ValueError, "dynamic has the name 'z'; the inputs are x, y"),
        ({"x": {2: "n"}}, ValueError, r"dynamic\['x'\] has the dimension 2, but x has 2 dimensions"),
        ({"x": {-1: "n"}}, ValueError, r"dynamic\['x'\] has the dimension -1"),
        ({"x": {0: 5}}, TypeError, r"dynamic\['x'\]\[0\] must be a name or a lucid.Dim"),
        ({"x": {0: "a b"}}, TypeError, r"dynamic\['x'\]\[0\] must be a name or a lucid.Dim"),
        ({"x": {0: lucid.Dim("n", min=5, max=4)}}, ValueError, "needs 1 <= min <= max"),
        ({"x": {0: lucid.Dim("n", min=0)}}, ValueError, "needs 1 <= min <= max"),
        ({"x": {0: lucid.Dim("n")}, "y": {0: lucid.Dim("n", max=5)}}, ValueError, "one name, but different bounds"),
        ({"x": {0: lucid.Dim("n", min=2.5)}}, TypeError, "min"),
        ({"x": {0: lucid.Dim("n", max="8")}}, TypeError, "max"),
        ({"x": {"0": "n"}}, (TypeError, ValueError), "dimension"),
        ({"x": "n"}, TypeError, "dynamic must be like"),
        ("x", TypeError, "dynamic"),
    ],
)
def test_wrong_dynamic(dynamic, error, message, path):
    with pytest.raises(error, match=message):
        lucid.export(lambda x, y: x.sum() + y, (lucid.ones(2, 3), lucid.ones(2)), path, dynamic=dynamic)


def test_wrong_examples(path):
    with pytest.raises(ValueError, match="different numbers of tensors"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, examples=[(lucid.ones(3), lucid.ones(3))])
    with pytest.raises(ValueError, match="examples of x have different dtypes or ranks"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, examples=[lucid.ones(3, 3)])
    with pytest.raises(ValueError, match="examples of x have different dtypes or ranks"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, examples=[lucid.ones(3).double()])


def test_example_of_a_size_that_does_not_vary(path):
    calls = [lucid.ones(3), lucid.ones(5)]
    check_or_refuse("examples", lambda: lambda x: x + 1, calls[0], path, calls=calls, examples=calls[1:])


def test_examples_with_other_numbers(path):
    """A program has no input to choose between them."""
    calls = [(lucid.ones(3), 2), (lucid.ones(3), 5)]
    with pytest.raises(ValueError, match="examples"):
        lucid.export(lambda x, factor: x * factor, calls[0], path, examples=calls[1:])


def test_examples_with_results_of_other_dtypes(path):
    def function(x):
        return x.double() if x.sum() > 0 else x + 1

    with pytest.raises(ValueError, match="examples return results of different dtypes"):
        lucid.export(function, lucid.ones(3), path, examples=[-lucid.ones(3)])


def test_gpu(path):
    x = lucid.ones(4, 3)
    with pytest.raises(ValueError, match="x is on gpu:0; programs run on the CPU"):
        lucid.export(lambda x: x + 1, x.to("gpu"), path)
    with pytest.raises(ValueError, match="computes on the CPU and on a gpu"):
        lucid.export(lambda x: x.to("gpu").relu().cpu() + 1, x, path)
    weight = x.to("gpu")
    with pytest.raises(ValueError, match="the program uses a gpu; move the model to the CPU first"):
        lucid.export(lambda: weight * 2, (), path)
    program = check(lambda: lambda x: x + 1, x, path)
    with pytest.raises(ValueError, match="inputs must be on the CPU"):
        program(x.to("gpu"))


# ---- Wrong calls.


@pytest.fixture(params=[False, True], ids=["compiled", "trusted"])
def scale(request, path):
    lucid.export(lambda x, y: x * y, (lucid.ones(4, 3), lucid.ones(3)), path, dynamic={"x": {0: "n"}})
    return lucid.load_program(path, trusted=request.param)


@pytest.mark.parametrize(
    ("inputs", "error", "message"),
    [
        ((), TypeError, "expected 2 inputs, got 0"),
        ((lucid.ones(4, 3),), TypeError, "expected 2 inputs, got 1"),
        ((lucid.ones(4, 3),) * 3, TypeError, "expected 2 inputs, got 3"),
        ((lucid.ones(4, 3), lucid.ones(3).double()), TypeError, r"input 1 has dtype f64, expected y: f32\[3\]"),
        ((lucid.ones(4, 3, 1), lucid.ones(3)), ValueError, r"input 0 has shape \[4,3,1\], expected x: f32\[n,3\]"),
        ((lucid.ones(4, 3), lucid.ones(4)), ValueError, r"got shapes \[4,3\], \[4\]"),
        ((lucid.ones(4, 2), lucid.ones(3)), ValueError, r"got shapes \[4,2\], \[3\]"),
        ((lucid.ones(4, 3), 3.0), TypeError, "float"),
        ((lucid.ones(4, 3), None), TypeError, "None"),
    ],
)
def test_wrong_inputs(scale, inputs, error, message):
    with pytest.raises(error, match=message):
        scale(*inputs)
    assert scale(lucid.ones(2, 3), lucid.ones(3)).tolist() == [[1, 1, 1]] * 2


@BOTH
def test_index_out_of_range(path, trusted):
    lucid.export(lambda x, index: x[index] * 2, (lucid.ones(4), lucid.tensor([1])), path)
    program = lucid.load_program(path, trusted=trusted)
    for index in (4, -5, 2**40):
        with pytest.raises(ValueError, match="index: an index is out of range"):
            program(lucid.ones(4), lucid.tensor([index]))
    assert program(lucid.ones(4), lucid.tensor([-4])).tolist() == [2]


@BOTH
def test_token_out_of_range_names_the_op_of_the_model(path, trusted):
    lucid.export(nn.Embedding(5, 3), lucid.tensor([1]), path)
    with pytest.raises(ValueError, match="embedding: an index is out of range"):
        lucid.load_program(path, trusted=trusted)(lucid.tensor([5]))


def test_there_is_no_other_state(scale):
    assert scale.state_dict() == {}
    with pytest.raises(ValueError, match="has no state named 'weight'"):
        scale._loaded.state("weight")


# ---- Names.


def test_names_of_state(path):
    model, offset, scales = nn.Linear(3, 2), lucid.ones(2), [lucid.ones(2)]

    def function(x):
        return model(x) * scales[0] + offset

    program = check(lambda: function, lucid.ones(4, 3), path)
    assert sorted(program.state_dict()) == ["model.bias", "model.weight", "offset", "state"]


def test_names_that_clash(path):
    state = lucid.ones(3)
    hidden = [lucid.ones(3) * 2, lucid.ones(3) * 3]
    program = check(lambda: lambda x: x * state + hidden[0] * hidden[1], lucid.ones(3), path)
    assert len(program.state_dict()) == 3


def test_names_that_are_reserved(path):
    class Reserved(nn.Module):
        def __init__(self):
            super().__init__()
            self.lucid = nn.Linear(3, 2)

        def forward(self, x):
            return self.lucid(x)

    program = check(Reserved, lucid.ones(4, 3), path)
    assert list(program.state_dict()) == ["state.lucid.weight", "state.lucid.bias"]


def test_the_name_of_metadata(path):
    """Tensors in safetensors files cannot have this name."""

    class Reserved(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("__metadata__", lucid.ones(3))

        def forward(self, x):
            return x * self.__metadata__

    lucid.export(Reserved(), lucid.ones(3), path)
    program = lucid.load_program(path)
    assert list(program.state_dict()) == ["state.__metadata__"]
    assert program(lucid.ones(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("name", ['a"b', "a\nb", "ü", "\U0001f600", " ", "a" * 300, "\0"])
def test_strange_names(name, path):
    def function(x):
        return {name: x + 1}

    function.__name__ = name
    lucid.export(function, lucid.ones(3), path)
    program = lucid.load_program(path)
    assert program.name == name
    assert program.outputs == [f"{name}: f32[3]"]
    assert program(lucid.ones(3)).tolist() == [2, 2, 2]


# ---- Threads.


def in_threads(function, count=8):
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(function, range(count)))


@BOTH
def test_threads_share_a_program_without_state(path, trusted):
    model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 3))
    lucid.export(model, lucid.ones(4, 3), path, dynamic={"input": {0: lucid.Dim("n", max=20)}})
    program = lucid.load_program(path, trusted=trusted)
    inputs = [lucid.randn(size + 1, 3) for size in range(20)]
    expected = [bits(model(x).detach()) for x in inputs]

    def job(first):
        return all(bits(program(inputs[(first + i) % 20])) == expected[(first + i) % 20] for i in range(40))

    assert all(in_threads(job))


@BOTH
def test_threads_share_a_program_with_state(path, trusted):
    lucid.export(Counter(), lucid.ones(4, 3), path, dynamic={"x": {0: lucid.Dim("n", max=8)}})
    program = lucid.load_program(path, trusted=trusted)
    in_threads(lambda number: [program(lucid.ones(number + 1, 3)) for _ in range(50)])
    assert program.state_dict()["count"].item() == 400


def test_threads_reset_copy_and_read_a_program_that_runs(path):
    lucid.export(Counter(), lucid.ones(4, 3), path)
    program = lucid.load_program(path, trusted=True)

    def job(number):
        for _ in range(50):
            if number == 0:
                program.reset()
            elif number == 1:
                assert program.copy().state_dict()["count"].item() == 0
            elif number == 2:
                assert program.state_dict()["count"].item() >= 0
            else:
                program(lucid.ones(4, 3))

    in_threads(job)
    program.reset()
    assert program.state_dict()["count"].item() == 0


def test_threads_export_at_the_same_time(tmp_path):
    def job(number):
        model = nn.Linear(3, number + 1)
        lucid.export(model, lucid.ones(4, 3), tmp_path / str(number), dynamic={"input": {0: "n"}})
        return bits(lucid.load_program(tmp_path / str(number))(lucid.ones(2, 3))) == bits(
            model(lucid.ones(2, 3)).detach()
        )

    assert all(in_threads(job, 4))


def test_results_outlive_the_program(path):
    lucid.export(lambda x: x + 1, lucid.ones(3), path)
    program = lucid.load_program(path, trusted=True)
    result = program(lucid.ones(3))
    del program
    gc.collect()
    assert result.tolist() == [2, 2, 2]
