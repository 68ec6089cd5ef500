"""Classes of tensors: their slots, attributes and methods."""

import types

import lucid
from lucid import nn

from .._harness import Programs, patched, vary, x0


class Tagged(lucid.Tensor):
    __slots__ = ("tag",)


class Scaled(lucid.Tensor):
    scale = 2.0

    @property
    def doubled(self):
        return self * self.scale

    def __mul__(self, other):
        return lucid.mul(self, other) + 1


def made(cls, values=(1.0, 2.0, 3.0)):
    return cls(lucid.tensor(list(values)))


class TensorClasses(Programs):
    def slot_of_a_tensor_argument(run):
        x = made(Tagged)
        x.tag = 2.0
        f = run.compile(lambda y, x: y * x.tag)
        run.steps(f, lambda: setattr(x, "tag", x.tag + 1), x)
        del x.tag
        run.call(f, x0(), x)
        run.call(f, x0(), made(Tagged))

    def slot_of_a_tensor_in_state(run):
        x = made(Tagged)
        x.tag = 2.0
        run.steps(run.compile(lambda y: y * x.tag), lambda: setattr(x, "tag", x.tag + 1))

    def attribute_of_a_tensor_class(run):
        x = made(Scaled)
        before = Scaled.scale
        run.steps(run.compile(lambda y, x: y + x.doubled), lambda: setattr(Scaled, "scale", Scaled.scale + 1), x)
        Scaled.scale = before

    def operator_of_a_tensor_class(run):
        f = run.compile(lambda y, x: x * y)
        for make in (lambda: made(Scaled), x0, lambda: made(Scaled), lambda: nn.Parameter(x0()), lambda: made(Tagged)):
            run.repeat(f, x0, vary(lambda _: make()))

    def class_of_a_tensor_swapped(run):
        class Other(lucid.Tensor):
            scale = 7.0

            @property
            def doubled(self):
                return lucid.mul(self, self.scale)

        x = made(Scaled)
        f = run.compile(lambda y, x: y + x.doubled)
        run.steps(f, lambda: setattr(x, "__class__", Other if type(x) is Scaled else Scaled), x)

    def container_as_an_attribute_of_a_tensor(run):
        w = nn.Parameter(x0())
        w.meta = {"scale": 2.0, "parts": [1.0]}
        f = run.compile(lambda y, w: y * w.meta["scale"] + w.meta["parts"][0])

        def change():
            w.meta["scale"] += 1
            w.meta["parts"][0] += 1

        run.steps(f, change, w)
        run.steps(run.compile(lambda y: y * w.meta["scale"] + w.meta["parts"][0]), change)

    def tensor_as_an_attribute_of_a_tensor(run):
        w = nn.Parameter(x0())
        w.mean = lucid.ones(3)
        run.steps(run.compile(lambda y, w: y * w.mean), lambda: setattr(w, "mean", w.mean + 1), w)
        run.steps(run.compile(lambda y: y * w.mean), lambda: setattr(w, "mean", w.mean + 1))

    def attribute_of_a_tensor_is_an_object(run):
        w = nn.Parameter(x0())
        w.settings = types.SimpleNamespace(scale=2.0)
        f = run.compile(lambda y, w: y * w.settings.scale)
        run.steps(f, lambda: setattr(w.settings, "scale", w.settings.scale + 1), w)

    def attributes_of_tensors_in_a_list(run):
        ws = [nn.Parameter(x0()) for _ in range(3)]
        ws[0].rate = 2.0

        def f(y, ws):
            for w in ws:
                y = y * getattr(w, "rate", 1.0)
            return y

        f = run.compile(f)
        run.repeat(f, x0, ws, n=5, at={3: lambda: setattr(ws[2], "rate", 5.0), 4: lambda: delattr(ws[0], "rate")})
        run.call(f, x0(), ws[::-1])

    def buffer_and_parameter(run):
        f = run.compile(lambda y, x: y * (2 if isinstance(x, nn.Parameter) else 3))
        for make in (
            lambda: nn.Parameter(x0()),
            x0,
            lambda: nn.Parameter(x0(), requires_grad=False),
            lambda: made(Tagged),
        ):
            run.repeat(f, x0, vary(lambda _: make()))

    def method_patched_on_a_parameter(run):
        w = nn.Parameter(x0())
        f = run.compile(lambda y: w.double_it() + y if hasattr(w, "double_it") else y)
        run.repeat(f, x0)
        with patched(nn.Parameter, "double_it", lambda self: self * 2):
            run.repeat(f, x0, at={2: lambda: setattr(nn.Parameter, "double_it", lambda self: self * 5)})
        run.call(f, x0())

    def method_patched_on_tensor_reads_state(run):
        scale = [2.0]
        with patched(lucid.Tensor, "grow", lambda self: self * scale[0]):
            run.steps(run.compile(lambda y: y.grow()), lambda: scale.__setitem__(0, scale[0] + 1))

    def property_patched_on_tensor(run):
        with patched(lucid.Tensor, "twice", property(lambda self: self * 2)):
            f = run.compile(lambda y: y.twice)
            run.steps(f, lambda: setattr(lucid.Tensor, "twice", property(lambda self: self * 5)))

    def gradient_of_a_tensor_class(run):
        def f(x):
            y = (lucid.mul(x, 2.0)).sum()
            y.backward()
            return x.grad * 1

        f = run.compile(f)
        for _ in range(3):
            run.call(f, made(Tagged).requires_grad_())
            run.call(f, x0().requires_grad_())
