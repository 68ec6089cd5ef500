"""lucid.nn.Module as the base of Python classes."""

import abc
import copy
import gc
import pickle
import typing
import weakref

import lucid
import pytest
from lucid import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)
        self.act = nn.Identity()
        self.n = 3
        self.data = [1, 2]

    def forward(self, x, scale=1):
        return self.act(self.fc(x)) * scale


@pytest.fixture
def net():
    return Net()


@pytest.fixture
def x():
    return lucid.ones(1, 4)


def test_calls_with_positional_and_keyword_arguments(net, x):
    assert net(x).shape == (1, 2)
    assert lucid.equal(net(x, scale=2), net(x, 2))
    assert lucid.equal(net(*[x], scale=2), net(x) * 2)


def test_parameters_and_submodules_are_the_same_objects_each_time(net):
    assert net.fc is net.fc
    assert net.fc.weight is net.fc.weight
    assert isinstance(net.fc.weight, nn.Parameter)
    assert next(net.parameters()) is net.fc.weight
    net.fc.weight.note = "kept"
    gc.collect()
    assert net.fc.weight.note == "kept"


def test_walks(net):
    assert [name for name, _ in net.named_parameters()] == ["fc.weight", "fc.bias"]
    assert [name for name, _ in net.named_parameters(prefix="a", recurse=True)] == ["a.fc.weight", "a.fc.bias"]
    assert list(net.named_parameters(recurse=False)) == []
    assert [name for name, _ in net.named_modules()] == ["", "fc", "act"]
    assert list(net.children()) == [net.fc, net.act]
    net.again = net.fc
    assert len(list(net.children())) == 2
    assert len(list(net.modules())) == 3
    assert len(list(net.named_modules(remove_duplicate=False))) == 4
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4


def test_every_change_updates_the_version(net):
    root = nn.Sequential(nn.Sequential(net))
    changes = {
        "attribute": lambda: setattr(net, "n", 4),
        "new attribute": lambda: setattr(net.fc, "note", 1),
        "deleted attribute": lambda: delattr(net, "n"),
        "parameter": lambda: setattr(net.fc, "weight", nn.Parameter(lucid.ones(2, 4))),
        "parameter to None": lambda: setattr(net.fc, "bias", None),
        "buffer": lambda: net.register_buffer("b", lucid.ones(1)),
        "buffer assigned": lambda: setattr(net, "b", lucid.zeros(1)),
        "child": lambda: setattr(net, "act", nn.ReLU()),
        "child removed": lambda: delattr(net, "act"),
        "setting": lambda: setattr(net.fc, "in_features", 4),
        "training": lambda: setattr(net.fc, "training", False),
        "train": net.train,
        "eval": net.eval,
        "hook": lambda: hooks.append(net.fc.register_forward_hook(lambda *a: None)),
        "hook removed": lambda: hooks[0].remove(),
        "backward hook": lambda: net.fc.register_full_backward_hook(lambda *a: None),
        "state hook": lambda: net.fc.register_state_dict_post_hook(lambda *a: None),
        "requires_grad_": lambda: net.fc.requires_grad_(False),
        "dtype": net.fc.double,
        "load": lambda: net.fc.load_state_dict(net.fc.state_dict()),
    }
    hooks = []
    for what, change in changes.items():
        before = root._version
        change()
        assert root._version > before, what
    before = root._version
    net.fc(lucid.ones(1, 4, dtype=lucid.float64))
    assert root._version == before, "a call changes nothing"


def test_uninitialised_modules_name_the_missing_call(x):
    class Bad(nn.Module):
        def __init__(self):
            self.fc = nn.Linear(4, 2)

    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        Bad()

    class Empty(nn.Module):
        def __init__(self):
            pass

    for use in (lambda m: m(x), lambda m: m.eval(), lambda m: m.fc, lambda m: repr(m), lambda m: m.state_dict()):
        with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
            use(Empty())
    parent = nn.Module()
    with pytest.raises(AttributeError, match=r"super\(\).__init__\(\)"):
        parent.child = Empty()


