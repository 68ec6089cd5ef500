"""Measures Lucid's eager mode beside PyTorch's and NumPy's in one run, for docs/benchmarks.md.

Each library runs in a process of its own; rounds alternate between them and the best of all rounds counts, so that a
noisy neighbour does not decide. Give the interpreters that have them installed:

    python benchmarks/eager.py --lucid .venv/bin/python --torch .venv-torch/bin/python --write

--table makes the tables again from the figures that are kept, --check compares these with aims.toml.
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
