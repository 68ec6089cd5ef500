"""The base class of all modules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Self, TypeVar

from .. import _core, _effects
from .._core import Tensor
from .._foreign import own_tensor
from .hooks import Hooked
from .parameter import Buffer, Parameter

_effects.pure_module()

_T = TypeVar("_T", bound="type[Module]")


@_effects.pure
class IncompatibleKeys(NamedTuple):
    """The result of load_state_dict: keys that the state lacks, and keys of the state that the module does not have."""

    missing_keys: list[str]
    unexpected_keys: list[str]


def _rebuild(cls: type[Module]) -> Module:
    """Creates an empty module, which a copy or a pickle then fills in."""
    module: Module = _core.blank_module(cls)
    return module


class Module(Hooked):
    """The base class of all neural network modules.

    Subclass it, assign parameters and submodules to attributes in __init__(), and define forward().

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

    Every change to a module or to one of its submodules (an attribute, a parameter, a hook, a mode, a module) changes
    its `_version`. Values written directly into `__dict__` do not.
    """

    # The parameters of forward(), for a layer whose forward() is written in C++.
    _inputs = "input"

    def __init__(self) -> None:
        super().__init__()

    def compile(
        self,
        *,
        max_cache_entries: int = 8,
        wait: bool = False,
        dynamic: bool | None = None,
        verify: int | None = None,
    ) -> Any:
        """Returns the compiled module. Equivalent to `lucid.compile(module)`.

        >>> net = lucid.nn.Linear(3, 2).compile()
        >>> net(lucid.ones(4, 3)).shape
        (4, 2)
        """
        import lucid.compiler

        return lucid.compiler.compile(
            self, max_cache_entries=max_cache_entries, wait=wait, dynamic=dynamic, verify=verify
        )

    # Parameters, buffers and submodules.

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Adds a parameter. None registers the name without a parameter."""
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"register_parameter: '{name}' must be a lucid.nn.Parameter or None, not {_core.describe(param)}"
            )
        self._check_free("parameter", name)
        self._register_parameter(name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Adds a buffer: a tensor that is part of the module's state but is not trained.

        Args:
            name: The attribute that holds the buffer.
            tensor: The buffer, or None.
            persistent: Whether state_dict() contains the buffer.

        >>> module = lucid.nn.Module()
        >>> module.register_buffer("mean", lucid.zeros(2))
        >>> module.mean
        tensor([0., 0.])
        """
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: '{name}' must be a tensor or None, not {_core.describe(tensor)}")
        self._check_free("buffer", name)
        self._register_buffer(name, tensor, persistent)

    def add_module(self, name: str, module: Module | None) -> None:
        """Adds a submodule as the attribute `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"add_module: '{name}' must be a lucid.nn.Module or None, not {_core.describe(module)}")
        self._check_free("module", name)
        self._add_module(name, module)

    register_module = add_module

    def _check_free(self, kind: str, name: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a {kind} must be a str, not {_core.describe(name)}")
        if "." in name or not name:
            raise KeyError(f"the name of a {kind} must not be empty or contain a dot: {name!r}")
        place = {"parameter": 0, "buffer": 1, "module": 3}[kind]
        if hasattr(self, name) and name not in self._parts()[place]:
            raise KeyError(f"attribute '{name}' already exists")

    def get_submodule(self, target: str) -> Module:
        """Returns the submodule at a dotted path, such as "encoder.0". The empty path is the module itself."""
        try:
            module: Module = self._get_submodule(target)
        except ValueError as error:
            raise AttributeError(str(error)) from None
        return module

    def set_submodule(self, target: str, module: Module) -> None:
        """Replaces the submodule at a dotted path."""
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
        """Returns the parameter at a dotted path."""
        return self._get_part("parameter", target)

    def get_buffer(self, target: str) -> Tensor:
        """Returns the buffer at a dotted path."""
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

    # Iteration.

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Iterates over (name, parameter) pairs of the module and its submodules.

        Args:
            prefix: Prepended to every name.
            recurse: Whether to include submodules.
            remove_duplicate: Whether a shared parameter appears only once.

        >>> [name for name, _ in lucid.nn.Linear(2, 2).named_parameters(prefix="fc")]
        ['fc.weight', 'fc.bias']
        """
        return iter(self._named_tensors(True, prefix, recurse, remove_duplicate))

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Iterates over the parameters of the module and its submodules. A shared parameter appears once."""
        return (parameter for _, parameter in self._named_tensors(True, "", recurse, True))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Iterates over (name, buffer) pairs of the module and its submodules.

        Takes the same arguments as named_parameters().
        """
        return iter(self._named_tensors(False, prefix, recurse, remove_duplicate))

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Iterates over the buffers of the module and its submodules. A shared buffer appears once."""
        return (buffer for _, buffer in self._named_tensors(False, "", recurse, True))

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """Iterates over (name, module) pairs: the module itself first, under the empty name, then all submodules.

        Args:
            memo: Modules to skip; visited modules are added to it.
            prefix: Prepended to every name.
            remove_duplicate: Whether a shared module appears only once.

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
        """Iterates over the module and all its submodules. A shared module appears once."""
        return (module for _, module in self._named_modules("", True))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """Iterates over (name, module) pairs of the direct submodules. A shared module appears once."""
        return iter(self._named_children())

    def children(self) -> Iterator[Module]:
        """Iterates over the direct submodules. A shared module appears once."""
        return (module for _, module in self._named_children())

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Calls `fn` on every submodule, then on the module itself. Returns the module."""
        self._apply_to_modules(fn)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replaces the data of all parameters, gradients and buffers with the result of `fn`."""
        self._transform(fn)
        return self

    # Modes and dtypes.

    def train(self, mode: bool = True) -> Self:
        """Sets training mode for the module and its submodules. Returns the module.

        Dropout and batch norm depend on the mode.
        """
        if not isinstance(mode, bool):
            raise ValueError("train: mode must be a bool")
        self._train(mode)
        return self

    def eval(self) -> Self:
        """Sets evaluation mode. Equivalent to `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Sets requires_grad of all parameters. Returns the module."""
        self._requires_grad(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Resets the gradients of all parameters to None, or to zero if `set_to_none` is false."""
        self._zero_grad(set_to_none)

    def to(self, *args: Any, dtype: Any = None, device: Any = None, **kwargs: Any) -> Self:
        """Moves parameters and buffers to a device and converts those that are floats to a dtype.

        A tensor stands for its device and dtype.

        Parameters keep their identity, so optimizers that hold them stay valid. Returns the module.

        >>> lucid.nn.Linear(2, 2).to(lucid.float64).weight.dtype
        lucid.float64
        """
        for argument in args:
            if isinstance(argument, Tensor):
                dtype, device = argument.dtype, argument.device
            elif isinstance(argument, _core.dtype):
                dtype = argument
            elif argument is not None:
                device = argument
        if dtype is not None:
            self._to_dtype(dtype)
        if device is not None:
            self._to_device(device)
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
        """Moves parameters and buffers to the CPU. Returns the module."""
        return self.to("cpu")

    def gpu(self, device: Any = "gpu") -> Self:
        """Moves parameters and buffers to a gpu, given by name or number. Returns the module."""
        return self.to(f"gpu:{device}" if isinstance(device, int) else device)

    # State.

    def state_dict(
        self, *, destination: dict[str, Any] | None = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Returns the parameters and persistent buffers by name. They share the module's memory.

        Args:
            destination: The dict to fill; a new one by default.
            prefix: Prepended to every name.
            keep_vars: Whether to return the tensors themselves instead of detached views.

        >>> list(lucid.nn.Linear(2, 2).state_dict())
        ['weight', 'bias']
        """
        state: dict[str, Any] = {} if destination is None else destination
        self._save_state(state, prefix, keep_vars)
        return state

    def load_state_dict(
        self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False
    ) -> IncompatibleKeys:
        """Copies a state dict into the parameters and buffers of the same names. Returns the keys that did not match.

        Args:
            state_dict: Tensors by name, as state_dict() returns them. They may be arrays, or PyTorch's.
            strict: Whether missing or unexpected keys raise RuntimeError. Shapes that differ always raise it.
            assign: Whether parameters adopt the memory and dtype of the state instead of copying its values.

        >>> a, b = lucid.nn.Linear(2, 2), lucid.nn.Linear(2, 2)
        >>> b.load_state_dict(a.state_dict())
        IncompatibleKeys(missing_keys=[], unexpected_keys=[])
        """
        if not isinstance(state_dict, Mapping):
            hint = "; pass its state_dict()" if isinstance(state_dict, Module) else ""
            raise TypeError(f"load_state_dict: expected a dict, not {_core.describe(state_dict)}{hint}")
        state = {
            name: value if isinstance(name, str) and name.endswith("_extra_state") else own_tensor(value)
            for name, value in state_dict.items()
        }
        return IncompatibleKeys(*self._load_state(state, strict, assign))

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        """Writes the module's own state, without submodules. Override it to save something else."""
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
        """Reads the module's own state, without submodules. Override it to read something else."""
        missing, unexpected, errors = self._load_own(state_dict, prefix)
        missing_keys += missing
        unexpected_keys += unexpected
        error_msgs += errors

    def get_extra_state(self) -> Any:
        """Returns state other than tensors that state_dict() should save. Override it together with set_extra_state."""
        raise RuntimeError(f"{type(self).__name__} has no extra state: override get_extra_state and set_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Restores the value that get_extra_state() returned."""
        raise RuntimeError(f"{type(self).__name__} has no extra state: override get_extra_state and set_extra_state")

    # Copying and pickling.

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
    """Registers a class whose instances are implemented by the C++ module of the same name."""
    _core.register_layer(cls, cls.__name__, cls._inputs)
    return cls