def test_assignments(net):
    with pytest.raises(TypeError, match=r"child module.*'fc'"):
        net.fc = 3
    with pytest.raises(TypeError, match=r"parameter.*'weight'"):
        net.fc.weight = lucid.ones(2, 4)
    net.register_buffer("b", lucid.ones(1))
    with pytest.raises(TypeError, match=r"buffer.*'b'"):
        net.b = 3
    tensor = lucid.zeros(2)
    net.b = tensor
    assert net.b is tensor
    net.fc.bias = None
    assert net.fc.bias is None
    assert [name for name, _ in net.fc.named_parameters()] == ["weight"]
    assert net.fc(lucid.ones(1, 4)).shape == (1, 2)
    net.fc.bias = nn.Parameter(lucid.ones(2))
    assert list(net.state_dict()) == ["b", "fc.weight", "fc.bias"]
    net.fc = None
    assert net.fc is None
    del net.fc
    assert not hasattr(net, "fc")
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = net.nope
    with pytest.raises(AttributeError):
        del net.nope


def test_a_part_replaces_a_plain_attribute_and_another_part(net):
    net.n = nn.Parameter(lucid.ones(1))
    assert "n" not in net.__dict__
    net.w = nn.Linear(1, 1)
    net.w = None
    del net.w
    net.w = nn.Parameter(lucid.ones(1))
    assert [name for name, _ in net.named_parameters(recurse=False)] == ["n", "w"]
    net.buffered = nn.Buffer(lucid.ones(1), persistent=False)
    assert [name for name, _ in net.named_buffers()] == ["buffered"]
    assert "buffered" not in net.state_dict()


def test_registering_checks_names(net):
    with pytest.raises(KeyError, match="dot"):
        net.register_parameter("a.b", None)
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("fc", lucid.ones(1))
    with pytest.raises(KeyError, match="already exists"):
        net.add_module("n", nn.ReLU())
    with pytest.raises(TypeError, match="Parameter"):
        net.register_parameter("p", lucid.ones(1))
    assert net.get_parameter("fc.weight") is net.fc.weight
    with pytest.raises(AttributeError, match="nothing"):
        net.get_submodule("fc.nothing")
    with pytest.raises(AttributeError, match="nothing"):
        net.get_parameter("fc.nothing")


def test_mixins_of_any_kind():
    class Mixin:
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.mixed = 1

    class Before(Mixin, nn.Module):
        pass

    class After(nn.Module, Mixin):
        pass

    assert Before().mixed == 1
    assert not hasattr(After(), "mixed")

    class Abstract(nn.Module, abc.ABC):
        @abc.abstractmethod
        def forward(self, x): ...

    with pytest.raises(TypeError, match="abstract"):
        Abstract()

    class Concrete(Abstract):
        def forward(self, x):
            return x

    assert Concrete()(lucid.ones(1)).item() == 1
    kind = typing.TypeVar("kind")

    class Generic(nn.Module, typing.Generic[kind]):
        pass

    Generic[int]()

    @typing.runtime_checkable
    class Shaped(typing.Protocol):
        def forward(self, x): ...

    class Both(nn.Module, Shaped):
        def forward(self, x):
            return x

    assert isinstance(Both(), Shaped)

    class Slotted(nn.Module):
        __slots__ = ("a",)

        def __init__(self):
            super().__init__()
            self.a = 1

    assert Slotted().a == 1


def test_properties_and_getattr():
    class Odd(nn.Module):
        def __init__(self):
            super().__init__()
            self._v = 0
            self.fc = nn.Linear(1, 1)

        @property
        def broken(self):
            return self.missing_thing

        @property
        def v(self):
            return self._v

        @v.setter
        def v(self, value):
            self._v = value

        def __getattr__(self, name):
            if name == "magic":
                return 42
            raise AttributeError(name)

    odd = Odd()
    odd.v = 4
    assert (odd._v, odd.magic) == (4, 42)
    assert isinstance(odd.fc, nn.Linear)
    with pytest.raises(AttributeError, match=r"broken|missing_thing"):
        _ = odd.broken


def test_cpp_layers_can_be_subclassed(x):
    class Doubled(nn.Linear):
        def forward(self, x):
            self.seen = x.shape
            return super().forward(x) * 2

        def extra_repr(self):
            return "doubled"

    layer = Doubled(4, 2)
    assert isinstance(layer, nn.Linear)
    assert repr(layer) == "Doubled(doubled)"
    plain = nn.Linear(4, 2)
    plain.load_state_dict(layer.state_dict())
    assert lucid.equal(layer(x), plain(x) * 2)
    # Called by a C++ container.
    assert lucid.equal(nn.Sequential(layer)(x), layer(x))
    assert layer.seen == (1, 4)
    plain.forward = lambda x: "patched"
    assert plain(x) == "patched"
    Doubled.forward = lambda self, x: "class"
    assert layer(x) == "class"
    Doubled.__call__ = lambda self, x: "call"
    assert layer(x) == "call"


