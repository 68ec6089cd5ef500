"""Runs the C++ program examples/cpp/lenet.cpp and its Python counterpart, and compares what they print.

python same_losses.py <program> <folder of the images> <python>
"""

import pathlib
import subprocess
import sys

program, folder, python = sys.argv[1:4]
script = pathlib.Path(__file__).resolve().parents[2] / "examples/lenet.py"
found = subprocess.run([program, folder], capture_output=True, text=True, check=True).stdout.split()
expected = subprocess.run([python, str(script), folder], capture_output=True, text=True, check=True).stdout.split()
if len(found) != 100 or found != expected:
    sys.exit(f"C++ printed {found}, Python {expected}")
print(f"100 losses are the same; the last is {found[-1]}")
