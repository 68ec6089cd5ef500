"""Random programs whose ops are deferred: chains of ops, views, writes, gradients and reads, in any order.

    python tests/python/deferred_random.py --programs 1000 [--seed 0]

A program is a list of instructions, so that a call of it is the same each time but for the contents of its tensors and
the points at which values are read.
"""

import argparse
import queue
import random

import lucid
from same import bits

UNARY = ("exp", "sin", "relu", "tanh", "abs", "neg", "square", "sigmoid")
BINARY = ("add", "sub", "mul", "maximum")
KINDS = (
    *("unary", "unary", "binary", "binary", "binary", "number", "view", "view", "write", "write", "reduce", "read"),
    *("drop", "copy", "matmul", "random", "index", "grad", "data", "export", "host"),
)
SIZES = ((4, 6), (6,), (4, 1), (2, 12), (24,))


def instruction(rng, count):
    """What to do with the tensors made so far; `count` of them."""
    pick = lambda: rng.randrange(count)  # noqa: E731
    kind = rng.choice(KINDS)
    return kind, pick(), pick(), rng.choice(UNARY), rng.choice(BINARY), rng.randrange(1 << 16)


def make_program(seed):
    rng = random.Random(seed)
    length = rng.randrange(5, 40)
    return [instruction(rng, 4 + i) for i in range(length)]


def view_of(x, choice):
    kind = choice % 5
    if kind == 0:
        return x.reshape(-1)
    if kind == 1:
        return x[choice % x.shape[0] :] if x.dim() else x
    if kind == 2:
        return x.transpose(0, -1) if x.dim() > 1 else x
    if kind == 3:
        return x[choice % x.shape[0]] if x.dim() and x.shape[0] else x
    return x.reshape(2, -1) if x.numel() % 2 == 0 and x.numel() else x


def alike(a, b):
    return a.shape == b.shape


def step(made, seen, it):
    kind, i, j, unary, binary, choice = it
    a, b = made[i % len(made)], made[j % len(made)]
    if kind == "unary":
        return getattr(lucid, unary)(a)
    if kind == "binary":
        return getattr(lucid, binary)(a, b if alike(a, b) else b.sum())
    if kind == "number":
        return a * (choice % 7 - 3.5) + seen[-1]
    if kind == "view":
        return view_of(a, choice)
    if kind == "write":
        with lucid.no_grad():
            target = view_of(a.detach() if a.requires_grad else a, choice)
            getattr(target, binary.replace("maximum", "add") + "_")(b.detach() if alike(target, b) else 0.5)
        return a
    if kind == "reduce":
        return a.sum(-1, keepdim=True) if a.dim() else a
    if kind == "read":
        seen.append(round(a.sum().item() % 3, 3))
        return b if seen[-1] > 1 else b + 1
    if kind == "drop":
        made[i % len(made)] = b
        return b
    if kind == "copy":
        return a.clone()
    if kind == "matmul":
        return a @ a.transpose(0, 1) if a.dim() == 2 else a
    if kind == "random":
        return lucid.rand(*a.shape) + a
    if kind == "index":
        return a[lucid.tensor([0, choice % 5])] if a.dim() else a
    if kind == "grad":
        w = a.detach().clone().requires_grad_()
        loss = (w * w.sin()).sum() + (w * (b.detach() if alike(w, b) else 2)).exp().clamp(max=9).mean()
        loss.backward()
        return w.grad
    if kind == "data":
        made[0] = made[0].detach()
        made[0].data = a.detach()
        return made[0]
    if kind == "export":
        seen.append(float(a.detach().numpy().sum() % 5))
        return a
    return a.reshape(-1).sort().values if a.numel() else a


def run(program, tensors):
    queue.Queue()  # nothing is known of it
    made, seen, failed = list(tensors), [0.25], []
    for it in program:
        try:
            made.append(step(made, seen, it))
        except (RuntimeError, ValueError, IndexError) as error:
            failed.append(f"{it[0]}: {error}")
            made.append(made[-1])
    return made, seen, failed


def check(seed, calls=5):
    """Returns how many calls ran in pieces."""
    program = make_program(seed)
    compiled = lucid.compile(run)
    for call in range(calls):
        outcomes = []
        for function in (run, compiled):
            lucid.manual_seed(seed * 100 + call)
            tensors = [lucid.randn(*SIZES[(seed + i) % len(SIZES)]) for i in range(4)]
            outcomes.append((bits(function(program, tensors)), bits(tensors), bits(lucid.get_rng_state())))
        assert outcomes[0] == outcomes[1], f"seed {seed}, call {call}: {program}"
    return compiled.cache_info().pieces


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    pieces = sum(check(seed) for seed in range(arguments.seed, arguments.seed + arguments.programs))
    print(f"{arguments.programs} programs are equal; {pieces} calls ran in pieces")


if __name__ == "__main__":
    main()
