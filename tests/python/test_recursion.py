"""Nesting too deep for the stack, and objects that contain themselves, raise RecursionError."""

import copy

import lucid
import pytest
from interpreter import run_python
from lucid import nn


def cyclic():
    outer = nn.Sequential(nn.Linear(2, 2))
    inner = nn.Sequential(outer)
    outer.append(inner)
    return outer


def test_a_module_that_contains_itself_is_walked_once():
    net = cyclic()
    assert [name for name, _ in net.named_modules()] == ["", "0", "1"]
    assert len(list(net.parameters())) == 2
    assert net.eval().train().training
    seen = []
    net.apply(seen.append)
    assert len(seen) == 3
    net.to(lucid.float64).zero_grad()
    assert net[0].weight.dtype == lucid.float64


def test_a_module_that_contains_itself_is_copied_with_its_cycle():
    net = copy.deepcopy(cyclic())
    assert net[1][0] is net


@pytest.mark.parametrize(
    "use",
    [
        lambda net: net.state_dict(),
        lambda net: net.load_state_dict({}),
        lambda net: repr(net),
        lambda net: net(lucid.ones(1, 2)),
        lambda net: net.compile()(lucid.ones(1, 2)),
    ],
    ids=["state_dict", "load_state_dict", "repr", "call", "compile"],
)
def test_endless_recursion_raises(use):
    with pytest.raises(RecursionError):
        use(cyclic())


# The limit is the stack, not Python's recursion limit, which users raise. So it must also work on small stacks.
_DEEP = """
import copy, sys, threading, lucid
from lucid import nn
sys.setrecursionlimit(100_000)
x = lucid.ones(1, 2, requires_grad=True)

class Wraps(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner
    def forward(self, x):
        return self.inner(x)

def nest(wrap, value, times=20_000):
    for _ in range(times):
        value = wrap(value)
    return value

class Calls(nn.Module):
    def forward(self, x):
        return self.around[0](x)

class Again(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return Again.apply(x)
    @staticmethod
    def backward(ctx, g):
        return g

class AgainBackward(lucid.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        with lucid.enable_grad():
            AgainBackward.apply(lucid.ones(1, requires_grad=True)).sum().backward()
        return g

def hooked(hook):
    net = nn.Linear(2, 2)
    net.register_forward_hook(hook)
    return net(x)

def gradient_hook(g):
    with lucid.enable_grad():
        y = lucid.ones(2, requires_grad=True) * 2
        y.register_hook(gradient_hook)
        y.sum().backward()

@lucid.compile
def calls_itself(x):
    return calls_itself(x)

def through_itself():
    net = Calls()
    net.__dict__["around"] = [nn.Sequential(net)]
    return net

deep = nest(nn.Sequential, nn.Linear(2, 2))
cases = {
    "call": lambda: deep(x),
    "compiled": lambda: lucid.compile(deep)(x),
    "python": lambda: nest(Wraps, nn.Linear(2, 2), 5000)(x),
    "self": lambda: through_itself()(x),
    "hook": lambda: hooked(lambda net, given, result: net(result)),
    "gradient hook": lambda: gradient_hook(None),
    "function": lambda: Again.apply(x),
    "function's backward": lambda: AgainBackward.apply(x).sum().backward(),
    "argument": lambda: lucid.compile(lambda v: x * 2)(nest(lambda v: [v], x)),
    "compiled function": lambda: calls_itself(x),
    "copy": lambda: copy.deepcopy(deep),
    "train": lambda: deep.train(),
}

def run():
    for name, case in cases.items():
        try:
            case()
            print(name)
        except RecursionError:
            pass
"""


@pytest.mark.parametrize("stack", [512, 2048])
def test_calls_that_nest_20000_deep_raise_on_any_stack(stack):
    source = f"""{_DEEP}
threading.stack_size({stack} << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""
    printed = set(run_python(source).split())
    # A compiled call does what the function does, which looks at no item. Walks need less stack than calls.
    assert printed == {"argument"} or (stack > 512 and printed == {"argument", "train"})


def test_long_chains_and_deep_modules_are_freed_without_recursion():
    source = """
import lucid
from lucid import nn
y = w = lucid.ones(1, requires_grad=True)
for _ in range(300_000):
    y = y + 1
y.backward()
del y
net = nn.Sequential()
for _ in range(50_000):
    net = nn.Sequential(net)
del net
# From the outside: each change moves the versions of all modules above.
net = inner = nn.Sequential()
for _ in range(3_000):
    inner.append(nn.Sequential())
    inner = inner[0]
before = net._version
inner.append(nn.Linear(1, 1))
print(w.grad.item(), net._version > before)
"""
    assert run_python(source) == "1.0 True\n"


def test_nesting_of_settings_is_limited():
    size = [3]
    size.append(size)
    with pytest.raises(ValueError, match="nested more than"):
        nn.Conv2d(1, 1, size)
