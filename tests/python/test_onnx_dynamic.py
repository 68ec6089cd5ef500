"""`lucid.onnx.export(dynamic=...)`: the file is right for all sizes, or the export is refused."""

import json
import math
import sys

import lucid
import lucid.onnx
import pytest
from lucid import nn
from lucid.onnx._conditions import Condition
from onnx_runs import bits, results_of

SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 20, 21, 40)


def exported(function, x=None, **options):
    x = lucid.randn(5, 4) if x is None else x
    return lucid.onnx.export(function, x, input_names=["x"], dynamic={"x": {0: "n"}}, **options)


def in_table(x):
    return x * 2 if x.shape[0] in (3, 4) else x * 3


def one(x):
    return x * 2 if x.shape[0] == 1 else x * 3


def even(x):
    return x * 2 if x.shape[0] % 2 == 0 else x * 3


USED_AS_NUMBERS = {
    "numel": lambda x: x / math.sqrt(x.numel()),
    "last three": lambda x: x[-3:] * 2,
    "steps": lambda x: x[1:7:2],
    "int": lambda x: x * int(2 * x.shape[0]),
    "text": lambda x: x * len(f"{2 * x.shape[0]}"),
    "sum of none": lambda x: x[5:].sum(0),
    "without three": lambda x: x[:-3],
    "max": lambda x: x * max(x.shape[0], 5),
    "float": lambda x: x * float(x.shape[0]),
    "power": lambda x: x ** x.shape[0],
    "parts": lambda x: x.split(2)[0],
    "squeeze": lambda x: x.squeeze(),
    "table": in_table,
    "one": one,
    "even": even,
}


@pytest.mark.parametrize("make", [lucid.randn, lucid.zeros], ids=["randn", "zeros"])
@pytest.mark.parametrize("name", USED_AS_NUMBERS)
def test_a_size_that_is_used_as_a_number_is_refused(name, make):
    with pytest.raises(ValueError, match=r"Leave the dimension out of `dynamic`"):
        exported(USED_AS_NUMBERS[name], make(5, 4))


def test_the_message_names_the_condition_and_the_dimension():
    with pytest.raises(ValueError, match=r"something else unless n\*4-20 == 0 \(n is dimension 0 of 'x'\)"):
        exported(USED_AS_NUMBERS["numel"])
    with pytest.raises(ValueError, match=r"for sizes n=2 \(n is dimension 0 of 'x'\).* holds only if n-3 >= 0"):
        exported(USED_AS_NUMBERS["last three"])
    args = lucid.ones(3), lucid.ones(3)
    with pytest.raises(ValueError, match=r"unless -n\+m == 0 \(n is dimension 0 of 'x', m is dimension 0 of 'y'\)"):
        lucid.onnx.export(lambda x, y: x + y, args, dynamic={"x": {0: "n"}, "y": {0: "m"}})


def limited(x):
    if x.shape[0] > 20:
        raise ValueError("too long")
    return x * 2


