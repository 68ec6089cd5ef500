"""Times convolutions and pools for one library and prints the microseconds of each as one line of JSON.

python benchmarks/convolution_work.py lucid --threads 2
"""

import argparse
import importlib
import json

from eager_work import time_one

# name, input, weight, stride, padding, groups
LAYERS = [
    ("lenet1_b64", (64, 1, 32, 32), (6, 1, 5, 5), 1, 0, 1),
    ("lenet2_b64", (64, 6, 14, 14), (16, 6, 5, 5), 1, 0, 1),
    ("lenet1_b1", (1, 1, 32, 32), (6, 1, 5, 5), 1, 0, 1),
    ("lenet2_b1", (1, 6, 14, 14), (16, 6, 5, 5), 1, 0, 1),
    ("resnet_64_b1", (1, 64, 56, 56), (64, 64, 3, 3), 1, 1, 1),
    ("resnet_128_b1", (1, 128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    ("resnet_256_b1", (1, 256, 14, 14), (256, 256, 3, 3), 1, 1, 1),
    ("resnet_512_b1", (1, 512, 7, 7), (512, 512, 3, 3), 1, 1, 1),
    ("resnet_first_b4", (4, 3, 224, 224), (64, 3, 7, 7), 2, 3, 1),
    ("resnet_down_b4", (4, 64, 56, 56), (128, 64, 3, 3), 2, 1, 1),
    ("resnet_128_b4", (4, 128, 28, 28), (128, 128, 3, 3), 1, 1, 1),
    ("pointwise_b2", (2, 96, 56, 56), (24, 96, 1, 1), 1, 0, 1),
    ("depthwise_b2", (2, 96, 56, 56), (96, 1, 3, 3), 1, 1, 96),
    ("depthwise_s2_b2", (2, 96, 112, 112), (96, 1, 3, 3), 2, 1, 96),
]
# name, input, kernel, stride, padding
POOLS = [
    ("avg_pool2d", "lenet_b64", (64, 6, 28, 28), 2, 2, 0),
    ("max_pool2d", "lenet_b64", (64, 6, 28, 28), 2, 2, 0),
    ("max_pool2d", "resnet_b4", (4, 64, 112, 112), 3, 2, 1),
]


def layer_work(lib, functions, layer):
    name, shape, weight_shape, stride, padding, groups = layer
    x, weight, bias = lib.randn(*shape), lib.randn(*weight_shape) * 0.1, lib.randn(weight_shape[0])

    def forward():
        return functions.conv2d(x, weight, bias, stride, padding, 1, groups)

    yield name, forward
    inputs = x.clone().requires_grad_(not name.startswith(("lenet1", "resnet_first")))
    parameters = [weight.clone().requires_grad_(), bias.clone().requires_grad_()]
    gradient = lib.ones_like(forward())

    def both():
        functions.conv2d(inputs, *parameters, stride, padding, 1, groups).backward(gradient)

    yield f"{name}_training", both


def pool_work(lib, functions, pool):
    function, label, shape, kernel, stride, padding = pool
    x = lib.randn(*shape)
    run = getattr(functions, function)

    def forward():
        return run(x, kernel, stride, padding)

    yield f"{function}_{label}", forward
    inputs = x.clone().requires_grad_()
    gradient = lib.ones_like(forward())
    yield f"{function}_{label}_training", lambda: run(inputs, kernel, stride, padding).backward(gradient)


def all_work(lib, wanted):
    functions = lib.nn.functional if lib.__name__ == "torch" else lib
    for layer in LAYERS:
        if wanted in layer[0]:
            yield from layer_work(lib, functions, layer)
    for pool in POOLS:
        if wanted in f"{pool[0]}_{pool[1]}":
            yield from pool_work(lib, functions, pool)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", choices=["lucid", "torch"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.2, help="per workload")
    parser.add_argument("--only", default="", help="only workloads whose names contain this")
    arguments = parser.parse_args()
    library = importlib.import_module(arguments.library)
    library.set_num_threads(arguments.threads)
    library.manual_seed(0)
    work = all_work(library, arguments.only)
    print(json.dumps({name: time_one(function, arguments.seconds) for name, function in work}))


if __name__ == "__main__":
    main()
