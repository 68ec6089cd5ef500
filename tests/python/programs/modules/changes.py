"""Modules whose parts, attributes, modes and wrappers change between calls."""

import copy

import lucid
from lucid import nn

from .._harness import Programs, program, x0

F = nn.functional


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 3)
        self.b = nn.Linear(3, 3)
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(3)
        self.register_buffer("scale", lucid.ones(3))
        self.gain = 2.0
        self.options = {"act": F.relu, "shift": 1.0}

    def forward(self, x):
        x = self.options["act"](self.a(x)) * self.gain + self.options["shift"]
        return self.drop(self.norm(self.b(x))) * self.scale


def change(run, *changes, make=Net, back=True):
    """Calls a compiled network, changes it, and calls it again, for each change."""
    m = make()
    f = run.compile(m)
    x = lucid.randn(4, 3)

    def go():
        for _ in range(3):
            y = run.call(f, x)
            if back and isinstance(y, lucid.Tensor) and y.requires_grad:
                y.sum().backward()
        run.see(m.state_dict(), *(p.grad for p in m.parameters()))

    go()
    for c in changes:
        try:
            c(m)
        except Exception as error:
            run.see(error)
        go()


CHANGES = dict(
    plain_attribute=[lambda m: setattr(m, "gain", 3.0), lambda m: setattr(m, "gain", lucid.tensor(2.0))],
    nested_option=[lambda m: m.options.update(shift=5.0), lambda m: m.options.update(act=lucid.tanh)],
    buffer_replaced=[lambda m: setattr(m, "scale", lucid.ones(3) * 3), lambda m: m.scale.mul_(2)],
    buffer_registered_again=[lambda m: m.register_buffer("scale", lucid.ones(3) * 4)],
    buffer_to_parameter=[lambda m: (delattr(m, "scale"), setattr(m, "scale", nn.Parameter(lucid.ones(3) * 2)))],
    parameter_to_none=[lambda m: setattr(m.a, "bias", None), lambda m: setattr(m.a, "bias", nn.Parameter(x0()))],
    parameter_data=[lambda m: setattr(m.a.weight, "data", lucid.ones(3, 3)), lambda m: m.a.weight.data.fill_(2)],
    child_swapped=[lambda m: setattr(m, "a", m.b), lambda m: setattr(m, "b", nn.Linear(3, 3))],
    children_exchanged=[
        lambda m: m.__dict__ and None,
        lambda m: (lambda a: (setattr(m, "a", m.b), setattr(m, "b", a)))(m.a),
    ],
    child_to_identity=[
        lambda m: setattr(m, "a", nn.Identity()),
        lambda m: setattr(m, "a", nn.Linear(3, 3, bias=False)),
    ],
    mode_of_a_child=[lambda m: m.drop.eval(), lambda m: m.norm.eval(), lambda m: m.drop.train(), lambda m: m.eval()],
    mode_by_assignment=[lambda m: setattr(m.drop, "training", False), lambda m: setattr(m.norm, "training", False)],
    probability=[lambda m: setattr(m.drop, "p", 0.1), lambda m: setattr(m.drop, "p", 0.0)],
    momentum=[lambda m: setattr(m.norm, "momentum", 0.5), lambda m: setattr(m.norm, "momentum", None)],
    epsilon=[lambda m: setattr(m.norm, "eps", 1.0)],
    running_stats_replaced=[
        lambda m: setattr(m.norm, "running_mean", lucid.ones(3)),
        lambda m: m.norm.reset_running_stats(),
    ],
    forward_on_the_instance=[lambda m: setattr(m.a, "forward", lambda x: x * 2), lambda m: delattr(m.a, "forward")],
    forward_on_the_root=[lambda m: setattr(m, "forward", lambda x: x * 2), lambda m: delattr(m, "forward")],
    frozen_child=[lambda m: m.a.requires_grad_(False), lambda m: m.a.requires_grad_(True)],
    half_of_it_double=[lambda m: m.double(), lambda m: m.float()],
    state_loaded=[
        lambda m: m.load_state_dict({k: v * 2 for k, v in m.state_dict().items()}),
        lambda m: m.load_state_dict({"scale": lucid.ones(3) * 7}, strict=False),
    ],
    state_loaded_by_assignment=[lambda m: m.load_state_dict(copy.deepcopy(Net().state_dict()), assign=True)],
    parameters_set_by_vector=[
        lambda m: nn.utils.vector_to_parameters(nn.utils.parameters_to_vector(m.parameters()) * 0.5, m.parameters())
    ],
    weight_normed=[
        lambda m: nn.utils.weight_norm(m.a),
        lambda m: m.a.weight_g.data.mul_(3),
        lambda m: nn.utils.remove_weight_norm(m.a),
    ],
    spectral_normed=[
        lambda m: nn.utils.spectral_norm(m.a),
        lambda m: m.a.eval(),
        lambda m: nn.utils.remove_spectral_norm(m.a),
    ],
    pruned=[
        lambda m: nn.utils.prune.l1_unstructured(m.a, "weight", 0.5),
        lambda m: m.a.weight_mask.fill_(1),
        lambda m: m.a.weight_orig.data.mul_(2),
        lambda m: nn.utils.prune.remove(m.a, "weight"),
    ],
    pruned_at_random=[
        lambda m: nn.utils.prune.random_unstructured(m.a, "weight", 0.3),
        lambda m: nn.utils.prune.random_unstructured(m.a, "weight", 0.3),
    ],
    tied=[
        lambda m: setattr(m.b, "weight", m.a.weight),
        lambda m: setattr(m.b, "weight", nn.Parameter(m.a.weight.detach().clone())),
    ],
    extra_child=[lambda m: m.add_module("c", nn.Linear(3, 3)), lambda m: delattr(m, "c")],
    class_attribute=[
        lambda m: setattr(type(m), "gain", 9.0),
        lambda m: delattr(m, "gain"),
        lambda m: delattr(type(m), "gain"),
    ],
    class_of_a_child=[lambda m: setattr(m.a, "__class__", Doubled), lambda m: setattr(m.a, "__class__", nn.Linear)],
    instance_dict_written=[lambda m: m.__dict__.update(gain=4.0), lambda m: vars(m).pop("gain")],
    grads_replaced=[lambda m: setattr(m.a.weight, "grad", lucid.ones(3, 3)), lambda m: m.zero_grad(set_to_none=False)],
)


