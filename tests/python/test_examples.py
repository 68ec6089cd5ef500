"""The examples run, report the speedup of compiling, and match their eager results bit for bit."""

import functools
import importlib
import pathlib
import re
import sys

import lucid
import pytest
from pictures import write_pictures

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
FASTER = re.compile(r"^a compiled (?:step|call) is (\d+\.\d\d) times as fast as an eager one$", re.MULTILINE)


@pytest.fixture
def example(monkeypatch):
    """Imports a file of the examples. Some benchmarks have the same names."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    names = [path.stem for path in EXAMPLES.glob("*.py")]
    for name in names:
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield importlib.import_module
    for name in names:
        sys.modules.pop(name, None)


@pytest.fixture
def run(example, monkeypatch, capsys):
    """Runs an example as a program and returns its output."""

    def run_example(name, *words, compiled=True):
        with monkeypatch.context() as patch:
            if not compiled:
                patch.setattr(lucid, "compile", lambda function: function)
            patch.setattr(sys, "argv", [name, *map(str, words)])
            example(name).main()
        printed = capsys.readouterr().out
        assert float(FASTER.search(printed)[1]) > 0
        return printed

    return run_example


@pytest.fixture
def compiled_functions(monkeypatch):
    """The functions that lucid.compile returned."""
    found = []
    compile_as_ever = lucid.compile

    def compile_and_keep(function):
        found.append(compile_as_ever(function))
        return found[-1]

    monkeypatch.setattr(lucid, "compile", compile_and_keep)
    return found


def all_hit(functions):
    """Whether every function ran plans and none ran eagerly."""
    return all(each.cache_info().hits > 0 and "runs eagerly" not in each.explain() for each in functions)


def without_times(printed):
    """The output without figures that depend on the clock."""
    lines = FASTER.sub("", printed).splitlines()
    return [re.sub(r" +\d+\.\d( s)?$", "", line) for line in lines]


def test_fashion_mnist(run, compiled_functions, tmp_path):
    write_pictures(tmp_path)
    words = ("--data", tmp_path, "--epochs", 2, "--out", tmp_path)
    printed = run("fashion_mnist", *words)
    assert len(compiled_functions) == 2
    assert all_hit(compiled_functions)
    saved = (tmp_path / "lenet.safetensors").read_bytes()
    assert (tmp_path / "loss.svg").read_text().startswith("<svg")
    assert without_times(run("fashion_mnist", *words, compiled=False)) == without_times(printed)
    assert (tmp_path / "lenet.safetensors").read_bytes() == saved


def test_char_gpt(run, compiled_functions, monkeypatch, tmp_path):
    text = tmp_path / "text"
    text.write_text("the cat sat on the mat. " * 20)
    monkeypatch.setattr(lucid.models, "gpt", functools.partial(lucid.models.gpt, dim=16, heads=2, layers=1))
    words = ("--text", text, "--steps", 6, "--batch", 2, "--context", 24, "--write", 10)
    printed = run("char_gpt", *words)
    assert "480 characters" in printed
    assert len(compiled_functions) == 2
    assert all_hit(compiled_functions)
    assert without_times(run("char_gpt", *words, compiled=False)) == without_times(printed)


def test_sentence_embeddings(run, compiled_functions, monkeypatch, tmp_path):
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sleeps", "a", "kitten", "naps", "."]
    (tmp_path / "vocab.txt").write_text("\n".join(pieces))
    sizes = {"vocab_size": len(pieces), "context": 16, "dim": 16, "heads": 2, "layers": 1, "hidden": 32}
    small = functools.partial(lucid.models.bert, **sizes)
    monkeypatch.setattr(lucid.models, "bert", small)
    lucid.save(small().state_dict(), tmp_path / "model.safetensors")
    words = ("--model", tmp_path, "The cat sleeps.", "A kitten naps.", "The kitten sleeps.")
    printed = run("sentence_embeddings", *words)
    assert printed.count("The kitten sleeps.") >= 1
    assert all_hit(compiled_functions)
    assert without_times(run("sentence_embeddings", *words, compiled=False)) == without_times(printed)


def test_the_tokenizer(example):
    tokenizer = example("wordpiece").WordPiece(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "un", "##known"])
    assert tokenizer("Unknown, unknown") == [2, 4, 5, 1, 4, 5, 3]
