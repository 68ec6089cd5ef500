"""Statements that change a place of a heap; used by heap_fuzzer.py. heap_reads.py says what the letters mean."""

import functools

from heap_observer import is_a
from heap_reads import filled
from heap_writer import kind_of

_CHANGES = {
    "member": ("P.a = V", "P.a = K", "P._value_ = K", "P._name_ = 'GREEN'", "del P.a"),
    "sequence": (
        "P.append(V)",
        "P.pop()",
        "P.insert(0, V)",
        "P.reverse()",
        "P.clear()",
        "P.extend([V, V])",
        "P[:] = list(P)",
        "P.sort(key=num)",
        "P.rotate(1)",
        "P.appendleft(V)",
        "P.a = V",
        "P.scale = K",
    ),
    "mapping": (
        "P['a'] = V",
        "P['b'] = V",
        "P[1] = V",
        "P[True] = V",
        "P['zz'] = V",
        "P.pop('a', None)",
        "P['a'] = P.pop('a')",
        "P.clear()",
        "P.update(a=V)",
        "P.popitem()",
        "P[Color.RED] = V",
        "P.move_to_end('a')",
        "P.default_factory = int",
        "P.a = V",
    ),
    "set": ("P.add(K)", "P.discard(1)", "P.clear()", "P.update({1.0, 2.0})"),
    "object": (
        "P.N = V",
        "P.N = V",
        "P.N = K",
        "P.a = K",
        "P.a = K",
        "del P.N",
        "del P.a",
        "P.__class__ = Other",
        "P.__class__ = Derived",
        "P.__class__ = Box",
        "P.__class__ = Sized",
        "P.__dict__ = dict(P.__dict__)",
        "P.__dict__['N'] = V",
        "P.__dict__.clear()",
        "P.__dict__.update(a=K)",
        "P.zz = V",
        "next(P)",
        "P[0] = 98",
        "P.append(3)",
        "P.data.append(K)",
        "P.maps[0]['a'] = V",
        "P.random()",
        "P.args = (V,)",
        "P.cache_clear()",
        "P().a = K",
        "KEPT.a = K",
        "KEPT = Box(a=K)",
        "P.double = K",
        "Abstract.register(type(P))",
        "P._made.append(1)",
        "P.reverse()",
        "P.total = lambda: K",
        "P.store['N'] = V",
        "P.acquire(blocking=False)",
        "P.release()",
        "object.__setattr__(P, 'a', V)",
        "type(P).scale = K",
        "type(P).field.a = K",
    ),
    "class": (
        "P.scale = K",
        "P.scale = V",
        "P.a = V",
        "P.factor = K",
        "del P.scale",
        "del P.a",
        "P.total = lambda self: K",
        "P.total = Other.total",
        "P.total = Box.total",
        "P.double = property(lambda self: K)",
        "P.double = K",
        "P.__len__ = lambda self: 3",
        "P.__call__ = lambda self, v=1.0: K",
        "P.__eq__ = lambda self, other: True",
        "P.__bool__ = lambda self: False",
        "del P.__bool__",
        "del P.total",
        "P.__getattr__ = lambda self, name: K",
        "del P.__getattr__",
        "P.made = classmethod(lambda cls: K)",
        "P.__name__ = 'Renamed'",
        "P.field = Descriptor(K)",
        "Derived.__bases__ = (Other,)",
        "Derived.__bases__ = (Box,)",
        "P.zz = V",
    ),
    "function": (
        "P.__defaults__ = (K,)",
        "P.__defaults__ = None",
        "P.__kwdefaults__ = {'s': K}",
        "P.__kwdefaults__['s'] = K",
        "P.__code__ = sub.__code__",
        "P.__code__ = (lambda v=1.0, *a, **k: K).__code__",
        "P.N = V",
        "P.write(V)",
        "P.write(K)",
        "P.__name__ = 'renamed'",
        "P.zz = V",
    ),
    "tensor": (
        "with lucid.no_grad():\n    P.add_(K)",
        "with lucid.no_grad():\n    P.copy_(lucid.tensor([3.0, 2.0, 1.0]))",
        "with lucid.no_grad():\n    P[0] = K",
        "P.requires_grad_(True)",
        "P.requires_grad_(False)",
        "P.grad = None",
        "P.grad = lucid.ones(3)",
        "P.grad = lucid.ones(6)[::2]",
        "P.grad = lucid.from_numpy(np.ones(3, dtype=np.float32))",
        "P.data = P.data * 0.5",
        "P.data = lucid.tensor([5.0, 6.0])",
        "P.data = Q.data",
        "P.detach().add_(1.0)",
        "P.numpy()[0] = 4.0",
        "P.__class__ = nn.Parameter",
        "P.unsqueeze_(0)",
        "P.requires_grad = not P.requires_grad",
        "P.data = lucid.ones(6)[::2]",
        "P.tag = V",
        "P.tag = K",
        "del P.tag",
        "P.register_hook(lambda g: g * 2.0)",
        "P.register_hook(log.append)",
        "P.register_hook(functools.partial(lambda k, g: g * num(k), V))",
        "P.register_post_accumulate_grad_hook(lambda p: log.append('post'))",
        "P.retain_grad()",
    ),
    "module": (
        "P.eval()",
        "P.train()",
        "P.a = V",
        "P.a = K",
        "P.weight = nn.Parameter(lucid.tensor([2.0, 2.0, 2.0]))",
        "P.weight = None",
        "P.drop.p = 0.25",
        "P.drop = nn.Identity()",
        "P.drop = nn.Dropout(0.5)",
        "P.register_forward_hook(lambda m, i, o: o * 2.0)",
        "P.register_forward_pre_hook(lambda m, i: log.append('pre'))",
        "P.register_forward_hook(functools.partial(lambda k, m, i, o: o * num(k), V))",
        "P.zero_grad()",
        "P.requires_grad_(False)",
        "P.requires_grad_(True)",
        "P.load_state_dict({k: v * 0.5 for k, v in P.state_dict().items()})",
        "P.forward = lambda x: x * K",
        "del P.forward",
        "P[0] = nn.Linear(3, 3)",
        "P.append(nn.Tanh())",
        "P.to(lucid.float64)",
    ),
    "optimizer": (
        "P.param_groups[0]['lr'] = K",
        "P.param_groups[0]['lr'] = V",
        "P.param_groups[0]['momentum'] = 0.5",
        "P.param_groups[0]['weight_decay'] = 0.1",
        "P.param_groups[0]['maximize'] = True",
        "P.state.clear()",
        "P.add_param_group({'params': [nn.Parameter(lucid.tensor([1.0, 2.0, 3.0]))]})",
        "P.param_groups[0]['zz'] = V",
        "P.load_state_dict(copy.deepcopy(P.state_dict()))",
        "P.zero_grad()",
        "P.param_groups[0]['params'][0] = nn.Parameter(lucid.tensor([1.0, 1.0, 1.0]))",
        "for s in P.state.values():\n    s.update({k: v * 0.5 for k, v in s.items() if isinstance(v, lucid.Tensor)})",
        "for s in P.state.values():\n    del s[next(iter(s))]",
    ),
    "array": (
        "P[0] = K",
        "P += 1.0",
        "P.sort()",
        "P.fill(2.0)",
        "P.shape = (3, 1)",
        "P.shape = (3,)",
        "P.flags.writeable = False",
        "P.flags.writeable = True",
    ),
    "variable": ("P.set(V)", "P.set(K)", "P.set(K)"),
    "generator": ("P.manual_seed(3)", "P.manual_seed(4)", "lucid.rand(2, generator=P)"),
    "namespace": ("P.a = K", "P.a = V", "P.add = sub", "P.add = add", "del P.a"),
    "callable": (
        "P.a = K",
        "P.keywords['k'] = V",
        "P.keywords['s'] = K",
        "P.N = V",
        "P.__setstate__((sub, (), {}, {}))",
    ),
}

