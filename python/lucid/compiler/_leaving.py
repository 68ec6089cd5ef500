"""Floats that a call reads from tensors and only hands on: it returns them, appends them to a list, or keeps them in an
attribute. No plan has to know their values before it has run.

This is decided from the instructions of the code that read the value: what happens to the object that `item()` returned
until an instruction hands it on. Anything else that is done with it counts as a use.
"""

from __future__ import annotations

import dis
import inspect
import sys
import weakref
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

_IGNORED = {"CACHE", "EXTENDED_ARG", "NOP", "RESUME", "PRECALL", "KW_NAMES", "NOT_TAKEN"}
_LOADS = {
    "LOAD_CONST",
    "LOAD_SMALL_INT",
    "LOAD_FAST",
    "LOAD_FAST_CHECK",
    "LOAD_FAST_BORROW",
    "LOAD_DEREF",
    "LOAD_NAME",
    "PUSH_NULL",
}
_LOCALS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"}
# How many instructions between the read of a value and the one that hands it on are looked at.
_MAX_STEPS = 200
# The flags of generators and coroutines, whose `return` does not return to the caller.
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Moves:
    """Where a value may go."""

    is_returned: bool = False
    # The names of attributes and globals that it is stored in, and of lists that it is appended to.
    names: frozenset[str] = frozenset()

    def __or__(self, other: Moves) -> Moves:
        return Moves(self.is_returned or other.is_returned, self.names | other.names)


@dataclass
class _Symbol:
    """A value on the stack: the instruction that pushed it."""

    index: int
    # For the callable of a method call: the name of the method, and the value that it is a method of.
    method: str | None = None
    owner: _Symbol | None = None


class _Used(Exception):
    """The value is used, or what happens to it is not known."""


@dataclass
class _Code:
    """One code object."""

    code: CodeType
    instructions: list[dis.Instruction] = field(init=False)

    def __post_init__(self) -> None:
        self.instructions = [each for each in dis.get_instructions(self.code) if each.opname not in _IGNORED]

    def index_at(self, offset: int) -> int:
        """The call that is running when `offset` is the last instruction."""
        for index, instruction in enumerate(self.instructions):
            if instruction.offset >= offset:
                return index
        raise _Used

    def moves_of_call(self, offset: int) -> Moves:
        """What happens to the result of `x.item()` or `float(x)`."""
        return self._moves_after(self.index_at(offset), frozenset(), reads_value=True)

    def _moves_after(self, index: int, seen: frozenset[str], reads_value: bool = False) -> Moves:
        """What happens to the value that an instruction pushes."""
        # Where the statement begins is not known. If it began later, the stack would have too few values.
        for start in range(index, max(-1, index - _MAX_STEPS), -1):
            stack: list[_Symbol] = []
            try:
                for at in range(start, index):
                    self._step(at, stack)
                if reads_value and not self._reads_value(index, stack):
                    raise _Used
                self._step(index, stack)
                return self._moves(index, stack, seen)
            except IndexError:
                continue
        raise _Used

    def _reads_value(self, index: int, stack: list[_Symbol]) -> bool:
        """Whether the instruction calls `item` of a value, or `float`."""
        call = self.instructions[index]
        if call.opname != "CALL":
            return False
        count = call.arg or 0
        if len(stack) < count + 2:
            raise IndexError
        callee = stack[-2 - count], stack[-1 - count]
        if call.arg == 0:
            return any(symbol.method == "item" for symbol in callee)
        names = [self.instructions[symbol.index] for symbol in callee]
        return call.arg == 1 and any(each.opname == "LOAD_GLOBAL" and each.argval == "float" for each in names)

    def _step(self, index: int, stack: list[_Symbol]) -> None:
        """Executes an instruction on symbols. Raises IndexError if the stack has too few, _Used if it is not known."""
        instruction = self.instructions[index]
        name, count = instruction.opname, instruction.arg or 0
        flagged = bool(count & 1)
        if name in _LOADS:
            stack.append(_Symbol(index))
        elif name == "LOAD_GLOBAL":
            stack += [_Symbol(index)] * (1 + flagged)
        elif name == "LOAD_METHOD" or (name == "LOAD_ATTR" and flagged and sys.version_info >= (3, 12)):
            owner = stack.pop()
            stack += [_Symbol(index, instruction.argval, owner)] * 2
        elif name == "LOAD_ATTR":
            stack.pop()
            stack.append(_Symbol(index))
        elif name == "CALL":
            self._pop(stack, count + 2)
            stack.append(_Symbol(index))
        elif name in ("BINARY_OP", "BINARY_SUBSCR", "COMPARE_OP"):
            self._pop(stack, 2)
            stack.append(_Symbol(index))
        elif name in ("UNARY_NEGATIVE", "UNARY_NOT"):
            stack.pop()
            stack.append(_Symbol(index))
        elif name in ("BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP"):
            self._pop(stack, {"BUILD_MAP": 2 * count, "BUILD_CONST_KEY_MAP": count + 1}.get(name, count))
            stack.append(_Symbol(index))
        elif name in ("POP_TOP", "STORE_FAST", "STORE_GLOBAL", "STORE_DEREF", "RETURN_VALUE"):
            stack.pop()
        elif name == "STORE_ATTR":
            self._pop(stack, 2)
        else:
            raise _Used

    @staticmethod
    def _pop(stack: list[_Symbol], count: int) -> None:
        if len(stack) < count:
            raise IndexError
        if count:
            del stack[-count:]

    def _moves(self, index: int, stack: list[_Symbol], seen: frozenset[str]) -> Moves:
        """What happens to the value on top of the stack after an instruction."""
        value = stack[-1]
        for at in range(index + 1, min(index + _MAX_STEPS, len(self.instructions))):
            before = list(stack)
            self._step(at, stack)
            if any(symbol is value for symbol in stack):
                continue
            instruction = self.instructions[at]
            name = instruction.opname
            if name == "POP_TOP":
                return Moves()
            if name == "RETURN_VALUE":
                return Moves(is_returned=True)
            if name == "STORE_FAST":
                return self._moves_of_variable(instruction.argval, seen)
            if name.startswith("BUILD_"):
                moves = self._moves(at, stack, seen)
                # A container that is kept is another object at each call.
                if moves.names:
                    raise _Used
                return moves
            if name == "STORE_ATTR" and before[-2] is value:
                return Moves(names=frozenset((instruction.argval,)))
            if name == "STORE_GLOBAL":
                return Moves(names=frozenset((instruction.argval,)))
            if name == "CALL" and instruction.arg == 1 and before[-2].method == "append" and before[-1] is value:
                return self._moves_into(before[-2].owner)
            raise _Used
        raise _Used

    def _moves_into(self, owner: _Symbol | None) -> Moves:
        """What it means to append the value to a list."""
        load = self.instructions[owner.index] if owner is not None else None
        if load is None or load.opname not in ("LOAD_ATTR", "LOAD_GLOBAL", "LOAD_DEREF", "LOAD_NAME"):
            raise _Used
        return Moves(names=frozenset((load.argval,)))

    def _moves_of_variable(self, name: str, seen: frozenset[str]) -> Moves:
        """What happens to a local variable."""
        moves = Moves()
        if name in seen:
            return moves
        for index, instruction in enumerate(self.instructions):
            loads = instruction.argval if "LOAD_FAST" in instruction.opname else None
            if loads == name and instruction.opname in _LOCALS:
                moves |= self._moves_after(index, seen | {name})
            elif loads == name or (type(loads) is tuple and name in loads):
                raise _Used
        return moves


