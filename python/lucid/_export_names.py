"""Names in what `lucid.export` writes: of targets, outputs, state and object files. The header of an object file."""

from __future__ import annotations

import ctypes
import itertools
import os
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from . import _core
from .nn import Module
from .optim import Optimizer

# Written next to an object file.
_HEADER = """\
/* A program that lucid.export() wrote: link {file} and -llucid_runtime, then call lucid_program_open(&{symbol}). */
#ifndef {guard}
#define {guard}

#include <lucid.h>

#ifdef __cplusplus
extern "C"
#else
extern
#endif
const lucid_linked_program {symbol};

#endif
"""

# What outputs without a name are called.
_POSITION = re.compile(r"output\d+")

# Keywords of C and C++, and names that headers of the C library define without a symbol in the library.
_TAKEN = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete
do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long mutable
namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires restrict return short signed sizeof static static_assert static_cast struct switch template this
thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq
assert errno linux main nullptr_t offsetof setjmp unix va_arg va_copy va_end va_list va_start
BUFSIZ CHAR_BIT EOF EXIT_FAILURE EXIT_SUCCESS FILE FILENAME_MAX HUGE_VAL I INFINITY MB_CUR_MAX NAN NDEBUG NULL
RAND_MAX SEEK_CUR SEEK_END SEEK_SET TMP_MAX
complex imaginary noreturn i386 std
"""
# Types such as int32_t, and macros such as INT32_MAX.
_RESERVED = re.compile(
    r"_.*|lucid_.*|.*_t|(U?INT|SIZE|PTRDIFF|U?CHAR|SCHAR|U?SHRT|U?L?LONG|FLT|DBL|LDBL|SIG|E)[A-Z0-9_]*"
)


def encodable(name: str) -> str:
    """The name with what UTF-8 cannot express, lone surrogates, written as escapes."""
    return name.encode("utf-8", "backslashreplace").decode()


def levels_of(targets: Sequence[str] | None) -> list[str]:
    """The CPUs to write machine code for, without duplicates."""
    if targets is None:
        return [_core.cpu_level()]
    if isinstance(targets, str):
        raise TypeError(f"lucid.export: targets must be a list, such as [{targets!r}], got a str")
    found = list(targets) if isinstance(targets, Iterable) else [None]
    if not all(isinstance(target, str) for target in found):
        raise TypeError(f'lucid.export: targets must be a list of names, such as ["avx2"], got {targets!r}')
    return list(dict.fromkeys(map(encodable, found)))


def output_names(names: Sequence[str]) -> list[str]:
    """The names of outputs; "" for those that are called by their position."""
    return [
        name if names.count(name) == 1 and (name == f"output{i}" or not _POSITION.fullmatch(name)) else ""
        for i, name in enumerate(names)
    ]


def state_names(target: Any) -> dict[int, str]:
    """The names of tensors that the function refers to, by their ids."""
    names: dict[int, str] = {}
    found = referenced(target)
    for prefix, value in found:
        if isinstance(value, Module):
            for name, tensor in itertools.chain(value.named_parameters(), value.named_buffers()):
                names.setdefault(id(tensor), f"{prefix}{name}")
        elif isinstance(value, _core.Tensor):
            names.setdefault(id(value), prefix.removesuffix("."))
    for prefix, value in found:
        if isinstance(value, Optimizer):
            for parameter, state in value.state.items():
                for key, tensor in state.items():
                    owner = names.get(id(parameter), "parameter")
                    names.setdefault(id(tensor), f"{prefix}{owner}.{key}")
    return names


def referenced(target: Any) -> list[tuple[str, Any]]:
    """What the function refers to, with a prefix for the names of its tensors."""
    import inspect

    if isinstance(target, Module):
        return [("", target)]
    if isinstance(owner := getattr(target, "__self__", None), Module):
        return [("", owner)]
    try:
        closure = inspect.getclosurevars(target)
    except TypeError:
        return []
    found = {**closure.globals, **closure.nonlocals}
    return [(f"{name}.", value) for name, value in found.items()]


def _is_in_c_library(name: str) -> bool:
    """Whether the process has a function or variable of this name, such as one of the C library."""
    return hasattr(ctypes.CDLL(None), name)


def symbol_of(path: str | os.PathLike[str]) -> str:
    """The name of the variable that an object file defines. Raises ValueError if C could not use it."""
    place = pathlib.Path(os.fsdecode(path))
    if place.suffix != ".o":
        raise ValueError(
            f"lucid.export: ahead_of_time=True writes an object file; end its name in .o, not {place.name!r}"
        )
    symbol = re.sub(r"[-. ]", "_", place.stem)
    if not symbol.isascii() or not symbol.isidentifier():
        reason = "must have ASCII letters, digits and underscores only, and begin with a letter"
    elif symbol in _TAKEN.split() or _RESERVED.fullmatch(symbol) or _is_in_c_library(symbol):
        reason = f"must not be {symbol}, which means something else in C, C++ or Lucid"
    else:
        return symbol
    raise ValueError(
        f"lucid.export: the file {place.name!r} names a variable in C, whose name {reason}; choose another name, such "
        "as my_model.o"
    )


def write_header(path: str | os.PathLike[str], symbol: str) -> None:
    """Writes the header of an object file next to it."""
    place = pathlib.Path(os.fsdecode(path))
    text = _HEADER.format(symbol=symbol, guard=f"LUCID_PROGRAM_{symbol}_H", file=place.name)
    place.with_suffix(".h").write_text(text, encoding="ascii")
