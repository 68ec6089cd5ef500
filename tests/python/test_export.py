"""lucid.export and lucid.load_program: programs compute what the function computes, bit for bit."""

import lucid
import numpy as np
import pytest
from exporting import BOTH, SIZES, Counter, F, check, check_or_refuse, check_sizes
from lucid import nn
from same import bits


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


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
    check_or_refuse("writes a file", lambda: function, calls[0], path, calls=calls)


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


def test_sizes_that_an_op_rejects(path):
    row = lucid.ones(3, 3)

    def function(x):
        try:
            return x + row
        except ValueError:
            return x * 10

    check_sizes(function, path, sizes=(1, 2, 3, 4, 8), max=8)


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
