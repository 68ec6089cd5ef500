"""Import and exit: fast, without loading NumPy or LLVM, and without leaks."""

import os
import subprocess
import sys
import time

import lucid


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        check=False,
    )


def test_import_is_quick_and_loads_nothing_heavy():
    code = (
        "import time, sys, os\n"
        "start = time.process_time()\n"
        "for _ in range(2_000_000): pass\n"
        "middle = time.process_time()\n"
        "import lucid\n"
        "print((time.process_time() - middle) / (middle - start))\n"
        "print(sorted(m for m in ('numpy', 'torch', 'inspect', 'random', 'multiprocessing') if m in sys.modules))\n"
        "print(len(os.listdir('/proc/self/task')))\n"
    )
    # In loops of Python, which a busy machine slows down as much: about 0.15 s.
    ratios = []
    for _ in range(5):
        result = run(code)
        assert result.returncode == 0, result.stderr
        ratio, modules, threads = result.stdout.splitlines()
        ratios.append(float(ratio))
        assert modules == "[]"
        assert threads == "1"
    assert min(ratios) < 3


LEAK_PROGRAM = """
import lucid

class Double(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2

def main():
    x = lucid.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.register_hook(lambda g: None)
    y.backward()
    z = Double.apply(x)
    generator = lucid.Generator()
    try:
        lucid.add(x, "a")
    except TypeError:
        pass
    print(lucid.zeros(2), lucid.float32, x.device, x.max(0), z.grad_fn, lucid.rand(2, generator=generator).shape)

main()
kept = lucid.ones(3)
"""


def test_exit_reports_no_leaks():
    result = run(LEAK_PROGRAM, LUCID_LOG="leaks")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


def test_exit_with_threads_and_shared_memory():
    code = (
        "import numpy as np, lucid\n"
        "lucid.set_num_threads(4)\n"
        "x = lucid.from_numpy(np.ones(300_000, np.float32))\n"
        "y = (x + 1).numpy()\n"
        "print(float(y.sum()))\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "600000.0\n"
    assert result.stderr == ""


def test_computing_after_fork():
    code = (
        "import os, lucid\n"
        "lucid.set_num_threads(4)\n"
        "x = lucid.ones(300_000)\n"
        "assert x.sum().item() == 300_000\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if (x + 1).sum().item() == 600_000 else 1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


# Reports whether another thread ran during an op. The interpreter never switches threads by itself here: the other
# thread runs only while the main thread sleeps or an op releases the GIL.
TICKING = """
import sys, threading, time, lucid
sys.setswitchinterval(1000)
ticks = 0
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0)
threading.Thread(target=tick, daemon=True).start()
while not ticks: time.sleep(0.001)
def runs_beside(op):
    before = ticks
    op()
    return ticks > before
"""


def test_other_threads_run_while_a_long_op_computes():
    code = TICKING + (
        "lucid.set_num_threads(1)\n"
        "x = lucid.rand(4_000_000)\n"
        "assert any(runs_beside(x.exp) for _ in range(100))\n"
        "assert not any(runs_beside(lambda: sum(range(100_000))) for _ in range(10))\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_other_threads_run_while_a_small_op_is_compiled(tmp_path):
    code = TICKING + (
        "x = lucid.zeros(3)\n"
        "ops = [x.erfc, x.sinh, x.cosh, x.asinh, x.acosh, x.atanh, x.tan, x.expm1, x.log1p, x.erf]\n"
        "assert any(runs_beside(op) for op in ops)\n"
        "assert not runs_beside(x.erfc)\n"
    )
    result = run(code, LUCID_CACHE_DIR=str(tmp_path))
    assert result.returncode == 0, result.stderr


def test_version():
    assert lucid.__version__.count(".") == 2


def test_a_small_sum_is_cheap():
    x = lucid.ones(8)
    best = float("inf")
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(1000):
            x + 1
        best = min(best, time.perf_counter() - start)
    assert best / 1000 < 2e-6
