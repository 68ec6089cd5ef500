"""Every line of the list of what tracing compilers get wrong has its cases, 300 at least."""

import collections
import pathlib
import re
import subprocess
import sys

LINES = range(1, 52)
FOLDER = pathlib.Path(__file__).parent


def lines_of(case):
    """The numbers that a test's name or the name of its entry in a table begins with."""
    name, _, parameters = case.partition("[")
    numbers = re.match(r"test((?:_\d+)+)_", name)
    if numbers:
        return [int(number) for number in numbers[1].split("_")[1:]]
    return [int(number) for number in re.findall(r"(?:^|-)(\d+) \w", parameters)]


def test_every_line_has_cases():
    files = sorted(FOLDER.glob("test_failures_*.py"))
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    result = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True)
    cases = [line.partition("::")[2] for line in result.stdout.splitlines() if "::" in line]
    counts = collections.Counter(number for case in cases for number in lines_of(case))
    assert len(cases) >= 300
    assert [case for case in cases if not lines_of(case)] == []
    assert [line for line in LINES if not counts[line]] == []
