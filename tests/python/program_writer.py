"""Random programs on tensors as Python source, for `compile_programs.py`.

A program has inputs (arguments, alone or in containers, and tensors that it closes over), modules, statements and a
result. Each statement is executed when it is generated, so that the program runs for these values. It may raise for
others.
"""

from __future__ import annotations

from typing import Any

import lucid
import op_samples
from program_draft import Draft
from random_program import Kept, Numbers, Program, Reports

# Fills of operands that a value of the program cannot replace.
APART = {"index", "offset", "mask", "bound", "true_mask"}
SHAPES = [(3, 4), (4, 4), (2, 3, 4), (5,), (1, 4), (2, 4, 6), (2, 3, 6, 6)]
LARGE_SHAPES = [(8, 37), (3, 129), (300,), (40, 300), (300, 40), (2, 16, 64), (2, 4, 17, 19), (1, 1000)]
MAX_ELEMENTS = 600  # maximum size of a sample's tensors

# Numbers computed from numbers that vary: arguments, and what `box` holds.
VARYING = [
    ("k", {"k"}),
    ("n", {"n"}),
    ("(k * n)", {"k", "n"}),
    ("(k + 1)", {"k"}),
    ("max(k, 0.5)", {"k"}),
    ("(k if n > 2 else 1.5)", {"k", "n"}),
    ("abs(k - 1)", {"k"}),
    ("len(str(n))", {"n"}),
    ("box.k", {"box"}),
    ("(box.n - k)", {"box", "k"}),
    ("box.items[0]", {"box"}),
    ("(box.k if box.n > 2 else box.items[1])", {"box"}),
    ("math.exp(-box.k)", {"box"}),
]

