"""What programs return and raise as the function did, what they take, and what an export warns of."""

import json
import subprocess
import sys
import warnings

import lucid
import numpy as np
import pytest
from exporting import BOTH
from lucid import nn
from same import bits
from test_export_hostile import rewritten


@pytest.fixture
def path(tmp_path):
    return tmp_path / "program.lucid"


# ---- Results.


def same_structure(a, b):
    if isinstance(a, lucid.Tensor):
        return isinstance(b, lucid.Tensor) and bits(a) == bits(b)
    if isinstance(a, dict):
        return type(b) is dict and list(a) == list(b) and all(same_structure(a[key], b[key]) for key in a)
    if a is None:
        return b is None
    kind = list if isinstance(a, list) else tuple
    return type(b) is kind and len(a) == len(b) and all(map(same_structure, a, b))


RESULTS = {
    "tensor": lambda x: x + 1,
    "tuple": lambda x: (x + 1, x * 2),
    "one": lambda x: (x + 1,),
    "list": lambda x: [x + 1, x * 2],
    "list of one": lambda x: [x + 1],
    "dict": lambda x: {"logits": x + 1, "loss": x.sum()},
    "dict of one": lambda x: {"logits": x + 1},
    "nested": lambda x: {"a": [x + 1, (x * 2, None)], "b": {}, 3: {"c": x.sum()}},
    "named tuple": lambda x: {"max": x.max(1)},
    "empty": dict,
    "keys": lambda x: {"\ud800": x + 1, "": x * 2, "output0": x - 1, None: x * 3},
}


@BOTH
@pytest.mark.parametrize("name", RESULTS)
def test_results_have_the_structure_that_the_function_returns(name, trusted, path):
    function = (lambda x: {}) if name == "empty" else RESULTS[name]
    lucid.export(function, lucid.ones(2, 3), path, dynamic={"x": {0: lucid.Dim("n", max=8)}})
    program = lucid.load_program(path, trusted=trusted)
    for size in (1, 2, 5):
        x = lucid.randn(size, 3)
        for each in (program, program.copy()):
            assert same_structure(function(x), each(x)), (function(x), each(x))


def test_results_of_different_structures(path):
    def function(x):
        return {"a": x + 1} if x.sum() > 0 else {"b": x + 1}

    with pytest.raises(ValueError, match="the examples return results of different structures"):
        lucid.export(function, lucid.ones(3), path, examples=[-lucid.ones(3)])


@pytest.mark.parametrize("key", [1.5, (1, 2), 2**63, b"a"])
def test_keys_that_a_file_cannot_have(key, path):
    with pytest.raises(TypeError, match=r"returns a dict with the key .* of class .*; use strings or integers"):
        lucid.export(lambda x: {key: x + 1}, lucid.ones(3), path)


@pytest.mark.parametrize(
    "structure",
    [
        "{",
        "3",
        '"x"',
        "[]",
        '{"list": 3}',
        '{"set": ["tensor"]}',
        '{"list": []}',
        '{"list": ["tensor", "tensor"]}',
        '{"list": ["tensor"], "tuple": []}',
        '{"dict": ["tensor"]}',
        '{"dict": [[1.5, "tensor"]]}',
        '{"dict": [[[1], "tensor"]]}',
        '{"dict": [["a", "tensor"], ["a", null]]}',
        f'{{"dict": [[{2**64}, "tensor"]]}}',
        '{"list": [' * 100_000,
        '{"list": [' * 5_000 + '"tensor"' + "]}" * 5_000,
    ],
)
def test_structures_in_files_that_are_not_trusted(structure, path):
    lucid.export(lambda x: {"a": x + 1}, lucid.ones(3), path)
    path.write_bytes(rewritten(path.read_bytes(), lambda program: program.update(structure=structure)))
    with pytest.raises(ValueError, match="the file is damaged: the structure of the result"):
        lucid.load_program(path)


def test_files_without_a_structure(path):
    """As earlier versions wrote them."""

    def edit(program):
        assert json.loads(program.pop("structure")) == {"dict": [["a", "tensor"], ["b", "tensor"]]}
        for call in program["calls"]:
            for errors in call["errors"]:
                del errors["class"]

    lucid.export(lambda x, i: {"a": x + 1, "b": x[i]}, (lucid.ones(3), lucid.tensor([0, 1])), path)
    path.write_bytes(rewritten(path.read_bytes(), edit))
    program = lucid.load_program(path)
    found = program(lucid.ones(3), lucid.tensor([0, 1]))
    assert type(found) is tuple
    assert [each.tolist() for each in found] == [[2, 2, 2], [1, 1]]
    with pytest.raises(ValueError, match="out of range"):
        program(lucid.ones(3), lucid.tensor([0, 7]))


# ---- Errors.

