"""Compares exported programs, run by a C program, with compiled calls in Python and with ONNX Runtime.

python benchmarks/programs.py --runtime <liblucid_runtime.so> [--write]    (with lucid, onnx and onnxruntime)

The same models, batch sizes and threads for all. ONNX Runtime gets the file of lucid.onnx.export. The processes
take turns; the minimum over all rounds counts.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import report

ROOT = pathlib.Path(__file__).parent.parent
ROUNDS = 20
CALLS = {"LeNet-5": 2000, "ResNet-18": 30, "GPT mini, one token": 400, "MiniLM, 4 x 32 tokens": 20, "LSTM": 300}


def models():
    """For each name: a function, its arguments, dynamic=, and the sizes to measure."""
    import lucid

    lucid.manual_seed(0)
    dim = lucid.Dim
    encoder = lucid.models.bert().eval()
    decoder = lucid.models.GPTDecoder(lucid.models.gpt().eval()).eval()
    lstm = lucid.nn.LSTM(64, 128, num_layers=2, batch_first=True).eval()
    tokens, mask = lucid.ones(4, 32, dtype=lucid.int64), lucid.ones(4, 32, dtype=lucid.int64)
    both = {0: dim("batch", max=8), 1: dim("length", max=128)}
    return {
        "LeNet-5": (lucid.models.lenet_5().eval(), (lucid.ones(1, 1, 32, 32),), {}, {}),
        "ResNet-18": (lucid.models.resnet_18().eval(), (lucid.ones(1, 3, 224, 224),), {}, {}),
        "GPT mini, one token": (decoder, (lucid.ones(1, 1, dtype=lucid.int64),), {}, {}),
        "MiniLM, 4 x 32 tokens": (
            lambda tokens, mask: encoder(tokens, mask)[0],
            (tokens, mask),
            {"tokens": both, "mask": both},
            {"batch": 4, "length": 32},
        ),
        "LSTM": (lambda x: lstm(x)[0], (lucid.ones(1, 32, 64),), {}, {}),
    }


def time_of(call, count):
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return 1e3 * min(times)


def work(kind, name, path):
    """Prints the figures of one process as JSON: the milliseconds of loading, of the first and of the fastest call."""
    import numpy as np

    if kind == "python":
        import lucid

        function, args, _, _ = models()[name]
        args = [lucid.zeros_like(arg) for arg in args]
        compiled = lucid.compile(function, wait=True)

        def call():
            if hasattr(function, "position"):
                function.position.zero_()
            return compiled(*args)

        with lucid.no_grad():
            call(), call()
            print(json.dumps([0, 0, time_of(call, CALLS[name])]))
        return
    begin = time.perf_counter()
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    imported = time.perf_counter()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    loaded = time.perf_counter()
    args = models()[name][1]
    feed = {given.name: np.zeros_like(arg.numpy()) for given, arg in zip(session.get_inputs(), args)}
    first = time.perf_counter()
    session.run(None, feed)
    after = time.perf_counter()
    best = time_of(lambda: session.run(None, feed), CALLS[name])
    print(json.dumps([1e3 * (loaded - imported), 1e3 * (after - first), best, 1e3 * (imported - begin)]))


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", type=pathlib.Path, help="liblucid_runtime.so")
    parser.add_argument("--write", action="store_true", help="replace the table in docs/benchmarks.md")
    parser.add_argument("--work", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        return work(*arguments.work)
    import lucid

    folder = pathlib.Path(tempfile.mkdtemp())
    library = arguments.runtime.resolve()
    runner = folder / "programs"
    source = ROOT / "benchmarks" / "programs.c"
    links = [library, f"-Wl,-rpath,{library.parent}"]
    subprocess.run(["cc", "-std=gnu99", "-O2", f"-I{ROOT / 'include'}", source, *links, "-o", runner], check=True)
    rows = []
    for name, (function, args, dynamic, sizes) in models().items():
        path, onnx = folder / f"{len(rows)}.lucid", folder / f"{len(rows)}.onnx"
        lucid.export(function, args, path, dynamic=dynamic)
        has_onnx = "token" not in name or "MiniLM" in name
        if has_onnx:
            names = {key: {dim: size.name for dim, size in dims.items()} for key, dims in dynamic.items()}
            try:
                lucid.onnx.export(function, args, onnx, dynamic=names)
            except (ValueError, NotImplementedError) as error:
                print(f"{name}: no ONNX file: {error}", file=sys.stderr)
                has_onnx = False
        best = {}
        for _ in range(ROUNDS):
            words = [f"{symbol}={size}" for symbol, size in sizes.items()]
            figures = {"c": [float(word) for word in run(runner, path, CALLS[name], *words).split()]}
            figures["python"] = json.loads(run(sys.executable, __file__, "--work", "python", name, path))
            if has_onnx:
                figures["onnx"] = json.loads(run(sys.executable, __file__, "--work", "onnx", name, onnx))
            for kind, values in figures.items():
                best[kind] = [min(pair) for pair in zip(values, best.get(kind, values))]
        start = best["c"][0] + best["c"][1]
        row = [name, f"{os.path.getsize(path) / 1e6:.1f}", f"{start:.1f}", f"{1e3 * best['c'][2]:,.0f}"]
        row.append(f"{1e3 * best['python'][2]:,.0f} ({best['c'][2] / best['python'][2]:.2f})")
        if has_onnx:
            theirs = best["onnx"]
            row += [f"{os.path.getsize(onnx) / 1e6:.1f}", f"{theirs[0] + theirs[1]:.1f}"]
            row.append(f"{1e3 * theirs[2]:,.0f} ({theirs[2] / best['c'][2]:.2f}x)")
        else:
            row += ["", "", ""]
        print(*row, sep=" | ", flush=True)
        rows.append(row)
    head = ["", "file, MB", "start, ms", "call in C, us", "call in Python, us", "ONNX file, MB"]
    head += ["ONNX Runtime start, ms", "ONNX Runtime call, us"]
    text = f"{time.strftime('%Y-%m-%d')}; the runtime library has {library.stat().st_size / 1e6:.2f} MB.\n\n"
    report.publish(text + report.table(head, rows), "programs", arguments.write)
    return 0


if __name__ == "__main__":
    sys.exit(main())
