"""Random programs: a function that reads random variables in random ways, and random changes to them between calls."""

import random

import lucid

_HEAD = """
import collections, functools, operator, types
import lucid
from lucid import nn

class Box:
    pass

class Slotted:
    __slots__ = ("value",)

class Lazy:
    def __getattr__(self, name):
        return self.__dict__["store"][name]

class Sized:
    def __init__(self):
        self.size = 1.0

    def __len__(self):
        return int(self.size)

    def __getitem__(self, key):
        return self.size + key

    @property
    def double(self):
        return self.size * 2

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 1.0
        self.drop = nn.Dropout(0.5)
        self.table = {"k": 1.0}

    def forward(self, x):
        return x * self.scale * self.table["k"]

def identity(value):
    return value
"""

# (setup, expression that the function reads, statement that changes it); @ is the index of the variable and ! a value.
_PLACES = [
    ("g@ = 1.0", "g@", "global g@\n    g@ = !"),
    ("b@ = Box(); b@.value = 1.0", "b@.value", "b@.value = !"),
    ("b@ = Box(); b@.inner = Box(); b@.inner.value = 1.0", "b@.inner.value", "b@.inner.value = !"),
    ("b@ = Box(); b@.inner = Box(); b@.inner.value = 1.0", "b@.inner.value", "b@.inner = Box(); b@.inner.value = !"),
    ("b@ = Box(); b@.value = 1.0", "b@.value", "b@.__dict__ = {'value': !}"),
    ("b@ = Box(); b@.value = 1.0", "getattr(b@, 'val' + 'ue')", "b@.value = !"),
    ("b@ = Box(); b@.value = 1.0", "vars(b@)['value']", "b@.value = !"),
    ("b@ = Box(); b@.value = 1.0; r@ = operator.attrgetter('value')", "r@(b@)", "b@.value = !"),
    ("class C@: value = 1.0\n", "C@.value", "C@.value = !"),
    ("class C@: value = 1.0\nc@ = C@()", "c@.value", "C@.value = !"),
    ("class C@: value = 1.0\nclass D@(C@): pass\nc@ = D@()", "c@.value", "D@.value = !"),
    ("class M@(type): value = 1.0\nclass C@(metaclass=M@): pass\n", "C@.value", "M@.value = !"),
    ("s@ = Slotted(); s@.value = 1.0", "s@.value", "s@.value = !"),
    ("l@ = [1.0, 2.0]", "l@[0]", "l@[0] = !"),
    ("l@ = [1.0]", "sum(l@)", "l@[:] = [!]"),
    ("l@ = [1.0]", "float(len(l@))", "l@[:] = [0.0] * int(!)"),
    ("l@ = [[1.0], [2.0]]", "[v for [v] in l@][1]", "l@[1][0] = !"),
    ("d@ = {'k': 1.0}", "d@['k']", "d@['k'] = !"),
    ("d@ = {'k': 1.0}", "d@.get('k', 9.0)", "d@.pop('k', 0); d@.update({'k': !} if ! < 2.5 else {})"),
    ("d@ = {'a': {'b': [1.0]}}", "d@['a']['b'][0]", "d@['a']['b'][0] = !"),
    ("d@ = {1.0: 0}", "max(d@)", "d@.clear(); d@[!] = 0"),
    ("d@ = {'k': 1.0}; get@ = d@.get", "get@('k')", "d@['k'] = !"),
    ("e@ = {1.0}", "max(e@)", "e@.clear(); e@.add(!)"),
    ("q@ = collections.deque([1.0, 2.0])", "q@[0]", "q@[0] = !"),
    ("o@ = collections.OrderedDict(a=1.0)", "next(iter(o@.values()))", "o@['a'] = !"),
    ("t@ = ([1.0], 2.0)", "t@[0][0]", "t@[0][0] = !"),
    ("n@ = types.SimpleNamespace(value=1.0)", "n@.value", "n@.value = !"),
    ("m@ = types.ModuleType('m'); m@.value = 1.0", "m@.value", "m@.value = !"),
    ("z@ = Lazy(); z@.store = {'value': 1.0}", "z@.value", "z@.store['value'] = !"),
    ("w@ = Sized()", "float(len(w@))", "w@.size = !"),
    ("w@ = Sized()", "w@[1]", "w@.size = !"),
    ("w@ = Sized()", "w@.double", "w@.size = !"),
    ("def h@(v=1.0): return v\n", "h@()", "h@.__defaults__ = (!,)"),
    ("def h@(*, v=1.0): return v\n", "h@()", "h@.__kwdefaults__['v'] = !"),
    ("def h@(): return h@.value\nh@.value = 1.0", "h@()", "h@.value = !"),
    ("p@ = functools.partial(identity, 1.0)", "p@()", "global p@\n    p@ = functools.partial(identity, !)"),
    ("k@ = 1.0\ndef h@(): return k@\n", "h@()", "global k@\n    k@ = !"),
    (
        "def make@():\n    v = 1.0\n    def read(): return v\n    def write(n):\n        nonlocal v\n        v = n\n"
        "    return read, write\nread@, write@ = make@()",
        "read@()",
        "write@(!)",
    ),
    ("y@ = Layer()", "y@.scale", "y@.scale = !"),
    ("y@ = Layer()", "y@.drop.p", "y@.drop.p = ! / 4"),
    ("y@ = Layer()", "(1.0 if y@.training else 2.0)", "y@.train(! < 2.5)"),
    ("y@ = Layer()", "y@.table['k']", "y@.table = {'k': !}"),
    ("u@ = nn.Parameter(lucid.ones(1)); u@.value = 1.0", "u@.value", "u@.value = !"),
]

_WAYS = [
    "x = x * {read}",
    "x = x + identity({read})",
    "x = x - (lambda: {read})()",
    "x = x * (2.0 if {read} > 1.5 else 1.0)",
    "for i in range(int({read})):\n        x = x + i",
    "x = x * sum([{read} for _ in range(2)])",
    "x = x + lucid.tensor([{read}])",
]


class RandomProgram:
    """One program: `function`, and change(), which changes variables that it reads, or others."""

    def __init__(self, seed):
        self._choose = choose = random.Random(seed)
        count = choose.randint(2, 8)
        chosen = [choose.choice(_PLACES) for _ in range(count)]
        source = [_HEAD]
        body = []
        for number, (setup, read, change) in enumerate(chosen):
            source.append(setup.replace("@", str(number)))
            writes = change.replace("@", str(number)).replace("!", "value")
            source.append(f"def change{number}(value):\n    {writes}\n")
            if number == 0 or choose.random() < 0.7:
                body.append(choose.choice(_WAYS).format(read=read.replace("@", str(number))))
        source.append("def function(x):\n    " + "\n    ".join(body) + "\n    return x\n")
        self.source = "\n".join(source)
        entries = {"__name__": f"random_program_{seed}"}
        exec(compile(self.source, f"<program {seed}>", "exec"), entries)
        self.function = entries["function"]
        self._changes = [entries[f"change{number}"] for number in range(count)]

    def change(self):
        for change in self._choose.sample(self._changes, self._choose.choice([0, 0, 1, 1, 2])):
            change(self._choose.choice([1.0, 2.0, 3.0]))


def run(seed, compile, calls=14):
    """Calls a program compiled with compile(); returns the compiled function."""
    program = RandomProgram(seed)
    compiled = compile(program.function)
    x = lucid.ones(3)
    for _ in range(calls):
        program.change()
        compiled(x)
    return compiled
