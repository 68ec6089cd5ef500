"""Measures compiled calls beside the same calls made eagerly and beside PyTorch, in one run; for docs/benchmarks.md.

Each runs in a process of its own; their order changes from round to round and the best of all rounds counts.
Training is compiled as a whole step: forward, backward and Adam in one plan.

    python benchmarks/compiled.py --lucid .venv/bin/python --torch .venv-torch/bin/python --write
"""

import argparse
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
KINDS = {"torch": ["torch"], "eager": ["lucid"], "compiled": ["lucid", "--compiled"]}


def measure(python, words, arguments):
    command = [python, str(ROOT / "benchmarks" / "compiled_work.py"), *words, "--threads", str(arguments.threads)]
    command += ["--seconds", str(arguments.seconds), "--only", arguments.only]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[-1])


def best_of(arguments):
    best = {kind: {} for kind in KINDS}
    kinds = list(KINDS.items())
    for number in range(arguments.rounds):
        # Each is first, second and third in turn: the machine is not the same after every neighbour.
        for kind, words in kinds[number % 3 :] + kinds[: number % 3]:
            python = arguments.torch if kind == "torch" else arguments.lucid
            for name, time in measure(python, words, arguments).items():
                best[kind][name] = min(time, best[kind].get(name, time))
    return best


def table(best):
    lines = ["| work | torch eager, us | eager, us | compiled, us | compiled / torch | compiled / eager |"]
    lines.append("|---|---|---|---|---|---|")
    for name, compiled in best["compiled"].items():
        torch, eager = best["torch"][name], best["eager"][name]
        lines.append(
            f"| {name} | {torch:.4g} | {eager:.4g} | {compiled:.4g} | {compiled / torch:.2f} | {compiled / eager:.2f} |"
        )
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
        head, rest = page.split("<!-- compiled: begin -->")
        PAGE.write_text(
            head
            + "<!-- compiled: begin -->\n"
            + text
            + "\n<!-- compiled: end -->"
            + rest.split("<!-- compiled: end -->")[1]
        )


if __name__ == "__main__":
    main()
