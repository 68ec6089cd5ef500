"""Twelve threads that run all kinds of work at once for a given time; used by test_stress.py.

    python tests/python/stress.py --seconds 600

Every value that a thread reads must have been written by some thread. The shared tensors hold integers from 1 to 5, so
any other number is memory that was freed or never written. A watchdog prints all stacks and fails if a thread makes no
progress for a minute.
"""

import argparse
import contextlib
import faulthandler
import os
import signal
import sys
import tempfile
import threading
import time
import traceback

import lucid
from lucid import nn, optim

SIZES = (7, 1000, 60_000)
VALUES = (1.0, 2.0, 3.0, 4.0, 5.0)
OPTIMIZERS = ("SGD", "Adam", "RMSprop", "Adagrad", "NAdam", "Rprop", "ASGD", "Lion", "Muon")


class Stress:
    def __init__(self, seconds: float, folder: str) -> None:
        self.end = time.monotonic() + seconds
        self.folder = folder
        self.shared = [lucid.ones(n) for n in SIZES]
        self.weight = nn.Parameter(lucid.ones(2000))
        self.net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 8))
        self.compiled = lucid.compile(lambda x, w: (x * w + w).sum() - (x * w).sum())
        self.write = lucid.compile(lambda x, v: x.mul_(0.0).add_(v))
        self.drop = lucid.compile(lambda x: nn.functional.dropout(x, 0.5, training=True))
        self.step = lucid.compile(self._train)
        self.changing = lucid.ones(5)  # other threads change its shape; all elements are 1
        self.stepped = [nn.Parameter(lucid.ones(300, 30 + i)) for i in range(4)]
        self.optimizer = self.make_optimizer(0)
        self.rounds: dict[str, int] = {}
        self.failures: list[str] = []
        self.progress: dict[str, float] = {}

    def check(self, what: str, tensor: lucid.Tensor, low: float, high: float) -> None:
        smallest, largest = tensor.min().item(), tensor.max().item()
        if not (low <= smallest and largest <= high):
            self.failures.append(f"{what}: found {smallest} to {largest}, expected {low} to {high}")

    def _train(self, x: lucid.Tensor) -> lucid.Tensor:
        loss = self.net(x).square().mean()
        loss.backward()
        return loss.detach()

    def make_optimizer(self, i: int) -> optim.Optimizer:
        name = OPTIMIZERS[i % len(OPTIMIZERS)]
        return getattr(optim, name)(self.stepped, **({"lr": 0.01, "momentum": 0.9} if name == "SGD" else {}))

    # The work of the threads, one round per call.

    def read_eagerly(self, i: int) -> None:
        x = self.shared[i % 3]
        self.check("eager read", x * 2, 2, 10)
        self.check("view", x[: i % 7 + 1] + 0, 1, 5)
        x.tolist() if i % 3 == 0 else x.numpy()

    def read_compiled(self, i: int) -> None:
        x = self.shared[i % 3]
        one = lucid.ones(SIZES[i % 3])
        self.compiled(x, one)
        self.check("compiled dropout", self.drop(x), 0, 10)
        fresh = lucid.ones(i % 300 + 1)
        if self.compiled(fresh, fresh * 2).item() != 2 * fresh.numel():
            self.failures.append("a compiled sum of private tensors is wrong")

    def write_in_place(self, i: int) -> None:
        x = self.shared[i % 3]
        value = VALUES[i % 5]
        held = x.numpy() if i % 2 else None  # pins the memory: the next write moves the tensor
        if i % 4 == 0:
            x.copy_(lucid.full((SIZES[i % 3],), value))
        else:
            x.fill_(value)
        del held
        lucid.full((SIZES[i % 3],), 1e30)  # reuses memory that was freed

    def generate(self, i: int) -> None:
        if i % 50 == 0:
            lucid.manual_seed(i)
        self.check("rand", lucid.rand(i % 97 + 1), 0, 1)
        lucid.randn(40_000) if i % 10 == 0 else lucid.randn(5)
        order = lucid.randperm(i % 31 + 2)
        if order.sum().item() != order.numel() * (order.numel() - 1) // 2:
            self.failures.append("randperm lost a number")
        if i % 8 == 0:
            nn.Linear(9, 4)

    def train(self, i: int) -> None:
        x = lucid.ones(16, 32)
        if i % 3 == 0:
            self.step(x)
        else:
            self._train(x)
        (self.weight * 2).sum().backward()
        if (grad := self.weight.grad) is not None:
            self.check("gradient", grad, 0, 1e9)

    def change_gradients(self, i: int) -> None:
        handle = self.weight.register_hook(lambda g: g)
        y = self.weight * 3
        other = y.register_hook(lambda g: None)
        y.sum().backward()
        handle.remove()
        other.remove()
        self.weight.grad = None
        if i % 2:
            self.weight.grad = lucid.zeros(2000)
        for p in self.net.parameters():
            p.grad = None

    def change_shapes(self, i: int) -> None:
        x = self.changing
        if i % 7 == 0 and x.ndim == 2:
            x.t_()
        else:
            size = i % 90 + 1
            x.data = lucid.ones(size) if i % 2 else lucid.ones(size, i % 13 + 1)
        if i % 100 == 0:
            lucid.empty_cache()

    def use_shapes(self, i: int) -> None:
        x = self.changing
        try:
            self.check("product", x * 2, 2, 2)
            self.check("cumulated", x.cumsum(0), 1, 100)
            self.check("sorted", x.sort()[0], 1, 1)
            self.check("copied", x.detach().clone().add_(1), 2, 2)
            x.tolist()
        except (ValueError, RuntimeError) as error:  # the shapes of two steps may differ
            if isinstance(error, lucid.InternalError):
                raise
        # The plans that are there now are those of their shapes.
        for shape in ((i % 90 + 1,), (i % 90 + 1, i % 13 + 1)):
            fresh = lucid.ones(shape)
            if (fresh * 2).shape != shape or (fresh * 2).sum().item() != 2 * fresh.numel():
                self.failures.append(f"the plan for {shape} is wrong")

    def step_optimizers(self, i: int) -> None:
        if i % 40 == 0:
            self.optimizer = self.make_optimizer(i // 40)
        for p in self.stepped:
            p.grad = lucid.ones_like(p)
        try:
            self.optimizer.step()
        except (ValueError, TypeError) as error:  # an option or entry that was taken away
            if isinstance(error, lucid.InternalError):
                raise

    def change_optimizers(self, i: int) -> None:
        optimizer = self.optimizer
        state = optimizer.state[self.stepped[i % 4]]
        group = optimizer.param_groups[0]
        if i % 6 == 0:
            optimizer.state.clear()
        elif i % 6 == 1 and len(optimizer.param_groups) < 50:
            optimizer.add_param_group({"params": [nn.Parameter(lucid.ones(2, 2))]})
        elif i % 6 == 2:
            with contextlib.suppress(ValueError):  # another thread has added a group
                optimizer.load_state_dict(optimizer.state_dict())
        elif i % 6 == 3:
            for k in range(30):
                state[f"entry {k}"] = k
            for k in list(state):
                state.pop(k, None)
        elif i % 6 == 4:
            group["lr"] = lucid.tensor(0.01)
            group["lr"] = 0.01
            group[f"option {i % 50}"] = 1.5
        else:
            repr(optimizer), [dict(each) for each in optimizer.state.values()]

    def use_files(self, i: int) -> None:
        path = os.path.join(self.folder, f"{threading.get_ident()}")
        lucid.save({"x": self.shared[i % 3], "net": self.net.state_dict()}, path)
        self.check("loaded", lucid.load(path)["x"], 1, 5)
        if i % 5 == 0:
            lucid.empty_cache()

    def fork(self, i: int) -> None:
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                faulthandler.dump_traceback_later(30, exit=True)
                lucid.rand(5)
                x = self.shared[i % 3]
                y = (x * 2 + lucid.ones(SIZES[i % 3])).sum().item()
                w = nn.Parameter(lucid.ones(11))
                (w * 2).sum().backward()
                self.drop(lucid.ones(9))
                self.compiled(lucid.ones(3), lucid.ones(3))
                status = 0 if y > 0 and w.grad is not None else 2
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        if status := os.waitpid(pid, 0)[1]:
            self.failures.append(f"a forked child failed or hung: status {status}")
        time.sleep(0.05)

    def run(self, name: str, work) -> None:
        i = 0
        try:
            while time.monotonic() < self.end and not self.failures:
                work(i)
                i += 1
                self.progress[name] = time.monotonic()
        except BaseException as error:
            self.failures.append(f"{name}: {error!r}\n{traceback.format_exc()}")
        self.rounds[name] = i


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    signals = [0]
    signal.signal(signal.SIGUSR1, lambda *_: signals.__setitem__(0, signals[0] + 1))
    with tempfile.TemporaryDirectory() as folder:
        stress = Stress(options.seconds, folder)
        works = [stress.read_eagerly, stress.read_compiled, stress.write_in_place, stress.generate, stress.train]
        works += [stress.change_gradients, stress.use_files, stress.fork, stress.change_shapes, stress.use_shapes]
        works += [stress.step_optimizers, stress.change_optimizers]
        threads = [
            threading.Thread(target=stress.run, args=(work.__name__, work), name=work.__name__) for work in works
        ]
        for thread in threads:
            stress.progress[thread.name] = time.monotonic()
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGUSR1)
            stuck = [t.name for t in threads if t.is_alive() and time.monotonic() - stress.progress[t.name] > 60]
            if stuck:
                print("no progress for a minute:", stuck, flush=True)
                faulthandler.dump_traceback()
                os._exit(3)
    print(f"{stress.rounds}, {signals[0]} signals")
    for failure in stress.failures:
        print(failure)
    return 1 if stress.failures else 0


if __name__ == "__main__":
    faulthandler.enable()
    sys.exit(main())
