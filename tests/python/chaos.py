"""Chaos: two training loops, one eager and one compiled, receive the same random changes, and must stay the same.

    python tests/python/chaos.py --seed 1 --steps 200000

A step is one action of chaos_actions.py or chaos_training.py in both worlds. After each one the result or exception,
parameters, buffers, gradients, the optimizer's state, what hooks logged and the random generator must be equal. The
actions of a run that differs are shrunk and printed.
"""

import argparse
import gc
import random
import sys
import time
import warnings
from dataclasses import dataclass, field

import chaos_training  # noqa: F401
import lucid
from chaos_actions import ACTIONS
from heap_fuzzer import first_difference
from heap_observer import Contents, text_of
from lucid import nn, optim

functional = nn.functional

_STEPS = 80
# In one pair of worlds few kinds of things happen, or plans would hardly ever be used twice.
_CALLS, _CHANGES = 3, 8


class Block(nn.Module):
    """A residual block with settings of several types."""

    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.scale = 1.0
        self.activation = "relu"
        self.register_buffer("count", lucid.zeros(1))

    def forward(self, x):
        hidden = self.linear(self.norm(x))
        hidden = functional.relu(hidden) if self.activation == "relu" else functional.gelu(hidden)
        if self.training:
            self.count.add_(1)
        return x + hidden * self.scale


class Recorder:
    """Hooks with state."""

    def __init__(self):
        self.scale = 1.0
        self.calls = 0
        self.seen = []

    def scaled(self, gradient):
        return gradient * self.scale

    def __call__(self, gradient):
        self.calls += 1

    def accumulated(self, parameter):
        self.calls += 1

    def before(self, module, inputs):
        return (inputs[0] * self.scale,)


OPTIMIZERS = (
    lambda parameters: optim.SGD(parameters, lr=0.05, momentum=0.9),
    lambda parameters: optim.SGD(parameters, lr=0.1),
    lambda parameters: optim.Adam(parameters, lr=0.01),
    lambda parameters: optim.AdamW(parameters, lr=0.01, weight_decay=0.1),
    lambda parameters: optim.RMSprop(parameters, lr=0.01),
    lambda parameters: optim.Adagrad(parameters, lr=0.05),
    lambda parameters: optim.NAdam(parameters, lr=0.01),
)


class World:
    """A training loop. The compiled functions are attributes, by the same names in both worlds."""

    def __init__(self, compiled, seed):
        lucid.manual_seed(seed)
        choose = random.Random(seed)
        self.model = nn.Sequential(
            nn.Linear(5, 8), nn.BatchNorm1d(8), Block(8), nn.Dropout(0.3), Block(8), nn.Linear(8, 3)
        )
        self.shadow = [parameter.detach().clone() for parameter in self.model.parameters()]
        self.settings = {"weight": 1.0, "clip": None, "smoothing": 0.0}
        self.log, self.handles = [], []
        self.recorder = Recorder()
        self.functions = []
        self.new_optimizer(choose)
        self._define(compiled)

    def new_optimizer(self, choose):
        parameters = list(self.model.parameters())
        groups = (
            parameters
            if choose.random() < 0.6
            else [{"params": parameters[:2], "lr": 0.02}, {"params": parameters[2:]}]
        )
        self.optimizer = choose.choice(OPTIMIZERS)(groups)

    def parameter(self, choose):
        return choose.choice(list(self.model.parameters()))

    def _define(self, compiled):
        model, settings = self.model, self.settings

        def prepare(function):
            if compiled:
                function = lucid.compile(function, wait=True)
                self.functions.append(function)
            return function

        def loss_of(x, y):
            value = functional.cross_entropy(model(x), y, label_smoothing=settings["smoothing"])
            return value * settings["weight"]

        def clip():
            limit = settings["clip"]
            if isinstance(limit, tuple):
                nn.utils.clip_grad_value_(model.parameters(), limit[1])
            elif limit:
                nn.utils.clip_grad_norm_(model.parameters(), limit)

        @prepare
        def forward(x):
            return model(x)

        @prepare
        def loss(x, y):
            return loss_of(x, y)

        @prepare
        def step(x, y):
            self.optimizer.zero_grad()
            value = loss_of(x, y)
            value.backward()
            clip()
            self.optimizer.step()
            return value.detach()

        @prepare
        def scaled_step(x, y, scale):
            self.optimizer.zero_grad()
            value = loss_of(x, y)
            (value * scale).backward()
            with lucid.no_grad():
                for parameter in model.parameters():
                    if parameter.grad is not None:
                        parameter.grad.div_(scale)
            self.optimizer.step()
            return value.detach()

        @prepare
        def micro_step(x, y):
            value = loss_of(x, y)
            value.backward()
            return value.detach()

        @prepare
        def update():
            self.optimizer.step()

        @prepare
        @lucid.no_grad()
        def average(decay):
            for shadow, parameter in zip(self.shadow, model.parameters()):
                if shadow.shape == parameter.shape:
                    shadow.mul_(decay).add_(parameter * (1 - decay))

        self.forward, self.loss, self.step, self.scaled_step = forward, loss, step, scaled_step
        self.micro_step, self.update, self.average = micro_step, update, average
        self.compiled_model = prepare(model)

    @property
    def hits(self):
        return sum(function.cache_info().hits for function in self.functions)

    def act(self, name, seed, whole=True):
        """Runs an action; returns what can be seen afterwards."""
        try:
            result = ACTIONS[name][0](self, random.Random(seed))
        except Exception as error:
            result = text_of(error)
        lucid.set_grad_enabled(True)
        return [describe(result), *self.state(), *(self.kept_state() if whole else ())]

    def state(self):
        tensors = {**dict(self.model.named_parameters(remove_duplicate=False)), **dict(self.model.named_buffers())}
        return [
            {name: (describe(tensor), describe(tensor.grad)) for name, tensor in tensors.items()},
            list(self.log),
            (self.recorder.calls, [describe(gradient) for gradient in self.recorder.seen]),
            [module.training for module in self.model.modules()],
            Contents(lucid.get_rng_state()),
        ]

    def kept_state(self):
        """What need not be compared after every action: a difference stays, and changes parameters."""
        state = self.optimizer.state_dict()
        return [describe(state["state"]), describe(state["param_groups"]), describe(self.shadow)]


