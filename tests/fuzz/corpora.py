#!/usr/bin/env python3
"""The inputs of each fuzzer, one archive per fuzzer: corpus/<fuzzer>.zip.

    tests/fuzz/corpora.py list ir_text                  prints the names of the inputs
    tests/fuzz/corpora.py unpack ir_text <folder>       writes the inputs to a folder
    tests/fuzz/corpora.py add ir_text <file>...         adds inputs, or replaces those of the same name
    tests/fuzz/corpora.py pack ir_text <folder>         makes the archive of all files of a folder

The same inputs make the same bytes: names in order, no times, nothing compressed. So git stores only differences.
"""

import argparse
import sys
import zipfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"


def read(archive: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as inputs:
        return {name: inputs.read(name) for name in inputs.namelist()}


def write(archive: Path, inputs: dict[str, bytes]) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as out:
        for name in sorted(inputs):
            out.writestr(zipfile.ZipInfo(name), inputs[name])


def contents(files: list[Path]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in files}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="the folder of archives")
    parser.add_argument("command", choices=["list", "unpack", "add", "pack"])
    parser.add_argument("fuzzer")
    parser.add_argument("paths", nargs="*", type=Path)
    arguments = parser.parse_args()
    archive = arguments.corpus / f"{arguments.fuzzer}.zip"
    paths: list[Path] = arguments.paths
    if arguments.command in ("unpack", "pack") and len(paths) != 1:
        parser.error(f"{arguments.command} takes one folder")
    if arguments.command == "list":
        print(*read(archive), sep="\n")
    elif arguments.command == "unpack":
        paths[0].mkdir(parents=True, exist_ok=True)
        for name, data in read(archive).items():
            (paths[0] / name).write_bytes(data)
    elif arguments.command == "add":
        write(archive, {**(read(archive) if archive.exists() else {}), **contents(paths)})
    else:
        write(archive, contents([path for path in paths[0].iterdir() if path.is_file()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
