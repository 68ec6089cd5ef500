"""Results that are objects: classes, identity, sharing."""

import collections
import dataclasses
import types

from ._harness import prog, x0


@dataclasses.dataclass(slots=True)
class SlotOut:
    y: object
    z: object = None


@prog(want="hit")
def ret_slots_dataclass(run):
    f = run.compile(lambda x: SlotOut(x * 2, 1))
    for _ in range(3):
        run.call(f, x0())


@dataclasses.dataclass
class MO(collections.OrderedDict):
    logits: object = None
    loss: object = None

    def __post_init__(self):
        for fl in dataclasses.fields(self):
            v = getattr(self, fl.name)
            if v is not None:
                self[fl.name] = v


@prog(want="hit")
def ret_modeloutput(run):
    """the way transformers' ModelOutput is written"""
    f = run.compile(lambda x: MO(logits=x * 2))
    for _ in range(3):
        r = run.call(f, x0())
        run.see(list(r.keys()) if isinstance(r, dict) else type(r))


@dataclasses.dataclass
class DD(dict):
    a: object = None


@prog
def ret_dataclass_dict(run):
    f = run.compile(lambda x: DD(a=x * 2))
    for _ in range(3):
        run.call(f, x0())


@dataclasses.dataclass
class DL(list):
    a: object = None


@prog
def ret_dataclass_list(run):
    f = run.compile(lambda x: DL(a=x * 2))
    for _ in range(3):
        run.call(f, x0())


class NT(collections.namedtuple("NT", "a b")):
    pass


@prog
def ret_namedtuple_subclass_attr(run):
    def g(x):
        n = NT(x * 2, 1)
        n.note = "hi"
        return n

    f = run.compile(g)
    for _ in range(3):
        run.call(f, x0())


class Tag(str):
    pass


@prog
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


class MyInt(int):
    pass


@prog
def ret_int_subclass_identity(run):
    def g(x):
        return x * 2, MyInt(5)

    f = run.compile(g)
    rs = [f(x0()) for _ in range(4)]
    run.see([rs[i][1] is rs[i + 1][1] for i in range(3)])
    rs[1][1].foo = 3
    run.see(hasattr(rs[2][1], "foo"), hasattr(rs[3][1], "foo"))


@prog
def ret_slice_of_tensor(run):
    f = run.compile(lambda x: slice(x * 2, None))
    for i in range(3):
        r = f(x0() * (i + 1))
        run.see(r.start)


@prog
def ret_ordered_dict(run):
    f = run.compile(lambda x: collections.OrderedDict(a=x * 2, b=x))
    for _ in range(3):
        run.call(f, x0())


@prog
def ret_defaultdict(run):
    def g(x):
        d = collections.defaultdict(list)
        d["a"].append(x * 2)
        return d

    f = run.compile(g)
    for _ in range(3):
        run.call(f, x0())


@prog(want="hit")
def ret_shape(run):
    f = run.compile(lambda x: (x * 2, x.shape, x.dtype, x.size(0)))
    for _ in range(3):
        run.call(f, x0())


@prog(want="hit")
def ret_device(run):
    f = run.compile(lambda x: (x * 2, x.device))
    for _ in range(3):
        run.call(f, x0())


@prog(want="hit")
def ret_set_of_str(run):
    f = run.compile(lambda x: (x * 2, {"a"}))
    for _ in range(3):
        run.call(f, x0())


@prog(want="hit")
def ret_dict_tuple_keys(run):
    f = run.compile(lambda x: {(0, 1): x * 2, (1, 0): x * 3})
    for _ in range(3):
        run.call(f, x0())


class Plain:
    def __init__(self, y):
        self.y = y


@prog
def ret_plain_object(run):
    def g(x):
        return Plain(x * 2)

    f = run.compile(g)
    for _ in range(3):
        r = f(x0())
        run.see(r.y)


@prog
def ret_simplenamespace(run):
    f = run.compile(lambda x: types.SimpleNamespace(y=x * 2))
    for _ in range(3):
        r = f(x0())
        run.see(r.y)


@prog
def ret_same_list_twice(run):
    def g(x):
        l = [x * 2]
        return l, l

    f = run.compile(g)
    for _ in range(3):
        r = f(x0())
        run.see(r[0] is r[1], r[0])


@prog
def ret_same_tensor_twice(run):
    def g(x):
        y = x * 2
        return y, y, [y]

    f = run.compile(g)
    for _ in range(3):
        r = f(x0())
        run.see(r[0] is r[1], r[2][0] is r[0])


@prog
def ret_arg_itself(run):
    f = run.compile(lambda x, y: (x, y, x))
    for _ in range(3):
        a, b = x0(), x0()
        r = f(a, b)
        run.see(r[0] is a, r[1] is b, r[2] is a)
