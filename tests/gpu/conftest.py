"""Settings for the tests of gpus. They need a Vulkan driver; Mesa's software driver will do."""

import os
import sys
from pathlib import Path

os.environ.setdefault("LUCID_VERIFY_PASSES", "1")
os.environ.setdefault("LUCID_COMPILE_WAIT", "1")
# Errors of the Khronos validation layer abort the process.
os.environ.setdefault("LUCID_GPU_VALIDATE", "1")
# Launches between barriers run in random order.
os.environ.setdefault("LUCID_GPU_SHUFFLE", "7")
# Mesa's software driver compiles fast rather than well.
os.environ.setdefault("GALLIVM_PERF", "nopt")

sys.path.insert(0, str(Path(__file__).parent.parent / "python"))
