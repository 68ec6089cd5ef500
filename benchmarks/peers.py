"""Measures Lucid against PyTorch, JAX, ONNX Runtime and OpenVINO in one run, for docs/benchmarks.md and its plot.

Each library runs in its own process, in two for eager and compiled mode, pinned to as many cores as it has threads. For
each workload the processes alternate, in a different order every round, and the best round counts.

    python benchmarks/peers.py --python lucid=.venv/bin/python --python peers=.venv-peers/bin/python --write

The environment of the peers: pip install torch==2.13.0 jax onnxruntime onnx openvino. Figures are saved in a file:
--only measures some workloads again, --table prints the tables from the saved figures, and --check compares the figures
with aims.toml.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import aims
import peers_table
import plot
import report
from workloads import COMPILING, MEMORY, WORKLOADS, limit_of, shown

COMPILERS = ("torch-compiled", "jax", "lucid-compiled")
COUNTED = ("torch-eager", "lucid-eager", "lucid-compiled")
THREADS = (2, 1)


class Child:
    """A process that measures one library on request."""

    def __init__(self, python, library, threads, folder, **environment):
        variables = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        environment = os.environ | dict.fromkeys(variables, str(threads)) | {"JAX_PLATFORMS": "cpu"} | environment
        words = [library, "--threads", str(threads), "--models", str(folder)]
        self.log = (pathlib.Path(folder) / f"{library}.log").open("a")
        self.process = subprocess.Popen(
            [python, str(report.FOLDER / "peers_work.py"), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            env=environment,
        )

    def ask(self, do, **request):
        """Sends a request and returns the answer. Raises RuntimeError with the error of the process."""
        try:
            self.process.stdin.write(json.dumps({"do": do} | request) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"the process ended with {self.process.wait()}: {self.last_log_line()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["is"]

    def last_log_line(self):
        lines = pathlib.Path(self.log.name).read_text().splitlines()
        return lines[-1] if lines else "no output"

    def close(self):
        # A process that ended early leaves the request in the pipe.
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Run:
    def __init__(self, arguments, figures, folder):
        self.arguments = arguments
        self.figures = figures
        self.folder = folder
        self.pythons = {"lucid": sys.executable, "peers": sys.executable} | dict(arguments.python)

    def child(self, library, threads, cache, **environment):
        """Starts a process. `cache` is the folder of the library's disk cache, empty for cold measurements."""
        kind = library.split("-")[0]
        python = self.pythons.get(kind, self.pythons["peers"])
        environment |= {"LUCID_CACHE_DIR": str(cache), "TORCHINDUCTOR_CACHE_DIR": str(cache)}
        return Child(python, library, threads, self.folder, **environment)

    def note(self, work, library, error):
        print(f"{work}, {library}: {error}", file=sys.stderr, flush=True)
        self.figures["errors"][f"{work}, {library}"] = str(error).splitlines()[0]

    def export(self, names):
        """Writes ONNX files for the peers that load them."""
        child = Child(self.pythons["peers"], "torch-eager", 2, self.folder)
        for name in names:
            child.ask("export", work=name, path=str(self.folder / f"{name}.onnx"))
        child.close()

    def times(self, names, threads):
        """Measures the best microseconds of every workload and library."""
        children = {library: self.child(library, threads, self.folder) for library in peers_table.LIBRARIES}
        for library, child in children.items():
            self.figures["versions"][library.split("-")[0]] = child.ask("version")
        saved = self.figures["times"].setdefault(str(threads), {})
        for name in names:
            best = saved[name] = {}
            libraries = list(children)
            for round_index in range(self.arguments.rounds):
                # Rotate the order: the library that ran before affects the state of the machine.
                first = round_index % len(libraries)
                for library in libraries[first:] + libraries[:first]:
                    if best.get(library, 0.0) is None:
                        continue
                    try:
                        took = children[library].ask("time", work=name, seconds=self.arguments.seconds)
                    except RuntimeError as error:
                        self.note(name, library, error)
                        took = None
                        if children[library].process.poll() is not None:
                            children[library] = self.child(library, threads, self.folder)
                    best[library] = took if took is None else min(took, best.get(library, took))
            saved[name] = {library: took for library, took in best.items() if took is not None}
            print(f"{threads} threads: {name} {saved[name]}", file=sys.stderr, flush=True)
            self.save()
        for child in children.values():
            child.close()

    def alone(self, do, name, library):
        """One measurement in a new process with an empty cache."""
        with tempfile.TemporaryDirectory() as cache:
            # Inductor compiles in the process itself, because the CPU time of a pool would not be counted.
            child = self.child(library, 2, cache, TORCHINDUCTOR_COMPILE_THREADS="1")
            try:
                return child.ask(do, work=name)
            except RuntimeError as error:
                self.note(name, library, error)
                return None
            finally:
                child.close()

    def compiling(self, names):
        for name in names:
            saved = self.figures["compiling"][name] = {}
            for round_index in range(min(3, self.arguments.rounds)):
                # torch.compile takes half a minute, so one round is enough.
                for library in COMPILERS if round_index == 0 else COMPILERS[1:]:
                    found = self.alone("first", name, library)
                    if found and found["cpu"] < saved.get(library, {"cpu": float("inf")})["cpu"]:
                        saved[library] = found
            print(f"compiling: {name} {saved}", file=sys.stderr, flush=True)
            self.save()

    def memory(self, names):
        for name in names:
            found = {library: self.alone("peak", name, library) for library in COUNTED}
            self.figures["memory"][name] = {library: count for library, count in found.items() if count is not None}
            print(f"memory: {name} {found}", file=sys.stderr, flush=True)
            self.save()

    def save(self):
        report.save(self.arguments.figures, self.figures)


