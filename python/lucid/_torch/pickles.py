"""An interpreter of pickles that calls nothing but the constructors it is given.

Python's own unpickler imports what a pickle names, calls it, and sets attributes of the result. Its hooks restrict the
names, but not what is done with them: a pickle may still set attributes of the functions that it was given. This
interpreter knows the opcodes that plain data needs. It looks names up in a table, calls only constructors of that
table, and fills only containers that the pickle itself created. It does not recurse, and its time and memory are linear
in the size of the pickle.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from .._core import KeyPlaces
from .archive import Source


class Internal:
    """A value that a pickle may pass to constructors, but that is no part of the result."""

    name: str


class Name(Internal):
    """A name that a pickle may mention but not call."""

    def __init__(self, name: str) -> None:
        self.name = name


class Constructor(Name):
    """A name that a pickle may call. `build` checks its arguments and raises ValueError."""

    def __init__(self, name: str, build: Callable[..., Any]) -> None:
        super().__init__(name)
        self.build = build


class Arguments(tuple[Any, ...], Internal):
    """A tuple with an internal value among its items."""

    name = "a tuple that holds a class or a storage"


_CHUNK = 1 << 16
_MAX_LINE = 1024
_SCALARS = (str, bytes, int, float, bool, type(None))
_SIZED = (str, bytes, list, tuple)
_MAX_KEY_ITEMS = 64
_MAX_UNCHECKED_KEYS = 64
# How far the index of a memo may be above the number of memos. Python writes them in order; the first is 0 or 1.
_MAX_MEMO_GAP = 4096
# Constructors may copy their arguments. Together these are at most this many times as long as the pickle, else a short
# pickle could copy the same list many times. In files of torch.save they are shorter than the pickle.
_MAX_COPIES = 4


class Keys:
    """Checks the keys of the dicts and sets that a pickle fills: adding them takes linear time."""

    def __init__(self) -> None:
        # By id of the container, which is kept alive so that no other container gets its id.
        self._places: dict[int, tuple[Any, KeyPlaces]] = {}

    def check(self, target: Any, key: Any) -> Any:
        """Returns `key` if the dict or set `target` may hold it."""
        if type(key) is str:
            return key
        items = key if type(key) is tuple else (key,)
        if len(items) > _MAX_KEY_ITEMS or any(type(item) not in _SCALARS for item in items):
            raise ValueError(f"a key is {describe(key)}; it must be a text, a number, or a short tuple of them")
        if any(type(item) is int and not -(1 << 63) <= item < 1 << 64 for item in items):
            raise ValueError("a key is an integer that does not fit into 64 bits")
        if len(target) >= _MAX_UNCHECKED_KEYS:
            if id(target) not in self._places:
                self._places[id(target)] = target, KeyPlaces(type(target) is set)
            self._places[id(target)][1].add(hash(key), key in target)
        return key


def make_set(items: list[Any]) -> set[Any]:
    """A set of the items, which are checked as keys."""
    keys = Keys()
    result: set[Any] = set()
    for item in items:
        result.add(keys.check(result, item))
    return result


def make_frozen_set(items: list[Any]) -> frozenset[Any]:
    make_set(items)
    # Not a copy of the set: its table has another size, where other keys may collide.
    return frozenset(items)


def check_value(value: Any) -> Any:
    """Returns `value` if it may be part of the result."""
    if isinstance(value, Internal):
        raise ValueError(f"{describe(value)} is neither a tensor nor plain data")
    return value


def describe(value: Any) -> str:
    return value.name if isinstance(value, Internal) else f"a {type(value).__name__}"


class Unpickler:
    """Interprets the pickle that starts at an offset of a source.

    Args:
        constructors: The values of the names that the pickle may mention.
        persistent: Returns the value of a persistent id.
    """

    def __init__(
        self,
        source: Source,
        constructors: Mapping[str, Any],
        persistent: Callable[[Any], Any],
        offset: int = 0,
    ) -> None:
        self._source = source
        self._constructors = constructors
        self._persistent = persistent
        self._base = offset
        self._window: bytes = b""
        self._at = 0
        self._stack: list[Any] = []
        # For each open mark, the stack below it.
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._keys = Keys()
        self._copied = 0

    @property
    def offset(self) -> int:
        """Offset of the next byte to read."""
        return self._base + self._at

    def load(self) -> Any:
        try:
            while (opcode := self._take(1)[0]) != _STOP:
                run = _OPCODES.get(opcode)
                if run is None:
                    raise ValueError(f"the pickle has opcode {bytes([opcode])!r}, which plain data does not need")
                run(self)
            if len(self._stack) != 1 or self._below:
                raise ValueError("the pickle is damaged: it does not end with one value")
            return check_value(self._stack[0])
        except (IndexError, KeyError):
            self._fail("the pickle is damaged: it uses a value that it did not create")
        except ValueError as error:
            self._fail(str(error))

    def _fail(self, reason: str) -> NoReturn:
        place = self._place()
        raise ValueError(f"load_torch: {f'obj{place}: ' if place else ''}{reason}") from None

    def _place(self) -> str:
        """The keys of the dicts that are being filled, as subscripts."""
        keys = []
        owner = None
        for frame in [*self._below, self._stack]:
            if isinstance(owner, dict):
                keys += [item for item in frame[::2] if type(item) in (str, int)][-1:]
            elif not isinstance(owner, list):
                # Dicts with one item are filled without a mark.
                pairs = itertools.pairwise(frame)
                keys += [key for holder, key in pairs if isinstance(holder, dict) and type(key) in (str, int)]
            owner = frame[-1] if frame else None
        return "".join(f"[{key if type(key) is int else key[:100]!r}]" for key in keys[:10])

    def _take(self, size: int) -> bytes:
        start, end = self._at, self._at + size
        if end > len(self._window):
            left = self._source.size - self.offset
            if size > left:
                raise ValueError("the pickle is cut short")
            self._window = bytes(self._source.read(self.offset, min(max(size, _CHUNK), left)))
            self._base, start, end = self.offset, 0, size
        self._at = end
        return self._window[start:end]

    def _take_line(self) -> str:
        line = bytearray()
        while (byte := self._take(1)) != b"\n":
            line += byte
            if len(line) > _MAX_LINE:
                raise ValueError("the pickle is damaged: a name is too long")
        return _text(line)

    def _take_number(self, form: struct.Struct) -> Any:
        return form.unpack(self._take(form.size))[0]

    def _pop_mark(self) -> list[Any]:
        items = self._stack
        self._stack = self._below.pop()
        return items

    # Opcodes: numbers, texts and constants.

    def _bytes(self, form: struct.Struct) -> None:
        self._stack.append(self._take(self._take_number(form)))

    def _text(self, form: struct.Struct) -> None:
        self._stack.append(_text(self._take(self._take_number(form))))

    def _long(self) -> None:
        self._stack.append(int.from_bytes(self._take(self._take(1)[0]), "little", signed=True))

    # Opcodes: containers.

    def _mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def _tuple(self, size: int) -> None:
        if size > len(self._stack):
            raise IndexError
        items = self._stack[len(self._stack) - size :]
        del self._stack[len(self._stack) - size :]
        self._push_tuple(items)

    def _push_tuple(self, items: list[Any]) -> None:
        internal = any(isinstance(item, Internal) for item in items)
        self._stack.append(Arguments(items) if internal else tuple(items))

    def _append(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not list:
            raise ValueError(f"the pickle appends to {describe(target)}")
        target.extend(check_value(item) for item in items)

    def _set_items(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not dict:
            raise ValueError(f"the pickle sets items of {describe(target)}")
        if len(items) % 2:
            raise ValueError("the pickle is damaged: a dict has a key without a value")
        for key, value in zip(items[::2], items[1::2]):
            self._keys.check(target, key)
            if isinstance(value, Internal):
                raise ValueError(f"{describe(value)} at key {str(key)[:100]!r} is neither a tensor nor plain data")
            target[key] = value

    def _set_item(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set_items([key, value])

    def _add_items(self) -> None:
        items = self._pop_mark()
        target = self._stack[-1]
        if type(target) is not set:
            raise ValueError(f"the pickle adds items to {describe(target)}")
        for item in items:
            target.add(self._keys.check(target, item))

    def _frozen_set(self) -> None:
        items = self._pop_mark()
        self._stack.append(make_frozen_set(items))

    # Opcodes: names, calls and references.

    def _global(self, module: Any, name: Any) -> None:
        if type(module) is not str or type(name) is not str:
            raise ValueError("the pickle is damaged: the name of a class is not text")
        full = f"{module}.{name}"
        if full not in self._constructors:
            raise ValueError(
                f"the file wants to build {full[:200]}, which is not built: load_torch builds tensors, "
                "containers, texts and numbers only. In PyTorch, save a state_dict or a dict of plain data"
            )
        self._stack.append(self._constructors[full])

    def _stack_global(self) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._global(module, name)

    def _reduce(self) -> None:
        arguments, function = self._stack[-1], self._stack[-2]
        if type(function) is not Constructor or not isinstance(arguments, tuple):
            raise ValueError(f"the file wants to call {describe(function)}, which is not called")
        self._copied += len(arguments) + sum(len(item) for item in arguments if isinstance(item, _SIZED))
        if self._copied > _MAX_COPIES * self._source.size:
            raise ValueError("the pickle copies its data too often")
        result = function.build(*arguments)
        # Until here the stack tells where in the result the call is.
        del self._stack[-2:]
        self._stack.append(result)

    def _build(self) -> None:
        state = self._stack.pop()
        target = self._stack[-1]
        # State dicts of modules are OrderedDicts with an attribute, the versions of the modules. It has no use here.
        if type(target) is not dict or type(state) is not dict:
            raise ValueError(f"the file wants to set the state of {describe(target)}, which is not set")

    def _persistent_id(self) -> None:
        self._stack[-1] = self._persistent(self._stack[-1])

    def _put(self, index: int) -> None:
        if index > len(self._memo) + _MAX_MEMO_GAP:
            raise ValueError("the pickle is damaged: it does not number its values in order")
        self._memo[index] = self._stack[-1]

    def _get(self, index: int) -> None:
        self._stack.append(self._memo[index])


def _text(data: bytes | bytearray) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ValueError("the pickle is damaged: a text is not UTF-8") from None


_STOP = ord(".")
_MAX_PROTOCOL = 5


def _check_protocol(pickle: Unpickler) -> None:
    if (protocol := pickle._take(1)[0]) > _MAX_PROTOCOL:
        raise ValueError(f"the pickle has protocol {protocol}, which is not known")


def _opcodes() -> dict[int, Callable[[Unpickler], object]]:
    """The opcodes that Python writes for plain data with protocols 2 to 5."""
    u8, u16, i32, u32, u64 = (struct.Struct(form) for form in ("<B", "<H", "<i", "<I", "<Q"))
    f64 = struct.Struct(">d")
    table: dict[bytes, Callable[[Unpickler], object]] = {
        b"\x80": _check_protocol,
        b"\x95": lambda p: p._take(8),
        # Constants and numbers.
        b"N": lambda p: p._stack.append(None),
        b"\x88": lambda p: p._stack.append(True),
        b"\x89": lambda p: p._stack.append(False),
        b"K": lambda p: p._stack.append(p._take_number(u8)),
        b"M": lambda p: p._stack.append(p._take_number(u16)),
        b"J": lambda p: p._stack.append(p._take_number(i32)),
        b"\x8a": Unpickler._long,
        b"G": lambda p: p._stack.append(p._take_number(f64)),
        # Texts. Python 2 wrote them as bytes, with U and T.
        b"\x8c": lambda p: p._text(u8),
        b"X": lambda p: p._text(u32),
        b"\x8d": lambda p: p._text(u64),
        b"U": lambda p: p._text(u8),
        b"T": lambda p: p._text(u32),
        b"C": lambda p: p._bytes(u8),
        b"B": lambda p: p._bytes(u32),
        b"\x8e": lambda p: p._bytes(u64),
        b"\x96": lambda p: p._stack.append(bytearray(p._take(p._take_number(u64)))),
        # Containers.
        b"(": Unpickler._mark,
        b")": lambda p: p._stack.append(()),
        b"\x85": lambda p: p._tuple(1),
        b"\x86": lambda p: p._tuple(2),
        b"\x87": lambda p: p._tuple(3),
        b"t": lambda p: p._push_tuple(p._pop_mark()),
        b"]": lambda p: p._stack.append([]),
        b"a": lambda p: p._append([p._stack.pop()]),
        b"e": lambda p: p._append(p._pop_mark()),
        b"}": lambda p: p._stack.append({}),
        b"s": Unpickler._set_item,
        b"u": lambda p: p._set_items(p._pop_mark()),
        b"\x8f": lambda p: p._stack.append(set()),
        b"\x90": Unpickler._add_items,
        b"\x91": Unpickler._frozen_set,
        # Names and calls.
        b"c": lambda p: p._global(p._take_line(), p._take_line()),
        b"\x93": Unpickler._stack_global,
        b"R": Unpickler._reduce,
        b"\x81": Unpickler._reduce,
        b"b": Unpickler._build,
        b"Q": Unpickler._persistent_id,
        # The memo, and what is left of recursive tuples.
        b"q": lambda p: p._put(p._take_number(u8)),
        b"r": lambda p: p._put(p._take_number(u32)),
        b"\x94": lambda p: p._put(len(p._memo)),
        b"h": lambda p: p._get(p._take_number(u8)),
        b"j": lambda p: p._get(p._take_number(u32)),
        b"0": lambda p: p._stack.pop(),
        b"1": lambda p: p._pop_mark(),
    }
    return {opcode[0]: run for opcode, run in table.items()}


_OPCODES = _opcodes()
