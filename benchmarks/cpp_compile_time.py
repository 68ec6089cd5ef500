"""Measures how long compilers take for a program of one line that includes lucid/lucid.h, on an idle machine.

python benchmarks/cpp_compile_time.py [--include <folder of the headers>]
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

COMPILERS, ROUNDS = ("clang++-22", "g++"), 7
PROGRAMS = {
    "lucid/lucid.h": "#include <iostream>\n#include <lucid/lucid.h>\n"
    "int main() { std::cout << lucid::ones({2, 3}) + 1 << '\\n'; }\n",
    "iostream only": "#include <iostream>\nint main() { std::cout << 1 << '\\n'; }\n",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "include")
    include = parser.parse_args().include
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "program.cpp")
        for _ in range(ROUNDS):
            for name, text in PROGRAMS.items():
                source.write_text(text)
                for compiler in COMPILERS:
                    begin = time.perf_counter()
                    options = ["-std=c++20", f"-I{include}", "-c", source, "-o", source.with_suffix(".o")]
                    subprocess.run([compiler, *options], check=True)
                    took = time.perf_counter() - begin
                    best[name, compiler] = min(took, best.get((name, compiler), took))
    for (name, compiler), took in best.items():
        print(f"{name}, {compiler}: {took:.2f} s")


if __name__ == "__main__":
    sys.exit(main())
