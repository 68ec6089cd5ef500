"""Programs in files that `lucid.export` wrote."""

from __future__ import annotations

import os
from typing import Any

from . import _core, _effects
from ._foreign import own_tensor
from ._formats import explained, head_of
from ._structure import Structure


class Program:
    """A program that `lucid.export` wrote. It is called like the function, and returns what that returned, bit for bit.

    A call takes tensors, or arrays of NumPy and other libraries. It returns tensors, in lists, tuples and dicts as the
    function returned them.
    Threads may call it at the same time; calls that write state wait for each other.
    """

    def __init__(self, loaded: _core.LoadedProgram) -> None:
        self._loaded = loaded
        self._structure = Structure(loaded.structure, len(loaded.outputs))

    def __call__(self, *inputs: Any) -> Any:
        return self._structure.build(self._loaded.run(tuple(map(own_tensor, inputs))))

    @property
    def name(self) -> str:
        """The name of the function or the class of the module."""
        return self._loaded.name

    @property
    def inputs(self) -> list[str]:
        """The inputs: `["x: f32[batch,3]"]`."""
        return self._loaded.inputs

    @property
    def outputs(self) -> list[str]:
        """The outputs, as in `inputs`."""
        return self._loaded.outputs

    def state_dict(self) -> dict[str, _core.Tensor]:
        """Copies of the weights and of everything else that belongs to the program, by name."""
        return {name: self._loaded.state(name) for name in self._loaded.state_names}

    def reset(self) -> None:
        """Gives the state the contents that it had in the file."""
        self._loaded.reset()

    def copy(self) -> Program:
        """Another program with state of its own, as in the file. It shares the weights."""
        return Program(self._loaded.copy())

    def __copy__(self) -> Program:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Program:
        return self.copy()

    def graph(self) -> str:
        """The text of the graphs of its calls."""
        return self._loaded.graph

    def __repr__(self) -> str:
        return f"Program({self.name}: ({', '.join(self.inputs)}) -> ({', '.join(self.outputs)}))"


@_effects.effect("reads a file")
def load_program(path: str | os.PathLike[str], *, trusted: bool = False) -> Program:
    """Reads a program that `lucid.export` wrote.

    Loading a file does not run code from it: the program is compiled from its graph when it is called first. With
    `trusted=True` the machine code in the file is used, which can do anything that this process can. Damaged files
    raise ValueError.
    """
    try:
        return Program(_core.load_program(os.fsencode(path), bool(trusted)))
    except ValueError as error:
        raise explained("lucid.load_program", head_of(path), error) from None