ACCEPTED = {
    "half": lambda x: x[: x.shape[0] // 2],
    "every other": lambda x: x[::2],
    "mean": lambda x: x.mean(0) / x.shape[0],
    "product": lambda x: x.t() @ x,
    "flat": lambda x: x.flatten(),
    "row": lambda x: x[0],
    "column": lambda x: x + lucid.arange(x.shape[0]).unsqueeze(1),
    "flip": lambda x: lucid.cat([x.flip(0), x[:1]]),
    "filled": lambda x: x.sum(0, keepdim=True).expand(x.shape[0], -1),
    "limited": limited,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_files_are_right_for_all_sizes_for_which_the_call_does_not_fail(name):
    function = ACCEPTED[name]
    loaded = lucid.onnx.load(exported(function))
    for size in SIZES:
        x = lucid.randn(size, 4)
        try:
            expected = function(x)
        except ValueError:
            continue
        assert bits(loaded(x)) == bits(expected), size


def test_sizes_with_one_name_are_equal():
    args = lucid.randn(3, 2), lucid.randn(3, 2)
    dynamic = {"x": {0: "n"}, "y": {0: "n"}}
    loaded = lucid.onnx.load(lucid.onnx.export(lambda x, y: x + y, args, dynamic=dynamic))
    x, y = lucid.randn(7, 2), lucid.randn(7, 2)
    assert bits(loaded(x, y)) == bits(x + y)
    with pytest.raises(ValueError, match="the size 'n' is 3 and, as dimension 0 of 'y', 4"):
        lucid.onnx.export(lambda x, y: (x, y), (args[0], lucid.randn(4, 2)), dynamic=dynamic)


def test_images_of_any_size():
    layers = [nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 8, 3, stride=2)]
    net = nn.Sequential(*layers).eval()
    dynamic = {"input": {0: "batch", 2: "height", 3: "width"}}
    loaded = lucid.onnx.load(lucid.onnx.export(net, lucid.randn(2, 1, 16, 12), dynamic=dynamic))
    for shape in [(1, 1, 6, 7), (3, 1, 33, 20), (2, 1, 7, 64)]:
        x = lucid.randn(*shape)
        assert bits(loaded(x)) == bits(net(x))


def asks_for_the_class(x):
    return x * 2 if type(x.shape[0]) is int else x * 3


def catches_a_type_error(x):
    try:
        return x * len(json.dumps(x.shape[0]))
    except TypeError:
        return x * 100


def fails_with_traced_sizes(x):
    return x * len(json.dumps(x.shape[0]))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (asks_for_the_class, "does something else with sizes that vary"),
        (catches_a_type_error, "catches an error"),
        (fails_with_traced_sizes, "fails with sizes that vary.*not JSON serializable"),
    ],
)
def test_calls_that_notice_that_sizes_vary(function, message):
    with pytest.raises(ValueError, match=message):
        exported(function)


def fails_for_some(x):
    if x.shape[0] > 20:
        if x.shape[0] == 21:
            raise ValueError("21")
        return x * 3
    return x * 2


def fails_for_values(x):
    if x.shape[0] > 20 and x.sum() != x.sum() * 2:
        raise ValueError("too long")
    return x * 2


@pytest.mark.parametrize("function", [fails_for_some, fails_for_values])
def test_a_limit_must_be_one_for_all_larger_sizes(function):
    with pytest.raises(ValueError, match=r"unless -n\+20 >= 0"):
        exported(function)


def test_sizes_that_are_used_otherwise_if_another_is_1():
    def f(x, y):
        return x * int(y.shape[0]) if x.shape[0] == 1 else x * y.shape[0]

    args = lucid.ones(3), lucid.ones(4)
    with pytest.raises(ValueError, match="unless m-4 == 0"):
        lucid.onnx.export(f, args, dynamic={"x": {0: "n"}, "y": {0: "m"}})


def test_an_example_of_size_1_is_made_larger(tmp_path):
    """A recording for size 1 would hold for no other: the size is broadcast."""
    x, path = lucid.randn(1, 4), tmp_path / "program.lucid"
    for function in (lambda x: x * 2 + x.shape[0], lambda x: x.sum(0) + lucid.arange(4)):
        loaded = lucid.onnx.load(exported(function, x))
        lucid.export(function, x, path, dynamic={"x": {0: "n"}})
        program = lucid.load_program(path)
        for size in SIZES:
            given = lucid.randn(size, 4)
            assert bits(loaded(given)) == bits(function(given)) == bits(program(given)), size
    args = lucid.ones(1, 4), lucid.ones(3, 4)
    with pytest.raises(ValueError, match="the size 'n' is 1 and, as dimension 0 of 'y', 3"):
        lucid.onnx.export(lambda x, y: x + y, args, dynamic={"x": {0: "n"}, "y": {0: "n"}})
    with pytest.raises(ValueError, match="dimension 0 of 'x' is 0 in the example"):
        exported(lambda x: x * 2, lucid.ones(0, 4))


def test_examples_are_those_of_other_exports(tmp_path):
    x, y = lucid.randn(2, 3), lucid.randn(3)
    for args in ((x, y), [x, y]):
        loaded = lucid.onnx.load(lucid.onnx.export(lambda x, y: x + y, args))
        lucid.export(lambda x, y: x + y, args, tmp_path / "program.lucid")
        assert bits(loaded(x, y)) == bits(x + y) == bits(lucid.load_program(tmp_path / "program.lucid")(x, y))