_known: weakref.WeakKeyDictionary[CodeType, dict[int, Moves | None]] = weakref.WeakKeyDictionary()


def moves_of(code: CodeType, offset: int) -> Moves | None:
    """Where the value goes that `x.item()` or `float(x)` returns; None if it is used. `offset` is that of the call."""
    known = _known.setdefault(code, {})
    if offset not in known:
        try:
            known[offset] = _Code(code).moves_of_call(offset)
        except (_Used, IndexError):
            known[offset] = None
    return known[offset]


class LeavingFloats:
    """The floats that one call has read: each with a tensor that holds it, the code that has read it, the offset of the
    instruction, and whether this is the code that was called first."""

    def __init__(self, floats: list[tuple[float, Any, CodeType, int, bool]]) -> None:
        self._floats = floats
        # The tensors, by id of the float.
        self.copies = {id(value): copy for value, copy, *_ in floats}
        # By id: the names of the places where the call stores it.
        self._names: dict[int, frozenset[str]] = {}
        self._moved: set[int] = set()

    def are_handed_on(self, root: CodeType | None, unread: frozenset[str]) -> bool:
        """Whether the call only hands them on. It may return them if `root` is the code of the function itself, and
        store them under names that no code reads."""
        for value, _, code, offset, is_root in self._floats:
            moves = moves_of(code, offset)
            may_return = is_root and code is root and not code.co_flags & _GENERATOR
            if moves is None or not moves.names <= unread or (moves.is_returned and not may_return):
                return False
            self._names[id(value)] = moves.names
            if moves.is_returned or moves.names:
                self._moved.add(id(value))
        return True

    def may_be_in(self, value: Any, name: str) -> bool:
        """Whether an object is one of the floats, and the code that has read it stores it under this name. If it went
        through other code, that may have looked at it."""
        return name in self._names.get(id(value), ())

    def are_found(self, found: set[int]) -> bool:
        """Whether these are all that the call has handed on."""
        return self._moved <= found
