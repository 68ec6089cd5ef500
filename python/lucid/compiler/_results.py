"""Rebuilds the result of a call around new tensors.

Only the types listed here can be rebuilt. A result of any other type makes the call run eagerly.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Collection, Container, Iterator
from types import CodeType, MemberDescriptorType
from typing import Any

import lucid

from .. import _core
from ._escaping_scalars import EscapingScalars
from ._type_tables import (
    ATOMS,
    builtin_bases,
    derives,
    is_enum,
    is_heap_class,
    is_own_class,
    is_python_class,
    module_of,
    mro_of,
    name_of,
    type_set,
)

Rebuild = Callable[[Iterator["lucid.Tensor"], dict[int, Any]], Any]

# Every call returns the same object.
_CONSTANTS = type_set(*ATOMS, range, lucid.dtype)
_MISSING: Any = object()
# As it is when Lucid is imported: programs may replace it.
_item = lucid.Tensor.item
# Rebuilding a result recurses, and must not exceed the recursion limit of a caller whose own stack is deep.
_MAX_DEPTH = 20


def _fill_ordered(ordered: Any, entries: Any) -> None:
    for key, value in entries:
        collections.OrderedDict.__setitem__(ordered, key, value)


# Types that a class may derive from: how an empty instance gets its contents.
_BASES: dict[type, Callable[[Any, Any], None]] = {
    list: list.extend,
    dict: dict.update,
    collections.OrderedDict: _fill_ordered,
}


class CannotRebuild(Exception):
    """Names a result that a replayed call could not return."""


class CannotPass(CannotRebuild):
    """Names an argument that a replayed call could not pass to an effect."""


class UnknownClass(CannotRebuild):
    """A result of a class that the walk has not found. The next walk may find it."""


class Text:
    """A text with floats in it: parts that are texts, or a float and how it is formatted."""

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts


class Arguments:
    """Arguments of calls that a plan repeats. Objects that existed before the call are passed themselves."""

    def __init__(self, calls: list[tuple[tuple[Any, ...], dict[str, Any]]]) -> None:
        self.calls = calls


class Known:
    """The objects that existed when the call began, by identity."""

    def __init__(
        self,
        objects: Container[int] = (),
        tensors: Container[int] = (),
        codes: Collection[CodeType] = (),
        classes: Container[type] | None = None,
        lasting: Container[int] = (),
    ):
        self.objects = objects
        # The objects that every call with the same guards finds.
        self.lasting = lasting
        # None: all classes.
        self.classes = classes
        # Arguments and state. A replayed call returns the objects themselves.
        self.tensors = tensors
        # The code that ran. Its constants are the same objects in every call.
        self.codes = codes


def flatten_result(
    result: Any, known: Known | None = None, floats: EscapingScalars | None = None
) -> tuple[list[lucid.Tensor], Callable[[list[lucid.Tensor]], Any]]:
    """Returns the tensors in a result, and a function that makes an equal result from other tensors. The `floats` that
    the call has read from tensors are read from the new ones."""
    tensors: list[lucid.Tensor] = []
    parts = _Parts(known or Known(), tensors, floats.copies if floats is not None else {})
    rebuild = parts.of(result)
    if floats is not None and not floats.are_found(parts.found):
        raise CannotRebuild("reads a value of a tensor and hands it on unseen")

    def make(new: list[lucid.Tensor]) -> Any:
        return rebuild(iter(new), {})

    return tensors, make


class _Parts:
    """Takes one result apart."""

    def __init__(self, known: Known, tensors: list[lucid.Tensor], floats: dict[int, lucid.Tensor]) -> None:
        self._known = known
        self._tensors = tensors
        # By id: the tensors that the call has read floats from. The ids of those that were found.
        self._floats = floats
        self.found: set[int] = set()
        # By id: the number of an object that is not a constant. The functions that rebuild results refer to the object
        # by its number, so that they do not keep it alive.
        self._numbers: dict[int, int] = {}
        # The numbers of objects whose parts are being taken apart.
        self._unfinished: set[int] = set()
        # Whether it is an argument of a call that is repeated, not a result.
        self._is_passed = False

    def of(self, item: Any) -> Rebuild:
        cls = type(item)
        if derives(cls, lucid.Tensor):
            return self._tensor(item)
        if cls is float and id(item) in self._floats:
            return self._float(item)
        if cls in _CONSTANTS or is_enum(cls) or (cls is tuple and not item):
            return _constant(item)
        if (known := self._numbers.get(id(item))) is not None:
            if known in self._unfinished:
                raise self._refusal(f"a {name_of(cls)} that contains itself")
            return lambda new, made: made[known]
        if id(item) in self._known.objects:
            if self._is_passed and id(item) in self._known.lasting:
                return _constant(item)
            raise self._refusal(f"a {name_of(cls)} that existed before the call")
        if len(self._unfinished) >= _MAX_DEPTH:
            raise self._refusal(f"a value that is nested {_MAX_DEPTH} deep")
        number = self._numbers[id(item)] = len(self._numbers)
        self._unfinished.add(number)
        make = self._maker(item, cls)
        self._unfinished.remove(number)
        return _remember(make, number)

    def _tensor(self, tensor: lucid.Tensor) -> Rebuild:
        cls = type(tensor)
        if cls is not lucid.Tensor and id(tensor) not in self._known.tensors:
            raise self._refusal(f"a new {name_of(cls)}")
        self._tensors.append(tensor)
        return lambda new, made: next(new)

    def _float(self, value: float) -> Rebuild:
        if (known := self._numbers.get(id(value))) is not None:
            return lambda new, made: made[known]
        number = self._numbers[id(value)] = len(self._numbers)
        self.found.add(id(value))
        self._tensors.append(self._floats[id(value)])

        def read(new: Iterator[lucid.Tensor], made: dict[int, Any]) -> Any:
            made[number] = result = _item(next(new))
            return result

        return read

    def _refusal(self, what: str) -> CannotRebuild:
        return CannotPass(f"passes an effect {what}") if self._is_passed else CannotRebuild(f"returns {what}")

    def _arguments(self, arguments: Arguments) -> Rebuild:
        self._is_passed = True
        calls = [(self.of(args), self._dict(kwargs, dict)) for args, kwargs in arguments.calls]
        return lambda new, made: [(args(new, made), kwargs(new, made)) for args, kwargs in calls]

    def _text(self, text: Text) -> Rebuild:
        parts = [(_constant(part), "") if type(part) is str else (self.of(part[0]), part[1]) for part in text.parts]
        return lambda new, made: "".join([format(part(new, made), spec) for part, spec in parts])

    def _maker(self, item: Any, cls: type) -> Rebuild:
        if cls is Arguments:
            return self._arguments(item)
        if cls is Text:
            return self._text(item)
        if cls is slice:
            bounds = [self.of(bound) for bound in (item.start, item.stop, item.step)]
            return lambda new, made: slice(*[bound(new, made) for bound in bounds])
        if cls is list:
            parts = [self.of(part) for part in item]
            return lambda new, made: [part(new, made) for part in parts]
        if cls is tuple or (derives(cls, tuple) and not self._is_passed):
            return self._tuple(item, cls)
        if cls is dict:
            return self._dict(item, dict)
        # The call may have changed other objects after it has passed them.
        if self._is_passed:
            raise self._refusal(f"a {name_of(cls)} that the call has made")
        if cls is collections.OrderedDict:
            return self._dict(item, collections.OrderedDict)
        if is_python_class(cls) and not is_own_class(cls) and not _has(cls, "__del__"):
            self._check_class(cls)
            return self._instance(item, cls)
        raise self._refusal(f"a {name_of(cls)}")

    def _check_class(self, cls: type) -> None:
        if self._known.classes is not None and cls not in self._known.classes:
            raise UnknownClass(f"returns a {name_of(cls)}, a class that the call may have made")

    def _tuple(self, item: Any, cls: type) -> Rebuild:
        if cls is tuple and self._is_constant(item):
            return _constant(item)
        is_ours = module_of(cls) == "lucid.return_types"
        if cls is not tuple and not is_ours:
            if not _has(cls, "_fields") or _core.attributes_of(item):
                raise self._refusal(f"a {name_of(cls)}")
            self._check_class(cls)
        parts = [self.of(part) for part in tuple.__iter__(item)]
        if is_ours:
            return lambda new, made: cls([part(new, made) for part in parts])
        return lambda new, made: tuple.__new__(cls, [part(new, made) for part in parts])

    def _is_constant(self, item: tuple[Any, ...]) -> bool:
        """Whether a tuple is a constant of code that ran."""
        return any(item is constant for code in self._known.codes for constant in code.co_consts)

    def _dict(self, item: dict[Any, Any], make: Callable[[Any], Any]) -> Rebuild:
        keys = list(dict.keys(item))
        for key in keys:
            if not _is_plain(key):
                raise self._refusal(f"a dict with a {name_of(type(key))} among its keys")
        values = [self.of(value) for value in dict.values(item)]
        return lambda new, made: make(zip(keys, [value(new, made) for value in values]))

    def _instance(self, item: Any, cls: type) -> Rebuild:
        """An object that the call made: its attributes and slots and, if it is a container, its contents.

        No code of the class runs: the object is made and filled by the types that it derives from.
        """
        bases = builtin_bases(cls)
        if bases and (bases[0] not in _BASES or any(base not in (*_BASES, dict) for base in bases)):
            raise self._refusal(f"a {name_of(cls)}")
        contents: Rebuild | None = None
        fill = _BASES[bases[0]] if bases else None
        if bases and derives(cls, dict):
            contents = self._dict(item, list)
        elif bases:
            parts = [self.of(part) for part in list.__iter__(item)]

            def contents(new: Iterator[lucid.Tensor], made: dict[int, Any]) -> Any:
                return [part(new, made) for part in parts]

        new_instance: Any = (bases[0] if bases else object).__new__
        attributes = self._dict(_core.attributes_of(item) or {}, list)
        slots = []
        for member in _slots_of(cls):
            value = _slot(member, item)
            if value is not _MISSING:
                slots.append((member, self.of(value)))

        def make(new: Iterator[lucid.Tensor], made: dict[int, Any]) -> Any:
            instance = new_instance(cls)
            if contents is not None and fill is not None:
                fill(instance, contents(new, made))
            if values := attributes(new, made):
                stored: Any = _core.attributes_of(instance)
                stored.update(values)
            for member, value in slots:
                member.__set__(instance, value(new, made))
            return instance

        return make


def _constant(value: Any) -> Rebuild:
    return lambda new, made: value


def _remember(make: Rebuild, number: int) -> Rebuild:
    def remember(new: Iterator[lucid.Tensor], made: dict[int, Any]) -> Any:
        made[number] = result = make(new, made)
        return result

    return remember


def _is_plain(key: Any) -> bool:
    cls = type(key)
    return cls in _CONSTANTS or is_enum(cls) or (cls is tuple and all(_is_plain(part) for part in key))


def _has(cls: type, name: str) -> bool:
    """Whether a class or one that it derives from defines a name. Its metaclass is not asked."""
    return any(name in _core.class_dict(base) for base in mro_of(cls) if is_heap_class(base))


def _slots_of(cls: type) -> list[Any]:
    return [
        member
        for base in mro_of(cls)
        if is_heap_class(base)
        for member in _core.class_dict(base).values()
        if type(member) is MemberDescriptorType
    ]


def _slot(member: Any, item: Any) -> Any:
    try:
        return member.__get__(item)
    except AttributeError:
        return _MISSING
