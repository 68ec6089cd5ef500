"""Measures Lucid's eager mode beside PyTorch's and NumPy's in one run and writes the table of docs/benchmarks.md.

Each library runs in a process of its own; rounds alternate between them and the best of all rounds counts, so that a
noisy neighbour does not decide. Give the interpreters that have them installed:

    python benchmarks/eager.py --lucid .venv/bin/python --torch .venv-torch/bin/python --write
"""

import report

# The share of the peer's time that each workload should take at most.
TARGETS = {"add1_8": 0.1, "add1_8_grad": 0.2}
PRODUCT_TARGET = 1.1


def target(name):
    return TARGETS.get(name, PRODUCT_TARGET if name.startswith("matmul") else 1.0)


def best_of(arguments, threads):
    peers = {"lucid": arguments.lucid, "torch": arguments.torch, "numpy": arguments.lucid}
    best = {library: {} for library in peers}
    options = ["--threads", threads, "--seconds", arguments.seconds]
    for _ in range(arguments.rounds):
        for library, python in peers.items():
            report.keep_best(best[library], report.measure(python, "eager", library, *options))
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
    arguments = report.parser(__doc__).parse_args()
    tables = [table(best_of(arguments, threads), threads) for threads in (1, 2)]
    report.publish("\n\n".join(tables), "eager", arguments.write)


if __name__ == "__main__":
    main()
