"""The samples of the op table are read by tests/python/op_samples.py here too."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
