"""The networks for the libraries that load ONNX files: ONNX Runtime and OpenVINO."""

import importlib
import pathlib

import numpy
from prepared import Prepared
from workloads import NETWORKS, WORKLOADS


class Library:
    def __init__(self, name, threads, folder):
        self.lib = importlib.import_module(name)
        self.version = self.lib.__version__.split("-")[0]
        self.threads = threads
        self.folder = pathlib.Path(folder)

    def prepare(self, name):
        work = WORKLOADS[name]
        if work.kind != "network":
            return None
        network, random = NETWORKS[work.network], numpy.random.default_rng(0)
        shape = (work.batch, *network.shape)
        if network.vocabulary:
            x = random.integers(0, network.vocabulary, shape)
        else:
            x = random.standard_normal(shape, dtype=numpy.float32)
        return getattr(self, self.lib.__name__)(str(self.folder / f"{name}.onnx"), x)

    def onnxruntime(self, path, x):
        options = self.lib.SessionOptions()
        options.intra_op_num_threads = self.threads
        session = self.lib.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return Prepared(lambda: session.run(None, {"x": x}))

    def openvino(self, path, x):
        settings = {
            "INFERENCE_NUM_THREADS": self.threads,
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
        }
        request = self.lib.compile_model(path, "CPU", settings).create_infer_request()
        return Prepared(lambda: request.infer({0: x}, share_inputs=True, share_outputs=True))
