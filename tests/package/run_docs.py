"""Compiles and runs the C++ blocks of Markdown pages.

python run_docs.py --compiler <c++> --include <folder> --library <liblucid.so> page.md...

A block without `main` becomes the body of one, after the lines of PRELUDE. A block of kind `text` that follows is what
the program must print.
"""

import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

PRELUDE = """\
#include <lucid/lucid.h>

#include <iostream>

using namespace lucid;
"""

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Program:
    """A block as a program."""

    def __init__(self, place: str, body: str) -> None:
        self.place = place
        self.body = body
        self.expected: str | None = None

    def source(self) -> str:
        if re.search(r"^int main\(", self.body, re.MULTILINE):
            return self.body
        return f"int main() {{\n{self.body}}}\n"


def programs_of(page: pathlib.Path) -> list[Program]:
    """The programs of a page, in order."""
    programs: list[Program] = []
    text = page.read_text()
    end = 0
    for match in BLOCK.finditer(text):
        kind, body = match.groups()
        follows = not text[end : match.start()].strip()
        end = match.end()
        if kind == "cpp":
            programs.append(Program(f"{page}:{text[: match.start()].count(chr(10)) + 1}", body))
        elif kind == "text" and follows and programs:
            programs[-1].expected = body
    return programs


def run(program: Program, build: list[str], folder: pathlib.Path, name: str) -> str | None:
    """Returns what is wrong with a program, or None."""
    source, binary = folder / f"{name}.cpp", folder / name
    source.write_text(program.source())
    built = subprocess.run([*build, str(source), "-o", str(binary)], capture_output=True, text=True)
    if built.returncode:
        return f"does not compile:\n{built.stderr}"
    ran = subprocess.run([str(binary)], capture_output=True, text=True, cwd=folder)
    if ran.returncode:
        return f"ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}"
    if program.expected is not None and ran.stdout != program.expected:
        return f"printed\n{ran.stdout}instead of\n{program.expected}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", required=True)
    parser.add_argument("--library", required=True, type=pathlib.Path)
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    programs = [program for page in arguments.pages for program in programs_of(page)]
    if not programs:
        sys.exit("there are no programs")
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(name)
        flags = ["-std=c++20", "-Wall", "-Wextra", "-Werror", "-Wno-unused-variable", f"-I{arguments.include}"]
        header = folder / "prelude.h"
        header.write_text(PRELUDE)
        subprocess.run([arguments.compiler, *flags, "-x", "c++-header", header, "-o", f"{header}.pch"], check=True)
        library = [str(arguments.library), f"-Wl,-rpath,{arguments.library.parent}"]
        build = [arguments.compiler, *flags, "-include-pch", f"{header}.pch", *library]
        runs = [pool.submit(run, program, build, folder, f"block{i}") for i, program in enumerate(programs)]
        failures = 0
        for program, outcome in zip(programs, runs, strict=True):
            if wrong := outcome.result():
                failures += 1
                print(f"{program.place}: {wrong}")
    if failures:
        sys.exit(f"{failures} of {len(programs)} programs failed")
    print(f"{len(programs)} programs ran")


if __name__ == "__main__":
    main()