# Statements about nothing in particular.
_ELSEWHERE = (
    "len = lambda v: 7",
    "del len",
    "num = lambda v: 2.0",
    "num = lambda v: float(v) if isinstance(v, (int, float)) else 1.0",
    "add = sub",
    "note = lambda v, depth=3: type(v).__name__",
    "Color.RED._value_ = 5",
    "Color.RED.a = V",
    "lucid.Tensor.tag = K",
    "del lucid.Tensor.tag",
    "log.clear()",
    "log.append(K)",
    "KEPT.a = K",
    "Abstract.register(Box)",
    "lucid.set_default_dtype(lucid.float64)",
    "decimal.getcontext().prec = 3",
    "function.__code__ = function.__code__.replace(co_consts=tuple(c or 2.0 for c in function.__code__.co_consts))",
)


def change_of(writer, place, other, paths):
    """A statement that changes a place."""
    chance = writer.choose.random()
    if chance < 0.03:
        return filled(writer, writer.pick(_ELSEWHERE), place.outer, other.outer, paths)
    if chance < 0.55 and place.store is not None:
        return _stored(writer, place, other, paths)
    kind = kind_of(place.value)
    lines = _CHANGES.get(kind, ())
    if kind == "callable" and writer.choose.random() < 0.2:
        lines = _CHANGES["object"]
    if not lines:
        lines = _CHANGES["object"] if kind == "object" or place.store is None else ()
    if not lines:
        return _stored(writer, place, other, paths)
    return filled(writer, writer.pick(lines), place.outer, other.outer, paths)


def _stored(writer, place, other, paths):
    chance = writer.choose.random()
    if chance < 0.1 and place.delete is not None:
        return place.delete
    if chance < 0.2 and other.store is not None:
        return (
            f"swapped = {other.outer}; {other.store.replace('$', place.outer)}; {place.store.replace('$', 'swapped')}"
        )
    if chance < 0.3:
        return place.store.replace("$", f"copy.copy({place.outer})")
    if chance < 0.36:
        return place.store.replace("$", f"copy.deepcopy({place.outer})")
    # Whether a partial of a partial becomes one depends on whether anything has looked at its attributes.
    if chance < 0.44 and not is_a(place.value, functools.partial):
        return place.store.replace("$", f"type({place.outer})({place.outer})")
    if chance < 0.56:
        return place.store.replace("$", other.outer)
    return place.store.replace("$", writer.like(place.value, paths))
