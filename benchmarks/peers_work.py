"""Answers the requests of peers.py for one library: one line of JSON for each line of input, until the input ends.

python benchmarks/peers_work.py lucid-compiled --threads 2
{"do": "time", "work": "mlp_b1", "seconds": 0.3}
"""

import argparse
import json
import os
import resource
import sys
import time

# Fail if nothing has been compiled after this many calls.
MAX_CALLS = 20


def load(name, threads, folder):
    """The adapter of a library, such as "jax" or, with a mode, "lucid-compiled"."""
    library, _, mode = name.partition("-")
    if library in ("lucid", "torch"):
        import torch_idiom

        return torch_idiom.Library(library, threads, mode == "compiled")
    if library == "jax":
        import jax_peer

        return jax_peer.Library()
    import onnx_peer

    return onnx_peer.Library(library, threads, folder)


def cpu_seconds():
    """CPU time of this process, all its threads, and the compilers that it started and waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class Server:
    def __init__(self, library):
        self.library = library
        self.ready = {}

    def answer(self, request):
        return getattr(self, request.pop("do"))(**request)

    def time(self, work, seconds):
        """Microseconds per call, or None if the library does not support the workload."""
        from eager_work import time_one

        if work not in self.ready:
            # Prepare one workload at a time: other networks would take memory.
            self.ready = {work: self.library.prepare(work)}
        prepared = self.ready[work]
        if prepared is None:
            return None
        microseconds = time_one(prepared.call, seconds, prepared.wait)
        prepared.check()
        return microseconds

    def first(self, work):
        """Wall-clock seconds to the first compiled result, and CPU seconds in excess of calls that compile nothing."""
        # Exclude the one-time start of the compiler.
        starter = self.library.prepare("add1_8")
        for _ in range(2):
            starter.wait(starter.call())
        prepared = self.library.prepare(work)
        calls = 0
        used, start = cpu_seconds(), time.perf_counter()
        while calls == 0 or not prepared.compiled():
            if calls == MAX_CALLS:
                raise RuntimeError(f"nothing was compiled in {MAX_CALLS} calls")
            prepared.wait(prepared.call())
            calls += 1
        seconds, used = time.perf_counter() - start, cpu_seconds() - used
        steady = []
        for _ in range(5):
            before = cpu_seconds()
            prepared.wait(prepared.call())
            steady.append(cpu_seconds() - before)
        prepared.check()
        return {"seconds": seconds, "cpu": max(0.0, used - calls * min(steady))}

    def peak(self, work):
        return self.library.peak(work)

    def export(self, work, path):
        self.library.export(work, path)

    def version(self):
        return self.library.version


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--models", help="the folder of ONNX files")
    arguments = parser.parse_args()
    # Pin the process to as many cores as it has threads, in case the library ignores the setting.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    # Redirect the output of libraries to stderr: stdout is for answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = Server(load(arguments.library, arguments.threads, arguments.models))
    for line in sys.stdin:
        try:
            answer = {"is": server.answer(json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