def test_a_debugger_does_not_see_sizes_that_vary():
    classes = set()

    def scaled(x):
        rows = x.shape[0]
        return x * rows

    def tracer(frame, event, argument):
        if frame.f_code is scaled.__code__ and event == "return":
            classes.add(type(frame.f_locals["rows"]))
        return tracer

    sys.settrace(tracer)
    try:
        exported(scaled)
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(None)
    assert classes == {int}


@pytest.mark.parametrize(
    ("function", "op"),
    [
        (lambda x: x[-3], "select"),
        (lambda x: x[x.shape[0] // 2], "select"),
        (lambda x: x.tril(x.shape[0] // 2), "tril"),
        (lambda x: nn.functional.avg_pool1d(x.t(), x.shape[0] - 1), "avg_pool1d"),
    ],
)
def test_an_op_that_needs_a_fixed_size_is_named_with_its_line(function, op):
    message = rf"test_onnx_dynamic.py:\d+: {op} cannot be exported: a size that varies"
    with pytest.raises(NotImplementedError, match=message):
        exported(function)


@pytest.mark.parametrize(
    ("text", "exceptions"),
    [
        ("s0-2 >= 0", []),
        ("s0-5 >= 0", [2, 3, 4]),
        ("s0-4 != 0", [4]),
        ("s0-128 < 0", None),
        ("s0*4-20 == 0", None),
        ("(s0/2)-1 != 0", [2, 3]),
        ("s0*2-(s0/2) >= 0", []),
        ("(s0%2) == 0", None),
        ("(s0%2)-2 != 0", []),
        ("((s0-1)/(((s0-1)/2)+1))-1 == 0", None),
        ("-((s0-2)/2)+1152921504606846975 >= 0", []),
        ("-s0*s1*64+s1*64 < 0", []),
        ("-s0+s1 == 0", None),
        ("-s0+s2 == 0", []),
        ("-s0*s0+(s0/3)*3 < 0", []),
        ("((((s0-2)/2)-2)/2)+1 != 0", [2, 3]),
        ("(((s0/2)/2)/2)-1 >= 0", [2, 3, 4, 5, 6, 7]),
        ("s0-500 >= 0", None),
    ],
)
def test_exceptions_of_conditions(text, exceptions):
    condition = Condition(text, {"s0": "n", "s1": "m", "s2": "n"})
    assert condition.exceptions() == exceptions
    if exceptions is not None and len(condition.names) == 1:
        assert [n for n in range(2, 300) if not condition.holds({"n": n, "m": 3})] == exceptions


# ---- What an export leaves as it was.


def test_a_refused_export_changes_neither_the_model_nor_the_arguments():
    norm = nn.BatchNorm2d(4)
    before = {name: bits(tensor) for name, tensor in norm.state_dict().items()}
    with pytest.raises(ValueError, match="changes a tensor"):
        lucid.onnx.export(norm, lucid.randn(2, 4, 5, 5))
    assert {name: bits(tensor) for name, tensor in norm.state_dict().items()} == before

    def fails(x):
        x.add_(1)
        norm.running_mean.add_(1)
        raise KeyError("x")

    x = lucid.zeros(3)
    with pytest.raises(ValueError, match="changes a tensor"):
        lucid.onnx.export(lambda x: x.add_(1), x)
    with pytest.raises(KeyError):
        lucid.onnx.export(fails, x)
    assert x.tolist() == [0, 0, 0]
    assert {name: bits(tensor) for name, tensor in norm.state_dict().items()} == before
    lucid.manual_seed(3)
    expected = bits(lucid.rand(3))
    lucid.manual_seed(3)
    with pytest.raises(ValueError, match="draws random numbers"):
        lucid.onnx.export(nn.Dropout(), x)
    assert bits(lucid.rand(3)) == expected


@pytest.mark.parametrize("result", [None, "s", [], 3])
def test_a_call_that_returns_no_tensor_is_refused(result):
    with pytest.raises(TypeError, match=f"returns no tensor, but an object of class {type(result).__name__}"):
        lucid.onnx.export(lambda x: result, lucid.ones(2))


def test_a_result_may_hold_other_things_than_tensors():
    proto = lucid.onnx.export(lambda x: {"double": x * 2, "none": None}, lucid.ones(2))
    assert len(results_of(lucid.onnx.load(proto)(lucid.ones(2)))) == 1
