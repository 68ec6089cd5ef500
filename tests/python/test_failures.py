"""Every entry of docs/failures.md has test cases in the files that the page names; at least 300 in total."""

import collections
import pathlib
import re
import subprocess
import sys

ENTRIES = range(1, 52)
FOLDER = pathlib.Path(__file__).parent
PAGE = FOLDER.parents[1] / "docs" / "failures.md"


def entries_of(case):
    """The numbers at the beginning of a test's name or of the name of its entry in a table."""
    name, _, parameters = case.partition("[")
    numbers = re.match(r"test((?:_\d+)+)_", name)
    if numbers:
        return [int(number) for number in numbers[1].split("_")[1:]]
    return [int(number) for number in re.findall(r"(?:^|-)(\d+) \w", parameters)]


def files_named():
    """For each number of the page, the files named at the end of its entry."""
    entries = re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |^## |\Z)", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return {int(number): sorted(re.findall(r"`(test_failures_\w+\.py)`", text)) for number, text in entries}


def test_every_entry_has_cases():
    files = sorted(FOLDER.glob("test_failures_*.py"))
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--assert=plain"]
    result = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, check=True)
    cases = [line.partition("::")[::2] for line in result.stdout.splitlines() if "::" in line]
    covered = collections.defaultdict(set)
    for path, case in cases:
        for number in entries_of(case):
            covered[number].add(pathlib.Path(path).name)
    assert len(cases) >= 300
    assert [case for _, case in cases if not entries_of(case)] == []
    assert list(files_named()) == list(ENTRIES)
    assert files_named() == {number: sorted(covered[number]) for number in ENTRIES}
