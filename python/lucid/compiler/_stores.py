"""What a call stores where guards know it: see docs/decisions/0023-stores.md."""

from __future__ import annotations

import re
import types
from typing import Any

import lucid

from ._code import MAX_INTEGER
from ._code_profile import CodeProfile
from ._escaping_scalars import EscapingScalars
from ._type_tables import ATOMS
from ._walk_result import State, WalkResult, have_hooks

# A location, its name, what it held before, what it holds now. If items were appended to a list, these are tuples.
Write = tuple[tuple[Any, ...], str, Any, Any]

# The kinds of locations that are entries of dicts, and ends of lists.
_ENTRY = 0
_END = 4
# A source that ends in a name, or in an item of what has a name.
_VARIABLE = re.compile(r"(?:closure |global )?(?:\w+\.)*([^\W\d]\w*)(\[[^\[\]]*\])?")
# The types of values that calls store and replace.
_REPLACING = (lucid.Tensor, types.NoneType, bool, str)


def can_be_repeated(write: Write, found: WalkResult, profile: CodeProfile, floats: EscapingScalars) -> bool:
    """Whether a plan can do what the call did to a location. `floats` are those that the call has read from tensors."""
    location, name, before, now = write
    state = found.state
    appends, counts, keeps_float = location[0] == _END, _counts(write), id(now) in floats.copies
    if appends or counts or keeps_float:
        variable = _VARIABLE.fullmatch(name)
        if profile.all_names or variable is None or (variable[2] and not appends) or id(location[1]) in state.shown:
            return False
        if counts:
            return variable[1] in state.counted and _is_one_step(variable[1], before, now, state)
        if keeps_float:
            is_entry = location[0] == _ENTRY and (before is ... or before is None or type(before) is float)
            return is_entry and floats.may_be_in(now, variable[1])
        is_known = all(
            floats.may_be_in(item, variable[1])
            if id(item) in floats.copies
            else type(item) in _REPLACING or type(item) in ATOMS
            for item in now
        )
        return is_known and _is_only_appended(location[1], state)
    # A number that varies would need a plan for each value.
    return type(now) in _REPLACING and (before is ... or type(before) in (*_REPLACING, int, float))


def declare_stores(
    writes: list[Write], found: WalkResult, seen: dict[int, Any]
) -> tuple[dict[int, tuple[lucid.Tensor, str]], list[Any], list[lucid.Tensor]]:
    """Tells the guards what later calls will store. Returns the tensors that the call uses by identity, what it stored,
    and the tensors that it found there: later calls may find others. `seen` are the objects of the walk."""
    release_logs(found, seen)
    tensors, stored, inputs = dict(found.state.tensors), [], []
    # Lists come first: no code reads what is in them, so a tensor in one of them may vary in another location.
    writes.sort(key=lambda write: write[0][0] != _END)
    lists = {id(location[1]) for location, _, _, _ in writes if location[0] == _END}
    for write in writes:
        location, name, before, now = write
        appends, counts = location[0] == _END, _counts(write)
        held, references = (before, 0) if appends else ([before], 1)
        released = [tensor for tensor in held if _may_vary(tensor, found, lists, references)]
        for tensor in released:
            found.guards.release(tensor)
            tensors.pop(id(tensor), None)
        if type(before) is float and type(now) is float:
            found.guards.accept_numbers(location[1], location[2])
        found.guards.store(location, name, released[0] if released and not appends else None, counts)
        variable = _VARIABLE.fullmatch(name) if counts else None
        if variable is not None and (tests := found.state.tests.get(variable[1])):
            found.guards.test(location, name, list(tests), before, now - before)
        inputs += [] if appends else released
        stored.append(now - before if counts else now)
    return tensors, stored, inputs


def release_logs(found: WalkResult, seen: dict[int, Any]) -> bool:
    """Stops comparing the lists that no code reads: it only appends to them, though perhaps not in this call. Returns
    whether there are any. `seen` are the objects of the walk."""
    logs = [value for value in seen.values() if type(value) is list and _is_log(value, found)]
    for log in logs:
        found.guards.release_items(log)
    return bool(logs)


def refuse_long_lists(lists: list[tuple[list[Any], str]], found: WalkResult) -> None:
    """Refuses lists that have too many items to be compared at each call, except those that no code reads."""
    for items, source in lists:
        if not _is_log(items, found):
            found.reasons.append((source, f"reads {source}, a list of {len(items)} items"))


def _is_log(items: list[Any], found: WalkResult) -> bool:
    if id(items) in found.state.shown or not ATOMS.has_all(map(type, items)):
        return False
    return _is_only_appended(items, found.state)


def _is_only_appended(items: list[Any], state: State) -> bool:
    """Whether code only appends to a list: all references to it, or to the containers that hold it, are by names with
    which code does nothing else."""
    references = state.references.get(id(items), {})
    return bool(references) and all(_only_appends(holder, source, state) for (holder, _), source in references.items())


def _only_appends(holder: int, source: str, state: State) -> bool:
    """Whether code only appends to the list that it reads from a source in a holder."""
    variable = _VARIABLE.fullmatch(source)
    if variable is None or not variable[2]:
        return variable is not None and variable[1] in state.appended
    containers = [_VARIABLE.fullmatch(each) for each in state.references.get(holder, {}).values()]
    return bool(containers) and all(each and not each[2] and each[1] in state.filled for each in containers)


def _counts(write: Write) -> bool:
    _, _, before, now = write
    return type(before) is int and type(now) is int


def _is_one_step(name: str, before: int, now: int, state: State) -> bool:
    """Whether a tested counter was counted once: then tests saw its value before or after that step."""
    return name not in state.tests or (state.steps[name] == {now - before} and abs(before) < MAX_INTEGER)


def _may_vary(before: Any, found: WalkResult, lists: set[int], references: int) -> bool:
    """Whether a location that the call writes to may hold another tensor at the next call. Only this number of
    `references`, `lists` that no code reads, and arguments may lead to the tensor `before`, and the call reads nothing
    of it that plans do not compare."""
    if type(before) is not lucid.Tensor or found.state.reads_gradients or have_hooks([before]):
        return False
    holders = [holder for holder, _ in found.state.references.get(id(before), ())]
    return sum(holder not in lists for holder in holders) <= references
