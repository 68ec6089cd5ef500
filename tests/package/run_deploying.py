"""Compiles and runs the C and C++ programs of docs/deploying.md and examples/c on an exported LeNet-5.

python run_deploying.py --include <folder> --library <liblucid.so> --runtime <liblucid_runtime.so>

Their results must be those of the model in Python. Runs in the Python in which the wheel is installed.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import lucid

ROOT = pathlib.Path(__file__).parent.parent.parent
AHEAD_OF_TIME = """\
#include "lenet.h"
#include <stdio.h>

int main(void) {
  static float image[32 * 32];
  lucid_program* program = lucid_program_open(&lenet);
  lucid_tensor input = {.dtype = LUCID_F32, .rank = 4, .shape = {1, 1, 32, 32}, .data = image}, scores;
  if (!program || lucid_program_run(program, &input, 1, &scores, 1)) return puts(lucid_error()), 1;
  for (int i = 0; i < 10; ++i) printf("%g\\n", ((const float*)scores.data)[i]);
  lucid_tensor_release(&scores, 1);
  lucid_program_free(program);
  return 0;
}
"""


def blocks(kind):
    page = (ROOT / "docs" / "deploying.md").read_text()
    found = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert found, kind
    return found


class Builder:
    """Compiles programs in a folder and runs them there."""

    def __init__(self, folder, include):
        self.folder = folder
        self.include = include

    def run(self, name, source, library, *words, objects=()):
        file = self.folder / name
        file.write_text(source)
        is_c = file.suffix == ".c"
        compiler = ["cc", "-std=c99"] if is_c else ["clang++-22", "-std=c++20"]
        flags = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{self.include}", f"-I{self.folder}"]
        target = self.folder / f"{file.stem}_program"
        links = [str(library), f"-Wl,-rpath,{library.parent}", "-lm"]
        subprocess.run([*compiler, *flags, str(file), *map(str, objects), *links, "-o", str(target)], check=True)
        return subprocess.run([target, *words], cwd=self.folder, check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--include", required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--runtime", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = lucid.models.lenet_5().eval()
        image = lucid.zeros(1, 1, 32, 32)
        lucid.export(model, image, folder / "lenet.lucid", dynamic={"input": {0: lucid.Dim("batch", max=4)}})
        lucid.export(model, image, folder / "lenet.o", ahead_of_time=True)
        with lucid.no_grad():
            scores = "".join(f"{score:g}\n" for score in model(image)[0].tolist())
            classes = model(lucid.ones(3, 1, 32, 32)).argmax(1)
            first = f"Sequential: {model(lucid.ones(1, 1, 32, 32))[0, 0].item():g} ...\n"
        builder = Builder(folder, arguments.include)
        for block in blocks("c"):
            assert builder.run("c_block.c", block, arguments.runtime) == scores
            assert builder.run("c_block.c", block, arguments.library) == scores
        for block in blocks("cpp"):
            assert builder.run("cpp_block.cpp", block, arguments.library) == f"{classes}\n"
        example = (ROOT / "examples" / "c" / "run_program.c").read_text()
        assert builder.run("example.c", example, arguments.runtime, "lenet.lucid") == first
        assert builder.run("ahead.c", AHEAD_OF_TIME, arguments.runtime, objects=[folder / "lenet.o"]) == scores
    size = arguments.runtime.resolve().stat().st_size
    assert size < 1.5e6, size
    names = subprocess.run(
        ["nm", "-D", "--defined-only", arguments.runtime], check=True, capture_output=True, text=True
    )
    assert all(line.split()[-1].startswith("lucid_") for line in names.stdout.splitlines()), names.stdout
    needed = subprocess.run(["ldd", arguments.runtime], check=True, capture_output=True, text=True).stdout
    assert not re.search("LLVM|python", needed), needed
    return 0


if __name__ == "__main__":
    sys.exit(main())
