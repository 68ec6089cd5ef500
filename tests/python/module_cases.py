"""Every module of `lucid.nn` with arguments for a call, for comparisons with PyTorch and with compiled code."""

import numpy as np

TOLERANCE = 1e-9
RANDOM = np.random.default_rng(7)


def floats(*shape, low=-2.0, high=2.0):
    return lambda: RANDOM.uniform(low, high, shape)


def integers(*shape, high):
    return lambda: RANDOM.integers(0, high, shape)


def fixed(values):
    return lambda: np.array(values)


def signs(*shape):
    return lambda: RANDOM.choice([-1.0, 1.0], shape)


class Case:
    """A module that both libraries have: its name, its arguments and the inputs of a call."""

    def __init__(self, name, *args, inputs, train=True, named=None, learned=None, gradients=TOLERANCE, **kwargs):
        self.name, self.args, self.kwargs = name, args, kwargs
        self.inputs, self.train, self.named = inputs, train, named or {}
        # The number of inputs that require grad, and the tolerance of their gradients.
        self.learned = len(inputs) if learned is None else learned
        self.gradients = gradients

    def __repr__(self):
        parts = [*map(repr, self.args), *(f"{k}={v!r}" for k, v in self.kwargs.items())]
        return f"{self.name}({', '.join(parts)})" + ("" if self.train else " eval")


