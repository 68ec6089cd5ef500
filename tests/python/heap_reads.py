"""Lines of code that read a place of a heap; used by heap_fuzzer.py.

P is the place, Q another one, V a value, N the name of an attribute, K a number.
"""

import re

from heap_writer import NAMES, NUMBERS, kind_of

_ANY = (
    "notes.append(note(P))",
    "notes.append(type(P).__name__)",
    "notes.append(P is Q)",
    "notes.append(P is None)",
    "notes.append(isinstance(P, (Box, Slotted)))",
    "notes.append(isinstance(P, (int, float)))",
    "notes.append(callable(P))",
    "notes.append(hasattr(P, 'N'))",
    "notes.append(note(getattr(P, 'N', None)))",
    "notes.append(note(getattr(P, 'sc' + 'ale', 0.0)))",
    "x = x * num(P)",
    "x = x + (1.0 if P else 2.0)",
    "x = x * (2.0 if type(P) is type(Q) else 1.0)",
    "kept = P",
    "notes.append(next(P, None))",
    "notes.append(note(next(iter(P))))",
    "notes.append(isinstance(P, Abstract))",
    "notes.append(issubclass(type(P), Abstract))",
    "notes.append(isinstance(P, collections.abc.Sized))",
    "with P as v:\n    notes.append(note(v))",
    "notes.append(note(P().a))",
    "notes.append(P + 1.0)",
    "notes.append(P < 2.0)",
    "notes.append(not P)",
    "notes.append(note(sorted([P, Q])))",
    "notes.append(id(P) == id(Q))",
    "def inner(v=P):\n    return note(v), num(Q)\nnotes.append(inner())",
    "notes.append((lambda *a, **k: len(a) + len(k))(*P))",
    "x = x * num(shared.a)",
    "notes.append(note(log))",
    "notes.append(P.a is Q)",
    "notes.append(note([v.a for v in P]))",
    "notes.append(note(P.args))",
    "notes.append(type(P).__mro__[1].__name__)",
    "notes.append(note(Q if P else 1))",
    "notes.append(str(P))",
    "notes.append(note(list(P)))",
    "notes.append(note(copy.copy(P)))",
    "x = x[P]",
    "notes.append((lambda: note(P))())",
    "notes.append([note(v) for v in (P, Q)])",
    "match P:\n    case Point(a=v) | Box(a=v) | [v, *_] | {'a': v}:\n        notes.append(note(v))",
)