def describe(value):
    if isinstance(value, lucid.Tensor):
        strides = tuple(value.stride()) if value.numel() else ()
        node = None if value.grad_fn is None else value.grad_fn.name()
        return type(value).__name__, tuple(value.shape), strides, value.requires_grad, node, Contents(value)
    if isinstance(value, dict):
        return {key: describe(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(part) for part in value]
    return type(value).__name__, repr(value)


def differs(seed, actions):
    """Whether the worlds differ after some of these actions; where they do, if so."""
    eager, compiled = World(False, seed), World(True, seed)
    for number, action in enumerate(actions):
        before, after = eager.act(*action), compiled.act(*action)
        if before != after:
            return number, first_difference(before, after)
    return None


def shrunk(seed, actions, tries=120):
    """Fewer actions that still differ."""
    size = max(1, len(actions) // 2)
    while size:
        at = 0
        while at < len(actions) and tries > 0:
            fewer = actions[:at] + actions[at + size :]
            tries -= 1
            if differs(seed, fewer):
                actions = fewer
            else:
                at += size
        size //= 2
    return actions


@dataclass
class Outcome:
    steps: int = 0
    hits: int = 0
    raised: int = 0
    worlds: int = 0
    failures: list[str] = field(default_factory=list)


def some(choose, kind, count):
    """Names of actions of a kind."""
    known = [(name, weight) for name, (_, group, weight) in ACTIONS.items() if group == kind]
    names, weights = zip(*known)
    return choose.choices(names, weights, k=count)


def run_worlds(seed, outcome, shrink=True, steps=_STEPS):
    """Runs two worlds until they differ or `steps` actions have run."""
    choose = random.Random(seed)
    eager, compiled = World(False, seed), World(True, seed)
    outcome.worlds += 1
    actions = []
    calls, changes = (some(choose, kind, count) for kind, count in (("call", _CALLS), ("change", _CHANGES)))
    for number in range(steps):
        name = choose.choice(calls if choose.random() < 0.75 else changes)
        action = name, choose.randrange(10**6)
        actions.append(action)
        whole = number % 4 == 3
        before, after = eager.act(*action, whole), compiled.act(*action, whole)
        outcome.steps += 1
        if before != after:
            where = first_difference(before, after)
            fewer = shrunk(seed, actions) if shrink else actions
            found = differs(seed, fewer) or (number, "only once")
            outcome.failures.append(
                f"seed {seed}, action {number}, {where}\n  differs({seed}, {fewer})\n  action {found[0]}, {found[1]}"
            )
            break
    outcome.hits += compiled.hits


def run(seed, steps):
    """Runs pairs of worlds, starting with a seed, until `steps` actions have run."""
    outcome = Outcome()
    while outcome.steps < steps:
        run_worlds(seed, outcome)
        seed += 1
    return outcome


def summary(outcome, start):
    """One line about a run. One action may make several calls."""
    return (
        f"{outcome.worlds} worlds, {outcome.steps} steps, {outcome.hits} hits ({outcome.hits / outcome.steps:.0%}), "
        f"{len(outcome.failures)} different, {time.monotonic() - start:.0f} s"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--length", type=int, default=_STEPS, help="how many actions a pair of worlds lives")
    parser.add_argument("--without", default="", help="names of actions to leave out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.without.split():
        del ACTIONS[name]
    outcome, start, seed = Outcome(), time.monotonic(), arguments.seed
    while outcome.steps < arguments.steps:
        known = len(outcome.failures)
        run_worlds(seed, outcome, steps=arguments.length)
        seed += 1
        for failure in outcome.failures[known:]:
            print(f"----- different: {failure}", flush=True)
        if outcome.worlds % 20 == 0 or arguments.length > _STEPS:
            gc.collect()
            print(summary(outcome, start), flush=True)
    print(summary(outcome, start))
    sys.exit(bool(outcome.failures))


if __name__ == "__main__":
    main()
