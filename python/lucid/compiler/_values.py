"""What the walk does with values of families of types, such as tensors, modules and classes defined in Python."""

from __future__ import annotations

import collections
import datetime
import types
from collections.abc import Callable, Iterator
from typing import Any

import lucid

from .. import _core
from ..optim import Optimizer
from ..optim.lr_scheduler import LRScheduler
from . import _type_tables
from ._functions import impure_name, own_effect
from ._rules import MAX_BYTES, RULES, Rule, array, refuse_state, visit_class, visit_constants
from ._type_tables import ATOMS, IMMUTABLE, derives, mro_of, simple_name_of, type_set
from ._worklist import Worklist

_MODULE_BASES = type_set(*mro_of(lucid.nn.Module))

_CONTAINERS = (
    list,
    tuple,
    dict,
    set,
    frozenset,
    collections.deque,
    collections.OrderedDict,
    collections.defaultdict,
)


def _tensor(work: Worklist, tensor: lucid.Tensor, source: str) -> None:
    work.facts.tensors.setdefault(id(tensor), (tensor, source))
    work.facts.visible.append((tensor, source))
    work.backward_hooks(_core.tensor_hooks(tensor), source)
    if type(tensor) is not lucid.Tensor:
        work.add_class(type(tensor), simple_name_of(type(tensor)))
        if type(tensor) is lucid.nn.Parameter and not _core.attributes_of(tensor):
            work.facts.bare.append((tensor, source))
        else:
            work.add_instance(tensor, source)


def _constant(work: Worklist, value: Any, source: str) -> None:
    if name := own_effect(value):
        work.refuse(name.rpartition(".")[2], f"may call {name}")


def _schedule(work: Worklist, value: Any, source: str) -> None:
    work.add_class(type(value), type(value).__name__)
    work.add_instance(value, source)
    # A step reads and writes its options.
    if (optimizer := (_core.attributes_of(value) or {}).get("optimizer")) is not None:
        work.start(optimizer, f"{source}.optimizer")


def _python_module(work: Worklist, value: Any, source: str) -> None:
    if type(value) is not types.ModuleType:
        work.add_class(type(value), simple_name_of(type(value)))
    work.add_instance(value, source)


def _object(work: Worklist, value: Any, source: str) -> None:
    cls = type(value)
    work.add_class(cls, simple_name_of(cls))
    # The names in NumPy's code are not collected.
    work.add_instance(value, source, whole=_type_tables.library_of(cls) == "numpy")
    for base in _type_tables.builtin_bases(cls):
        if base in _CONTAINERS:
            RULES[base].visit(work, value, source)
            return
        # Of these types, code can read only the value.
        if base not in (int, float, str, bytes, complex, datetime.tzinfo):
            refuse_state(work, value, source)
            return


def _own(work: Worklist, value: Any, source: str) -> None:
    """An object of one of Lucid's other classes: everything that it holds may matter."""
    # The table of a compiled module refers to nothing but that module.
    if _type_tables.is_pure_type(type(value)) or type(value) is _core.CompiledCallable:
        return
    if derives(type(value), _core.CompiledCallable):
        work.add_instance(value, source)
        work.start(value.__wrapped__, source)
    elif _type_tables.is_python_class(type(value)):
        work.add_instance(value, source, whole=True)
    else:
        refuse_state(work, value, source)


def _module(work: Worklist, module: Any, source: str) -> None:
    work.add_class(type(module), simple_name_of(type(module)))
    try:
        work.guards.module(module, source)
    except AttributeError:
        work.refuse(source, f"reads {source}, a module that is not initialised")
        return
    parameters, buffers, modules, hooks, backward_hooks = _core.describe_module(module)
    work.backward_hooks(backward_hooks, source)
    for name, tensor in (*parameters, *buffers):
        # This source is clearer than that of an optimizer.
        work.facts.tensors[id(tensor)] = (tensor, f"{source}.{name}")
        work.start(tensor, f"{source}.{name}", name=name)
    for name, child in modules:
        work.start(child, f"{source}[{name}]" if name.isdigit() else f"{source}.{name}")
    for number, hook in enumerate(hooks):
        work.start(hook, f"hook {number} of {source}")
    # Lucid's own code, whose names are not collected, reads the attributes of its classes.
    ours = work.own_modules.get(type(module))
    if ours is None:
        ours = any(_type_tables.is_own_class(base) and base not in _MODULE_BASES for base in mro_of(type(module)))
        work.own_modules[type(module)] = ours
    work.add_instance(module, source, whole=ours)


def _optimizer(work: Worklist, optimizer: Any, source: str) -> None:
    work.add_class(type(optimizer), simple_name_of(type(optimizer)))
    for tensor, where in work.guards.optimizer(optimizer, source):
        work.facts.tensors.setdefault(id(tensor), (tensor, where))
        work.refer(tensor, where)
        if type(tensor) is not lucid.Tensor:
            work.start(tensor, where)
    for value, where in _kept_by(optimizer, source):
        work.start(value, where)
    work.add_instance(optimizer, source)
    # Only Lucid's own code names these.
    for name in ("_pre_hooks", "_post_hooks"):
        if (hooks := (_core.attributes_of(optimizer) or {}).get(name)) is not None:
            work.start(hooks, f"{source}.{name}")


