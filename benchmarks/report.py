"""Shared parts of the programs that write docs/benchmarks.md."""

import argparse
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER.parent / "docs" / "benchmarks.md"
FIGURES = PAGE.with_suffix(".json")


def options(description):
    """A parser with the options of all benchmarks."""
    result = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--rounds", type=int, default=3)
    result.add_argument("--seconds", type=float, default=0.2)
    result.add_argument("--figures", default=FIGURES, type=pathlib.Path, help="the file of saved figures")
    result.add_argument("--table", action="store_true", help="measure nothing; print the saved figures")
    result.add_argument("--write", action="store_true", help="write the tables to docs/benchmarks.md")
    result.add_argument(
        "--check", action="store_true", help="compare the figures with aims.toml; fail if one is missed"
    )
    return result


def parser(description):
    """A parser with the options of benchmarks that compare two libraries."""
    result = options(description)
    result.add_argument("--lucid", default=sys.executable, help="a Python that has lucid and numpy")
    result.add_argument("--torch", default=sys.executable, help="a Python that has torch")
    return result


def load(path):
    """The saved figures, if the file exists."""
    return json.loads(path.read_text()) if path.exists() else {}


def save(path, figures):
    path.write_text(json.dumps(figures, indent=1) + "\n")


def measure(python, work, *words):
    """Runs `<work>_work.py` in a process and returns the microseconds of each workload, its last line of output."""
    command = [python, str(FOLDER / f"{work}_work.py"), *map(str, words)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def keep_best(best, times):
    """Updates the best times with the times of a round."""
    for name, time in times.items():
        best[name] = min(time, best.get(name, time))


def number(value, digits=3):
    """At least `digits` significant digits, without an exponent."""
    if value is None:
        return ""
    places = max(0, digits - len(str(int(abs(value)))))
    return f"{value:,.{places}f}"


def speed_up(theirs, ours):
    """Our speed-up over their time, as text."""
    ratio = theirs / ours
    return f"{ratio:.{2 if ratio < 2 else 1 if ratio < 10 else 0}f}x"


def table(head, rows):
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def pair_table(times):
    """A table of the times of Lucid and PyTorch."""
    head = ["work", "Lucid, us", "PyTorch, us", "speed-up"]
    pairs = [(name, ours, times["torch"][name]) for name, ours in times["lucid"].items()]
    return table(head, [[name, number(ours), number(theirs), speed_up(theirs, ours)] for name, ours, theirs in pairs])


def ratios(times, peer="torch"):
    """Lucid's times divided by a peer's."""
    return {name: ours / times[peer][name] for name, ours in times["lucid"].items() if name in times[peer]}


def publish(text, section, write):
    """Prints a table and, with `write`, writes it between the marks of its section of docs/benchmarks.md."""
    print(text)
    if not write:
        return
    start, end = (f"<!-- {section}: {place} -->" for place in ("begin", "end"))
    head, rest = PAGE.read_text().split(start)
    PAGE.write_text(head + start + "\n" + text + "\n" + end + rest.split(end)[1])
