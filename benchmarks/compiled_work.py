"""Times workloads eagerly or compiled for one library: a JSON line of microseconds for each.

python benchmarks/compiled_work.py lucid --compiled --threads 2
"""

import argparse
import importlib
import json

from eager_work import time_one
from training_work import networks, step_of


def small(lib):
    """Name, function and arguments of what is no network."""
    functional = importlib.import_module(f"{lib.__name__}.nn.functional")
    x = lib.randn(1024, 1024)
    weight, bias = lib.ones(1024), lib.zeros(1024)

    def normalize(x):
        return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-5)

    def gelu_chain(x):
        return functional.gelu(x * weight + bias) * 0.5 + x

    yield "add1_8", lambda x: x + 1, [lib.ones(8)], False
    yield "add1_8_grad", lambda x: x + 1, [lib.ones(8, requires_grad=True)], True
    yield "normalize_1m", normalize, [x], False
    yield "softmax_1m", lambda x: functional.softmax(x, -1), [x], False
    yield "layernorm_1m", lambda x: functional.layer_norm(x, (1024,), weight, bias), [x], False
    yield "gelu_chain_1m", gelu_chain, [x], False


def forwards(lib):
    for name, make, x, _ in networks(lib):
        short = name.split("_")[0]
        sizes = {"mlp": (1, 64), "lenet5": (1, 64), "gptmini": (8,)}.get(short, ())
        for size in sizes:
            yield f"{short}_b{size}", make, x[:size]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", choices=["lucid", "torch"])
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.2)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    lib = importlib.import_module(arguments.library)
    lib.set_num_threads(arguments.threads)
    lib.manual_seed(0)
    times = {}

    def run(name, function, args=()):
        if arguments.only not in name:
            return
        called = lib.compile(function) if arguments.compiled else function
        for _ in range(3):
            called(*args)
        times[name] = time_one(lambda: called(*args), arguments.seconds)
        if arguments.compiled and called.cache_info().fallbacks:
            raise SystemExit(f"{name} was not compiled: {called.explain()}")

    for name, function, args, grad in small(lib):
        with lib.set_grad_enabled(grad):
            run(name, function, args)
    with lib.no_grad():
        for name, make, x in forwards(lib):
            if arguments.only in name:
                run(name, make().eval(), [x])
    for name, make, x, y in networks(lib):
        if arguments.only in name:
            run(name, step_of(lib, make(), x, y))
    print(json.dumps(times))


if __name__ == "__main__":
    main()