# Losses that warn if their operands broadcast. A call that changes state after a warning runs eagerly.
WARNING = frozenset(("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "soft_margin_loss"))


def small_samples(op: dict[str, Any]) -> list[int]:
    def elements(sample: dict[str, Any]) -> int:
        sizes = [1]
        for tensor in sample["tensors"]:
            if tensor and "shape" in tensor:
                size = 1
                for extent in tensor["shape"]:
                    size *= extent
                sizes.append(size)
        return max(sizes)

    found = [i for i, sample in enumerate(op["samples"]) if elements(sample) <= MAX_ELEMENTS]
    return found or [0]


class Writer(Draft):
    """Writes one program."""

    def write(self) -> Program:
        rng = self.rng
        for _ in range(rng.randint(1, 3)):
            shape = rng.choice(LARGE_SHAPES if self.is_large else SHAPES)
            self.add_input({"shape": shape, "fill": "normal", "bound": 0}, self.dtype)
        length = rng.randint(6, 22)
        makers = (
            self.op,
            self.arithmetic,
            self.view,
            self.write_in_place,
            self.random_op,
            self.module,
            self.assign,
            self.gradient,
            self.branch,
            self.keep,
            self.use_size,
            self.show,
        )
        weights = (46, 14, 14, 10, 5, 6, 5, 2, 3, 3, 0, 0.1)
        if self.varies:
            few, none = (46, 16, 16, 1, 1, 4, 1, 1, 1, 1, 14, 0.1), (40, 14, 14, 0, 0, 4, 0, 0, 0, 0, 14, 0)
            weights = few if rng.random() < 0.2 else none
            length = rng.randint(3, 12)
        for _ in range(3 * length):
            if len(self.statements) >= length:
                break
            rng.choices(makers, weights)[0]()
        # Where effects come last, plans repeat them.
        for _ in range(rng.randint(1, 3) if rng.random() < 0.15 else 0):
            self.show()
        names = list(self.values)
        computed = [s.defines for s in self.statements if s.defines] or names
        chosen = {computed[-1]}
        chosen |= set(rng.choices(computed, k=rng.randint(2, 8)))
        if rng.random() < 0.08:
            chosen.add(rng.choice(names))
        results = tuple(name for name in names if name in chosen)
        structure = "one" if len(results) == 1 and rng.random() < 0.7 else rng.choice(["tuple", "dict", "nested"])
        if self.varies:
            self.vary_a_size()
        program = Program(tuple(self.inputs), self.setup, tuple(self.statements), results, structure)
        return program.trimmed()

    # Statements.

    def op(self) -> None:
        rng = self.rng
        entry = rng.choice(self.entries)
        dtypes = [dtype for dtype in entry["dtypes"] if dtype in op_samples.NUMPY_DTYPES or dtype is lucid.bfloat16]
        dtype = self.dtype if self.dtype in dtypes and rng.random() < 0.85 else rng.choice(dtypes)
        position = rng.choice(small_samples(entry))
        for attempt in range(5):
            if self.call(entry, position, dtype, 0.9 if attempt < 4 else 0.0):
                return

    def call(self, entry: dict[str, Any], position: int, dtype: Any, share: float) -> bool:
        """Calls an op with a sample's arguments, some of them replaced by values of the program."""
        rng, sample = self.rng, entry["samples"][position]
        before = len(self.inputs)
        single = sum(parameter["kind"] == "tensor" for parameter in entry["parameters"])
        tensors = iter(sample["tensors"])
        reads: set[str] = set()

        def operand() -> str:
            tensor = next(tensors)
            if tensor is None:
                return "None"
            if "number" in tensor:
                return repr(tensor["number"])
            name = None
            if tensor["fill"] not in APART and rng.random() < share:
                rank = len(tensor["shape"])
                exact = (rng.random() < 0.5 and not entry["pointwise"]) or entry["name"] in WARNING
                name = self.tensor(
                    lambda value: (
                        entry["pointwise"]
                        or (tuple(value.shape) == tuple(tensor["shape"]) if exact else value.ndim == rank)
                    )
                )
            if name is None:
                name = self.add_input(tensor, dtype)
            reads.add(name)
            return name

        arguments = []
        for parameter in entry["parameters"]:
            name = parameter["name"]
            if parameter["kind"] == "tensor":
                arguments.append(f"{name}={operand()}")
            elif parameter["kind"] == "tensors":
                parts = [operand() for _ in range(len(sample["tensors"]) - single)]
                arguments.append(f"{name}=[{', '.join(parts)}]")
            elif name in sample["attributes"]:
                arguments.append(f"{name}={sample['attributes'][name]!r}")
        op = f"op_{entry['name']}"
        self.setup.setdefault(op, f"lucid._core.ops[{entry['name']!r}]")
        self.space[op] = lucid._core.ops[entry["name"]]
        if self.add(f"{op}({', '.join(arguments)})", {*reads, op}, entry=entry["name"]):
            return True
        for made in self.inputs[before:]:
            del self.values[made.name], self.space[made.name]
        del self.inputs[before:]
        return False

    def arithmetic(self) -> None:
        rng = self.rng
        x, y = self.tensor(), self.tensor()
        if x is None or y is None:
            return
        number = rng.choice(["2", "0.5", "-1", "3.0", "1", "0.0", "True"])
        traced = set()
        if rng.random() < 0.3:
            number, traced = rng.choice(VARYING)
            if "box" in traced:
                self.setup["box"], self.space["box"] = "Numbers()", Numbers()
        sign = rng.choice(["+", "-", "*", "/", "**", "//", "%", "<", ">=", "==", "&", "|", "@", "<<"])
        form = rng.randrange(4)
        if form == 0:
            self.add(f"{x} {sign} {number}", {x, *traced})
        elif form == 1:
            self.add(f"{number} {sign} {x}", {x, *traced})
        elif form == 2:
            self.add(f"{x} {sign} {y}", {x, y})
        else:
            self.add(
                rng.choice([f"{x}.sum()", f"{x}.mean(-1)", f"-{x}", f"{x}.abs()", f"{x}.tanh()", f"{x}.max()"]), {x}
            )

    def view(self) -> None:
        rng = self.rng
        x = self.tensor()
        if x is None:
            return
        value = self.values[x]
        rank = max(value.ndim, 1)
        first, second = rng.randrange(rank), rng.randrange(rank)
        dims = list(range(value.ndim))
        rng.shuffle(dims)
        other = self.tensor()
        self.add(
            rng.choice(
                [
                    f"{x}[{self.subscript(value)}]",
                    f"{x}[{self.subscript(value)}]",
                    f"{x}.transpose({first}, {second})",
                    f"{x}.permute({', '.join(map(str, dims))})",
                    f"{x}.reshape(-1)",
                    f"{x}.view(-1)",
                    f"{x}.unsqueeze({first})",
                    f"{x}.squeeze()",
                    f"{x}.flatten()",
                    f"{x}.detach()",
                    f"{x}.contiguous()",
                    f"{x}.clone()",
                    f"{x}.expand(2, {', '.join(map(str, value.shape))})" if value.ndim else f"{x}.expand(3)",
                    f"{x}.to(lucid.{rng.choice(['float32', 'float64', 'int32', 'float16', 'bool'])})",
                    f"{x}.reshape({other}.shape)",
                    f"{x}.split(1)[0]",
                    f"{x}.float()",
                    f"lucid.stack([{x}, {x}])",
                    f"lucid.cat([{x}, {other}])",
                ]
            ),
            {x, other or x},
        )

    def use_size(self) -> None:
        """Adds a value that depends on a size which Python reads."""
        rng = self.rng
        x = self.tensor(lambda value: value.ndim > 0)
        if x is None:
            return
        dim = rng.randrange(self.values[x].ndim)
        self.add(
            rng.choice(
                [
                    f"{x} * {x}.shape[{dim}]",
                    f"{x}.sum({dim}) / {x}.size({dim})",
                    f"{x}.reshape(-1, {x}.shape[-1])",
                    f"{x}.reshape({x}.shape[0], -1)",
                    f"{x}[: {x}.shape[0] // 2]",
                    f"{x}[-(len({x}) // 2 + 1) :]",
                    f"{x}.narrow({dim}, {x}.shape[{dim}] - 1, 1)",
                    f"{x}.expand(2, *{x}.shape)",
                    f"lucid.arange({x}.shape[{dim}]) * 0.5",
                    f"lucid.zeros({x}.shape[{dim}], 3)",
                    f"lucid.full_like({x}, {x}.numel())",
                    f"lucid.cat([{x}, {x}], {dim})",
                    f"{x} + 1 if {x}.shape[{dim}] > {rng.randrange(8)} else {x} - 1",
                    f"{x} @ {x}.transpose(-1, -2)" if self.values[x].ndim > 1 else f"{x} @ {x}",
                    f"{x}.softmax({dim})",
                    f"{x}.unflatten({dim}, (1, {x}.shape[{dim}]))",
                    f"F.pad({x}, (0, {x}.shape[-1]))",
                ]
            ),
            {x},
        )

    def write_in_place(self) -> None:
        rng = self.rng
        x, y = self.tensor(), self.tensor()
        if x is None or y is None:
            return
        target = self.part(x)
        operand = rng.choice([y, y, f"{y}.detach()", "2", "0.5"])
        method = rng.choice(["add_", "mul_", "sub_", "copy_", "fill_", "div_", "clamp_min_", "add_", "mul_"])
        if rng.random() < 0.2:
            ways = ["zero_()", "exp_()", "neg_()", "relu_()", "sigmoid_()", "uniform_()", "normal_()", "abs_()"]
            self.add(f"{target}.{rng.choice(ways)}", {x}, assigns=False)
            return
        # The call returns the tensor itself.
        assigns = rng.random() < 0.2
        self.add(f"{target}.{method}({operand})", {x, y}, assigns=assigns)

    def assign(self) -> None:
        rng = self.rng
        x, y = self.tensor(), self.tensor()
        if x is None or y is None:
            return
        value = rng.choice([y, "1.5", "0", f"{x}[{self.subscript(self.values[x])}]"])
        ways = [f"{x}[{self.subscript(self.values[x])}] = {value}", f"{x}[{x} > 0.5] = {rng.choice(['1.5', '0'])}"]
        if not any(made.name == x and made.way == "closure" for made in self.inputs):
            ways.append(f"{x} += {value}")
        self.add(rng.choice(ways), {x, y}, assigns=False)

    def random_op(self) -> None:
        rng = self.rng
        x = self.tensor()
        if x is None:
            return
        self.add(
            rng.choice(
                [
                    f"lucid.rand_like({x})",
                    f"lucid.randn_like({x})",
                    f"lucid.randn({', '.join(map(str, self.values[x].shape)) or '()'})",
                    "lucid.rand(3, 4)",
                    "lucid.randint(0, 5, (3, 4))",
                    f"F.dropout({x}, {rng.choice([0.1, 0.5])}, training={rng.choice([True, True, False])})",
                    f"lucid.bernoulli({x}.sigmoid())",
                    f"{x}.clone().uniform_(1.0, 2.0)",
                    f"{x}.clone().bernoulli_(0.25)",
                ]
            ),
            {x},
        )

    def gradient(self) -> None:
        """Adds a gradient computation inside the program."""
        x = self.tensor(lambda value: value.requires_grad and value.is_floating_point())
        leaf = self.tensor(lambda value: value.requires_grad and value.is_leaf)
        if x is None or leaf is None:
            return
        options = "allow_unused=True, retain_graph=True" + self.rng.choice(["", "", ", create_graph=True"])
        self.add(f"lucid.autograd.grad(({x} * {x}).sum(), [{leaf}], {options})[0]", {x, leaf})

    def branch(self) -> None:
        """Adds a value that depends on what Python reads of a tensor."""
        rng = self.rng
        x, y = self.tensor(), self.tensor(lambda value: value.numel() > 0)
        if x is None or y is None:
            return
        condition = rng.choice(
            [
                f"{y}.sum() > {rng.choice([0, 0.5, 2])}",
                f"({y} > 0).any()",
                f"bool(({y} == {y}).all())",
                f"int({y}.flatten()[0] > 0)",
                f"{y}.flatten()[0] < {rng.choice([0, 0.25])}",
                f"({y} > 0).flatten()[:1].tolist()[0]",
            ]
        )
        # Both ways give the same type: the statements that follow must not depend on which is taken.
        ways = [x, f"{x}.clone()", f"{x}.detach()"]
        ways += [f"{x}.logical_not()"] if self.values[x].dtype == lucid.bool else [f"{x} * 2", f"{x}.abs()", f"{x} + 1"]
        self.add(f"{rng.choice(ways)} if {condition} else {rng.choice(ways)}", {x, y})

    def keep(self) -> None:
        """Stores a value for the next call, which reads it, counts, or appends to a list."""
        rng = self.rng
        x = self.tensor()
        if x is None:
            return
        if "kept" not in self.setup:
            self.setup["kept"] = "Kept()"
            self.space["kept"] = Kept()
        way = rng.random()
        if way < 0.2:
            self.add("kept.calls += 1", {"kept"}, assigns=False)
        elif way < 0.4:
            self.add(f"kept.log.append({rng.choice([x, f'{x}.detach()', f'{x} * 2'])})", {"kept", x}, assigns=False)
        else:
            value = self.values[x]
            name = f"h{self.setup['kept'].count('=')}"
            shape = ", ".join(map(str, value.shape))
            made = (
                f"lucid.zeros(({shape}{',' if value.ndim == 1 else ''}), dtype=lucid.{str(value.dtype).split('.')[-1]})"
            )
            self.setup["kept"] = f"{self.setup['kept'][:-1]}{', ' if '=' in self.setup['kept'] else ''}{name}={made})"
            setattr(self.space["kept"], name, eval(made, self.space))
            read = rng.choice([f"kept.{name} + {x}", f"kept.{name} * 0.5", f"kept.{name}"])
            changed = x if value.dtype == lucid.bool else rng.choice([f"{x} * 2", f"kept.{name} + {x}"])
            stored = rng.choice([x, changed, changed, f"{x}.detach()", f"{x}.clone()"])
            if rng.random() < 0.7:
                self.add(read, {"kept", x})
            self.add(f"kept.{name} = {stored}", {"kept", x}, assigns=False)

    def show(self) -> None:
        """Prints or reports something about a value."""
        rng = self.rng
        x, y = self.tensor(lambda value: value.numel() > 0), self.tensor()
        if x is None or y is None:
            return
        if "reports" not in self.setup:
            self.setup["reports"], self.space["reports"] = "Reports()", Reports()
        value = f"{x}.sum().float().item()"
        text = rng.choice(
            [
                f"print({x!r}, {x}.shape, {y}.dtype)",
                f"print('value', {value})",
                f"print(f'{{{value}:.3f}} of {{{y}.shape}}', flush=True)",
                f"print(f'{{{value}}} and {{{y}.float().mean().item():10.4f}}', end=';')",
                f"reports.add({value})",
                f"reports.add({x}, {y})",
                f"reports.add(1.5, {x} * 2, {value})",
            ]
        )
        self.add(text, {x, y, *({"reports"} if "reports" in text else ())}, assigns=False, shows=True)

    def module(self) -> None:
        rng = self.rng
        x = self.tensor(lambda value: value.is_floating_point() and value.ndim > 0)
        if x is None:
            return
        value = self.values[x]
        last, second = value.shape[-1], value.shape[1] if value.ndim > 1 else 1
        kinds = [
            f"nn.Linear({last}, {rng.randint(1, 5)})",
            f"nn.LayerNorm({last})",
            f"nn.RMSNorm({last})",
            "nn.Dropout(0.3)",
            "nn.PReLU()",
            "nn.GELU()",
            "nn.Sequential(nn.Tanh(), nn.Dropout(0.2))",
        ]
        if value.ndim == 3:
            kinds += [
                f"nn.BatchNorm1d({second})",
                f"nn.Conv1d({second}, 3, 2)",
                f"nn.GRU({last}, 3)",
                "nn.AvgPool1d(2)",
            ]
            kinds += [f"nn.MultiheadAttention({last}, 1, dropout=0.1)"]
        if value.ndim == 4:
            kinds += [f"nn.BatchNorm2d({second})", f"nn.Conv2d({second}, 3, 3, padding=1)", "nn.MaxPool2d(2)"]
            kinds += [f"nn.InstanceNorm2d({second}, track_running_stats=True)", "nn.Dropout2d(0.5)"]
        if value.ndim == 2:
            kinds += [f"nn.BatchNorm1d({second})", f"nn.GRUCell({last}, 3)", f"nn.LSTMCell({last}, 2)"]
        name = f"m{len(self.setup)}"
        text = rng.choice(kinds)
        if self.dtype is lucid.float64:
            text += ".double()"
        if rng.random() < 0.2:
            text += ".eval()"
        before = dict(self.space)
        try:
            exec(f"{name} = {text}", self.space)
        except ValueError:  # for example for zero features
            return
        self.setup[name] = text
        call = f"{name}({x}, {x}, {x})" if "Multihead" in text else f"{name}({x})"
        if not self.add(call, {x, name}, entry=text.split("(")[0]):
            del self.setup[name]
            self.space = before
