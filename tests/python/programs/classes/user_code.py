"""Code of users that must not run while a key is built or a guard is checked, and errors that must not appear."""

import collections
import types

import lucid

from .._harness import Programs, x0


class Counted:
    """Counts how often code of its own runs."""

    log = collections.Counter()

    def __init__(self, scale=2.0):
        self.scale = scale

    def __eq__(self, other):
        self.log["eq"] += 1
        return type(other) is Counted and object.__getattribute__(other, "scale") == self.scale

    def __hash__(self):
        Counted.log["hash"] += 1
        return 7

    def __repr__(self):
        Counted.log["repr"] += 1
        return "Counted"

    def __bool__(self):
        Counted.log["bool"] += 1
        return True

    def __len__(self):
        Counted.log["len"] += 1
        return 1

    def __getattr__(self, name):
        Counted.log["getattr"] += 1
        raise AttributeError(name)


class Watcher(type):
    """Counts how often attributes of its classes are read."""

    log = collections.Counter()

    def __getattribute__(cls, name):
        Watcher.log[name] += 1
        return type.__getattribute__(cls, name)

    def __instancecheck__(cls, instance):
        Watcher.log["instancecheck"] += 1
        return type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, other):
        Watcher.log["subclasscheck"] += 1
        return type.__subclasscheck__(cls, other)

    def __eq__(cls, other):
        Watcher.log["eq"] += 1
        return cls is other

    def __hash__(cls):
        Watcher.log["hash"] += 1
        return 5


class Disguised:
    """Pretends to be of another class."""

    log = collections.Counter()

    def __init__(self, scale=2.0):
        self.scale = scale

    @property
    def __class__(self):
        Disguised.log["class"] += 1
        return lucid.Tensor


class Logged(lucid.Tensor):
    log = collections.Counter()

    @property
    def shape(self):
        Logged.log["shape"] += 1
        return lucid.Tensor.shape.__get__(self)

    @property
    def grad(self):
        Logged.log["grad"] += 1
        return lucid.Tensor.grad.__get__(self)

    @property
    def requires_grad(self):
        Logged.log["requires_grad"] += 1
        return lucid.Tensor.requires_grad.__get__(self)

    def stride(self, *args):
        Logged.log["stride"] += 1
        raise RuntimeError("not here")

    def __eq__(self, other):
        Logged.log["eq"] += 1
        raise RuntimeError("not here")

    def __hash__(self):
        Logged.log["hash"] += 1
        return 3


class UserCode(Programs):
    def code_of_an_argument(run):
        Counted.log.clear()
        run.alternate(run.compile(lambda x, c: x * c.scale), (Counted(),), (Counted(3.0),), (Counted(),))
        run.see(dict(Counted.log))

    def code_of_keys(run):
        Counted.log.clear()
        f = run.compile(lambda x, v: x * len(v))
        a, b = {Counted(): 1}, {Counted(): 1, 2: 3}
        Counted.log.clear()
        run.alternate(f, (a,), (b,))
        run.see(dict(Counted.log))

    def code_of_state(run):
        values = {Counted(): Counted()}
        items = [Counted(), Counted()]
        f = run.compile(lambda x: x * len(values) + len(items))
        Counted.log.clear()
        run.repeat(f, x0, n=6, at={3: lambda: items.append(Counted())})
        run.see(dict(Counted.log))

    def code_of_results(run):
        f = run.compile(lambda x: [x * 2, Counted(5.0)])
        Counted.log.clear()
        for _ in range(4):
            run.see(f(x0())[1].scale)
        run.see(dict(Counted.log))

    def code_of_a_metaclass(run):
        class Box(metaclass=Watcher):
            scale = 2.0

            def __init__(self):
                self.by = 1.0

        box = Box()
        f = run.compile(lambda x, b: x * b.by)
        g = run.compile(lambda x: x * box.by)
        Watcher.log.clear()
        run.alternate(f, (Box(),), (Box(),))
        run.repeat(g, x0, n=4)
        run.see(dict(Watcher.log))

    def code_of_a_metaclass_of_a_result(run):
        class Box(metaclass=Watcher):
            pass

        def f(x):
            box = Box()
            box.value = x * 2
            return box

        f = run.compile(f)
        Watcher.log.clear()
        for _ in range(4):
            f(x0())
        run.see(dict(Watcher.log))

    def class_property_of_an_argument(run):
        f = run.compile(lambda x, d: x * d.scale)
        Disguised.log.clear()
        run.alternate(f, (Disguised(),), (Disguised(3.0),))
        run.see(dict(Disguised.log))

    def class_property_of_state(run):
        value = Disguised()
        values = {"a": value}
        f = run.compile(lambda x: x * values["a"].scale)
        Disguised.log.clear()
        run.repeat(f, x0, n=4, at={3: lambda: setattr(value, "scale", 4.0)})
        run.see(dict(Disguised.log))

    def class_property_of_a_result(run):
        f = run.compile(lambda x: Disguised(x * 2))
        Disguised.log.clear()
        for _ in range(4):
            result = f(x0())
            run.see(type(result).__name__, result.scale)
        run.see(dict(Disguised.log))

    def class_property_of_a_callable(run):
        class Model(Disguised):
            def __call__(self, x):
                return x * self.scale

            @property
            def __class__(self):
                Disguised.log["class"] += 1
                return types.FunctionType

        model = Model()
        f = run.compile(model)
        Disguised.log.clear()
        run.repeat(f, x0, n=4, at={3: lambda: setattr(model, "scale", 3.0)})
        run.see(dict(Disguised.log))

    def code_of_a_tensor_class(run):
        x = x0().as_subclass(Logged) if hasattr(lucid.Tensor, "as_subclass") else Logged(x0())
        f = run.compile(lambda x, y: lucid.mul(y, 2.0) + lucid.sum(x))
        Logged.log.clear()
        run.repeat(f, x, x0, n=4)
        run.see(dict(Logged.log))

    def deep_result(run):
        def f(x):
            result = [x * 2]
            for _ in range(2000):
                result = [result]
            return result

        f = run.compile(f)
        for _ in range(3):
            result = f(x0())
            while isinstance(result, list):
                result = result[0]
            run.see(result)

    def deep_tuple_in_state(run):
        def deep():
            value = (1,)
            for _ in range(15_000):
                value = (value,)
            return value

        state = [deep()]
        run.repeat(run.compile(lambda x: x * len(state[0])), x0, n=5, at={3: lambda: state.__setitem__(0, deep())})

    def error_in_repr(run):
        class Odd:
            def __repr__(self):
                raise RuntimeError("no text")

            __str__ = __repr__

        odd = Odd()
        run.alternate(run.compile(lambda x, o: x * (2 if o is odd else 3)), (odd,), (Odd(),), ({odd: 1},), ([Odd()],))

    def error_class_with_an_odd_name(run):
        class Meta(type):
            @property
            def __name__(cls):
                raise RuntimeError("no name")

        class Odd(Exception, metaclass=Meta):
            pass

        def f(x):
            raise Odd("stop")

        f = run.compile(f)
        for _ in range(3):
            try:
                f(x0())
            except BaseException as error:
                run.see(type(error) is Odd, str(error))