_BY_KIND = {
    "member": (
        "notes.append(note(P.value))",
        "notes.append(P.name)",
        "notes.append(P is Color.RED)",
        "notes.append(P == Level.HIGH)",
        "notes.append(note(P.a))",
        "x = x * num(P.value)",
        "notes.append(P in Color)",
        "notes.append({Color.RED: 1.0, Color.BLUE: 2.0}[P])",
    ),
    "number": (
        "x = x * 2.0 if P % 3 == 0 else x",
        "if P % 2:\n    x = x + 1.0",
        "x = x * P",
        "x = x + P",
        "x = x - float(P)",
        "notes.append(P > 1)",
        "notes.append(P == 1)",
        'notes.append(f"{P}")',
        "notes.append(repr(P))",
        "notes.append(type(P) is bool)",
        "if P > 0.75:\n    x = x + 1.0",
        "for i in range(int(P) % 4):\n    x = x + i",
        "notes.append(round(P, 1))",
        "notes.append(divmod(P, 2))",
        "notes.append({1: 'one', 2: 'two', 0.5: 'half'}.get(P))",
        "x = x[:max(1, int(P))]",
        "notes.append(math.floor(P))",
        "x = lucid.where(x > P, x, x * 0.5)",
        "x = x + lucid.full((3,), float(P))",
        "notes.append(max(P, 1, 0.5))",
    ),
    "text": (
        "notes.append(P + '!')",
        'notes.append(f"{P:>4}")',
        "notes.append(len(P))",
        "notes.append('%s' % P)",
        "x = getattr(lucid, P or 'exp')(x)",
        "notes.append('{0}'.format(P))",
        "notes.append(P.upper() == 'A')",
        "notes.append(hasattr(Color, P))",
    ),
    "sequence": (
        "notes.append(len(P))",
        "notes.append(note(P[0]))",
        "notes.append(note(P[-1]))",
        "x = x + sum(num(v) for v in P)",
        "notes.append(sorted(num(v) for v in P))",
        "first, *others = P\nnotes.append((note(first), len(others)))",
        "notes.append(1 in P)",
        "notes.append(Q in P)",
        "for i, v in enumerate(P):\n    x = x + i * num(v)",
        "notes.append(list(map(num, P)))",
        "notes.append(P == [1.0, 2.0])",
        "notes.append([note(v) for v in reversed(P)])",
        "notes.append(max(map(num, P), default=0))",
        "notes.append(P.index(1))",
        "notes.append(P.count(1.0))",
        "x = x * len(P)",
        "notes.append([(num(a), num(b)) for a, b in zip(P, Q)])",
        "notes.append(list(P)[1:] == [])",
        "notes.append(any(P))",
        "kept = [*P]",
    ),
    "mapping": (
        "notes.append(len(P))",
        "notes.append([note(v) for v in P.values()])",
        "notes.append([note(v) for v in P])",
        "notes.append(note(P.get('a', 5.0)))",
        "notes.append(note(P['a']))",
        "notes.append(note(P['zz']))",
        "notes.append('b' in P)",
        "notes.append(Color.RED in P)",
        "for k, v in P.items():\n    x = x + num(v)\n    notes.append(str(k))",
        "notes.append(note({**P}))",
        "notes.append(next(iter(P), None) == 'a')",
        "x = x + num(P.get(1))",
        "notes.append(P == {'a': 1.0})",
        "notes.append(add(1.0, **P))",
        "notes.append(list(P.keys())[-1:] == ['b'])",
    ),
    "set": (
        "notes.append(len(P))",
        "notes.append(1 in P)",
        "notes.append(sorted(P))",
        "notes.append(sum(P))",
        "notes.append(list(P))",
        "notes.append(P <= {0, 1, 2, 3})",
        "x = x + max(P)",
        "notes.append(sorted(P | {7}))",
    ),
    "object": (
        "notes.append(note(P.N))",
        "notes.append(note(P.N))",
        "notes.append(note(P.a))",
        "x = x * num(P.a)",
        "x = x * num(P.scale)",
        "notes.append(P.total())",
        "notes.append(P.double)",
        "notes.append(P.made())",
        "notes.append(type(P).fixed())",
        "notes.append(note(vars(P)))",
        "notes.append(note(P.__dict__.get('a')))",
        "notes.append(note(operator.attrgetter('N')(P)))",
        "notes.append(P == Q)",
        "notes.append(P != P)",
        "notes.append(len(P))",
        "notes.append(note(P[1]))",
        "notes.append([note(v) for v in P])",
        "notes.append(1.0 in P)",
        "notes.append(P(2.0))",
        "notes.append(P.__class__.__name__)",
        "notes.append(isinstance(P, Derived))",
        "notes.append(note(type(P).__dict__.get('scale')))",
        "notes.append(note(P.field))",
        "notes.append(repr(P) == 'Point(a=1.0, b=None)')",
        "notes.append(note(dataclasses.asdict(P)))",
        "notes.append([f.name for f in dataclasses.fields(P)])",
        "kept = dataclasses.replace(P, a=3.0)",
        "notes.append(note(P.locked()))",
    ),
    "callable": (
        "notes.append(note(P(2.0)))",
        "notes.append(note(P()))",
        "x = x * num(P(1.0))",
        "notes.append([note(v) for v in map(P, [1.0, 2.0])])",
        "notes.append(note(P(Q)))",
    ),
    "class": (
        "notes.append(note(P.scale))",
        "notes.append(len(P))",
        "notes.append(note(P.factor))",
        "notes.append(P.__name__)",
        "notes.append([c.__name__ for c in P.__mro__])",
        "notes.append(note(P(a=1.0).a))",
        "notes.append(P.made())",
        "notes.append(P(a=1.0).total())",
        "notes.append(issubclass(P, Box))",
        "notes.append([m.value for m in P])",
        "notes.append(P['RED'].value)",
        "kept = P(a=2.0)",
    ),
    "tensor": (
        "x = x * 2.0 if P.sum().item() > K else x",
        "total = P.sum().item()\nif total < K or total >= 2:\n    x = x + 1.0\nkept = total",
        "notes.append(float(P.max()) == K)",
        "x = x + P",
        "x = x * P",
        "x = x + P.sum()",
        "x = x + P.detach()",
        "notes.append(tuple(P.shape))",
        "notes.append(P.requires_grad)",
        "notes.append(P.grad is None)",
        "notes.append(P.is_leaf)",
        "notes.append(str(P.dtype))",
        "notes.append(P.dim())",
        "notes.append(P.grad_fn is None)",
        "notes.append(note(P.tag))",
        "notes.append(note(getattr(P, 'tag', 2.0)))",
        "with lucid.no_grad():\n    P.add_(1.0)",
        "with lucid.no_grad():\n    P.mul_(0.5)",
        "kept = P",
        "kept = P * 2.0",
        "kept = P[:1]",
        "x = x + (P.grad if P.grad is not None else 0.0)",
        "(P * 2.0).sum().backward()",
        "P.grad = None",
        "notes.append(P.item())",
        "notes.append(len(P))",
        "if P.sum() > 2.0:\n    x = x + 1.0",
    ),
    "module": (
        "x = P(x)",
        "x = P(x)",
        "notes.append(P.training)",
        "notes.append(len(list(P.parameters())))",
        "notes.append([name for name, _ in P.named_parameters()])",
        "x = x + P.weight.sum()",
        "notes.append(P.drop.p)",
        "P(x).sum().backward()",
        "x = x + num(P.a)",
        "notes.append([type(child).__name__ for child in P.children()])",
        "x = x + sum(p.sum() for p in P.parameters())",
        "x = P.drop(x)",
        "notes.append(list(P.state_dict()))",
    ),
    "optimizer": (
        "notes.append(P.param_groups[0]['lr'])",
        "x = x * P.param_groups[0]['lr']",
        "notes.append(len(P.state))",
        "P.zero_grad()\n(P.param_groups[0]['params'][0] * x).sum().backward()\nP.step()",
        "P.zero_grad()\n(P.param_groups[0]['params'][0] * x).sum().backward()\nP.step()",
        "P.step()",
        "x = x + P.param_groups[0]['params'][0].detach()",
        "notes.append(sorted(P.param_groups[0]) == [])",
        "notes.append(P.param_groups[-1].get('momentum'))",
        "notes.append(len(P.param_groups))",
    ),
    "array": (
        "x = x + lucid.tensor(P.astype('float32'))",
        "notes.append(float(P.sum()))",
        "notes.append(float(P[0]))",
        "notes.append(P.tolist())",
        "notes.append(P.shape)",
        "x = x * float(P.max())",
        "x = x + lucid.from_numpy(P)",
        "notes.append(str(P.dtype))",
        "notes.append(bool((P > 1).any()))",
        "notes.append([float(v) for v in P])",
        "notes.append(P.strides)",
        "notes.append(float(np.dot(P, P)))",
        "notes.append(P.flags.writeable)",
    ),
    "variable": ("notes.append(note(P.get()))", "x = x * num(P.get())", "notes.append(note(P.get(3.0)))"),
    "generator": ("x = x + lucid.rand(3, generator=P)", "notes.append(P.initial_seed())"),
    "namespace": ("notes.append(note(P.a))", "notes.append(note(P.add(1.0)))", "x = x * num(P.a)"),
    "function": (
        "notes.append(note(P(2.0)))",
        "notes.append(note(P()))",
        "x = x * num(P(1.0))",
        "notes.append(note(P.N))",
        "notes.append(P.__name__)",
        "notes.append(note(P.__defaults__))",
        "notes.append(sorted(map(P, [2.0, 1.0])))",
        "notes.append(functools.reduce(P, [1.0, 2.0, 3.0]))",
    ),
}

