"""Targets, names, threads, and what lucid.export and programs refuse."""

import concurrent.futures
import gc

import lucid
import pytest
from exporting import BOTH, LEVELS, RUNNABLE, SIZES, Counter, check
from lucid import nn
from same import bits


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


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
        (
            lambda x: lucid.nonzero(x),
            ValueError,
            r"test_export_errors.py:\d+: the output size of nonzero depends on values",
        ),
        (lambda x: x[x > 0], ValueError, "the output size of masked_select depends on values"),
        (lambda x: x * x.sum().item(), ValueError, r"test_export_errors.py:\d+: reads a value of a tensor"),
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


def test_example_in_which_a_size_has_two_values(path):
    with pytest.raises(ValueError, match="the size 'n' is 4 and 3 in one example; give sizes that differ two names"):
        lucid.export(lambda x: x + 1, lucid.ones(4, 3), path, dynamic={"x": {0: "n", 1: "n"}})


def test_example_of_a_size_that_does_not_vary(path):
    with pytest.raises(ValueError, match=r"examples of x have the shapes \[3\] and \[5\]; name the dimensions"):
        lucid.export(lambda x: x + 1, lucid.ones(3), path, examples=[lucid.ones(5)])


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
        with pytest.raises(IndexError, match="index: an index is out of range"):
            program(lucid.ones(4), lucid.tensor([index]))
    assert program(lucid.ones(4), lucid.tensor([-4])).tolist() == [2]


@BOTH
def test_token_out_of_range_names_the_op_of_the_model(path, trusted):
    lucid.export(nn.Embedding(5, 3), lucid.tensor([1]), path)
    with pytest.raises(IndexError, match="embedding: an index is out of range"):
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
    assert program(lucid.ones(3))[name].tolist() == [2, 2, 2]


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
