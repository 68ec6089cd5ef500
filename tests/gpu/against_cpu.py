"""Compares results and gradients on a gpu with those of the CPU."""

import lucid
from same import bits

FLOATS = [lucid.f32, lucid.f64, lucid.f16, lucid.bf16]
INTEGERS = [lucid.u8, lucid.i8, lucid.i16, lucid.i32, lucid.i64]


def numbers(*shape, dtype=lucid.f32):
    if dtype in INTEGERS:
        return lucid.randint(0, 100, shape).to(dtype)
    return lucid.randn(*shape).to(dtype)


def check(function, *operands):
    """Compares results and gradients with those of the CPU."""
    seen = []
    for device in ("cpu", "gpu"):
        moved = [x.detach().to(device) for x in operands]
        if operands[0].is_floating_point():
            for x in moved:
                x.requires_grad_()
        result = function(*moved)
        seen.append([bits(result.cpu())])
        if result.requires_grad:
            (result * result).sum().backward()
            seen[-1] += [bits(x.grad.cpu()) for x in moved]
    assert seen[0] == seen[1]