X, NUMBERS = lucid.ones(3, 4), lucid.tensor([2, 3])
FAILING = {
    "index": (lambda x, i: x[i], (X, lucid.tensor([0, 2])), (X, lucid.tensor([0, 3]))),
    "negative index": (lambda x, i: x[i], (X, lucid.tensor([0, 2])), (X, lucid.tensor([0, -4]))),
    "index_select": (lambda x, i: x.index_select(0, i), (X, lucid.tensor([0, 2])), (X, lucid.tensor([0, 3]))),
    "gather": (
        lambda x, i: x.gather(1, i),
        (X, lucid.zeros(3, 1, dtype=lucid.int64)),
        (X, lucid.full((3, 1), 4)),
    ),
    "embedding": (nn.functional.embedding, (lucid.tensor([0, 1]), X), (lucid.tensor([0, 3]), X)),
    "cross_entropy": (nn.functional.cross_entropy, (X, lucid.tensor([0, 1, 2])), (X, lucid.tensor([0, 1, 4]))),
    "floor_divide": (lambda x, y: x // y, (NUMBERS, NUMBERS), (NUMBERS, lucid.tensor([1, 0]))),
    "remainder": (lambda x, y: x % y, (NUMBERS, NUMBERS), (NUMBERS, lucid.tensor([1, 0]))),
}


@BOTH
@pytest.mark.parametrize("name", FAILING)
def test_values_that_a_program_cannot_use_raise_what_the_function_raises(name, trusted, path):
    function, good, bad = FAILING[name]
    with pytest.raises((IndexError, ValueError, RuntimeError)) as expected:
        function(*bad)
    lucid.export(function, good, path)
    program = lucid.load_program(path, trusted=trusted)
    with pytest.raises(expected.type) as found:
        program(*bad)
    assert type(found.value) is type(expected.value)
    assert bits(program(*good)) == bits(function(*good))


# ---- NumPy's arrays.


@BOTH
def test_inputs_from_numpy(trusted, path):
    lucid.export(lambda x, i: x[i] * 2, (lucid.ones(4, 3), lucid.tensor([0])), path, dynamic={"x": {0: "n"}})
    program = lucid.load_program(path, trusted=trusted)
    x, i = np.random.default_rng(1).random((5, 6), np.float32), np.array([3])
    i.flags.writeable = False
    for given in (x[:, :3], x[:, ::2], np.asfortranarray(x[:, 3:]), x[::-1, :3]):
        before = given.copy()
        assert program(given, i).numpy().tobytes() == (given[i] * 2).tobytes()
        assert program(lucid.tensor(given), i).numpy().tobytes() == (given[i] * 2).tobytes()
        assert np.array_equal(given, before)
    with pytest.raises(TypeError, match=r"input 0 has dtype f64, expected x: f32\[n,3\]"):
        program(x[:, :3].astype(np.float64), i)
    with pytest.raises(TypeError, match="list"):
        program(x[:, :3].tolist(), i)


# ---- What programs do not do.

PRINTING = """
import logging, sys, warnings
import lucid
def shown(x):
    print("a")
    return x + 1
def logged(x):
    logging.getLogger("a").warning("b")
    return x + 1
def warned(x):
    warnings.warn("c")
    return x + 1
@lucid.compiler.effect
def effect(x):
    pass
def marked(x):
    effect(x)
    return x + 1
for function in (shown, logged, warned, marked, lambda x: x + 1):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lucid.export(function, lucid.ones(3), sys.argv[1], dynamic={"x": {0: "n"}})
        program = lucid.load_program(sys.argv[1])
        assert program(lucid.ones(2)).tolist() == [2, 2]
    said = [str(each.message) for each in caught if str(each.message) != "c"]
    print(function.__name__, [(each.filename, each.lineno) for each in caught if str(each.message) != "c"], *said)
"""


def test_calls_that_a_program_does_not_repeat(path):
    """With the streams of a program, which pytest replaces."""
    ended = subprocess.run([sys.executable, "-c", PRINTING, str(path)], capture_output=True, text=True, check=True)
    lines = [line for line in ended.stdout.splitlines() if line != "a"]
    said = "lucid.export: the program does not make these calls of the function:"
    for line, name, call in zip(
        lines,
        ("shown", "logged", "warned", "marked"),
        ("print (<string>:5)", "logging (<string>:8)", "warnings.warn (<string>:11)", "effect (<string>:17)"),
    ):
        assert line == f"{name} [('<string>', 22)] {said} {call}"
    assert lines[4:] == ["<lambda> []"]


def test_training_mode(path):
    """A model that was not switched to evaluation mode."""
    said = r"lucid\.export: these ops do in the program what they do in training: {}.*call model\.eval\(\)"
    models = {
        "dropout": nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)),
        "feature_dropout": nn.Sequential(nn.Unflatten(1, (3, 1)), nn.Dropout2d(0.5)),
        "alpha_dropout": nn.AlphaDropout(0.5),
        "rrelu": nn.RReLU(),
        "batch_norm": nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)),
    }
    for name, model in models.items():
        # In evaluation mode some of them return their input, which a program cannot.
        for function in (nn.Sequential(nn.Tanh(), model), lambda input, model=model: model(input)):
            with pytest.warns(UserWarning, match=said.format(name)):
                lucid.export(function, lucid.ones(4, 3), path)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            lucid.export(nn.Sequential(nn.Tanh(), model).eval(), lucid.ones(4, 3), path)
            lucid.export(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3)), lucid.ones(4, 3), path)


def test_training_steps_are_meant_to_train(path):
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5), nn.BatchNorm1d(3))
    optimizer = lucid.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        return {"loss": loss}

    step(lucid.ones(4, 3))
    lucid.export(step, lucid.ones(4, 3), path)
    assert list(lucid.load_program(path)(lucid.ones(4, 3))) == ["loss"]
