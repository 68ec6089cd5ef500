"""Checks of calls whose sizes vary."""

import lucid


def same(a, b):
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if not isinstance(a, lucid.Tensor):
        return type(a) is type(b) and a == b
    layout = a.dtype == b.dtype and a.shape == b.shape and a.stride() == b.stride()
    return layout and a.contiguous().numpy().tobytes() == b.contiguous().numpy().tobytes()


def check(function, inputs, compiles, hits):
    """Calls a function with each of the inputs, compiled and eagerly."""
    compiled = lucid.compile(function)
    with lucid.no_grad():
        for args in inputs:
            assert same(compiled(*args), function(*args)), [getattr(arg, "shape", arg) for arg in args]
    info = compiled.cache_info()
    assert info.compiles <= compiles, compiled.explain()
    assert info.hits >= hits, compiled.explain()
    return compiled


def batches(*sizes, width=8):
    return [(lucid.randn(size, width),) for size in sizes]
