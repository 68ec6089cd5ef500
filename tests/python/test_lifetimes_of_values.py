"""Plans keep nothing alive that only they refer to: the next call that no plan matches drops them.

The garbage collector is off, so that only reference counts free objects, except where a test collects."""

import gc
import operator
import sys
import weakref

import lucid
import pytest
from lucid import nn

X = lucid.arange(4, dtype=lucid.float32)


class Box:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Linear(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale
        self.fc = nn.Linear(4, 4)
        self.act = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))

    def forward(self, x):
        return self.act(self.fc(x)) * self.scale


def make_function(scale):
    def function(x):
        return x * scale

    return function


def alive(references):
    return sum(reference() is not None for reference in references)


def test_plans_that_are_still_being_compiled_are_dropped_too():
    holder = Box(table=lucid.ones(1))

    @lucid.compile
    def function(x):
        return x * holder.table

    for size in (2, 3, 4):
        function(lucid.ones(size))
    gone = weakref.ref(holder.table)
    holder.table = lucid.zeros(1)
    function(lucid.ones(5))
    assert gone() is None


def test_old_parts_of_a_model():
    net = Linear(1.0)

    @lucid.compile
    def function(x):
        return net(x)

    for _ in range(2):
        function(X)
    gone = [weakref.ref(net.fc.weight), weakref.ref(net.act)]
    net.fc.weight = nn.Parameter(lucid.ones(4, 4))
    net.act = nn.Sequential(nn.ReLU())
    function(X)
    assert alive(gone) == 0
    assert function.cache_info().entries == 1


def test_a_model_and_its_optimizer_that_train():
    def make():
        net = Linear(1.0)
        return net, lucid.optim.Adam(net.parameters())

    net, optimizer = make()

    @lucid.compile
    def step(x):
        optimizer.zero_grad()
        loss = net(x).sum()
        loss.backward()
        optimizer.step()
        return loss.detach()

    for _ in range(4):
        gone = [weakref.ref(part) for part in (net, optimizer, net.fc, net.fc.weight)]
        for _ in range(4):
            step(X)
        net, optimizer = make()
        step(X)
        assert alive(gone) == 0
    assert step.cache_info().hits >= 4


def test_old_state_of_an_optimizer():
    weight = nn.Parameter(lucid.ones(4))
    optimizer = lucid.optim.SGD([weight], lr=0.1, momentum=0.9)

    @lucid.compile
    def step(x):
        optimizer.zero_grad()
        (weight * x).sum().backward()
        optimizer.step()

    for _ in range(5):
        step(X)
    for replace in (
        lambda: operator.setitem(optimizer.state[weight], "momentum_buffer", lucid.zeros(4)),
        lambda: optimizer.state.clear(),
    ):
        hits = step.cache_info().hits
        gone = weakref.ref(optimizer.state[weight]["momentum_buffer"])
        replace()
        for _ in range(5):
            step(X)
        assert gone() is None
        assert step.cache_info().hits > hits


def test_a_compiled_model_that_is_dropped():
    net = lucid.compile(Linear(1.0))
    gone = weakref.ref(net.fc)
    net(X), net(X)
    del net
    gc.collect()
    assert gone() is None


def test_arguments_that_are_gone():
    @lucid.compile
    def function(net, x):
        return net(x)

    for _ in range(3):
        net = Linear(1.0)
        function(net, X), function(net, X)
    assert function.cache_info().entries == 1


def test_classes_of_arguments_that_are_defined_anew():
    @lucid.compile
    def function(box, x):
        return x * box.scale

    gone = []
    for i in range(4):
        made = type("Made", (), {})
        box = made()
        box.scale = float(i)
        for _ in range(2):
            assert lucid.equal(function(box, X), X * float(i))
        gone.append(weakref.ref(made))
        del made, box
    gc.collect()
    assert alive(gone) <= 2
    assert function.cache_info().entries == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda y: (y, y + 1),
        lambda y: [y, [y * 2]],
        lambda y: {"a": y, "b": [y]},
        lambda y: Box(value=y, parts=[y]),
        lambda y: (pair := [y], pair),
    ],
)
def test_a_plan_does_not_hold_the_result_that_was_recorded(make):
    function = lucid.compile(lambda x: make(x * 2))

    def tensors(value):
        if isinstance(value, lucid.Tensor):
            return [value]
        if isinstance(value, dict):
            value = list(value.values())
        elif isinstance(value, Box):
            value = list(vars(value).values())
        return [tensor for part in value for tensor in tensors(part)]

    for _ in range(3):
        gone = [weakref.ref(tensor) for tensor in tensors(function(X))]
        assert gone
        assert alive(gone) == 0
    assert function.cache_info().hits >= 1


def test_learned_functions_that_no_walk_finds():
    class Hidden:
        """Its attributes are computed."""

        def __init__(self, table):
            self.__dict__["_made"] = {"function": make_function(table)}

        def __getattr__(self, name):
            return self._made[name]

    holder = Box(hidden=Hidden(lucid.ones(4)))

    @lucid.compile
    def function(x):
        return holder.hidden.function(x)

    gone = []
    for i in range(5):
        table = lucid.full((4,), float(i))
        gone.append(weakref.ref(table))
        holder.hidden = Hidden(table)
        del table
        for _ in range(4):
            assert lucid.equal(function(X), X * float(i))
    assert alive(gone) == 1


def test_nothing_is_left_of_a_recording():
    holder = Box(table=Box(scale=1.0))

    @lucid.compile
    def function(x):
        return x * holder.table.scale

    function(X)
    lucid.compiler.wait()
    function.invalidate_cache()
    references = sys.getrefcount(holder.table)
    assert references == 2


class Scaled(nn.Module):
    def __init__(self, box):
        super().__init__()
        self.box = box

    def forward(self, x):
        return x * self.box.scale


@pytest.mark.parametrize("kind", ["function", "module"])
def test_what_is_compiled_frees_what_it_holds_when_it_is_dropped(kind):
    box = Box(scale=2.0)
    alive = weakref.ref(box)
    compiled = lucid.compile(lambda x, box=box: x * box.scale) if kind == "function" else Scaled(box).compile()
    for _ in range(3):
        compiled(X)
    assert compiled.cache_info().hits == 2
    # No cycle leads to it, so that nothing has to be collected.
    del compiled, box
    assert alive() is None