class Doubled(nn.Linear):
    def forward(self, x):
        return super().forward(x) * 2


class ModuleChanges(Programs):
    def a_list_of_modules_edited(run):
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
                self.order = [0, 1]

            def forward(self, x):
                for i in self.order:
                    x = self.layers[i](x)
                return x

        change(
            run,
            lambda m: m.layers.append(nn.Linear(3, 3)),
            lambda m: m.order.append(2),
            lambda m: m.order.reverse(),
            lambda m: m.layers.insert(0, nn.Tanh()),
            lambda m: m.layers.__setitem__(1, nn.Identity()),
            lambda m: setattr(m, "layers", nn.ModuleList(list(m.layers)[::-1])),
            make=Stack,
        )

    def a_dict_of_modules_edited(run):
        class Experts(nn.Module):
            def __init__(self):
                super().__init__()
                self.experts = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
                self.active = "a"

            def forward(self, x):
                return self.experts[self.active](x) + sum(e(x).mean() for e in self.experts.values())

        change(
            run,
            lambda m: setattr(m, "active", "b"),
            lambda m: m.experts.update({"c": nn.Linear(3, 3)}),
            lambda m: m.experts.pop("a"),
            lambda m: setattr(m, "active", "a"),
            lambda m: m.experts.clear(),
            make=Experts,
        )

    def lists_and_dicts_of_parameters_edited(run):
        class Bag(nn.Module):
            def __init__(self):
                super().__init__()
                self.list = nn.ParameterList([lucid.ones(3), lucid.ones(3) * 2])
                self.dict = nn.ParameterDict({"k": lucid.ones(3)})

            def forward(self, x):
                for p in self.list:
                    x = x * p
                return x + sum(self.dict.values())

        change(
            run,
            lambda m: m.list.append(lucid.ones(3) * 3),
            lambda m: m.list.__setitem__(0, nn.Parameter(lucid.ones(3) * 5)),
            lambda m: m.dict.update({"j": lucid.ones(3)}),
            lambda m: m.dict.pop("k"),
            make=Bag,
        )

    def modules_held_in_plain_containers(run):
        class Hidden(nn.Module):
            def __init__(self):
                super().__init__()
                self.plain = [nn.Linear(3, 3), nn.Linear(3, 3)]
                self.named = {"x": nn.Linear(3, 3)}

            def forward(self, x):
                for m in self.plain:
                    x = m(x)
                return self.named["x"](x)

        change(
            run,
            lambda m: m.plain.pop(),
            lambda m: m.named.update(x=nn.Tanh()),
            lambda m: setattr(m.plain[0], "weight", nn.Parameter(lucid.ones(3, 3))),
            lambda m: m.plain[0].eval(),
            make=Hidden,
        )

    def a_parametrized_property(run):
        class Symmetric(nn.Module):
            def __init__(self):
                super().__init__()
                self.raw = nn.Parameter(lucid.randn(3, 3))
                self.kind = "sum"

            @property
            def weight(self):
                return self.raw + self.raw.T if self.kind == "sum" else self.raw

            def forward(self, x):
                return x @ self.weight

        change(
            run,
            lambda m: setattr(m, "kind", "raw"),
            lambda m: setattr(type(m), "weight", property(lambda self: self.raw * 5)),
            make=Symmetric,
        )

    def a_cached_weight(run):
        class Cached(nn.Module):
            def __init__(self):
                super().__init__()
                self.raw = nn.Parameter(lucid.randn(3, 3))
                self.cache = None

            def forward(self, x):
                if self.training:
                    return x @ self.raw.T
                if self.cache is None:
                    self.cache = self.raw.detach().T.contiguous()
                return x @ self.cache

        change(
            run,
            lambda m: m.eval(),
            lambda m: m.raw.data.mul_(2),
            lambda m: setattr(m, "cache", None),
            lambda m: m.train(),
            make=Cached,
        )

    def recurrent_state_kept(run):
        class Cell(nn.Module):
            def __init__(self):
                super().__init__()
                self.cell = nn.GRUCell(3, 3)
                self.h = None

            def forward(self, x):
                self.h = self.cell(x, self.h)
                return self.h

        change(
            run,
            lambda m: setattr(m, "h", m.h.detach()),
            lambda m: setattr(m, "h", None),
            make=Cell,
            back=False,
        )

    @program("module_{}", each=CHANGES)
    def changed(run, changes):
        change(run, *changes)
