"""What a process pays before it works: the import, and 50 ops whose kernels an earlier process left on disk.

python benchmarks/startup.py        (with the Python that has lucid)
"""

import os
import subprocess
import sys
import tempfile
import time

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
    best_import = min(seconds("import lucid") for _ in range(9)) - min(seconds("pass") for _ in range(9))
    print(f"import lucid: {best_import * 1e3:.0f} ms")
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"LUCID_CACHE_DIR": folder}
        for label in ("compiled", "from disk", "from disk"):
            command = [sys.executable, "-c", FIFTY_OPS]
            lost = subprocess.run(command, check=True, env=environment, capture_output=True, text=True).stdout
            print(f"50 ops, kernels {label}: {float(lost):.0f} ms lost")


if __name__ == "__main__":
    main()
