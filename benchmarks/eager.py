"""Measures Lucid's eager mode against PyTorch and NumPy in one run, for docs/benchmarks.md.

Each library runs in its own process. Rounds alternate between the libraries and the best round counts, which reduces
noise from other processes. Pass the interpreters that have the libraries installed:

    python benchmarks/eager.py --lucid .venv/bin/python --torch .venv-torch/bin/python --write

--table prints the tables from the saved figures, --check compares the figures with aims.toml.
"""

import sys

import aims
import report

THREADS = (1, 2)


def best_of(arguments, threads):
    peers = {"lucid": arguments.lucid, "torch": arguments.torch, "numpy": arguments.lucid}
    best = {library: {} for library in peers}
    options = ["--threads", threads, "--seconds", arguments.seconds]
    for _ in range(arguments.rounds):
        for library, python in peers.items():
            report.keep_best(best[library], report.measure(python, "eager", library, *options))
    return best


def section(figures):
    parts = []
    for threads, best in sorted(figures.items()):
        ours, numpy = best["lucid"]["add1_8"], best["numpy"]["add1_8"]
        parts += [
            f"### {threads} thread{'s' if int(threads) > 1 else ''}",
            report.pair_table(best),
            f"NumPy takes {report.number(numpy)} us for `add1_8`: a speed-up of {report.speed_up(numpy, ours)}.",
        ]
    return "\n\n".join(parts)


def results(figures):
    found = []
    for threads, best in sorted(figures.items()):
        measured = report.ratios(best)
        measured |= {f"NumPy: {name}": ratio for name, ratio in report.ratios(best, "numpy").items()}
        found += aims.compare_patterns(f"time over the peer's, threads: {threads}", measured, aims.AIMS["eager"])
    return found


def main():
    arguments = report.parser(__doc__).parse_args()
    figures = report.load(arguments.figures)
    if not arguments.table:
        figures["eager"] = {str(threads): best_of(arguments, threads) for threads in THREADS}
        report.save(arguments.figures, figures)
    report.publish(section(figures["eager"]), "eager", arguments.write)
    return aims.verdict(results(figures["eager"])) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
