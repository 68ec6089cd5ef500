"""Attributes of modules and objects."""

import functools

import lucid
from lucid import nn

from ._common import CALLS, Box, Net, program, sample


@program
def self_scale(compile):

    class M(Net):
        def forward(self, x):
            return self.l(x) * self.scale

    m = M()
    f = compile(m)
    for i in range(CALLS):
        m.scale = 1.0 + i // 3
        yield f(sample(i))


@program
def self_counter(compile):

    class M(Net):
        def forward(self, x):
            self.n += 1
            return self.l(x)

    m = M()
    f = compile(m)
    for i in range(CALLS + 4):
        yield (f(sample(i)), m.n)


@program
def self_counter_used(compile):

    class M(Net):
        def forward(self, x):
            self.n += 1
            return self.l(x) / self.n

    m = M()
    f = compile(m)
    for i in range(CALLS + 4):
        yield (f(sample(i)), m.n)


@program
def self_counter_branch(compile):

    class M(Net):
        def forward(self, x):
            self.n += 1
            return self.l(x) if self.n % 2 == 0 else x

    m = M()
    f = compile(m)
    for i in range(CALLS + 8):
        yield (f(sample(i)), m.n)


@program
def self_counter_warmup(compile):

    class M(Net):
        def forward(self, x):
            self.n += 1
            if self.n < 5:
                return x
            return self.l(x)

    m = M()
    f = compile(m)
    for i in range(CALLS + 8):
        yield (f(sample(i)), m.n)


@program
def self_list_replaced_layer(compile):

    class M(Net):
        def forward(self, x):
            for items in self.layers:
                x = items(x)
            return x

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            m.layers[1] = nn.Identity()
        if i == 5:
            m.layers.append(nn.Linear(4, 4))
        yield (f(sample(i)), len(list(m.parameters())))


@program
def self_param_replaced(compile):

    class M(Net):
        def forward(self, x):
            return self.l(x)

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            m.l.weight = nn.Parameter(sample(4, 4, 4))
        if i == 5:
            m.l = nn.Linear(4, 4)
        if i == 6:
            m.l.weight.data.mul_(2)
        yield (f(sample(i))[0] if i < 5 else f(sample(i)) * 0 + m.l.weight.sum() * 0)


@program
def self_nested_obj(compile):

    class M(Net):
        def forward(self, x):
            return x * self.cfg.a + self.cfg.b.c

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            m.cfg.b.c = 9.0
        if i == 5:
            m.cfg = Box(a=4.0, b=Box(c=1.0))
        yield f(sample(i))


@program
def local_alias_of_nested(compile):

    class M(Net):
        def forward(self, x):
            c = self.cfg
            b = c.b
            return x * b.c

    m = M()
    f = compile(m)
    for i in range(CALLS):
        m.cfg.b.c = 1.0 + i // 4
        yield f(sample(i))


@program
def loop_attr_of_elements(compile):
    objects = [Box(k=1.0), Box(k=2.0)]

    def f(x):
        for o in objects:
            x = x * o.k
        return x

    f = compile(f)
    for i in range(CALLS):
        objects[1].k = float(i // 4 + 1)
        yield f(sample(i))


@program
def self_hidden_state(compile):

    class M(Net):
        def forward(self, x):
            if self.hidden is None:
                self.hidden = x
            self.hidden = (self.hidden * 0.5 + x).tanh()
            return self.hidden

    m = M()
    f = compile(m)
    for i in range(CALLS + 4):
        yield (f(sample(i)), m.hidden)


@program
def self_last_output_saved(compile):

    class M(Net):
        def forward(self, x):
            self.last = self.l(x)
            return self.last * 2

    m = M()
    f = compile(m)
    for i in range(CALLS + 4):
        yield (f(sample(i)), m.last)


@program
def self_dict_flag(compile):

    class M(Net):
        def forward(self, x):
            return x.relu() if self.flags["r"] else x

    m = M()
    f = compile(m)
    for i in range(CALLS):
        m.flags["r"] = i % 2 == 0
        yield f(sample(i))


@program
def dict_iteration(compile):
    d = {"a": 1.0}

    def f(x):
        for _key, v in d.items():
            x = x * v
        return x

    f = compile(f)
    for i in range(CALLS):
        if i == 3:
            d["b"] = 2.0
        if i == 5:
            d["a"] = 3.0
        yield f(sample(i))


@program
def train_eval_toggle(compile):
    m = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
    f = compile(m)
    for i in range(12):
        m.train(i % 2 == 0)
        yield (f(sample(i)), m[2].running_mean, lucid.get_rng_state())


@program
def dropout_p_changed(compile):
    m = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
    f = compile(m)
    for i in range(CALLS):
        m[1].p = 0.5 if i < 4 else 0.1
        yield (f(sample(i)), lucid.get_rng_state())


@program
def submodule_frozen_eval(compile):
    m = nn.Sequential(nn.BatchNorm1d(4), nn.BatchNorm1d(4))
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            m[0].eval()
        yield (f(sample(i)), m[0].running_mean, m[1].running_var)


@program
def instance_method_override(compile):

    class M(Net):
        def act(self, x):
            return x.relu()

        def forward(self, x):
            return self.act(self.l(x))

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 4:
            m.act = lambda x: x.tanh()
        yield f(sample(i))


@program
def class_method_monkeypatch(compile):

    class M(Net):
        def act(self, x):
            return x.relu()

        def forward(self, x):
            return self.act(self.l(x))

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 4:
            M.act = lambda s, x: x.tanh()
        yield f(sample(i))


@program
def forward_monkeypatch(compile):

    class M(Net):
        def forward(self, x):
            return self.l(x)

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 4:
            M.forward = lambda s, x: x.tanh()
        yield f(sample(i))


@program
def class_attribute(compile):

    class M(Net):
        gain = 1.0

        def forward(self, x):
            return x * self.gain

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            M.gain = 2.0
        if i == 5:
            m.gain = 3.0
        if i == 6:
            del m.gain
        yield f(sample(i))


@program
def base_class_attribute(compile):

    class B(Net):
        gain = 1.0

    class M(B):
        def forward(self, x):
            return x * self.gain

    m = M()
    f = compile(m)
    for i in range(CALLS):
        if i == 3:
            B.gain = 2.0
        if i == 5:
            M.gain = 4.0
        yield f(sample(i))


@program
def class_counter(compile):

    class M(Net):
        calls = 0

        def forward(self, x):
            M.calls += 1
            return x * 2

    m = M()
    f = compile(m)
    for i in range(CALLS):
        yield (f(sample(i)), M.calls)


@program
def property_read(compile):

    class M(Net):
        @property
        def eff(self):
            return self.scale * 2

        def forward(self, x):
            return x * self.eff

    m = M()
    f = compile(m)
    for i in range(CALLS):
        m.scale = 1.0 + i // 3
        yield f(sample(i))


@program
def cached_property(compile):

    class M:
        scale = 2.0

        @functools.cached_property
        def eff(self):
            return self.scale * 2

        def run(self, x):
            return x * self.eff

    m = M()
    f = compile(m.run)
    for i in range(CALLS):
        if i == 4:
            m.scale = 5.0
        if i == 6:
            del m.__dict__["eff"]
        yield f(sample(i))
