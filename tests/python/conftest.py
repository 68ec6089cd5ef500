"""Settings for all tests."""

import gc
import os

# Verify plans after each pass, as in debug builds. Lucid reads the environment when it is first used.
os.environ.setdefault("LUCID_VERIFY_PASSES", "1")
# Calls wait for their plans, so that hits can be counted.
os.environ.setdefault("LUCID_COMPILE_WAIT", "1")
# Mesa's software driver, which stands for a gpu, compiles fast rather than well.
os.environ.setdefault("GALLIVM_PERF", "nopt")


def pytest_collection_finish():
    """Keeps what pytest collected out of the garbage collector, which else visits it in every collection of a test."""
    gc.collect()
    gc.freeze()
