"""Measures Lucid's eager mode beside PyTorch's and NumPy's in one run and writes the table of docs/benchmarks.md.

Each library runs in a process of its own; rounds alternate between them and the best of all rounds counts, so that a
noisy neighbour does not decide. Give the interpreters that have them installed:

    python benchmarks/eager.py --lucid .venv/bin/python --torch .venv-torch/bin/python --write
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
START, END = "<!-- eager: begin -->", "<!-- eager: end -->"

# The share of the peer's time that each workload should take at most.
TARGETS = {"add1_8": 0.1, "add1_8_grad": 0.2}
PRODUCT_TARGET = 1.1


def target(name):
    return TARGETS.get(name, PRODUCT_TARGET if name.startswith("matmul") else 1.0)


def measure(python, library, threads, seconds):
    command = [
        python,
        str(ROOT / "benchmarks" / "eager_work.py"),
        library,
        "--threads",
        str(threads),
        "--seconds",
        str(seconds),
    ]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output.splitlines()[-1])


def best_of(rounds, arguments, threads):
    peers = {"lucid": arguments.lucid, "torch": arguments.torch, "numpy": arguments.lucid}
    best = {library: {} for library in peers}
    for _ in range(rounds):
        for library, python in peers.items():
            for name, time in measure(python, library, threads, arguments.seconds).items():
                best[library][name] = min(time, best[library].get(name, time))
    return best


def table(best, threads):
    lines = [
        f"### {threads} thread{'s' if threads > 1 else ''}",
        "",
        "| work | lucid, us | torch, us | ratio | at most | |",
        "|---|---|---|---|---|---|",
    ]
    for name, ours in best["lucid"].items():
        theirs = best["torch"][name]
        ratio = ours / theirs
        verdict = "" if ratio <= target(name) else "missed"
        lines.append(f"| {name} | {ours:.4g} | {theirs:.4g} | {ratio:.2f} | {target(name)} | {verdict} |")
    numpy_ratio = best["lucid"]["add1_8"] / best["numpy"]["add1_8"]
    lines.append(
        f"| add1_8, NumPy | {best['lucid']['add1_8']:.4g} | {best['numpy']['add1_8']:.4g} | {numpy_ratio:.2f} | 0.5 | "
        f"{'' if numpy_ratio <= 0.5 else 'missed'} |"
    )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lucid", default=sys.executable, help="a Python that has lucid and numpy")
    parser.add_argument("--torch", default=sys.executable, help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/benchmarks.md")
    arguments = parser.parse_args()
    text = "\n\n".join(table(best_of(arguments.rounds, arguments, threads), threads) for threads in (1, 2))
    print(text)
    if arguments.write:
        page = PAGE.read_text()
        head, rest = page.split(START)
        PAGE.write_text(head + START + "\n" + text + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