# The call itself changes the place.
_WRITES = {
    "any": (
        "P.N = V",
        "log.append(note(P))",
        "P = V",
        "P = x * 2.0",
        "P.N = x + 1.0",
        "P.N += 1",
        "P = Q",
        "log.append(x)",
    ),
    "sequence": (
        "P.append(V)",
        "P.pop()",
        "P.sort(key=num)",
        "P.append(x)",
        "P[0] = x",
        "P[-1] = P[0]",
        "P.extend([x, 1.0])",
        "P[0].append(x.sum().item())",
        "P[1].append(1.0)",
    ),
    "mapping": (
        "P['a'] = V",
        "P.pop('a', None)",
        "P.setdefault('b', V)",
        "P['a'] = x",
        "P[1] = x * 2.0",
        "P['a'].append(x.sum().item())",
        "P['b'].append(V)",
    ),
    "tensor": (
        "P = P * 0.5 + 1.0",
        "x = x + P.sum()\nP = x",
        "P = P",
        "P = None",
        "P = P.detach()",
        "P.add_(1.0)\nP = P + x",
    ),
    "array": ("P[0] = K", "P += 1.0"),
    "optimizer": ("P.param_groups[0]['lr'] = K",),
    "module": ("P.train(False)", "P.a = V"),
    "number": (
        "P += 1",
        "P += 1\nif P % 3 == 1:\n    x = x * 2.0",
        "notes.append(P < 5)\nP += 1",
        "P -= 1",
    ),
    "function": ("P.write(V)",),
    "variable": ("P.set(V)",),
    "generator": ("P.manual_seed(3)",),
    "object": ("P.acquire(blocking=False)", "P.a = V", "del P.a"),
}

# What reads attributes by names that are not in the code.
_REFLECTING = re.compile(r"getattr|hasattr|vars|__dict__|match |\.format|dataclasses")


def read_of(writer, place, other):
    """A line that reads a place."""
    kind = kind_of(place.value)
    lines = _BY_KIND.get(kind, ())
    if kind == "callable" and writer.choose.random() < 0.3:
        lines = _BY_KIND["object"]
    if not lines or writer.choose.random() < 0.25:
        lines = _ANY
    line = writer.pick(lines)
    while _REFLECTING.search(line) and not writer.reflects:
        line = writer.pick(lines)
    return filled(writer, line, place.inner, other.inner, ())


def write_of(writer, place, other):
    """A line of the function that changes a place."""
    lines = _WRITES.get(kind_of(place.value), ()) + _WRITES["any"]
    return filled(writer, writer.pick(lines), place.inner, other.inner, ())


def filled(writer, line, place, other, paths):
    """A template as code. Values may be of places that exist, `paths`."""

    def fill(match):
        match match[0]:
            case "P":
                return place
            case "Q":
                return other
            case "V":
                return writer.value(2, paths)
            case "N":
                return writer.pick(NAMES)
        return writer.pick(NUMBERS)

    return re.sub(r"\b[PQVNK]\b", fill, line)
