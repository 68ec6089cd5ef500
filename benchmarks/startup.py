"""Measures the startup cost of a process: the import, and 50 ops whose kernels are in the disk cache.

python benchmarks/startup.py [--check]        (with a Python that has lucid)

--check compares the times with aims.toml.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

import aims

FIFTY_OPS = """
import time, lucid
names = '''exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal square sin cos tan asin acos atan sinh cosh tanh
sigmoid erf erfc relu gelu silu softplus hardswish hardsigmoid floor ceil round trunc isnan isinf isfinite abs neg sign
sum mean prod amax amin argmax argmin any all logical_not'''.split()
x = lucid.ones(64, 64)
def run():
    start = time.perf_counter()
    for name in names:
        getattr(lucid, name)(x)
    x @ x
    return time.perf_counter() - start
first, second = run(), run()
print(1e3 * (first - second))
"""


def seconds(code, environment=None):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="fail if an aim of aims.toml is missed")
    arguments = parser.parse_args()
    best_import = min(seconds("import lucid") for _ in range(9)) - min(seconds("pass") for _ in range(9))
    measured = {"import lucid": best_import * 1e3}
    print(f"import lucid: {best_import * 1e3:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"LUCID_CACHE_DIR": folder}
        for label in ("compiled", "from disk", "from disk"):
            command = [sys.executable, "-c", FIFTY_OPS]
            lost = float(subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout)
            what = f"50 ops, kernels {label}"
            measured[what] = min(lost, measured.get(what, lost))
            print(f"{what}: {lost:.0f} ms lost")
    return aims.verdict(aims.compare("ms", measured, aims.AIMS["startup"])) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
