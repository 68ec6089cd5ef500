"""Arguments that are equal but not the same, shared, or of unusual types."""

import collections
import datetime
import decimal
import enum
import fractions
import functools
import math
import pathlib
import re
import struct
import threading
import types

import lucid
import numpy as np

from .._harness import Programs, vary, x0


class Box:
    def __init__(self, values):
        self.values = values


class EqualOrShared(Programs):
    def signed_zero(run):
        f = run.compile(lambda x, v: x * math.copysign(2.0, v))
        run.alternate(f, (0.0,), (-0.0,), (0,), (complex(0.0, -0.0).imag,))

    def signed_zero_nested(run):
        run.alternate(run.compile(lambda x, v: x * math.copysign(2.0, v[0]["a"])), ([{"a": 0.0}],), ([{"a": -0.0}],))

    def signed_zero_as_a_key(run):
        f = run.compile(lambda x, v: x * math.copysign(2.0, next(iter(v))))
        run.alternate(f, ({0.0: 1},), ({-0.0: 1},), ({0: 1},), ({False: 1},))

    def nan_payloads(run):
        f = run.compile(lambda x, v: x * struct.pack("d", v)[0])
        nans = [struct.unpack("d", struct.pack("Q", 0x7FF8000000000000 + i))[0] for i in (1, 2, 3)]
        run.alternate(f, *[(nan,) for nan in nans])

    def equal_numbers_of_all_types(run):
        f = run.compile(lambda x, v: x * len(type(v).__name__))
        numbers = [
            1,
            1.0,
            True,
            1 + 0j,
            fractions.Fraction(1),
            decimal.Decimal(1),
            np.float64(1),
            np.int64(1),
            np.bool_(1),
        ]
        run.alternate(f, *[(number,) for number in numbers])

    def equal_keys_of_all_types(run):
        f = run.compile(lambda x, v: x * len(type(next(iter(v))).__name__))
        numbers = [1, 1.0, True, 1 + 0j, fractions.Fraction(1), decimal.Decimal(1), np.float64(1), np.int64(1)]
        run.alternate(f, *[({number: 2},) for number in numbers])

    def equal_keys_in_nested_tuples(run):
        f = run.compile(lambda x, v: x * len(type(next(iter(v))[0][0]).__name__))
        run.alternate(f, *[({((number,), "a"): 2},) for number in (1, 1.0, True, np.float64(1))])

    def huge_integers(run):
        f = run.compile(lambda x, v: x * (v % 7))
        run.alternate(
            f, (10**30,), (10**30 + 1,), (-(10**30),), (2**63,), (-(2**63),), (2**63 - 1,), (2**64,), (2**2000,)
        )

    def text_of_all_widths(run):
        f = run.compile(lambda x, v: x * (sum(map(ord, v)) % 101))
        run.alternate(
            f, ("abc",), ("ab\xe9",), ("ab\u4e00",), ("ab\U0001f600",), ("ab\ud800",), ("\udc00",), ("",), ("\0",)
        )

    def bytes_and_text(run):
        f = run.compile(lambda x, v: x * (3 if v == b"a" else 2 if v == "a" else 1))
        run.alternate(f, (b"a",), ("a",), (bytearray(b"a"),), (memoryview(b"a"),), (b"",), (b"a\0",))

    def keyword_names(run):
        def f(x, /, *args, **kwargs):
            return x * sum(ord(c) for name in kwargs for c in name) + len(args)

        f = run.compile(f)
        for kwargs in (
            {"self": 1},
            {"args": 1},
            {"kwargs": 1},
            {"x": 1},
            {"function": 1},
            {"cls": 1},
            {"values": 2},
            {"": 1},
        ):
            for _ in range(3):
                run.call(functools.partial(f, x0(), **kwargs))
        for kwargs in ({"a b": 1}, {"\ud800": 1}, {"target": 1, "names": 2}, {"names": 1, "target": 2}, {"\xe9": 1}):
            for _ in range(3):
                run.call(functools.partial(f, x0(), **kwargs))

    def keyword_name_of_a_subclass(run):
        class Name(str):
            __slots__ = ()
            asked = []

            def __hash__(self):
                self.asked.append("hash")
                return str.__hash__(self)

            def __eq__(self, other):
                self.asked.append("eq")
                return str.__eq__(self, other)

        def f(x, **kwargs):
            return x * sum(kwargs.values())

        f = run.compile(f)
        for _ in range(4):
            run.call(f, x0(), **{Name("scale"): 2.0})

    def defaults_against_passed_values(run):
        def f(x, a=2.0, *, b=3.0):
            return x * a + b

        f = run.compile(f)
        for args, kwargs in (
            ((), {}),
            ((2.0,), {}),
            ((3.0,), {}),
            ((), {"a": 2.0}),
            ((), {"b": 3.0}),
            ((), {"b": 4.0}),
        ):
            for _ in range(3):
                run.call(f, x0(), *args, **kwargs)

    def shared_and_separate_lists(run):
        def f(x, v):
            return x * (2 if v[0] is v[1] else 3)

        f = run.compile(f)
        inner = [1.0]
        run.alternate(f, ([inner, inner],), ([[1.0], [1.0]],), ([inner, [1.0]],))

    def shared_tuples_in_dicts(run):
        f = run.compile(lambda x, v: x * (2 if v["a"] is v["b"] else 3))
        inner = tuple([1.0, 2.0])
        run.alternate(f, ({"a": inner, "b": inner},), ({"a": inner, "b": tuple([1.0, 2.0])},))

    def list_mutated_between_calls(run):
        f = run.compile(lambda x, v: x * v[0][0] + len(v))
        values = [[1.0]]
        for _ in range(3):
            run.repeat(f, x0, values)
            values[0][0] += 1
            run.call(f, x0(), values)
            values.append([0.0])

    def list_that_is_also_global(run):
        known = [1.0]
        f = run.compile(lambda x, v: x * (2 if v is known else 3) + len(known))
        run.alternate(f, (known,), ([1.0],))
        known.append(2.0)
        run.alternate(f, (known,), ([1.0, 2.0],))

    def list_kept_by_the_call(run):
        kept = []

        def f(x, v):
            kept.append(v)
            return x * v[0]

        run.repeat(run.compile(f), x0, vary(lambda _: [1.0]), n=4)
        run.see(len(kept), len({id(v) for v in kept}))

    def tuple_argument_returned(run):
        f = run.compile(lambda x, v: (x * 2, v))
        values = (1, [2.0])
        for _ in range(4):
            result = f(x0(), values)
            run.see(result[1] is values)

    def hash_of_an_object(run):
        f = run.compile(lambda x, b: x[0] * (hash(b) % 1009))
        for _ in range(4):
            box = Box(1.0)
            run.see(f(x0(), box).item() == hash(box) % 1009)

    def hash_of_an_object_by_its_method(run):
        f = run.compile(lambda x, b: x[0] * (b.__hash__() % 1009))
        for _ in range(4):
            box = Box(1.0)
            run.see(f(x0(), box).item() == hash(box) % 1009)

    def lists_shared_by_objects(run):
        f = run.compile(lambda x, a, b: x * (2 if a.values is b.values else 3))
        values = [1.0]
        run.alternate(f, (Box(values), Box(values)), (Box(values), Box([1.0])))

    def lists_shared_by_objects_and_changed(run):
        def f(x, a, b):
            a.values.append(5.0)
            total = sum(b.values)
            a.values.pop()
            return x * total

        f = run.compile(f)
        values = [1.0]
        run.alternate(f, (Box(values), Box(values)), (Box([1.0]), Box([1.0])))

    def dict_shared_with_an_object(run):
        f = run.compile(lambda x, v, a: x * (2 if a.values is v else 3))
        values = {"a": 1.0}
        run.alternate(f, (values, Box(values)), (values, Box({"a": 1.0})))

    def tuples_shared_by_objects(run):
        f = run.compile(lambda x, a, b: x * (2 if a.values is b.values else 3))
        values = tuple([1.0, 2.0])
        run.alternate(f, (Box(values), Box(values)), (Box(values), Box(tuple([1.0, 2.0]))))

    def object_that_is_also_an_attribute(run):
        f = run.compile(lambda x, a, b: x * (2 if a.values is b else 3))
        inner = Box(1.0)
        run.alternate(f, (Box(inner), inner), (Box(Box(1.0)), inner), (inner, Box(1.0)))

    def list_of_state_in_an_object(run):
        known = [1.0]
        f = run.compile(lambda x, a: x * (2 if a.values is known else 3) + known[0])
        run.alternate(f, (Box(known),), (Box([1.0]),))

    def enum_and_object_keys(run):
        class Mode(enum.Enum):
            A = 1
            B = 2

        marker = object()
        f = run.compile(lambda x, v: x * (2 if Mode.A in v else 3) + (1 if marker in v else 0))
        run.alternate(
            f, ({Mode.A: 1},), ({Mode.B: 1},), ({marker: 1},), ({object(): 1},), ({frozenset([1]): 1},), ({int: 1},)
        )

    def functions_and_classes(run):
        def two(v):
            return v * 2

        f = run.compile(lambda x, g: g(x))
        scale = [2.0]

        class Three:
            def __init__(self, x):
                self.x = x

            def __new__(cls, x):
                return x * 3

        run.alternate(f, (two,), (lambda v: v * scale[0],), (Three,), (Box([2.0]).values.__mul__,), (lucid.neg,))
        function = eval("lambda v: v * 2")  # noqa: S307
        run.repeat(f, x0, function, n=4, at={3: lambda: setattr(function, "__code__", (lambda v: v * 9).__code__)})

    def modules_and_locks(run):
        lock = threading.Lock()
        module = types.ModuleType("settings")
        module.scale = 2.0
        f = run.compile(lambda x, m, k: x * m.scale + int(k.locked()))
        run.repeat(f, x0, module, lock, n=4, at={3: lambda: setattr(module, "scale", 3.0)})
        with lock:
            run.call(f, x0(), module, lock)

    def dates_and_patterns(run):
        f = run.compile(lambda x, d, p: x * d.day + len(p.pattern))
        day = datetime.date(2024, 1, 2)
        run.alternate(f, (day, re.compile("a")), (datetime.date(2024, 1, 3), re.compile("a")), (day, re.compile("bb")))

    def subclasses_of_builtin_types(run):
        class Text(str):
            scale = 2.0

        class Number(float):
            def __mul__(self, other):
                return 5.0

        class Items(list):
            def __len__(self):
                return 7

        class Table(dict):
            def __missing__(self, key):
                return 9.0

        f = run.compile(lambda x, a, b, c, d: x * a.scale + (b * 2) + len(c) + d["none"])
        run.alternate(
            f, (Text("a"), Number(1.0), Items([1]), Table()), (Text("b"), Number(2.0), Items([1, 2]), Table(none=1.0))
        )
        Text.scale = 3.0
        run.call(f, x0(), Text("a"), Number(1.0), Items([1]), Table())

    def text_argument_with_state(run):
        class Text(str):
            pass

        text = Text("a")
        text.scale = 2.0
        run.repeat(run.compile(lambda x, t: x * t.scale), x0, text, n=4, at={3: lambda: setattr(text, "scale", 3.0)})

    def path_arguments(run):
        f = run.compile(lambda x, p: x * len(str(p)) + len(p.name))
        run.alternate(f, (pathlib.PurePosixPath("/a/b"),), (pathlib.PurePosixPath("/a/bc"),), (pathlib.Path("/a/b"),))

    def iterator_arguments(run):
        f = run.compile(lambda x, v: x * sum(v))
        for make in (iter, lambda v: (i for i in v), reversed, lambda v: map(abs, v), enumerate, lambda v: zip(v)):
            for values in ([1.0, 2.0], [1.0, 2.0], [3.0]):
                run.call(f, x0(), make(values))

    def views_of_dicts(run):
        table = {"a": 1.0, "b": 2.0}
        f = run.compile(lambda x, v: x * len(v) + sum(1 for k in v if k in ("a", 1.0)))
        for _ in range(2):
            run.over(f, table.keys(), table.values(), table.items(), types.MappingProxyType(table), n=2)
            table["c"] = 3.0

    def counters_and_ordered_dicts(run):
        f = run.compile(lambda x, v: x * len(v) + len(next(iter(v), "")))
        ordered = collections.OrderedDict(a=1, bb=2)
        for value in (
            collections.Counter("aab"),
            ordered,
            collections.ChainMap({"a": 1}),
            collections.defaultdict(int),
        ):
            run.repeat(f, x0, value)
        ordered.move_to_end("a")
        run.call(f, x0(), ordered)

    def type_compared_by_identity(run):
        f = run.compile(lambda x, v: x * (v if type(v) is float else 3))
        run.over(f, 0.5, float("0.5"), float("0.5"), 2, float("0.5"))

    def global_that_is_a_constant_later(run):
        space = {"marker": object()}
        exec("def f(x, v): return x * (2 if v is marker else 3)", space)  # noqa: S102
        f = run.compile(space["f"])
        value = float("0.5")
        run.repeat(f, x0, value, n=4, at={3: lambda: space.__setitem__("marker", value)})
        run.call(f, x0(), float("0.5"))
        run.call(f, x0(), value)
