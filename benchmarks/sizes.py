"""Measures compiled models whose batch size and length vary from call to call, for docs/benchmarks.md.

    python benchmarks/sizes.py [--pairs 1000]

Each model is called with random pairs of batch size (2 to 20) and length (2 to 128), eagerly and compiled, in a new
process whose kernels are on disk from an earlier one. Some of the pairs are compared with plans that were made for
exactly their sizes.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import lucid
from first_call import seconds

MODELS = {
    "GPT, 4 layers": (lambda: lucid.models.gpt(vocab_size=65, context=128), 65),
    "MiniLM": (lucid.models.bert, 30522),
}
# Shapes after which the kernels that are compiled count as new, shapes that are compared with exact plans, and rounds
# of that comparison.
FIRST, COMPARED, ROUNDS = 50, 30, 5


def kernels():
    return sum(1 for path in Path(os.environ["LUCID_CACHE_DIR"]).rglob("*") if path.is_file())


def measure(name, pairs, runs_eagerly):
    """The figures of one model, in this process. Eager calls compile kernels of their own."""
    rng = random.Random(0)
    lucid.manual_seed(0)
    make, words = MODELS[name]
    model = make().eval()
    compiled = lucid.compile(model)
    shapes = [(rng.randint(2, 20), rng.randint(2, 128)) for _ in range(pairs)]
    seen, new, hits, before = set(), 0, 0, 0
    eager = fast = 0.0
    for number, shape in enumerate(shapes):
        if number == FIRST:
            lucid.compiler.wait()
            before = kernels()
        x = lucid.randint(0, words, shape)
        if runs_eagerly:
            eager += seconds(model, [x])
        last = lucid.compiler.counters().hits
        fast += seconds(compiled, [x])
        if shape not in seen:
            new += 1
            hits += lucid.compiler.counters().hits - last
        seen.add(shape)
    lucid.compiler.wait()
    new_kernels = kernels() - before
    ratios = []
    for shape in rng.sample(sorted(seen), min(COMPARED, len(seen))):
        x = lucid.randint(0, words, shape)
        exact = lucid.compile(model, dynamic=False, wait=True)
        for function in (exact, exact, compiled, compiled):
            function(x)
        lucid.compiler.wait()
        times = [(seconds(compiled, [x]), seconds(exact, [x])) for _ in range(ROUNDS)]
        ratios.append(min(own for own, _ in times) / min(other for _, other in times))
    ratios.sort()
    return {
        "recordings": compiled.cache_info().compiles,
        "first_hits": hits / new,
        "kernels": new_kernels,
        "time": fast / eager if runs_eagerly else None,
        "exact_median": ratios[len(ratios) // 2],
        "exact_worst": ratios[-1],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--without-eager", action="store_true", help="with --measure: only compiled calls")
    parser.add_argument("--measure", choices=list(MODELS), help="measure one model in this process")
    arguments = parser.parse_args()
    if arguments.measure:
        with lucid.no_grad():
            print(json.dumps(measure(arguments.measure, arguments.pairs, not arguments.without_eager)))
        return 0
    print(
        "| model | recordings | first calls that hit | kernels after 50 shapes | time over eager | over exact plans |"
    )
    print("|---|--:|--:|--:|--:|--:|")
    for name in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, __file__, "--measure", name, "--pairs", str(arguments.pairs)]
            environment = {**os.environ, "LUCID_CACHE_DIR": folder}
            cold, _, warm = (
                json.loads(
                    subprocess.run(command + more, capture_output=True, text=True, check=True, env=environment).stdout
                )
                for more in (["--without-eager"], [], [])
            )
        print(
            f"| {name} | {warm['recordings']} | {warm['first_hits']:.1%} | {cold['kernels']} | {warm['time']:.2f} "
            f"| {warm['exact_median']:.2f}, at most {warm['exact_worst']:.2f} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
