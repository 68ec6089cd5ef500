"""Attributes of modules and objects."""

import functools

import lucid
from lucid import nn

from .._harness import Box, Net, Programs, program, sample


class Attributes(Programs, compiles=True, guards=True):
    def self_scale(run):
        class M(Net):
            def forward(self, x):
                return self.l(x) * self.scale

        m = M()
        run.repeat(run.compile(m), sample, n=8, before=lambda i: setattr(m, "scale", 1.0 + i // 3))

    @program(one_call=True)
    def self_counter(run):
        class M(Net):
            def forward(self, x):
                self.n += 1
                return self.l(x)

        m = M()
        run.repeat(run.compile(m), sample, n=12, see=lambda: (m.n,))

    @program(eager="the call writes self.n")
    def self_counter_used(run):
        class M(Net):
            def forward(self, x):
                self.n += 1
                return self.l(x) / self.n

        m = M()
        run.repeat(run.compile(m), sample, n=12, see=lambda: (m.n,))

    @program(one_call=True)
    def self_counter_branch(run):
        class M(Net):
            def forward(self, x):
                self.n += 1
                return self.l(x) if self.n % 2 == 0 else x

        m = M()
        run.repeat(run.compile(m), sample, n=16, see=lambda: (m.n,))

    @program(one_call=True)
    def self_counter_warmup(run):
        class M(Net):
            def forward(self, x):
                self.n += 1
                if self.n < 5:
                    return x
                return self.l(x)

        m = M()
        run.repeat(run.compile(m), sample, n=16, see=lambda: (m.n,))

    def self_list_replaced_layer(run):
        class M(Net):
            def forward(self, x):
                for items in self.layers:
                    x = items(x)
                return x

        m = M()
        f = run.compile(m)
        for i in range(8):
            if i == 3:
                m.layers[1] = nn.Identity()
            if i == 5:
                m.layers.append(nn.Linear(4, 4))
            run.call(f, sample(i))
            run.see(len(list(m.parameters())))

    def self_param_replaced(run):
        class M(Net):
            def forward(self, x):
                return self.l(x)

        m = M()
        f = run.compile(m)
        for i in range(8):
            if i == 3:
                m.l.weight = nn.Parameter(sample(4, 4, 4))
            if i == 5:
                m.l = nn.Linear(4, 4)
            if i == 6:
                m.l.weight.data.mul_(2)
            run.see(f(sample(i))[0] if i < 5 else f(sample(i)) * 0 + m.l.weight.sum() * 0)

    def self_nested_obj(run):
        class M(Net):
            def forward(self, x):
                return x * self.cfg.a + self.cfg.b.c

        m = M()
        f = run.compile(m)
        for i in range(8):
            if i == 3:
                m.cfg.b.c = 9.0
            if i == 5:
                m.cfg = Box(a=4.0, b=Box(c=1.0))
            run.call(f, sample(i))

    def local_alias_of_nested(run):
        class M(Net):
            def forward(self, x):
                c = self.cfg
                b = c.b
                return x * b.c

        m = M()
        run.repeat(run.compile(m), sample, n=8, before=lambda i: setattr(m.cfg.b, "c", 1.0 + i // 4))

    def loop_attr_of_elements(run):
        objects = [Box(k=1.0), Box(k=2.0)]

        def f(x):
            for o in objects:
                x = x * o.k
            return x

        run.repeat(run.compile(f), sample, n=8, before=lambda i: setattr(objects[1], "k", float(i // 4 + 1)))

    @program(one_call=True)
    def self_hidden_state(run):
        class M(Net):
            def forward(self, x):
                if self.hidden is None:
                    self.hidden = x
                self.hidden = (self.hidden * 0.5 + x).tanh()
                return self.hidden

        m = M()
        run.repeat(run.compile(m), sample, n=12, see=lambda: (m.hidden,))

    @program(one_call=True)
    def self_last_output_saved(run):
        class M(Net):
            def forward(self, x):
                self.last = self.l(x)
                return self.last * 2

        m = M()
        run.repeat(run.compile(m), sample, n=12, see=lambda: (m.last,))

    def self_dict_flag(run):
        class M(Net):
            def forward(self, x):
                return x.relu() if self.flags["r"] else x

        m = M()
        run.repeat(run.compile(m), sample, n=8, before=lambda i: m.flags.__setitem__("r", i % 2 == 0))

    def dict_iteration(run):
        d = {"a": 1.0}

        def f(x):
            for _key, v in d.items():
                x = x * v
            return x

        f = run.compile(f)
        run.repeat(f, sample, n=8, at={3: lambda: d.__setitem__("b", 2.0), 5: lambda: d.__setitem__("a", 3.0)})

    def train_eval_toggle(run):
        m = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.BatchNorm1d(4))
        f = run.compile(m)
        for i in range(12):
            m.train(i % 2 == 0)
            run.call(f, sample(i))
            run.see(m[2].running_mean, lucid.get_rng_state())

    def dropout_p_changed(run):
        m = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5))
        f = run.compile(m)
        for i in range(8):
            m[1].p = 0.5 if i < 4 else 0.1
            run.call(f, sample(i))
            run.see(lucid.get_rng_state())

    def submodule_frozen_eval(run):
        m = nn.Sequential(nn.BatchNorm1d(4), nn.BatchNorm1d(4))
        f = run.compile(m)
        run.repeat(f, sample, n=8, at={3: lambda: m[0].eval()}, see=lambda: (m[0].running_mean, m[1].running_var))

    def instance_method_override(run):
        class M(Net):
            def act(self, x):
                return x.relu()

            def forward(self, x):
                return self.act(self.l(x))

        m = M()
        run.repeat(run.compile(m), sample, n=8, at={4: lambda: setattr(m, "act", lambda x: x.tanh())})

    def class_method_monkeypatch(run):
        class M(Net):
            def act(self, x):
                return x.relu()

            def forward(self, x):
                return self.act(self.l(x))

        run.repeat(run.compile(M()), sample, n=8, at={4: lambda: setattr(M, "act", lambda s, x: x.tanh())})

    def forward_monkeypatch(run):
        class M(Net):
            def forward(self, x):
                return self.l(x)

        run.repeat(run.compile(M()), sample, n=8, at={4: lambda: setattr(M, "forward", lambda s, x: x.tanh())})

    def class_attribute(run):
        class M(Net):
            gain = 1.0

            def forward(self, x):
                return x * self.gain

        m = M()
        f = run.compile(m)
        run.repeat(
            f,
            sample,
            n=8,
            at={3: lambda: setattr(M, "gain", 2.0), 5: lambda: setattr(m, "gain", 3.0), 6: lambda: delattr(m, "gain")},
        )

    def base_class_attribute(run):
        class B(Net):
            gain = 1.0

        class M(B):
            def forward(self, x):
                return x * self.gain

        f = run.compile(M())
        run.repeat(f, sample, n=8, at={3: lambda: setattr(B, "gain", 2.0), 5: lambda: setattr(M, "gain", 4.0)})

    @program(eager="the call writes M.calls")
    def class_counter(run):
        class M(Net):
            calls = 0

            def forward(self, x):
                M.calls += 1
                return x * 2

        run.repeat(run.compile(M()), sample, n=8, see=lambda: (M.calls,))

    def property_read(run):
        class M(Net):
            @property
            def eff(self):
                return self.scale * 2

            def forward(self, x):
                return x * self.eff

        m = M()
        run.repeat(run.compile(m), sample, n=8, before=lambda i: setattr(m, "scale", 1.0 + i // 3))

    def cached_property(run):
        class M:
            scale = 2.0

            @functools.cached_property
            def eff(self):
                return self.scale * 2

            def run(self, x):
                return x * self.eff

        m = M()
        f = run.compile(m.run)
        for i in range(8):
            if i == 4:
                m.scale = 5.0
            if i == 6:
                del m.__dict__["eff"]
            run.call(f, sample(i))
