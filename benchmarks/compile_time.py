"""CPU time to compile graphs of different sizes, for docs/benchmarks.md.

    python benchmarks/compile_time.py

Compile time should grow in proportion to the graph. The last column is the time per op or layer, over that of the
smallest graph of its kind.
"""

import time

import lucid

WEIGHT = lucid.randn(32, 32)
CHAINS = {
    "simple ops": [lambda x: x * 1.0001, lambda x: x + 0.5, lambda x: x.relu(), lambda x: x - 0.25],
    "tanh": [lambda x: x.tanh()],
    "products": [lambda x: x @ WEIGHT, lambda x: x.relu()],
    "row sums": [lambda x: x.sum(-1, keepdim=True), lambda x: x + WEIGHT],
    "transposes": [lambda x: x.transpose(0, 1), lambda x: x + 1.0],
}
SIZES = (1000, 2000, 4000, 8000)
LAYERS = (12, 24, 48)


def chain(ops, length):
    def function(x):
        for i in range(length):
            x = ops[i % len(ops)](x)
        return x

    return function


def cpu_time(function, x):
    """The CPU time of recording and compiling a call. Kernels that an earlier graph has in common are not counted."""
    fast = lucid.compile(function, wait=True)
    function(x)
    start = time.process_time()
    fast(x)
    lucid.compiler.wait()
    taken = time.process_time() - start
    assert fast.cache_info().compiles == 1, fast.explain()
    return taken


def report(name, sizes, functions, x):
    first = None
    for size, function in zip(sizes, functions):
        # The first compile of a kind also compiles its kernels.
        taken = min(cpu_time(function, x) for _ in range(2))
        first = first or taken / size
        print(f"{name:12} {size:6} {taken:7.2f} s {taken / size / first:6.2f}", flush=True)


def main():
    lucid.manual_seed(0)
    with lucid.no_grad():
        for name, ops in CHAINS.items():
            report(name, SIZES, [chain(ops, size) for size in SIZES], lucid.randn(32, 32))
        tokens = lucid.randint(0, 65, (1, 32))
        models = [lucid.models.gpt(vocab_size=65, context=64, dim=64, heads=4, layers=n).eval() for n in LAYERS]
        report("GPT layers", LAYERS, models, tokens)


if __name__ == "__main__":
    main()
