"""Exported models run by a C program: the same bytes as in Python, without LLVM and without Python."""

import functools
import os
import pathlib
import subprocess
import tempfile

import lucid
import pytest
from lucid import models, nn

HERE = pathlib.Path(__file__).parent
FLAGS = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{HERE.parents[1] / 'include'}"]
TRUSTED = 1


def runtime_library():
    """The path of liblucid_runtime.so: next to the package in a build folder, or given by the environment."""
    build = pathlib.Path(lucid.__file__).parents[2]
    library = pathlib.Path(os.environ.get("LUCID_RUNTIME_LIBRARY", build / "liblucid_runtime.so"))
    if not library.exists():
        pytest.fail(
            f"{library} does not exist; build it with `cmake --build <folder> --target lucid_runtime`, and set "
            "LUCID_RUNTIME_LIBRARY to its path if the package is installed elsewhere"
        )
    return library


@functools.cache
def runner():
    """The path of program_runner.c's executable."""
    library = runtime_library()
    # Deleted when the process ends.
    folder = tempfile.TemporaryDirectory()
    path = pathlib.Path(folder.name, "program_runner")
    subprocess.run(
        ["cc", *FLAGS, HERE / "program_runner.c", "-o", path, library, f"-Wl,-rpath,{library.parent}"], check=True
    )
    return path, folder