def test_exceptions_pass_through_cpp_containers(x):
    class Failing(nn.Module):
        def forward(self, x):
            raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        nn.Sequential(nn.Identity(), Failing())(x)
    with pytest.raises(NotImplementedError, match="Nothing"):
        type("Nothing", (nn.Module,), {})()(x)


def test_overrides_of_train_in_children_are_called():
    class Frozen(nn.Module):
        def train(self, mode=True):
            return super().train(False)

    net = nn.Sequential(nn.Sequential(Frozen()), nn.Identity())
    net.train()
    assert net.training
    assert not net[0][0].training
    assert net.eval() is net
    assert not net[1].training


def test_copies(net, x):
    net.register_buffer("kept", lucid.ones(1), persistent=False)
    net.nested = [1, [2]]
    net.tied = nn.Linear(4, 2)
    net.tied.weight = net.fc.weight
    net.fc.register_forward_hook(_halve)
    net.me = [net]
    net.eval()
    for made in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert type(made) is Net
        assert made.me[0] is made
        assert made.fc is not net.fc
        assert made.tied.weight is made.fc.weight
        assert isinstance(made.fc.weight, nn.Parameter)
        assert made.fc.weight.requires_grad
        assert (made.fc.in_features, made.training, made.nested) == (4, False, [1, [2]])
        assert lucid.equal(made(x), net(x))
        assert list(made.state_dict()) == list(net.state_dict())
        with lucid.no_grad():
            made.fc.weight.zero_()
        assert net.fc.weight.abs().sum() > 0
    shallow = copy.copy(net)
    assert shallow.fc is net.fc
    assert shallow.kept is net.kept


def _halve(module, args, output):
    return output / 2


def test_weak_references_and_garbage():
    def dies(make):
        module = make()
        references = [weakref.ref(part) for part in module.modules()] + [weakref.ref(p) for p in module.parameters()]
        del module
        gc.collect()
        assert [r() for r in references] == [None] * len(references)

    def with_attribute():
        module = Net()
        module.me = [module]
        return module

    def with_hooks():
        module = Net()
        module.fc.register_forward_hook(lambda m, a, o, n=module: None)
        module.register_forward_pre_hook(lambda m, a, n=module: None)
        module.register_full_backward_hook(lambda m, i, o, n=module: None)
        module(lucid.ones(1, 4)).sum().backward()
        return module

    def with_parameter_hook():
        module = Net()
        module.fc.weight.register_hook(lambda g, n=module: None)
        return module

    def with_parameter_attribute():
        module = Net()
        module.fc.weight.owner = module
        return module

    def through_cpp_container():
        module = Net()
        module.up = [nn.Sequential(nn.Sequential(module))]
        return module

    for make in (with_attribute, with_hooks, with_parameter_hook, with_parameter_attribute, through_cpp_container):
        dies(make)


def test_dir_and_repr(net):
    assert {"fc", "act", "n", "forward", "training"} <= set(dir(net))
    assert {"weight", "bias", "in_features"} <= set(dir(net.fc))
    assert repr(net) == ("Net(\n  (fc): Linear(in_features=4, out_features=2, bias=True)\n  (act): Identity()\n)")


def test_dtypes(net):
    weight = net.fc.weight
    net.register_buffer("count", lucid.ones(1, dtype=lucid.int64))
    net.double()
    assert net.fc.weight is weight
    assert weight.dtype is lucid.float64
    assert net.count.dtype is lucid.int64
    assert net.to(lucid.float32).fc.weight.dtype is lucid.float32
    assert net.half().fc.bias.dtype is lucid.float16
    with pytest.raises(TypeError, match="i64"):
        net.to(lucid.int64)


def test_apply_and_zero_grad(net, x):
    seen = []
    assert net.apply(lambda m: seen.append(type(m).__name__)) is net
    assert seen == ["Linear", "Identity", "Net"]
    net(x).sum().backward()
    net.zero_grad(set_to_none=False)
    assert net.fc.weight.grad.abs().sum() == 0
    net.zero_grad()
    assert net.fc.weight.grad is None
    net.requires_grad_(False)
    assert not net(x).requires_grad
