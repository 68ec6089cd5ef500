"""What the programs that measure libraries beside each other have in common."""

import argparse
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent / "docs" / "benchmarks.md"


def options(description):
    """The options that all have."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--rounds", type=int, default=3)
    result.add_argument("--seconds", type=float, default=0.2)
    result.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    return result


def parser(description):
    """The options of those that compare two libraries."""
    result = options(description)
    result.add_argument("--lucid", default=sys.executable, help="a Python that has lucid and numpy")
    result.add_argument("--torch", default=sys.executable, help="a Python that has torch")
    return result


def measure(python, work, *words):
    """The microseconds of each workload, which a process of its own prints as its last line."""
    command = [python, str(FOLDER / f"{work}_work.py"), *map(str, words)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def keep_best(best, times):
    """Adds the times of a round to the best of those before."""
    for name, time in times.items():
        best[name] = min(time, best.get(name, time))


def publish(text, section, write):
    """Prints a table, and puts it between the marks of its section if asked to."""
    print(text)
    if not write:
        return
    start, end = (f"<!-- {section}: {place} -->" for place in ("begin", "end"))
    head, rest = PAGE.read_text().split(start)
    PAGE.write_text(head + start + "\n" + text + "\n" + end + rest.split(end)[1])
