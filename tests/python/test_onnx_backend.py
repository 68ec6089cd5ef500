"""The backend suite of the package `onnx`, run with `lucid.onnx.load`."""

import collections
import pathlib
import re

import lucid
import lucid.onnx
import numpy as np
import onnx
import onnx_backend
import pytest
from onnx_backend import FAMILIES, NOT_SUPPORTED, cases, family_of, to_array, to_tensor

COVERED = [name for name, case in cases().items() if case.reason() is None]
OTHERS = [name for name, case in cases().items() if case.reason() is not None]

# How many tests of each family pass with onnx 1.23.
PASSING = {
    "arithmetic": 91,
    "functions": 63,
    "activations": 60,
    "comparisons and logic": 70,
    "bits and casts": 57,
    "reductions": 132,
    "softmax and scans": 67,
    "searches": 45,
    "shapes": 81,
    "creation": 49,
    "indexing": 38,
    "products and convolutions": 51,
    "pooling": 52,
    "normalization": 116,
    "losses": 104,
    "images": 85,
    "attention": 174,
}


def run(case):
    module = lucid.onnx.load(case.model)
    for inputs, expected in case.data:
        found = module(*map(to_tensor, inputs))
        found = [found] if isinstance(found, lucid.Tensor) else list(found)
        assert len(found) == len(expected)
        for tensor, array in zip(found, expected):
            assert repr(tensor.dtype) == f"lucid.{array.dtype.name}"
            assert tuple(tensor.shape) == array.shape
            if array.dtype.name == "bfloat16":
                array = array.astype(np.float32)
            np.testing.assert_allclose(to_array(tensor), array, rtol=case.rtol, atol=case.atol)


@pytest.mark.parametrize("name", COVERED)
def test_node(name):
    run(cases()[name])


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_not_covered_says_so(name):
    """A test that passes must not be listed, and nothing may fail in another way than it says."""
    case = cases()[name]
    if case.reason() == onnx_backend.ROUNDED_ONCE:
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            run(case)
        return
    with pytest.raises(NotImplementedError):
        run(case)


def test_each_family_has_tests():
    counts = collections.Counter(family_of(cases()[name]) for name in COVERED)
    assert set(FAMILIES) == set(PASSING)
    for family, least in PASSING.items():
        assert counts[family] >= max(least, 30), (family, counts[family])


def test_the_documentation_has_the_counts_and_what_is_not_loaded():
    document = (pathlib.Path(__file__).parents[2] / "docs/onnx.md").read_text()
    totals = collections.Counter(family_of(case) for case in cases().values())
    counts = collections.Counter(family_of(cases()[name]) for name in COVERED)
    if onnx.__version__.startswith("1.23."):
        for family, least in PASSING.items():
            assert counts[family] == least
            assert f"| {family} | {least} | {totals[family]} |" in document
    assert f"`load` runs {len(lucid.onnx.supported_ops())} ops of ONNX" in document
    listed = document.partition("### Ops of ONNX that are not loaded")[2].partition("\n\nData types")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == set(NOT_SUPPORTED)


def test_every_supported_op_is_in_a_family():
    supported = set(lucid.onnx.supported_ops())
    assert supported == set(onnx_backend.FAMILY_OF)
    assert not supported & set(NOT_SUPPORTED)
