"""A call that runs code of the package that is not declared pure runs eagerly, whatever the name of the code."""

import os

import lucid
import pytest
from capture_record import X, guards_of, reason_of
from lucid import _core, _effects, nn, optim
from same import bits

PACKAGE = os.path.dirname(lucid.__file__)
BOUND = {name: value for name, value in vars(_core).items() if type(value) is type(lucid.tensor)}


def written_in(file, source):
    """The names that this source defines as a file of the package."""
    names = {"_effects": _effects, "__name__": "lucid.nn.new"}
    exec(compile(source, os.path.join(PACKAGE, *file.split("/")), "exec"), names)
    return names


def test_undeclared_code_is_not_pure():
    made = written_in("nn/new.py", "def grow(x):\n    return x + 1\n")["grow"]
    assert "calls grow, which is not declared pure" in reason_of(lambda x: made(x), X)


def test_a_module_that_is_declared_pure():
    made = written_in("nn/pure.py", "_effects.pure_module()\ndef grow(x):\n    return x + 1\n")["grow"]
    assert guards_of(lambda x: made(x), X) is not None


def test_a_function_and_a_class_that_are_declared_pure():
    made = written_in(
        "nn/some.py",
        """
@_effects.pure
def grow(x):
    return [part + 1 for part in [x]][0]

@_effects.pure
class Grower:
    @staticmethod
    def grow(x):
        return x + 1

    @property
    def one(self):
        return 1

def shrink(x):
    return x - 1
""",
    )
    grow, shrink, cls, grower = made["grow"], made["shrink"], made["Grower"], made["Grower"]()
    assert guards_of(lambda x: grow(x) + cls.grow(x) + grower.one, X) is not None
    assert "calls shrink, which is not declared pure" in reason_of(lambda x: shrink(x), X)


def test_named_tuples_of_the_package_are_pure():
    """Python generates their `__new__`, which is in no file."""
    source, target, recurrent = nn.Linear(2, 3), nn.Linear(2, 3), nn.RNN(2, 3)

    def load(x):
        target.load_state_dict(source.state_dict())
        return target(x)

    def pack(x):
        return recurrent(nn.utils.rnn.pack_sequence([x, x[1:]]))[0].data

    for function in (load, pack):
        compiled = lucid.compile(function)
        x = lucid.randn(3, 2)
        for _ in range(4):
            assert bits(compiled(x)) == bits(function(x))
        assert compiled.cache_info().hits >= 2, compiled.explain()


@pytest.mark.parametrize("name", ["step", "advance"])
@pytest.mark.parametrize("file", ["nn/moved.py", "optim/renamed.py"])
def test_a_declared_effect_does_not_depend_on_its_name(name, file):
    source = f'_effects.pure_module()\n@_effects.effect("counts")\ndef {name}(x):\n    return x + 1\n'
    made = written_in(file, source)[name]
    assert f"calls {name}, which counts" in reason_of(lambda x: made(x), X)
    assert f"may call lucid.{name}" in reason_of(lambda x: (made, x + 1)[1], X)


@pytest.mark.parametrize("name", sorted(BOUND))
def test_bound_functions_are_pure_only_if_declared(name):
    alias = BOUND[name]
    if alias in _core.pure:
        assert guards_of(lambda x: (alias, x + 1)[1], X) is not None
    else:
        assert f"may call lucid.{name}" in reason_of(lambda x: (alias, x + 1)[1], X)


def test_bound_functions_declared_pure():
    pure = {name for name, value in BOUND.items() if value in _core.pure}
    assert pure == {
        "as_tensor",
        "default_generator",
        "from_array",
        "from_dlpack",
        "from_numpy",
        "get_default_device",
        "get_default_dtype",
        "gpu_count",
        "gpu_name",
        "promote_types",
        "tensor",
        "tensor_text",
    }


def test_reading_objects_of_undeclared_types_runs_eagerly():
    group = optim.SGD(nn.Linear(2, 2).parameters(), lr=0.5, nesterov=True, momentum=0.9).param_groups[0]
    assert "ParamGroup" in reason_of(lambda x: x * 2 if group["nesterov"] else x, X)


def test_the_seed_of_a_generator():
    generator = lucid.Generator()
    fast = lucid.compile(lambda x: x + generator.initial_seed())
    for seed in (3, 3, 3, 7, 7):
        generator.manual_seed(seed)
        assert fast(X).tolist() == [seed + 1.0] * 3
    assert "reads the seed of a generator" in fast.explain()


def test_a_seed_from_the_operating_system():
    generator = lucid.Generator()
    fast = lucid.compile(lambda x: x + generator.seed() % 2**20)
    assert len({fast(X)[0].item() for _ in range(6)}) > 1
    assert "seeds a generator from the operating system" in fast.explain()


def test_counters_of_plans():
    inner = lucid.compile(lambda x: x * 2)
    fast = lucid.compile(lambda x: x + inner.cache_info().hits)
    inner(X)
    for hits in range(4):
        assert fast(X).tolist() == [hits + 1.0] * 3
        inner(X)
    assert "cache_info" in fast.explain()
