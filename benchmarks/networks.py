"""Measures parts of networks, or whole steps of training, beside PyTorch in one run; for docs/benchmarks.md.

Each library runs in a process of its own; rounds alternate between them and the best of all rounds counts:

    python benchmarks/networks.py convolution --lucid .venv/bin/python --torch .venv-torch/bin/python --write
    python benchmarks/networks.py training --lucid .venv/bin/python --torch .venv-torch/bin/python --write
"""

import report


def target(name):
    """The share of PyTorch's time that a workload should take at most."""
    if name.startswith("mlp"):
        return 0.5
    if name.startswith("lenet"):
        return 0.5 if name.endswith("training") else 0.6
    if name.startswith("resnet") and not name.endswith("training"):
        return 1.1
    return 1.0


def best_of(arguments):
    best = {"lucid": {}, "torch": {}}
    options = ["--threads", arguments.threads, "--seconds", arguments.seconds, "--only", arguments.only]
    for _ in range(arguments.rounds):
        for library, python in (("lucid", arguments.lucid), ("torch", arguments.torch)):
            report.keep_best(best[library], report.measure(python, arguments.work, library, *options))
    return best


def table(best):
    lines = ["| work | lucid, us | torch, us | ratio | at most | |", "|---|---|---|---|---|---|"]
    for name, ours in best["lucid"].items():
        theirs = best["torch"][name]
        verdict = "" if ours / theirs <= target(name) else "missed"
        lines.append(f"| {name} | {ours:.4g} | {theirs:.4g} | {ours / theirs:.2f} | {target(name)} | {verdict} |")
    return "\n".join(lines)


def main():
    parser = report.parser(__doc__)
    parser.add_argument("work", choices=["convolution", "training"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    arguments = parser.parse_args()
    report.publish(table(best_of(arguments)), arguments.work, arguments.write)


if __name__ == "__main__":
    main()
