"""Compiled matches eager: processes, interrupts, tools and the disk. Numbers refer to docs/failures.md."""

import cProfile
import pdb
import pstats
import signal
import sys
import threading

import lucid
import pytest
from interpreter import run_python
from interrupts import interrupts_reach_the_program
from same import bits
from worlds import run_in_threads

# Processes.


def test_49_fork_after_compiling():
    source = """
import os, lucid
f = lucid.compile(lambda x: (x.exp() @ x.T).sum())
x = lucid.arange(300.0 * 200).reshape(300, 200) / 60000
results = [f(x).item() for _ in range(3)]
pid = os.fork()
if pid == 0:
    ok = f(x).item() == results[0] and f(x[:5]).item() == f(x[:5]).item() and f.cache_info().fallbacks == 0
    os._exit(0 if ok else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), f(x).item() == results[0])
"""
    assert run_python(source) == "0 True\n"


def test_49_a_subprocess_returns_the_same_bits():
    source = """
import lucid
lucid.manual_seed(4)
f = lucid.compile(lambda x: lucid.nn.functional.dropout(x.softmax(-1), 0.5, training=True) + lucid.randn(3, 4))
print([f(lucid.randn(3, 4)).tolist() for _ in range(3)], f.cache_info().hits)
"""
    assert run_python(source) == run_python(source)
    assert run_python(source).endswith(" 2\n")


ENDS = ["pass", "raise SystemExit", "import threading; threading.Thread(target=f, args=(x,)).start()"]


@pytest.mark.parametrize("end", ENDS)
def test_49_the_interpreter_ends_with_plans_alive(end):
    source = f"""
import lucid
net = lucid.nn.Sequential(lucid.nn.Linear(4, 4), lucid.nn.ReLU())
f = net.compile()
x = lucid.ones(2, 4)
y = [f(x) for _ in range(3)]
loss = f(x).sum()
print(f.cache_info().hits)
{end}
"""
    assert run_python(source) == "3\n"


# Compiling this takes long in a process with an empty cache, but an eager call is fast. The tests below act during the
# compilation.
SLOW = """
import os, signal, sys, threading
import lucid
weight = lucid.linspace(-1, 1, 16)

def chain(x, number):
    for step in range(20):
        x = (x * 1.25 + step + number).tanh()
    return x

def slow(x):
    return lucid.cat([chain(x[:number] * weight[:number], number) for number in range(1, 13)])

x = lucid.ones(16)
expected = slow(x).tolist()
f = lucid.compile(slow)
assert f(x).tolist() == expected
assert f._compiled.table.pending == 1, f.explain()
"""


@pytest.mark.parametrize("end", ["pass", "raise SystemExit", "threading.Thread(target=f, args=(x,)).start()"])
def test_49_the_interpreter_ends_with_a_compile_in_flight(tmp_path, end):
    source = f"{SLOW}print('recorded', flush=True)\n{end}\n"
    assert run_python(source, LUCID_CACHE_DIR=str(tmp_path)) == "recorded\n"


def test_49_the_last_call_of_a_process_waits_for_its_plan(tmp_path):
    # Registered before lucid is imported, so it runs after the compile thread has ended.
    source = f"""
import atexit
atexit.register(lambda: print(f(x).tolist() == expected, f.cache_info()[:4]))
{SLOW}
"""
    assert run_python(source, LUCID_CACHE_DIR=str(tmp_path)) == "True (1, 1, 1, 0)\n"


