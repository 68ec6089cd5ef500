"""Floats that a call reads from tensors, and only compares or hands on: it returns them, appends them to a list, or
keeps them in an attribute. A plan need not know their values before it has run, only how the comparisons come out.

This is decided from the instructions of the code that read the value: what happens to the object that `item()` returned
until an instruction compares it or hands it on. Anything else that is done with it counts as a use.
"""

from __future__ import annotations

import dis
import inspect
import math
import sys
import types
import weakref
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from .. import _core
from ._kinds import mro_of

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
# The ops for comparisons of a float with a number, and with the float on the right.
_COMPARISONS = {
    "<": ("lt", "gt"),
    "<=": ("le", "ge"),
    ">": ("gt", "lt"),
    ">=": ("ge", "le"),
    "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
}
# Functions of `math` that are comparisons, which are ops by the same names.
_CLASSIFIERS = ("isnan", "isinf", "isfinite")
# How objects are asked for attributes, if their class does not say otherwise.
_GETTERS: tuple[Any, ...] = tuple(
    _core.class_dict(cls)["__getattribute__"] for cls in (object, types.ModuleType, _core.Module)
)
# Up to here every integer is a float.
_MAX_EXACT = 2**53
# How many instructions between the read of a value and the one that hands it on are looked at.
_MAX_STEPS = 200
# The flags of generators and coroutines, whose `return` does not return to the caller.
_GENERATOR = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Comparison:
    """A question that code asks about a value: an op, and where the number is that the value is compared with."""

    op: str
    # "constant", "local" (which includes variables of functions around it), "global", or "math", which has no number.
    source: str
    name: Any = None
    # The attributes that lead from there to the number.
    attributes: tuple[str, ...] = ()

    def number(self, frame: FrameType) -> tuple[Any, ...]:
        """The number that a frame compares the value with, if any. Raises _Used if it is not known."""
        if self.source == "math":
            if frame.f_globals.get("math") is not math:
                raise _Used
            return ()
        value = self.name
        if self.source == "global":
            value = frame.f_globals.get(self.name)
        elif self.source == "local":
            value = frame.f_locals.get(self.name)
        for name in self.attributes:
            value = _plain_attribute(value, name)
        if type(value) is not float and not (type(value) is int and abs(value) <= _MAX_EXACT):
            raise _Used
        return (value,)


def _plain_attribute(value: Any, name: str) -> Any:
    """An attribute that is an entry of the object's own dict; None if reading it might run code."""
    classes = [_core.class_dict(base) for base in mro_of(type(value))]
    getter = next(entries["__getattribute__"] for entries in classes if "__getattribute__" in entries)
    if getter not in _GETTERS or any(name in entries for entries in classes):
        return None
    attributes = _core.attributes_of(value)
    return attributes.get(name) if attributes is not None and _core.has_only_names(attributes) else None


@dataclass(frozen=True)
class Moves:
    """Where a value may go."""

    is_returned: bool = False
    # The names of attributes and globals that it is stored in, and of lists that it is appended to.
    names: frozenset[str] = frozenset()
    comparisons: tuple[Comparison, ...] = ()

    def __or__(self, other: Moves) -> Moves:
        comparisons = dict.fromkeys(self.comparisons + other.comparisons)
        return Moves(self.is_returned or other.is_returned, self.names | other.names, tuple(comparisons))


@dataclass
class _Symbol:
    """A value on the stack: the instruction that pushed it."""

    index: int
    # For the callable of a method call: the name of the method.
    method: str | None = None
    # The value that it is a method, an attribute or an item of.
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
            stack.append(_Symbol(index, owner=stack.pop()))
        elif name == "CALL":
            self._pop(stack, count + 2)
            stack.append(_Symbol(index))
        elif name in ("BINARY_OP", "COMPARE_OP"):
            self._pop(stack, 2)
            stack.append(_Symbol(index))
        elif name == "BINARY_SUBSCR":
            stack.pop()
            stack.append(_Symbol(index, owner=stack.pop()))
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
            instruction = self.instructions[at]
            name = instruction.opname
            if name.startswith("POP_JUMP_") and before[-1] is value:
                # A float is never None.
                return Moves() if "NONE" in name else Moves(comparisons=(Comparison("ne", "constant", 0),))
            self._step(at, stack)
            if any(symbol is value for symbol in stack):
                continue
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
            if name == "COMPARE_OP":
                ops = _COMPARISONS.get(instruction.argval, ())
                is_right = before[-1] is value
                other = before[-2] if is_right else before[-1]
                if ops and other is not value:
                    return Moves(comparisons=(self._comparison(ops[is_right], other, bool(seen)),))
            if name == "CALL" and instruction.arg == 1 and before[-1] is value:
                return Moves(comparisons=(self._classification(before[-2]),))
            raise _Used
        raise _Used

    def _comparison(self, op: str, other: _Symbol, is_later: bool) -> Comparison:
        """A comparison with another value on the stack. If it comes later than the read, that must not change in
        between."""
        load = self.instructions[other.index]
        attributes: tuple[str, ...] = ()
        if load.opname in ("LOAD_CONST", "LOAD_SMALL_INT"):
            return Comparison(op, "constant", load.argval)
        if is_later and (load.opname not in _LOCALS or self._assigns(load.argval)):
            raise _Used
        while load.opname == "LOAD_ATTR" and other.owner is not None:
            attributes = (load.argval, *attributes)
            other = other.owner
            load = self.instructions[other.index]
        if load.opname == "LOAD_GLOBAL":
            return Comparison(op, "global", load.argval, attributes)
        if load.opname in _LOCALS or load.opname == "LOAD_DEREF":
            return Comparison(op, "local", load.argval, attributes)
        raise _Used

    def _classification(self, function: _Symbol) -> Comparison:
        """A call of a function of `math` with the value."""
        load = self.instructions[function.index]
        owner = self.instructions[function.owner.index] if function.owner is not None else None
        is_maths = owner is not None and owner.opname == "LOAD_GLOBAL" and owner.argval == "math"
        if not is_maths or load.argval not in _CLASSIFIERS:
            raise _Used
        return Comparison(load.argval, "math")

    def _assigns(self, name: str) -> bool:
        """Whether the code gives a local variable another value."""
        for each in self.instructions:
            names = each.argval if type(each.argval) is tuple else (each.argval,)
            if each.opname.startswith(("STORE_FAST", "DELETE_FAST", "LOAD_FAST_AND_CLEAR")) and name in names:
                return True
        return False

    def _moves_into(self, owner: _Symbol | None) -> Moves:
        """What it means to append the value to a list: one that has a name, or an item of what has one."""
        load = self.instructions[owner.index] if owner is not None else None
        if load is not None and load.opname == "BINARY_SUBSCR":
            owner = owner.owner if owner is not None else None
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


def comparisons_of(frame: FrameType, offset: int) -> list[tuple[Any, ...]] | None:
    """The comparisons that a frame makes with the value that it reads, each an op and the number that the value is
    compared with; None if it is used in another way."""
    moves = moves_of(frame.f_code, offset)
    if moves is None:
        return None
    try:
        return [(each.op, *each.number(frame)) for each in moves.comparisons]
    except _Used:
        return None


_core.set_float_comparisons(comparisons_of)


class LeavingFloats:
    """The floats that one call has read: each with a tensor that holds it, the code that has read it, the offset of the
    instruction, and whether this is the code that was called first."""

    def __init__(self, floats: list[tuple[float, Any, CodeType, int, bool]]) -> None:
        self._floats = floats
        self.values = [value for value, *_ in floats]
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
