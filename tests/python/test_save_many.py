"""Files with very many names: the time to read and write them, and whether other threads run meanwhile.

The limits are generous: comparing each name with all others would take more than ten times as long.
"""

import io
import json
import struct
import subprocess
import sys

import lucid
import pytest

COUNT = 100_000
PRELUDE = f"""
import io, json, struct, sys, threading, time
import lucid
count = {COUNT}
def build(header, data=b""):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data
entry = {{"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}
"""

# A file, and the number of items of the dict or list read from it; None if it is rejected.
FILES = {
    "names": ("build({f't{i}': entry for i in range(count)})", COUNT),
    "long names": ("build({f'{i:0200}': entry for i in range(count)})", COUNT),
    "metadata": ("build({'__metadata__': {f'k{i}': 'v' for i in range(count)}})", 0),
    "members of an entry": ("build({'t': entry | {f'm{i}': i for i in range(count)}})", 1),
    "objects in an entry": ("build({'t': entry | {'m': [{}] * count}})", 1),
    "ties": (
        "build({'__metadata__': {'lucid.ties': json.dumps({f't{i}': 't' for i in range(count)})}, 't': entry})",
        COUNT + 1,
    ),
    "a list of tensors": (
        "build({'__metadata__': {'lucid.tree': json.dumps([{'tensor': 't'}] * count)}, 't': entry})",
        COUNT,
    ),
    "a dict": (
        "build({'__metadata__': {'lucid.tree': json.dumps({'dict': [[f'k{i}', i] for i in range(count)]})}})",
        COUNT,
    ),
    "an object": ("build({'__metadata__': {'lucid.tree': json.dumps({f'k{i}': i for i in range(count)})}})", None),
    "data": (
        "build({f't{i}': entry | {'shape': [1], 'data_offsets': [i, i + 1]} for i in range(count)}, bytes(count))",
        COUNT,
    ),
}


def run(code, timeout):
    result = subprocess.run([sys.executable, "-c", PRELUDE + code], capture_output=True, text=True, timeout=timeout)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("name", FILES)
def test_reading_takes_time_in_proportion_to_the_size(name):
    """Rejecting a file is fast, too."""
    file, items = FILES[name]
    code = f"""
file = {file}
start = time.process_time()
try:
    found = len(lucid.load(io.BytesIO(file)))
except ValueError:
    found = None
assert found == {items}, found
print(time.process_time() - start)
"""
    assert float(run(code, timeout=60)) < 5


def test_saving_takes_time_in_proportion_to_the_size(tmp_path):
    code = f"""
one = lucid.ones(1)
trees = [
    {{f"t{{i}}": lucid.ones(1) for i in range(count)}},
    {{f"t{{i}}": one for i in range(count)}},
    [lucid.ones(1) for i in range(count)],
]
start = time.process_time()
for tree in trees:
    lucid.save(tree, {str(tmp_path / "f")!r})
    lucid.save(tree, io.BytesIO())
print(time.process_time() - start)
"""
    assert float(run(code, timeout=120)) < 15


def test_other_threads_run_during_saving_and_loading():
    """Measures the longest time for which a counting thread does not run."""
    code = """
tree = {f"t{i}": lucid.ones(1) for i in range(count)}
gaps, done = [], False
def count_up():
    last = time.monotonic()
    while not done:
        time.sleep(0.001)
        now = time.monotonic()
        gaps.append(now - last)
        last = now
counter = threading.Thread(target=count_up)
counter.start()
start = time.monotonic()
file = io.BytesIO()
lucid.save(tree, file)
kept = lucid.load(io.BytesIO(file.getvalue()))
took = time.monotonic() - start
done = True
counter.join()
print(took, max(gaps))
"""
    took, longest = map(float, run(code, timeout=120).split())
    assert longest < max(0.2, took / 4)


def test_repeated_names_are_found_at_any_position():
    entry = json.dumps({"dtype": "U8", "shape": [0], "data_offsets": [0, 0]})
    names = [f"t{i}" for i in range(1000)] + ["t500"]
    text = ("{" + ",".join(f'"{name}": {entry}' for name in names) + "}").encode()
    with pytest.raises(ValueError, match="the header names 't500' twice"):
        lucid.load(io.BytesIO(struct.pack("<Q", len(text)) + text))
