"""A substitute for the compiler: it runs every call and compares its ops with the ops of a plan."""

import dataclasses

import lucid
from lucid import _core
from lucid.compiler._capture import Capture


def leaves(value, found):
    """The tensors in arguments."""
    if isinstance(value, lucid.Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            leaves(item, found)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            leaves(getattr(value, field.name, None), found)
    elif isinstance(value, dict):
        for item in value.values():
            leaves(item, found)
    return found


def key_of(value):
    """The part of a plan's key that describes an argument."""
    if isinstance(value, lucid.Tensor):
        return ("tensor", value.dtype, tuple(value.shape), value.requires_grad)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (type(value), tuple(key_of(getattr(value, field.name, None)) for field in dataclasses.fields(value)))
    if type(value) in (list, tuple):
        return (type(value), tuple(key_of(item) for item in value))
    if type(value) is dict:
        return (dict, tuple((name, key_of(item)) for name, item in value.items()))
    if type(value) in (int, float, str, bool, type(None)):
        return (type(value), repr(value))
    return object


class CallTrace:
    """A trace of a call: its ops, with constants and the origin of operands, and its result."""

    def __init__(self, log, args, kwargs, result, states):
        tensors = leaves((args, kwargs), [])
        self._arguments = {id(tensor): number for number, tensor in reversed(list(enumerate(tensors)))}
        self._states = states
        # Other tensors may share the memory: tensors saved for backward, or views.
        self._addresses = {tensor.data_ptr(): ("state", id(tensor)) for tensor, _ in states.values()}
        self._addresses |= {tensor.data_ptr(): ("argument", self._arguments[id(tensor)]) for tensor in tensors}
        self._addresses |= {_core.generator_state().data_ptr() + 8: ("state", "the offset of random numbers")}
        self.ops = [
            (op, tuple(self._operand(operand, op) for operand in operands), tuple(attributes))
            for op, operands, attributes in log.entries
        ]
        self.result = self._describe(result)

    def _operand(self, operand, op):
        if not isinstance(operand, lucid.Tensor):
            return operand
        known = self._tensor(operand)
        # New memory is written before it is read, so its contents do not matter.
        return "new" if op.endswith(" write") and known[0] == "data" else known

    def _tensor(self, tensor):
        if id(tensor) in self._arguments:
            return ("argument", self._arguments[id(tensor)])
        if id(tensor) in self._states:
            return ("state", id(tensor))
        if tensor.data_ptr() in self._addresses:
            return self._addresses[tensor.data_ptr()]
        return ("data", tensor.dtype, tuple(tensor.shape), repr(tensor.tolist()))

    def _describe(self, value):
        if isinstance(value, lucid.Tensor):
            if id(value) in self._arguments or id(value) in self._states:
                return self._tensor(value)
            return ("result", value.dtype, tuple(value.shape))
        if isinstance(value, (list, tuple)):
            return (type(value), tuple(self._describe(item) for item in value))
        if isinstance(value, dict):
            return (dict, tuple((name, self._describe(item)) for name, item in value.items()))
        if hasattr(value, "__dict__"):
            return (type(value), self._describe(vars(value)))
        return (type(value), repr(value))

    def difference(self, other):
        """A description of the first difference."""
        for number, (mine, theirs) in enumerate(zip(self.ops, other.ops)):
            if mine != theirs:
                return f"op {number} was {mine}, is {theirs}"
        if len(self.ops) != len(other.ops):
            return f"{len(self.ops)} ops were, {len(other.ops)} are"
        return f"the result was {self.result}, is {other.result}"

    def __eq__(self, other):
        return self.ops == other.ops and self.result == other.result

    __hash__ = None


def captured_among(tensors, states):
    """Which arguments are also captured tensors."""
    return [id(tensor) if id(tensor) in states else None for tensor in tensors]


class Stale(AssertionError):
    """The guards hold although the call behaves differently."""


class Shadow:
    """Mimics a compiled function: records guards, but runs every call eagerly."""

    nesting = 0

    def __init__(self, function, reads_values=False):
        self.function = self.__wrapped__ = function
        self.capture = Capture(function)
        self.plans = []
        self.reads_values = reads_values
        self.hits = 0
        self.recordings = 0
        self.reason = None

    def __call__(self, *args, **kwargs):
        if Shadow.nesting:
            return self.function(*args, **kwargs)
        Shadow.nesting += 1
        try:
            return self._call(args, kwargs)
        finally:
            Shadow.nesting -= 1

    def _call(self, args, kwargs):
        given = leaves((args, kwargs), [])
        tensors = [id(tensor) for tensor in given]
        key = (key_of((args, kwargs)), tuple(tensors.index(tensor) for tensor in tensors))
        held = [
            plan
            for plan in self.plans
            if plan[0] == key and plan[1].check(args, kwargs) and captured_among(given, plan[3]) == plan[4]
        ]
        if held or self.recordings > 12 or self.reason:
            result, log, error = self._run(args, kwargs)
            self._compare(held, result, log, error, args, kwargs)
        else:
            result, error = self._record(key, args, kwargs)
        if error is not None:
            raise error
        return result

    def _run(self, args, kwargs):
        log = _core.OpLog()
        result = error = None
        log.start()
        try:
            result = self.function(*args, **kwargs)
        except Exception as raised:
            error = raised
        log.stop()
        return result, log, error

    def _compare(self, held, result, log, error, args, kwargs):
        for _, guards, before, states, _ in held:
            self.hits += 1
            if self.reads_values:
                continue
            if error is not None:
                # The kernels of a plan would raise the same error.
                continue
            now = CallTrace(log, args, kwargs, result, states)
            if now != before:
                raise Stale(before.difference(now))
            if not guards.check(args, kwargs):
                raise Stale(f"the call wrote: {guards.failed(args, kwargs)}")

    def _record(self, key, args, kwargs):
        self.recordings += 1
        recording = self.capture.begin(args, kwargs)
        result = error = None
        log = _core.OpLog()
        log.start()
        try:
            with recording:
                result = self.function(*args, **kwargs)
        except Exception as raised:
            error = raised
        log.stop()
        outcome = recording.finish(result)
        if outcome.stored:
            # What it reads next time, it has stored itself: only the compiler can follow that.
            return result, error
        if outcome.guards is not None and error is None:
            states = outcome.tensors
            trace = CallTrace(log, args, kwargs, result, states)
            known = captured_among(leaves((args, kwargs), []), states)
            self.plans.insert(0, (key, outcome.guards, trace, states, known))
        elif not outcome.record_again:
            self.reason = outcome.reason
        return result, error
