"""Measures parts of networks, or whole steps of training, beside PyTorch in one run; for docs/benchmarks.md.

Each library runs in a process of its own; rounds alternate between them and the best of all rounds counts:

    python benchmarks/networks.py convolution --lucid .venv/bin/python --torch .venv-torch/bin/python --write
    python benchmarks/networks.py training --lucid .venv/bin/python --torch .venv-torch/bin/python --write
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"


def target(name):
    """The share of PyTorch's time that a workload should take at most."""
    if name.startswith("mlp"):
        return 0.5
    if name.startswith("lenet"):
        return 0.5 if name.endswith("training") else 0.6
    if name.startswith("resnet") and not name.endswith("training"):
        return 1.1
    return 1.0


def measure(python, library, arguments):
    command = [
        python,
        str(ROOT / "benchmarks" / f"{arguments.work}_work.py"),
        library,
        "--threads",
        str(arguments.threads),
    ]
    command += ["--seconds", str(arguments.seconds), "--only", arguments.only]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def best_of(arguments):
    best = {"lucid": {}, "torch": {}}
    for _ in range(arguments.rounds):
        for library, python in (("lucid", arguments.lucid), ("torch", arguments.torch)):
            for name, time in measure(python, library, arguments).items():
                best[library][name] = min(time, best[library].get(name, time))
    return best


def table(best):
    lines = ["| work | lucid, us | torch, us | ratio | at most | |", "|---|---|---|---|---|---|"]
    for name, ours in best["lucid"].items():
        theirs = best["torch"][name]
        verdict = "" if ours / theirs <= target(name) else "missed"
        lines.append(f"| {name} | {ours:.4g} | {theirs:.4g} | {ours / theirs:.2f} | {target(name)} | {verdict} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=["convolution", "training"])
    parser.add_argument("--lucid", default=sys.executable, help="a Python that has lucid and numpy")
    parser.add_argument("--torch", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    parser.add_argument("--write", action="store_true", help="put the table into docs/benchmarks.md")
    arguments = parser.parse_args()
    text = table(best_of(arguments))
    print(text)
    if arguments.write:
        page = PAGE.read_text()
        start, end = (f"<!-- {arguments.work}: {place} -->" for place in ("begin", "end"))
        head, rest = page.split(start)
        PAGE.write_text(head + start + "\n" + text + "\n" + end + rest.split(end)[1])


if __name__ == "__main__":
    main()