X = floats(3, 4)
ACTIVATIONS = [
    *(Case(name, inputs=[X]) for name in ("ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Hardswish")),
    # PyTorch multiplies by a float32 1/6.
    Case("Hardsigmoid", inputs=[X], gradients=1e-7),
    *(Case(name, inputs=[X]) for name in ("Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink", "GELU")),
    *(Case(name, 0.3, inputs=[X]) for name in ("LeakyReLU", "ELU", "Hardshrink", "Softshrink")),
    Case("CELU", 0.5, inputs=[X]),
    Case("GELU", approximate="tanh", inputs=[X]),
    Case("Hardtanh", -0.5, 0.75, inputs=[X]),
    Case("Softplus", 2.0, 1.0, inputs=[X]),
    Case("Threshold", 0.25, -3.0, inputs=[X]),
    Case("PReLU", inputs=[X]),
    Case("PReLU", 4, inputs=[floats(3, 4, 2)]),
    Case("RReLU", inputs=[X], train=False),
    Case("GLU", inputs=[X]),
    Case("GLU", 0, inputs=[floats(4, 3)]),
    *(Case(name, dim=1, inputs=[X]) for name in ("Softmax", "LogSoftmax", "Softmin")),
    Case("Softmax2d", inputs=[floats(2, 3, 2, 2)]),
]
EQUALLY_OFTEN = fixed([[2, 0, 1, 2], [1, 4, 4, 0]])
LINEAR = [
    Case("Linear", 4, 3, inputs=[X]),
    Case("Linear", 4, 3, bias=False, inputs=[floats(2, 5, 4)]),
    Case("Bilinear", 4, 5, 3, inputs=[X, floats(3, 5)]),
    Case("Identity", inputs=[X]),
    Case("Flatten", inputs=[floats(2, 3, 4)]),
    Case("Flatten", 0, 1, inputs=[floats(2, 3, 4)]),
    Case("Unflatten", 1, (2, 2), inputs=[X]),
    Case("Embedding", 7, 3, inputs=[integers(2, 5, high=7)]),
    Case("Embedding", 7, 3, padding_idx=2, inputs=[integers(2, 5, high=4)]),
    Case("Embedding", 7, 3, max_norm=1.0, inputs=[integers(2, 5, high=7)]),
    Case("Embedding", 7, 3, max_norm=1.0, norm_type=1.0, padding_idx=0, inputs=[integers(2, 5, high=7)]),
    Case("Embedding", 7, 3, scale_grad_by_freq=True, inputs=[integers(2, 5, high=3)]),
    Case("Embedding", 7, 3, scale_grad_by_freq=True, padding_idx=1, inputs=[integers(2, 5, high=3)]),
    *(Case("EmbeddingBag", 7, 3, mode=mode, inputs=[integers(2, 5, high=7)]) for mode in ("mean", "sum", "max")),
    Case("EmbeddingBag", 7, 3, mode="sum", inputs=[integers(6, high=7), fixed([0, 2, 5])]),
    Case("EmbeddingBag", 7, 3, padding_idx=1, inputs=[integers(2, 5, high=3)]),
    Case("EmbeddingBag", 7, 3, max_norm=1.0, norm_type=1.0, inputs=[integers(2, 5, high=7)]),
    # Every row is used equally often, because PyTorch divides by the count of a different row.
    *(
        Case("EmbeddingBag", 7, 3, mode=mode, scale_grad_by_freq=True, padding_idx=1, inputs=[EQUALLY_OFTEN])
        for mode in ("mean", "sum")
    ),
    *(Case(name, 0.5, inputs=[X], train=False) for name in ("Dropout", "AlphaDropout", "FeatureAlphaDropout")),
    Case("Dropout2d", inputs=[floats(2, 3, 2, 2)], train=False),
]
PROBABILITIES = floats(3, 4, low=0.1, high=0.9)
CLASSES = integers(3, high=4)
LOSSES = [
    *(
        Case(name, reduction=reduction, inputs=[X, floats(3, 4)])
        for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")
        for reduction in ("mean", "sum", "none")
    ),
    Case("SmoothL1Loss", beta=0.5, inputs=[X, floats(3, 4)]),
    Case("HuberLoss", delta=0.5, inputs=[X, floats(3, 4)]),
    Case("SoftMarginLoss", inputs=[X, signs(3, 4)], learned=1),
    Case("KLDivLoss", reduction="batchmean", inputs=[X, PROBABILITIES]),
    Case("KLDivLoss", reduction="sum", log_target=True, inputs=[X, floats(3, 4)]),
    Case("PoissonNLLLoss", inputs=[X, PROBABILITIES]),
    Case("PoissonNLLLoss", log_input=False, full=True, inputs=[PROBABILITIES, floats(3, 4, low=0.5, high=5)]),
    Case("GaussianNLLLoss", full=True, inputs=[X, floats(3, 4), PROBABILITIES]),
    Case("BCELoss", inputs=[PROBABILITIES, PROBABILITIES]),
    Case("BCEWithLogitsLoss", inputs=[X, PROBABILITIES]),
    Case("BCEWithLogitsLoss", pos_weight=np.array([0.5, 1, 2, 3]), inputs=[X, PROBABILITIES]),
    Case("CrossEntropyLoss", inputs=[X, CLASSES]),
    Case("CrossEntropyLoss", label_smoothing=0.1, reduction="sum", inputs=[X, CLASSES]),
    Case("CrossEntropyLoss", weight=np.array([0.5, 1, 2, 3]), ignore_index=2, inputs=[X, CLASSES]),
    Case("CrossEntropyLoss", inputs=[X, PROBABILITIES]),
    Case("CrossEntropyLoss", inputs=[floats(2, 4, 3), integers(2, 3, high=4)]),
    Case("NLLLoss", inputs=[X, CLASSES]),
    Case("NLLLoss", weight=np.array([0.5, 1, 2, 3]), reduction="none", inputs=[X, CLASSES]),
    Case("MultiMarginLoss", inputs=[X, CLASSES]),
    Case("MultiMarginLoss", 2, 0.5, inputs=[X, CLASSES]),
    Case("MultiLabelMarginLoss", inputs=[floats(2, 4), fixed([[1, 3, -1, 0], [0, -1, 2, 2]])]),
    Case("MultiLabelSoftMarginLoss", inputs=[X, PROBABILITIES]),
    Case("HingeEmbeddingLoss", inputs=[X, signs(3, 4)]),
    Case("MarginRankingLoss", 0.3, inputs=[floats(3), floats(3), signs(3)]),
    Case("CosineEmbeddingLoss", 0.1, inputs=[X, floats(3, 4), signs(3)]),
    Case("TripletMarginLoss", inputs=[X, floats(3, 4), floats(3, 4)]),
    Case("TripletMarginLoss", p=1.0, swap=True, inputs=[X, floats(3, 4), floats(3, 4)]),
    Case("CosineSimilarity", inputs=[X, floats(3, 4)]),
    Case("PairwiseDistance", inputs=[X, floats(3, 4)]),
]
NORMS = [
    Case("LayerNorm", 4, inputs=[X]),
    Case("LayerNorm", (3, 4), bias=False, inputs=[floats(2, 3, 4)]),
    Case("LayerNorm", 4, elementwise_affine=False, inputs=[X]),
    Case("RMSNorm", 4, inputs=[X]),
    Case("RMSNorm", (3, 4), eps=1e-3, inputs=[floats(2, 3, 4)]),
    Case("GroupNorm", 2, 4, inputs=[floats(2, 4, 3)]),
    Case("LocalResponseNorm", 2, inputs=[floats(2, 4, 3)]),
    *(
        Case(f"{kind}{d}d", 3, inputs=[floats(4, 3, *[2 + d] * d)], train=train)
        for kind in ("BatchNorm", "InstanceNorm")
        for d in (1, 2, 3)
        for train in (True, False)
    ),
    Case("BatchNorm1d", 3, inputs=[floats(5, 3)]),
    Case("BatchNorm2d", 3, momentum=None, inputs=[floats(4, 3, 2, 2)]),
    Case("BatchNorm2d", 3, affine=False, track_running_stats=False, inputs=[floats(4, 3, 2, 2)], train=False),
    Case("InstanceNorm2d", 3, affine=True, track_running_stats=True, inputs=[floats(4, 3, 2, 2)]),
    Case("InstanceNorm1d", 3, affine=True, inputs=[floats(3, 5)]),
]
CONVOLUTIONS = [
    Case("Conv1d", 4, 6, 3, inputs=[floats(2, 4, 9)]),
    Case("Conv1d", 4, 6, 3, padding="same", padding_mode="circular", inputs=[floats(2, 4, 9)]),
    Case("Conv2d", 4, 6, 3, stride=2, padding=1, inputs=[floats(2, 4, 8, 7)]),
    Case("Conv2d", 4, 6, (3, 2), groups=2, dilation=2, bias=False, inputs=[floats(2, 4, 8, 7)]),
    Case("Conv2d", 4, 6, 4, padding="same", inputs=[floats(2, 4, 8, 7)]),
    Case("Conv2d", 4, 6, 3, padding=2, padding_mode="reflect", inputs=[floats(2, 4, 8, 7)]),
    Case("Conv2d", 4, 6, 3, padding=(1, 2), padding_mode="replicate", inputs=[floats(2, 4, 8, 7)]),
    Case("Conv2d", 4, 6, 3, inputs=[floats(4, 8, 7)]),
    Case("Conv3d", 2, 4, 2, stride=(1, 2, 1), inputs=[floats(2, 2, 4, 5, 3)]),
    Case("ConvTranspose1d", 4, 6, 3, stride=2, inputs=[floats(2, 4, 5)]),
    Case("ConvTranspose2d", 4, 6, 3, 2, 1, 1, inputs=[floats(2, 4, 5, 4)]),
    Case("ConvTranspose2d", 4, 6, 3, groups=2, dilation=2, bias=False, inputs=[floats(2, 4, 5, 4)]),
    Case("ConvTranspose2d", 4, 6, 3, 2, inputs=[floats(2, 4, 5, 4)], named={"output_size": (12, 10)}),
    Case("ConvTranspose3d", 2, 4, 2, stride=2, inputs=[floats(1, 2, 3, 3, 2)]),
]
POOLS = [
    *(Case(f"{kind}Pool{d}d", 2, inputs=[floats(2, 3, *[6] * d)]) for kind in ("Max", "Avg") for d in (1, 2, 3)),
    *(
        Case(f"Adaptive{kind}Pool{d}d", 3, inputs=[floats(2, 3, *[7] * d)])
        for kind in ("Max", "Avg")
        for d in (1, 2, 3)
    ),
    Case("MaxPool2d", 3, 2, 1, inputs=[floats(2, 3, 7, 7)]),
    Case("MaxPool2d", 2, 2, dilation=2, ceil_mode=True, inputs=[floats(2, 3, 7, 7)]),
    Case("MaxPool2d", 2, return_indices=True, inputs=[floats(2, 3, 6, 6)]),
    Case("AvgPool2d", 3, 2, 1, count_include_pad=False, inputs=[floats(2, 3, 7, 7)]),
    Case("AvgPool2d", 3, 2, divisor_override=5, inputs=[floats(2, 3, 7, 7)]),
    Case("AdaptiveAvgPool2d", (None, 2), inputs=[floats(2, 3, 5, 7)]),
    *(Case(f"LPPool{d}d", 2, 2, inputs=[floats(2, 3, *[6] * d, low=0.1)]) for d in (1, 2, 3)),
]
IMAGES = [
    *(
        Case(f"{kind}Pad{d}d", 1, inputs=[floats(2, 3, *[4] * d)])
        for kind in ("Zero", "Reflection", "Replication", "Circular")
        for d in (1, 2, 3)
    ),
    Case("ConstantPad2d", (1, 0, 2, 1), 3.5, inputs=[floats(2, 3, 4, 4)]),
    Case("ZeroPad2d", (1, -1, 0, 2), inputs=[floats(2, 3, 4, 4)]),
    Case("Upsample", scale_factor=2, inputs=[floats(2, 3, 4, 5)]),
    Case("Upsample", size=(7, 3), mode="bilinear", inputs=[floats(2, 3, 4, 5)]),
    Case("Upsample", scale_factor=1.5, mode="bicubic", align_corners=True, inputs=[floats(2, 3, 4, 6)]),
    Case("UpsamplingNearest2d", scale_factor=2, inputs=[floats(2, 3, 4, 5)]),
    Case("UpsamplingBilinear2d", scale_factor=2, inputs=[floats(2, 3, 4, 5)]),
    Case("PixelShuffle", 2, inputs=[floats(1, 8, 3, 3)]),
    Case("PixelUnshuffle", 2, inputs=[floats(1, 2, 6, 6)]),
    Case("ChannelShuffle", 2, inputs=[floats(1, 4, 3, 3)]),
    Case("Unfold", (2, 3), padding=1, stride=2, inputs=[floats(2, 3, 5, 6)]),
    Case("Fold", (4, 5), (2, 2), inputs=[floats(2, 8, 12)]),
]
SEQUENCE = floats(5, 2, 3)
RECURRENT = [
    *(
        Case(name, 3, 4, inputs=[SEQUENCE], **kwargs)
        for name in ("RNN", "LSTM", "GRU")
        for kwargs in (
            {},
            {"num_layers": 2, "bidirectional": True},
            {"batch_first": True, "bias": False},
        )
    ),
    Case("RNN", 3, 4, nonlinearity="relu", inputs=[SEQUENCE, floats(1, 2, 4)]),
    Case("GRU", 3, 4, inputs=[floats(5, 3)]),
    Case("LSTM", 3, 4, num_layers=2, proj_size=2, bidirectional=True, inputs=[SEQUENCE]),
    Case("RNNCell", 3, 4, inputs=[floats(2, 3), floats(2, 4)]),
    Case("LSTMCell", 3, 4, inputs=[floats(2, 3)]),
    Case("GRUCell", 3, 4, bias=False, inputs=[floats(3), floats(4)]),
]
TOKENS = floats(5, 2, 8)
CAUSAL = np.triu(np.full((5, 5), -np.inf), 1)
ATTENTION = [
    Case("MultiheadAttention", 8, 2, inputs=[TOKENS, floats(3, 2, 8), floats(3, 2, 8)]),
    Case("MultiheadAttention", 8, 2, inputs=[TOKENS] * 3, named={"need_weights": False, "attn_mask": CAUSAL}),
    Case(
        "MultiheadAttention", 8, 2, inputs=[TOKENS] * 3, named={"average_attn_weights": False, "attn_mask": CAUSAL < 0}
    ),
    Case(
        "MultiheadAttention",
        8,
        2,
        batch_first=True,
        add_bias_kv=True,
        add_zero_attn=True,
        inputs=[floats(2, 5, 8)] * 3,
        named={"key_padding_mask": np.array([[False] * 5, [False, False, False, True, True]])},
    ),
    Case("MultiheadAttention", 8, 2, kdim=6, vdim=4, bias=False, inputs=[TOKENS, floats(3, 2, 6), floats(3, 2, 4)]),
    Case("MultiheadAttention", 8, 2, inputs=[floats(5, 8)] * 3),
    Case("TransformerEncoderLayer", 8, 2, 16, dropout=0.0, inputs=[TOKENS]),
    Case(
        "TransformerEncoderLayer",
        8,
        2,
        16,
        dropout=0.0,
        activation="gelu",
        norm_first=True,
        inputs=[TOKENS],
        named={"src_mask": CAUSAL},
    ),
    Case("TransformerDecoderLayer", 8, 2, 16, dropout=0.0, inputs=[TOKENS, floats(3, 2, 8)]),
    Case("TransformerDecoderLayer", 8, 2, 16, dropout=0.0, norm_first=True, inputs=[TOKENS, floats(3, 2, 8)]),
    Case("Transformer", 8, 2, 2, 2, 16, dropout=0.0, inputs=[TOKENS, floats(3, 2, 8)]),
    Case("Transformer", 8, 2, 1, 1, 16, dropout=0.0, batch_first=True, inputs=[floats(2, 5, 8), floats(2, 3, 8)]),
]
CASES = [
    *ACTIVATIONS,
    *LINEAR,
    *LOSSES,
    *NORMS,
    *CONVOLUTIONS,
    *POOLS,
    *IMAGES,
    *RECURRENT,
    *ATTENTION,
]
