"""Measures layers of networks, or whole training steps, against PyTorch in one run, for docs/benchmarks.md.

Each library runs in its own process. Rounds alternate between the libraries and the best round counts:

    python benchmarks/networks.py convolution --lucid .venv/bin/python --torch .venv-torch/bin/python --write
    python benchmarks/networks.py training --lucid .venv/bin/python --torch .venv-torch/bin/python --write

--table prints the table from the saved figures, --check compares the figures with aims.toml.
"""

import sys

import aims
import report


def best_of(arguments):
    best = {"lucid": {}, "torch": {}}
    options = ["--threads", arguments.threads, "--seconds", arguments.seconds, "--only", arguments.only]
    for _ in range(arguments.rounds):
        for library, python in (("lucid", arguments.lucid), ("torch", arguments.torch)):
            report.keep_best(best[library], report.measure(python, arguments.work, library, *options))
    return best


def results(work, figures):
    return aims.compare_patterns("time over PyTorch's", report.ratios(figures), aims.AIMS[work])


def main():
    parser = report.parser(__doc__)
    parser.add_argument("work", choices=["convolution", "training"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="only workloads whose names contain this")
    arguments = parser.parse_args()
    figures = report.load(arguments.figures)
    saved = figures.setdefault(arguments.work, {})
    if not arguments.table:
        for library, times in best_of(arguments).items():
            saved[library] = saved.get(library, {}) | times
        report.save(arguments.figures, figures)
    report.publish(report.pair_table(saved), arguments.work, arguments.write)
    return aims.verdict(results(arguments.work, saved)) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