def _kept_by(optimizer: Any, source: str) -> Iterator[tuple[Any, str]]:
    """The objects among the options and the state of an optimizer that are neither data nor tensors."""
    base: Any = _core.OptimizerBase
    for number, group in enumerate(base.param_groups.__get__(optimizer)):
        for name in group:
            if name != "params":
                yield from _foreign(group[name], f"{source}.param_groups[{number}][{name!r}]")
    for state in base.state.__get__(optimizer).values():
        for name in state:
            yield from _foreign(state[name], f"{source}.state[...][{name!r}]")
    yield from _foreign(base.defaults.__get__(optimizer), f"{source}.defaults")


def _foreign(value: Any, source: str) -> Iterator[tuple[Any, str]]:
    # Lists, tuples and dicts are copied at each access.
    cls = type(value)
    if cls in (list, tuple):
        for number, item in enumerate(value):
            yield from _foreign(item, f"{source}[{number}]")
    elif cls is dict:
        for key, item in value.items():
            yield from _foreign(item, f"{source}[{key!r}]")
    elif cls not in ATOMS and not derives(cls, lucid.Tensor):
        yield value, source


def _numpy_array(work: Worklist, value: Any, source: str) -> None:
    work.facts.uses_numpy = True
    work.facts.kinds[type(value)] = None
    work.facts.views.append((value, source, "base"))
    array(work, value, source)


def _numpy_constant(work: Worklist, value: Any, source: str) -> None:
    work.facts.uses_numpy = True
    # The names of the fields of a dtype can be changed.
    if _type_tables.has_fields(value):
        refuse_state(work, value, source)
    elif not _type_tables.is_numpy_function(value):
        work.refuse(source, f"may call {source}, whose effects cannot be known")
    # The watch does not see calls of NumPy's C functions.
    elif (
        type(function := getattr(value, "_implementation", None)) is types.BuiltinFunctionType
        and (name := impure_name(function)) is not None
    ):
        work.refuse(source, f"may call {name}")


def _is_own(cls: type) -> bool:
    return _type_tables.is_heap_class(cls) and _type_tables.library_of(cls) == "lucid"


# The first predicate that accepts a type decides.
FAMILIES: list[tuple[Callable[[type], bool], Rule]] = [
    (
        lambda cls: derives(cls, lucid.Tensor),
        Rule(
            "`lucid.Tensor`",
            "identity, class, dtype, shape, strides, aliasing, `requires_grad`, hooks and attributes that code names",
            "the plan reads and writes the values",
            _tensor,
        ),
    ),
    (
        lambda cls: derives(cls, _core.Module),
        Rule(
            "`nn.Module`",
            "class, mode, settings, parameters, buffers, children, hooks and attributes that code names",
            "Lucid's own code reads nothing else of it",
            _module,
        ),
    ),
    (
        lambda cls: derives(cls, Optimizer),
        Rule(
            "`optim.Optimizer`",
            "groups, options, state, hooks and attributes that code names",
            "learning rates and counts of steps are inputs of the plan",
            _optimizer,
        ),
    ),
    (
        lambda cls: derives(cls, LRScheduler),
        Rule(
            "`LRScheduler`",
            "the optimizer, and attributes that code names",
            "a plan repeats `step()`; a call that runs another method runs eagerly",
            _schedule,
        ),
    ),
    (
        lambda cls: derives(cls, type),
        Rule("classes with a metaclass", "as other classes", "the metaclass is visited too", visit_class),
    ),
    (
        lambda cls: cls in IMMUTABLE,
        Rule("immutable types", "identity or equal value", "listed below", _constant),
    ),
    (
        lambda cls: _type_tables.numpy_kind(cls) == "constant",
        Rule(
            "NumPy's scalars, dtypes and functions",
            "identity, NumPy's error mode and the warning filters",
            "they do not change; a dtype with named fields does, and is refused",
            _numpy_constant,
        ),
    ),
    (
        lambda cls: _type_tables.numpy_kind(cls) == "array",
        Rule(
            "`numpy.ndarray`",
            f"the bytes, up to {MAX_BYTES:,}, format, shape, strides, whether they can be written to, "
            "NumPy's error mode and the warning filters",
            "the array behind it is visited if code names `base`; arrays of objects are refused",
            _numpy_array,
        ),
    ),
    (
        lambda cls: derives(cls, tuple) and not _type_tables.is_heap_class(cls),
        Rule(
            "tuples with named fields that are written in C, such as `sys.version_info`",
            "identity",
            "they do not change; their items are visited",
            visit_constants,
        ),
    ),
    (
        lambda cls: derives(cls, types.ModuleType),
        Rule(
            "Python modules",
            "attributes that code names",
            "a module of a library that code passes on, where names do not show in code, is guarded as a whole",
            _python_module,
        ),
    ),
    (
        _is_own,
        Rule(
            "other classes of Lucid",
            "every attribute",
            "the names in Lucid's own code are not collected",
            _own,
        ),
    ),
    (
        _type_tables.is_python_class,
        Rule(
            "classes defined in Python",
            "the class, attributes and slots that code names, and the contents of a container",
            "an instance holds nothing but its attributes, its slots and what a builtin base class holds",
            _object,
        ),
    ),
]

UNKNOWN = Rule("any other type", "refused", "nothing is known of its state", refuse_state)


def rule_for(cls: type) -> Rule:
    """The rule for values of a class."""
    if (found := RULES.get(cls)) is not None:
        return found
    return next((rule for accepts, rule in FAMILIES if accepts(cls)), UNKNOWN)