def machine():
    model = next(
        line for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    )
    cores, load = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    return f"{model.split(':')[1].strip()}, {cores} cores, load {load:.1f} before the run"


def names_of(only):
    """The limits of the requested workloads, then the workloads themselves."""
    names = [name for name in shown() if not only or name in only]
    needed = {limit_of(WORKLOADS[name]) for name in names}
    return [name for name in WORKLOADS if name in needed] + names


def measure(arguments, figures, folder):
    names = names_of(arguments.only)
    figures |= {"machine": machine(), "date": datetime.date.today().isoformat()}
    figures["errors"] = {at: why for at, why in figures["errors"].items() if at.split(",")[0] not in names}
    run = Run(arguments, figures, folder)
    run.memory([name for name in MEMORY if name in names])
    run.compiling([name for name in COMPILING if name in names])
    run.export([name for name in names if WORKLOADS[name].kind == "network"])
    for threads in arguments.threads:
        run.times(names, threads)


def workload_names(text):
    names = text.split(",")
    if unknown := set(names) - set(shown()):
        raise argparse.ArgumentTypeError(f"unknown workloads {', '.join(sorted(unknown))}; expected some of {shown()}")
    return names


def interpreter(text):
    name, _, path = text.partition("=")
    if not path:
        raise argparse.ArgumentTypeError(f"expected NAME=PATH, not {text}")
    return name, path


def main():
    parser = report.options(__doc__)
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        type=interpreter,
        metavar="NAME=PATH",
        help="the interpreter of lucid, torch, jax, onnxruntime or openvino, or of all peers",
    )
    parser.add_argument("--only", default=[], type=workload_names, help="comma-separated workloads")
    parser.add_argument("--threads", default=list(THREADS), type=lambda text: [int(part) for part in text.split(",")])
    arguments = parser.parse_args()
    figures = {"versions": {}, "times": {}, "compiling": {}, "memory": {}, "errors": {}}
    figures |= report.load(arguments.figures)
    if not arguments.table:
        with tempfile.TemporaryDirectory() as folder:
            measure(arguments, figures, pathlib.Path(folder))
    report.publish(peers_table.page(figures), "peers", arguments.write)
    if arguments.write:
        plot.FILE.write_text(plot.picture(figures))
    return aims.verdict(peers_table.results(figures)) if arguments.check else 0


if __name__ == "__main__":
    sys.exit(main())
