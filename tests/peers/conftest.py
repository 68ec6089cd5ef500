"""Makes tests/python/op_samples.py, which reads the samples of the op table, importable here."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
