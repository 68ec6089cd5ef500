"""The examples in the docstrings of all ops of the table and of the package."""

import doctest
import importlib
import math
import pkgutil

import lucid
import pytest

RUNNER_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PUBLIC = sorted(lucid._core.public_ops)


def run_examples(name, text):
    """Runs the examples of a docstring and returns their number."""
    test = doctest.DocTestParser().get_doctest(text, {"lucid": lucid, "math": math}, name, None, 0)
    report = []
    runner = doctest.DocTestRunner(optionflags=RUNNER_OPTIONS)
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
    return len(test.examples)


@pytest.mark.parametrize("name", PUBLIC)
def test_example_of_op(name):
    lucid.manual_seed(0)
    assert run_examples(name, lucid._core.ops[name].__doc__) > 0


def package_objects():
    modules = [lucid]
    for info in pkgutil.walk_packages(lucid.__path__, "lucid."):
        if not info.name.endswith("_core"):
            modules.append(importlib.import_module(info.name))
    for module in modules:
        for found in doctest.DocTestFinder(exclude_empty=True).find(module, globs={}):
            if found.examples:
                yield found


@pytest.mark.parametrize("test", list(package_objects()), ids=lambda test: test.name)
def test_example_of_package(test):
    lucid.manual_seed(0)
    assert run_examples(test.name, test.docstring) > 0
