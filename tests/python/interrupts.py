"""Interrupting a program from a signal handler."""

import contextlib
import gc


@contextlib.contextmanager
def interrupts_reach_the_program():
    """An exception that a signal handler raises is lost if it arrives in code that the garbage collector runs: a
    callback of another library, such as Hypothesis, or a finalizer of an object of an earlier test."""
    was_frozen = gc.get_freeze_count() > 0  # by conftest.py
    gc.collect()
    gc.freeze()
    callbacks = list(gc.callbacks)
    gc.callbacks.clear()
    try:
        yield
    finally:
        gc.callbacks.extend(callbacks)
        if not was_frozen:
            gc.unfreeze()