def test_49_fork_while_a_plan_is_compiled(tmp_path):
    source = f"""
{SLOW}
pid = os.fork()
same = [f(x).tolist() == expected for _ in range(2)]
# One write, so that the lines of the two processes do not mix.
os.write(1, f"{{same}} {{f.cache_info()[:4]}}\\n".encode())
if pid == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""
    assert run_python(source, LUCID_CACHE_DIR=str(tmp_path)) == 2 * "[True, True] (2, 1, 1, 0)\n"


def test_49_another_function_is_compiled_in_a_fork(tmp_path):
    source = f"""
{SLOW}
g = lucid.compile(lambda x: x.exp().sum())
pid = os.fork()
if pid == 0:
    ok = g(x).item() == g(x).item() and g.cache_info().hits == 1 and f._compiled.table.pending == 1
    sys.exit(0 if ok else 1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert run_python(source, LUCID_CACHE_DIR=str(tmp_path)) == "0\n"


# Interruptions and tools.


def test_50_interrupted_while_a_plan_is_compiled(tmp_path):
    source = f"""
{SLOW}
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.05, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    while True:
        assert f(x).tolist() == expected
except KeyboardInterrupt:
    pass
print(f(x).tolist() == expected, f.cache_info()[1:4])
"""
    assert run_python(source, LUCID_CACHE_DIR=str(tmp_path)) == "True (1, 1, 0)\n"


def test_50_interrupted_while_it_records():
    def f(x):
        y = x * 2
        if pending:
            pending.pop()
            raise KeyboardInterrupt
        return y + 1

    pending = [1]
    compiled = lucid.compile(f)
    with pytest.raises(KeyboardInterrupt):
        compiled(lucid.ones(2))
    assert not lucid._core.is_tracing()
    assert sys.getprofile() is None
    for _ in range(4):
        assert compiled(lucid.ones(2)).tolist() == [3, 3]
    assert compiled.cache_info().hits > 0


@pytest.fixture
def interruptible():
    """Restores SIGINT, which shells ignore for background processes."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_50_interrupted_while_plans_run():
    f = lucid.compile(lambda x: (x @ x).tanh().sum())
    x = lucid.randn(256, 256)
    expected = bits(f(x))
    timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
    with interrupts_reach_the_program(), pytest.raises(KeyboardInterrupt):  # noqa: PT012
        timer.start()
        while True:
            assert bits(f(x)) == expected
    timer.join()
    assert bits(f(x)) == expected
    assert f.cache_info().fallbacks == 0


def helper(x):
    return x * 3


def traced(x):
    y = helper(x)
    return y + 1


def use_under_a_tool():
    """Calls a function often enough to record it and to hit its plan."""
    f = lucid.compile(traced)
    results = [f(lucid.full((2,), float(number))).tolist() for number in range(5)]
    return results, f.cache_info()


EXPECTED = [[3.0 * number + 1] * 2 for number in range(5)]


def test_50_coverage_by_settrace():
    lines = set()

    def trace(frame, event, arg):
        if frame.f_code in (traced.__code__, helper.__code__):
            lines.add((frame.f_code.co_name, frame.f_lineno - frame.f_code.co_firstlineno))
            return trace
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        results, info = use_under_a_tool()
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
    assert results == EXPECTED
    assert {("traced", 1), ("traced", 2), ("helper", 1)} <= lines
    assert info.fallbacks == 5
    assert info.hits == 0


# sys.monitoring exists since Python 3.12.
if hasattr(sys, "monitoring"):

    def test_50_coverage_by_monitoring():
        seen = []
        tool = sys.monitoring.COVERAGE_ID
        sys.monitoring.use_tool_id(tool, "test")
        try:
            sys.monitoring.register_callback(tool, sys.monitoring.events.PY_START, lambda code, at: seen.append(code))
            sys.monitoring.set_events(tool, sys.monitoring.events.PY_START)
            results, info = use_under_a_tool()
            assert sys.monitoring.get_events(tool) == sys.monitoring.events.PY_START
        finally:
            sys.monitoring.set_events(tool, 0)
            sys.monitoring.free_tool_id(tool)
        assert results == EXPECTED
        assert traced.__code__ in seen
        assert info.fallbacks == 0


def test_50_a_profile_function():
    seen = []

    def profile(frame, event, arg):
        seen.append((frame.f_code.co_name, event))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        results, info = use_under_a_tool()
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(before)
    assert results == EXPECTED
    assert ("helper", "call") in seen
    assert ("helper", "return") in seen
    assert info.fallbacks == 0
    assert info.hits >= 3


def test_50_the_profiler():
    profiler = cProfile.Profile()
    results, info = profiler.runcall(use_under_a_tool)
    assert results == EXPECTED
    counted = {name: calls for (_, _, name), (calls, *_) in pstats.Stats(profiler).stats.items()}
    # Once for each recorded call. Hits do not run the function's code.
    assert counted["helper"] == counted["traced"] == info.misses
    assert info.fallbacks == 0
    assert sys.getprofile() is None


@pytest.mark.parametrize("start", ["outside", "inside"])
def test_50_the_debugger(start):
    class Script:
        """Simulates user input."""

        def __init__(self, *commands):
            self.commands = [f"{command}\n" for command in commands]

        def readline(self):
            return self.commands.pop(0) if self.commands else "continue\n"

    class Screen:
        text = ""

        def write(self, text):
            self.text += text

        def flush(self):
            pass

    screen = Screen()
    script = Script("p 'stopped at', x.shape", "next", "p 'value', y.tolist()", "continue")
    debugger = pdb.Pdb(stdin=script, stdout=screen, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.prompt = ""

    def f(x):
        y = x * 2
        if start == "inside":
            debugger.set_trace()
        z = y + 1
        return z

    compiled = lucid.compile(f)
    before = sys.gettrace(), sys.getprofile()
    try:
        if start == "outside":
            debugger.set_trace()
        results = [compiled(lucid.full((2,), float(number))).tolist() for number in range(5)]
    finally:
        debugger.set_quit()
        sys.settrace(before[0])
    assert results == [[2.0 * number + 1] * 2 for number in range(5)]
    assert sys.getprofile() is before[1]
    if start == "inside":
        assert "('stopped at', (2,))" in screen.text
        assert "('value', [0.0, 0.0])" in screen.text
    assert not lucid._core.is_tracing()


# The kernel cache on disk.

USE_KERNELS = """
import lucid
f = lucid.compile(lambda x: (x.exp() * 3 - x.sum(0)).tanh())
results = [f(lucid.arange(12.0).reshape(3, 4)).tolist() for _ in range(3)]
print(results[0] == results[1] == results[2], results[0], f.cache_info().hits)
"""


def corrupt(folder, how):
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        if how == "cut short":
            path.write_bytes(content[: len(content) // 2])
        elif how == "empty":
            path.write_bytes(b"")
        elif how == "a bit flipped":
            corrupted = bytearray(content)
            corrupted[len(corrupted) // 2] ^= 4
            path.write_bytes(bytes(corrupted))
        elif how == "another version":
            path.write_bytes(bytes(16) + content[16:])
        elif how == "renamed":
            path.rename(path.with_name("0" * len(path.name)))


@pytest.mark.parametrize("how", ["as it is", "cut short", "empty", "a bit flipped", "another version", "renamed"])
def test_51_a_corrupted_disk_cache(tmp_path, how):
    folder = tmp_path / "cache"
    expected = run_python(USE_KERNELS, LUCID_CACHE_DIR=str(folder))
    assert any(path.is_file() for path in folder.rglob("*"))
    corrupt(folder, how)
    assert run_python(USE_KERNELS, LUCID_CACHE_DIR=str(folder)) == expected
    assert run_python(USE_KERNELS, LUCID_CACHE_DIR=str(folder)) == expected


# Limits the size of files to a few bytes, as if the disk were full.
FULL_DISK = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
"""


@pytest.mark.parametrize("kind", ["a file", "below a file", "read-only", "full"])
def test_51_a_folder_that_cannot_be_written(tmp_path, kind):
    file = tmp_path / "file"
    file.write_text("")
    folders = {"a file": file, "below a file": file / "cache", "read-only": "/proc/cache", "full": tmp_path / "full"}
    expected = run_python(USE_KERNELS, LUCID_CACHE_DIR=str(tmp_path / "good"))
    source = FULL_DISK + USE_KERNELS if kind == "full" else USE_KERNELS
    # A full disk may have space again later, so there is no warning.
    warning = "" if kind == "full" else "lucid: warning: compiled kernels are not stored on disk: "
    assert run_python(source, warning=warning, LUCID_CACHE_DIR=str(folders[kind])) == expected


def test_51_two_processes_at_once(tmp_path):
    found = {}

    def work(number):
        found[number] = run_python(USE_KERNELS, LUCID_CACHE_DIR=str(tmp_path / "cache"))

    run_in_threads(4, work)
    assert len(set(found.values())) == 1
    assert found[0].startswith("True")