def run_c(program, folder, *, calls=0, flags=TRUSTED, **sizes):
    """Runs a program in C. Its calls read files in a folder and write others."""
    arguments = [program, flags, folder, calls, *(f"{name}={size}" for name, size in sizes.items())]
    return subprocess.run([runner()[0], *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def bytes_of(tensor):
    return tensor.detach().contiguous().clone().numpy().tobytes()


def check_c(path, calls, expected, **sizes):
    """Runs calls in one process, and compares the bytes of their results."""
    folder = path.parent
    for number, inputs in enumerate(calls):
        for index, tensor in enumerate(inputs):
            (folder / f"{number}.input.{index}").write_bytes(bytes_of(tensor))
    ended = run_c(path, folder, calls=len(calls), **sizes)
    assert ended.returncode == 0, ended.stderr
    assert "liblucid_runtime" in ended.stdout
    for library in ("libLLVM", "libpython", "_core.cpython"):
        assert library not in ended.stdout
    for number, results in enumerate(expected):
        for index, tensor in enumerate(results):
            found = (folder / f"{number}.output.{index}").read_bytes()
            assert found == bytes_of(tensor), f"call {number}, output {index}"


@pytest.fixture
def path(tmp_path):
    lucid.manual_seed(5)
    return tmp_path / "program.lucid"


def test_lenet_5(path):
    model = models.lenet_5().eval()
    compiled = lucid.compile(model)
    lucid.export(model, lucid.randn(4, 1, 32, 32), path, dynamic={"input": {0: lucid.Dim("batch", max=16)}})
    program = lucid.load_program(path)
    for batch in (1, 2, 5, 16):
        pictures = lucid.randn(batch, 1, 32, 32)
        expected = compiled(pictures)
        assert bytes_of(program(pictures)) == bytes_of(expected)
        check_c(path, [[pictures]] * 2, [[expected]] * 2, batch=batch)


def test_resnet_18(path):
    model = models.resnet_18(num_classes=10).eval()
    picture = lucid.randn(1, 3, 64, 64)
    expected = lucid.compile(model)(picture)
    lucid.export(model, picture, path)
    assert bytes_of(lucid.load_program(path)(picture)) == bytes_of(expected)
    check_c(path, [[picture]] * 2, [[expected]] * 2)


def test_gpt_decoder(path):
    model = models.GPT(vocab_size=65, context=32, dim=64, heads=4, layers=2).eval()
    decoder = models.GPTDecoder(model)
    lucid.export(decoder, lucid.tensor([[7]]), path)
    assert decoder.position.item() == 0
    step, program = lucid.compile(decoder), lucid.load_program(path)
    text, scores = [lucid.tensor([[7]])], []
    with lucid.no_grad():
        for _ in range(20):
            scores.append(step(text[-1]).clone())
            assert bytes_of(program(text[-1])) == bytes_of(scores[-1])
            full = model(lucid.cat(text, 1))[:, -1]
            assert (scores[-1] - full).abs().max().item() <= 1e-5
            text.append(scores[-1].argmax(-1, keepdim=True))
    check_c(path, [[token] for token in text[:20]], [[each] for each in scores])


def test_gpt_decoder_beyond_its_context(path):
    decoder = models.GPTDecoder(models.GPT(vocab_size=9, context=4, dim=8, heads=2, layers=1).eval())
    lucid.export(decoder, lucid.tensor([[7]]), path)
    program = lucid.load_program(path, trusted=True)
    first = bytes_of(program(lucid.tensor([[7]])))
    for _ in range(3):
        program(lucid.tensor([[7]]))
    for _ in range(2):
        with pytest.raises(IndexError, match="out of range"):
            program(lucid.tensor([[7]]))
    program.reset()
    assert bytes_of(program(lucid.tensor([[7]]))) == first
    (path.parent / "0.input.0").write_bytes(bytes_of(lucid.tensor([[9]])))
    ended = run_c(path, path.parent, calls=1)
    assert ended.returncode == 1
    assert "out of range" in ended.stderr


def test_gpt_decoder_with_a_prompt(path):
    """Two calls that share the cache: one for a prompt, one for single tokens."""
    model = models.GPT(vocab_size=65, context=32, dim=64, heads=4, layers=2).eval()
    decoder = models.GPTDecoder(model)
    dynamic = {"input": {1: lucid.Dim("count", max=8)}}
    lucid.export(decoder, lucid.tensor([[7, 8, 9]]), path, dynamic=dynamic)
    program = lucid.load_program(path, trusted=True)
    for count in (5, 1, 1, 8, 2, 1):
        tokens = lucid.randint(0, 65, (1, count))
        assert bytes_of(program(tokens)) == bytes_of(decoder(tokens))


def test_bert(path):
    model = models.Bert(vocab_size=50, context=32, dim=32, heads=4, layers=2, hidden=64).eval()
    compiled = lucid.compile(model)

    def inputs(batch, length):
        lengths = lucid.randint(1, length + 1, (batch, 1))
        return lucid.randint(0, 50, (batch, length)), (lucid.arange(length) < lengths).to(lucid.int64)

    sizes = {0: lucid.Dim("batch", max=8), 1: lucid.Dim("length", max=32)}
    lucid.export(model, inputs(3, 7), path, dynamic={"input_ids": sizes, "attention_mask": sizes})
    program = lucid.load_program(path)
    for batch, length in ((1, 1), (1, 32), (2, 5), (8, 1), (8, 31)):
        call = inputs(batch, length)
        expected = compiled(*call)
        assert [bytes_of(each) for each in program(*call)] == [bytes_of(each) for each in expected]
        check_c(path, [call], [expected], batch=batch, length=length)


def lstm():
    model = nn.LSTM(3, 8, num_layers=2, batch_first=True).eval()

    def function(x, h, c):
        output, (h, c) = model(x, (h, c))
        return {"output": output, "h": h, "c": c}

    return function


def lstm_inputs(batch):
    return lucid.randn(batch, 6, 3), lucid.randn(2, batch, 8), lucid.randn(2, batch, 8)


LSTM_SIZES = {"x": {0: lucid.Dim("batch", max=8)}, "h": {1: "batch"}, "c": {1: "batch"}}


def test_lstm(path):
    function = lstm()
    lucid.export(function, lstm_inputs(4), path, dynamic=LSTM_SIZES)
    compiled = lucid.compile(function)
    for batch in (1, 2, 8):
        calls = [lstm_inputs(batch) for _ in range(3)]
        check_c(path, calls, [list(compiled(*call).values()) for call in calls], batch=batch)


def test_outputs_of_an_lstm(path):
    lucid.export(lstm(), lstm_inputs(4), path, dynamic=LSTM_SIZES)
    program = lucid.load_program(path)
    known = ["output: f32[batch,6,8]", "h: f32[2,batch,8]", "c: f32[2,batch,8]"]
    assert program.outputs in (known, [each.replace("batch", "?") for each in known])


def test_training_in_c(path):
    """Weights, moments and the generator of dropout are state."""
    model = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.25), nn.Tanh(), nn.Linear(8, 1))
    optimizer = lucid.optim.Adam(model.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    calls = [(lucid.randn(4, 3), lucid.randn(4, 1)) for _ in range(20)]
    step(*calls[0])
    lucid.export(step, calls[0], path)
    compiled = lucid.compile(step)
    check_c(path, calls, [[compiled(*call)] for call in calls])


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"])
def test_dtypes_in_c(dtype, path):
    x = (lucid.randn(2, 3) * 5).to(getattr(lucid, dtype))
    lucid.export(lambda x: (x.clone(), x.sum(), x[:, :0] > 0), x, path)
    check_c(path, [[x]], [[x, x.sum(), x[:, :0] > 0]])


def test_branch_that_was_not_exported_in_c(path):
    lucid.export(lambda x: x * 2 if x.sum() > 0 else x - 1, lucid.ones(3), path)
    (path.parent / "0.input.0").write_bytes(bytes_of(-lucid.ones(3)))
    ended = run_c(path, path.parent, calls=1)
    assert ended.returncode == 1
    assert "was not exported" in ended.stderr


def test_size_outside_the_bounds_in_c(path):
    lucid.export(lambda x: x * 2, lucid.ones(3), path, dynamic={"x": {0: lucid.Dim("n", max=4)}})
    (path.parent / "0.input.0").write_bytes(bytes_of(lucid.ones(5)))
    ended = run_c(path, path.parent, calls=1, n=5)
    assert ended.returncode == 1
    assert "n from 1 to 4, got shapes [5]" in ended.stderr


def test_example_in_c(tmp_path):
    """The example in the repository compiles without warnings and runs."""
    library, path = runtime_library(), tmp_path / "model.lucid"
    lucid.export(nn.Linear(3, 2), lucid.ones(4, 3), path, dynamic={"input": {0: "batch"}})
    source = HERE.parents[1] / "examples/c/run_program.c"
    subprocess.run(
        ["cc", *FLAGS, source, "-o", tmp_path / "example", library, f"-Wl,-rpath,{library.parent}"], check=True
    )
    ended = subprocess.run([tmp_path / "example", path], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout.startswith("Linear: ")
