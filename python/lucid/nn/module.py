"""The base of all modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

from .. import _core, _effects
from .._core import Tensor
from .hooks import Hooked
from .parameter import Buffer, Parameter

_effects.pure_module()

_T = TypeVar("_T", bound="type[Module]")


class IncompatibleKeys(NamedTuple):
    """What load_state_dict found: keys that the state lacks, and keys that it has too many."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def _rebuild(cls: type[Module]) -> Module:
    """Makes a module for a copy or a pickle to be filled in."""
    module: Module = _core.blank_module(cls)
    return module


class Module(Hooked):
    """A part of a network. Subclass it, assign parameters and modules to attributes, and define forward().

    >>> class Net(lucid.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = lucid.nn.Linear(4, 8)
    ...         self.out = lucid.nn.Linear(8, 2)
    ...     def forward(self, x):
    ...         return self.out(self.hidden(x).relu())
    >>> net = Net()
    >>> net(lucid.ones(3, 4)).shape
    (3, 2)
    >>> net
    Net(
      (hidden): Linear(in_features=4, out_features=8, bias=True)
      (out): Linear(in_features=8, out_features=2, bias=True)
    )

    Every change to a module or to one below it (an attribute, a parameter, a hook, a mode, a module) moves its
    `_version`. Values written straight into `__dict__` do not.
    """

    def __init__(self) -> None:
        super().__init__()

    def compile(self, *, max_cache_entries: int = 8) -> Any:
        """This module, compiled: the same as lucid.compile(module).

        >>> net = lucid.nn.Linear(3, 2).compile()
        >>> net(lucid.ones(4, 3)).shape
        (4, 2)
        """
        import lucid.compiler

        return lucid.compiler.compile(self, max_cache_entries=max_cache_entries)

    # Parts.

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter, or None to say that there could be one."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"register_parameter: '{name}' must be a lucid.nn.Parameter or None, not {type(param)}")
        self._check_free("parameter", name)
        self._register_parameter(name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a tensor that is kept but not learned. One that is not persistent is left out of state_dict().

        >>> module = lucid.nn.Module()
        >>> module.register_buffer("mean", lucid.zeros(2))
        >>> module.mean
        tensor([0., 0.])
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: '{name}' must be a tensor or None, not {type(tensor)}")
        self._check_free("buffer", name)
        self._register_buffer(name, tensor, persistent)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"add_module: '{name}' must be a lucid.nn.Module or None, not {type(module)}")
        self._check_free("module", name)
        self._add_module(name, module)

    register_module = add_module

    def _check_free(self, kind: str, name: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a {kind} must be a str, not {type(name)}")
        if "." in name or not name:
            raise KeyError(f"the name of a {kind} must not be empty or contain a dot: {name!r}")
        place = {"parameter": 0, "buffer": 1, "module": 3}[kind]
        if hasattr(self, name) and name not in self._parts()[place]:
            raise KeyError(f"attribute '{name}' already exists")

    def get_submodule(self, target: str) -> Module:
        """The module at a path with dots; "" is the module itself."""
        try:
            module: Module = self._get_submodule(target)
        except ValueError as error:
            raise AttributeError(str(error)) from None
        return module

    def set_submodule(self, target: str, module: Module) -> None:
        """Replaces the module at a path with dots."""
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def _get_part(self, kind: str, target: str) -> Tensor:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        part = (owner._parameters if kind == "parameter" else owner._buffers).get(name)
        if part is None:
            raise AttributeError(f"{type(owner).__name__} has no {kind} '{name}'")
        found: Tensor = part
        return found

    def get_parameter(self, target: str) -> Tensor:
        """The parameter at a path with dots."""
        return self._get_part("parameter", target)

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path with dots."""
        return self._get_part("buffer", target)

    @property
    def _parameters(self) -> dict[str, Any]:
        return self._parts()[0]

    @property
    def _buffers(self) -> dict[str, Any]:
        return self._parts()[1]

    @property
    def _modules(self) -> dict[str, Any]:
        return self._parts()[3]

    # Walks.

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Names and parameters of the module and those below it, each once.

        >>> [name for name, _ in lucid.nn.Linear(2, 2).named_parameters(prefix="fc")]
        ['fc.weight', 'fc.bias']
        """
        return iter(self._named_tensors(True, prefix, recurse, remove_duplicate))

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of the module and those below it, each once."""
        return (parameter for _, parameter in self._named_tensors(True, "", recurse, True))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Names and buffers of the module and those below it, each once."""
        return iter(self._named_tensors(False, prefix, recurse, remove_duplicate))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of the module and those below it, each once."""
        return (buffer for _, buffer in self._named_tensors(False, "", recurse, True))

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Names of the module and those below it, and these, each once; the module itself first, without a name.

        >>> [name for name, _ in lucid.nn.Sequential(lucid.nn.Linear(2, 2)).named_modules()]
        ['', '0']
        """
        for name, module in self._named_modules(prefix, remove_duplicate):
            if memo is not None:
                if module in memo:
                    continue
                memo.add(module)
            yield name, module

    def modules(self) -> Iterator[Module]:
        """The module itself and those below it, each once."""
        return (module for _, module in self._named_modules("", True))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Names and modules right below this one, each once."""
        return iter(self._named_children())

    def children(self) -> Iterator[Module]:
        """The modules right below this one, each once."""
        return (module for _, module in self._named_children())

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls a function with every module below, then with this one."""
        self._apply_to_modules(fn)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the memory of all parameters and gradients, and all buffers, by what a function makes of them."""
        self._transform(fn)
        return self

    # Modes and dtypes.

    def train(self, mode: bool = True) -> Self:
        """Sets whether the module and those below it are being trained, which dropout and batch norm look at."""
        if not isinstance(mode, bool):
            raise ValueError("train: mode must be a bool")
        self._train(mode)
        return self

    def eval(self) -> Self:
        """The same as train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets whether gradients of the parameters are computed."""
        self._requires_grad(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forgets the gradients of all parameters, or sets them to zero."""
        self._zero_grad(set_to_none)

    def to(self, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Self:
        """Converts floating-point parameters and buffers; parameters stay the same objects.

        >>> lucid.nn.Linear(2, 2).to(lucid.float64).weight.dtype
        lucid.float64
        """
        for argument in args:
            if isinstance(argument, Tensor):
                dtype = argument.dtype
            elif isinstance(argument, _core.dtype):
                dtype = argument
            elif argument is not None:
                device = argument
        if device is not None:
            _core.device(device)
        if dtype is not None:
            self._to_dtype(dtype)
        return self

    def float(self) -> Self:
        """Converts floating-point parameters and buffers to float32."""
        self._to_dtype(_core.float32)
        return self

    def double(self) -> Self:
        """Converts floating-point parameters and buffers to float64."""
        self._to_dtype(_core.float64)
        return self

    def half(self) -> Self:
        """Converts floating-point parameters and buffers to float16."""
        self._to_dtype(_core.float16)
        return self

    def bfloat16(self) -> Self:
        """Converts floating-point parameters and buffers to bfloat16."""
        self._to_dtype(_core.bfloat16)
        return self

    def cpu(self) -> Self:
        """The module itself: all memory is the CPU's."""
        return self

    # State.

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by name, detached unless keep_vars. They share the module's memory.

        >>> list(lucid.nn.Linear(2, 2).state_dict())
        ['weight', 'bias']
        """
        state: dict[str, Any] = {} if destination is None else destination
        self._save_state(state, prefix, keep_vars)
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies a state into the parameters and buffers of the same names.

        If strict, keys that are missing or too many raise RuntimeError; shapes that differ always do. With assign
        the parameters take over the state's memory and dtype.

        >>> a, b = lucid.nn.Linear(2, 2), lucid.nn.Linear(2, 2)
        >>> b.load_state_dict(a.state_dict())
        IncompatibleKeys(missing_keys=[], unexpected_keys=[])
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict: expected a dict, not {type(state_dict)}")
        return IncompatibleKeys(*self._load_state(dict(state_dict), strict, assign))

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Writes the module's own state; override it to save something else."""
        self._save_own(destination, prefix, keep_vars)

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        local_metadata: dict[str, Any],
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        """Reads the module's own state; override it to read something else."""
        missing, unexpected, errors = self._load_own(state_dict, prefix)
        missing_keys += missing
        unexpected_keys += unexpected
        error_msgs += errors

    def get_extra_state(self) -> Any:
        """What state_dict() saves besides tensors; override it together with set_extra_state."""
        raise RuntimeError(f"{type(self).__name__} has no extra state: override get_extra_state and set_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Takes what get_extra_state() gave."""
        raise RuntimeError(f"{type(self).__name__} has no extra state: override get_extra_state and set_extra_state")

    # Copies.

    def __getstate__(self) -> dict[str, Any]:
        parameters, buffers, transient, modules = self._parts()
        return {
            **self.__dict__,
            "training": self.training,
            "_settings": self._settings(),
            "_parameters": parameters,
            "_buffers": buffers,
            "_transient_buffers": transient,
            "_modules": modules,
            "_hooks": self._hook_list(),
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name, value in state.pop("_settings").items():
            self._set_setting(name, value)
        self.training = state.pop("training")
        for name, parameter in state.pop("_parameters").items():
            self._register_parameter(name, parameter)
        transient = state.pop("_transient_buffers")
        for name, buffer in state.pop("_buffers").items():
            self._register_buffer(name, buffer, name not in transient)
        for name, module in state.pop("_modules").items():
            self._add_module(name, module)
        for hook in state.pop("_hooks"):
            self._add_hook(*hook)
        self.__dict__.update(state)

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return _rebuild, (type(self),), self.__getstate__()

    def __dir__(self) -> list[str]:
        parameters, buffers, _, modules = self._parts()
        settings = (name for name in self._settings() if not name.startswith("_"))
        return sorted({*super().__dir__(), *parameters, *buffers, *modules, *settings})


_core.register_nn(Module, Parameter, Buffer)


def layer(cls: _T) -> _T:
    """Marks a class whose instances are modules of the C++ class of the same name."""
    _core.register_layer(cls, cls.__name__)
    return cls
