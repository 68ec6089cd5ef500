"""Results that are objects: classes, identity, sharing."""

import collections
import dataclasses
import types

from .._harness import Programs, program, repeat, x0


@dataclasses.dataclass(slots=True)
class SlotOut:
    y: object
    z: object = None


@dataclasses.dataclass
class MO(collections.OrderedDict):
    logits: object = None
    loss: object = None

    def __post_init__(self):
        for fl in dataclasses.fields(self):
            v = getattr(self, fl.name)
            if v is not None:
                self[fl.name] = v


@dataclasses.dataclass
class DD(dict):
    a: object = None


@dataclasses.dataclass
class DL(list):
    a: object = None


class NT(collections.namedtuple("NT", "a b")):
    pass


class Tag(str):
    pass


class MyInt(int):
    pass


class Plain:
    def __init__(self, y):
        self.y = y


class ResultObjects(Programs):
    ret_dataclass_dict = repeat(lambda x: DD(a=x * 2), x0)
    ret_dataclass_list = repeat(lambda x: DL(a=x * 2), x0)
    ret_ordered_dict = repeat(lambda x: collections.OrderedDict(a=x * 2, b=x), x0)

    @program(ordinary=True)
    def ret_modeloutput(run):
        """the way transformers' ModelOutput is written"""
        f = run.compile(lambda x: MO(logits=x * 2))
        for _ in range(3):
            r = run.call(f, x0())
            run.see(list(r.keys()) if isinstance(r, dict) else type(r))

    def ret_namedtuple_subclass_attr(run):
        def g(x):
            n = NT(x * 2, 1)
            n.note = "hi"
            return n

        run.repeat(run.compile(g), x0)

    def ret_str_subclass_shared(run):
        def g(x):
            t = Tag("a")
            t.log = []
            return x * 2, t

        f = run.compile(g)
        for i in range(4):
            r = f(x0())
            r[1].log.append(i)
            run.see(r[1].log)

    def ret_int_subclass_identity(run):
        f = run.compile(lambda x: (x * 2, MyInt(5)))
        rs = [f(x0()) for _ in range(4)]
        run.see([rs[i][1] is rs[i + 1][1] for i in range(3)])
        rs[1][1].foo = 3
        run.see(hasattr(rs[2][1], "foo"), hasattr(rs[3][1], "foo"))

    def ret_slice_of_tensor(run):
        f = run.compile(lambda x: slice(x * 2, None))
        for i in range(3):
            r = f(x0() * (i + 1))
            run.see(r.start)

    def ret_defaultdict(run):
        def g(x):
            d = collections.defaultdict(list)
            d["a"].append(x * 2)
            return d

        run.repeat(run.compile(g), x0)

    def ret_plain_object(run):
        f = run.compile(lambda x: Plain(x * 2))
        for _ in range(3):
            r = f(x0())
            run.see(r.y)

    def ret_simplenamespace(run):
        f = run.compile(lambda x: types.SimpleNamespace(y=x * 2))
        for _ in range(3):
            r = f(x0())
            run.see(r.y)

    def ret_same_list_twice(run):
        def g(x):
            l = [x * 2]
            return l, l

        f = run.compile(g)
        for _ in range(3):
            r = f(x0())
            run.see(r[0] is r[1], r[0])

    def ret_same_tensor_twice(run):
        def g(x):
            y = x * 2
            return y, y, [y]

        f = run.compile(g)
        for _ in range(3):
            r = f(x0())
            run.see(r[0] is r[1], r[2][0] is r[0])

    def ret_arg_itself(run):
        f = run.compile(lambda x, y: (x, y, x))
        for _ in range(3):
            a, b = x0(), x0()
            r = f(a, b)
            run.see(r[0] is a, r[1] is b, r[2] is a)


class OrdinaryResultObjects(Programs, ordinary=True):
    ret_slots_dataclass = repeat(lambda x: SlotOut(x * 2, 1), x0)
    ret_shape = repeat(lambda x: (x * 2, x.shape, x.dtype, x.size(0)), x0)
    ret_device = repeat(lambda x: (x * 2, x.device), x0)
    ret_set_of_str = repeat(lambda x: (x * 2, {"a"}), x0)
    ret_dict_tuple_keys = repeat(lambda x: {(0, 1): x * 2, (1, 0): x * 3}, x0)
