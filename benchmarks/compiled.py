"""Measures compiled calls beside the same calls made eagerly and beside PyTorch, in one run; for docs/benchmarks.md.

Each runs in a process of its own; their order changes from round to round and the best of all rounds counts.
Training is compiled as a whole step: forward, backward and Adam in one plan.

    python benchmarks/compiled.py --lucid .venv/bin/python --torch .venv-torch/bin/python --write
"""

import report

KINDS = {"torch": ["torch"], "eager": ["lucid"], "compiled": ["lucid", "--compiled"]}


def best_of(arguments):
    best = {kind: {} for kind in KINDS}
    kinds = list(KINDS.items())
    options = ["--threads", arguments.threads, "--seconds", arguments.seconds, "--only", arguments.only]
    for number in range(arguments.rounds):
        # Each is first, second and third in turn: the machine is not the same after every neighbour.
        for kind, words in kinds[number % 3 :] + kinds[: number % 3]:
            python = arguments.torch if kind == "torch" else arguments.lucid
            report.keep_best(best[kind], report.measure(python, "compiled", *words, *options))
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
    parser = report.parser(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", default="", help="workloads whose names contain this")
    arguments = parser.parse_args()
    report.publish(table(best_of(arguments)), "compiled", arguments.write)


if __name__ == "__main__":
    main()
