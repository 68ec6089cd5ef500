"""Runs one program of adaptive.py with one library, eagerly or compiled: the process that adaptive.py measures.

Each line of the input has a number of calls to make. The answer is a line with the time of each call and a digest of
its result and of what it printed. At the end of the input, a last line has the counters of the compiled functions.
"""

import argparse
import hashlib
import importlib
import json
import logging
import os
import random
import struct
import sys
import tempfile
import time

PROGRAMS = ["adaptive_training", "adaptive_logging", "adaptive_sequences", "adaptive_functions"]
FILES = {"lucid": PROGRAMS, "torch": PROGRAMS, "jax": ["adaptive_jax"]}


def printed():
    """The text on the standard output since the last time."""
    sys.stdout.flush()
    sys.stdout.seek(0)
    text = sys.stdout.read()
    sys.stdout.seek(0)
    sys.stdout.truncate()
    return text


def add(digest, value):
    """Adds the bits of a result to a digest."""
    if isinstance(value, (tuple, list)):
        for item in value:
            add(digest, item)
    elif isinstance(value, float):
        digest.update(struct.pack("d", value))
    elif hasattr(value, "detach"):
        digest.update(f"{value.dtype} {tuple(value.shape)}".encode())
        digest.update(value.detach().numpy().tobytes())
    else:
        digest.update(repr(value).encode())


class Calls:
    """The calls of a program. The seeds of a call depend on its number only."""

    def __init__(self, library, make, compiled):
        self.library = library
        self.functions = []
        self.count = 0
        self.seed()
        self.results = make(self.compile if compiled else lambda function: function)

    def compile(self, function):
        compile = self.library.jit if self.library.__name__ == "jax" else self.library.compile
        self.functions.append(compile(function))
        return self.functions[-1]

    def seed(self):
        random.seed(self.count)
        if self.library.__name__ != "jax":
            self.library.manual_seed(self.count)

    def next(self):
        """The time of the next call and the digest of its result."""
        self.seed()
        self.count += 1
        start = time.perf_counter()
        result = next(self.results)
        if self.library.__name__ == "jax":
            self.library.block_until_ready(result)
        seconds = time.perf_counter() - start
        digest = hashlib.blake2b(printed().encode(), digest_size=8)
        add(digest, result)
        return seconds, digest.hexdigest()

    def counters(self):
        """Counters of Lucid's compiled functions, and what it says about them."""
        infos = [function.cache_info() for function in self.functions if hasattr(function, "cache_info")]
        return {
            "hits": sum(info.hits for info in infos),
            "compiles": sum(info.compiles for info in infos),
            "explain": "\n".join(function.explain() for function in self.functions if hasattr(function, "explain")),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", choices=list(FILES))
    parser.add_argument("program")
    parser.add_argument("--compiled", action="store_true")
    arguments = parser.parse_args()
    os.environ["ADAPTIVE_LIBRARY"] = arguments.library
    library = importlib.import_module(arguments.library)
    files = [importlib.import_module(name) for name in FILES[arguments.library]]
    make = next(getattr(file, arguments.program) for file in files if hasattr(file, arguments.program))
    answers = sys.stdout

    def answer(value):
        print(json.dumps(value), file=answers, flush=True)

    with tempfile.TemporaryFile("w+") as sys.stdout:
        logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s: %(message)s")
        try:
            calls = Calls(library, make, arguments.compiled)
            for line in sys.stdin:
                answer([calls.next() for _ in range(int(line))])
            answer(calls.counters())
        except Exception as error:
            answer({"error": f"{type(error).__name__}: {error}".splitlines()[0]})
    sys.stdout = answers


if __name__ == "__main__":
    main()
