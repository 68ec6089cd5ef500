"""The node tests of the package `onnx`: how they are read, and which of them are not covered."""

from __future__ import annotations

import functools
import os
import re
import warnings
from typing import Any

import lucid
import numpy as np
import onnx
from onnx.backend.test.loader import load_model_tests

FAMILIES = {
    "arithmetic": "Abs Add Ceil Div Floor Max Mean Min Mod Mul Neg Pow Reciprocal Round Sign Sqrt Sub Sum",
    "functions": """Acos Acosh Asin Asinh Atan Atanh Clip Cos Cosh Erf Exp Log Sin Sinh Tan Tanh Sigmoid Softplus
        Softsign""",
    "activations": """Celu Elu Gelu HardSigmoid HardSwish LeakyRelu Mish PRelu Relu Selu Shrink Swish
        ThresholdedRelu""",
    "comparisons and logic": "And Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Where Xor",
    "bits and casts": "BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike",
    "reductions": """ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
        ReduceSumSquare""",
    "softmax and scans": "CumProd CumSum Hardmax LogSoftmax Softmax",
    "searches": "ArgMax ArgMin NonZero TopK Unique",
    "shapes": """Concat Expand Flatten Pad Reshape Slice Split Squeeze Tile Transpose Unsqueeze""",
    "creation": """Constant ConstantOfShape Dropout EyeLike Identity Range Shape Size Trilu""",
    "indexing": "Compress Gather GatherElements GatherND OneHot ReverseSequence ScatterElements ScatterND",
    "products and convolutions": "Col2Im Conv ConvInteger ConvTranspose Einsum Gemm MatMul MatMulInteger",
    "pooling": "AveragePool GlobalAveragePool GlobalMaxPool LpPool MaxPool MaxUnpool",
    "normalization": """BatchNormalization GroupNormalization InstanceNormalization LRN LayerNormalization
        LpNormalization MeanVarianceNormalization RMSNormalization""",
    "losses": "NegativeLogLikelihoodLoss SoftmaxCrossEntropyLoss",
    "images": "AffineGrid CenterCropPad DepthToSpace GridSample Resize SpaceToDepth",
    "attention": "Attention RotaryEmbedding",
}
FAMILY_OF = {op: family for family, ops in FAMILIES.items() for op in ops.split()}

CONTROL = "control flow: a graph is an attribute"
SEQUENCES = "sequences and optional values"
STRINGS = "strings"
QUANTIZED = "quantized numbers"
RECURRENT = "a recurrent layer in one node; Lucid records its steps"
NEWER = "newer than opset 23"
SIGNALS = "signal processing"
RANDOM = "random numbers"
MACHINE_LEARNING = "ONNX-ML"
TRAINING = "training in the file"

# Ops of ONNX that Lucid has no op for.
NOT_SUPPORTED = {
    **dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), CONTROL),
    **dict.fromkeys(("OptionalGetElement", "OptionalHasElement", "SequenceInsert", "SplitToSequence"), SEQUENCES),
    **dict.fromkeys(("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceLength"), SEQUENCES),
    **dict.fromkeys(("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"), STRINGS),
    **dict.fromkeys(("DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul"), QUANTIZED),
    "QuantizeLinear": QUANTIZED,
    **dict.fromkeys(("GRU", "LSTM", "RNN"), RECURRENT),
    **dict.fromkeys(("BitCast", "CausalConvWithState", "FlexAttention", "LinearAttention", "SwiGLU"), NEWER),
    "TensorScatter": NEWER,
    **dict.fromkeys(("BlackmanWindow", "DFT", "HammingWindow", "HannWindow", "MelWeightMatrix", "STFT"), SIGNALS),
    **dict.fromkeys(("Bernoulli", "RandomUniformLike"), RANDOM),
    **dict.fromkeys(("ArrayFeatureExtractor", "Binarizer", "LabelEncoder", "TreeEnsemble"), MACHINE_LEARNING),
    **dict.fromkeys(("Adagrad", "Adam", "Momentum"), TRAINING),
    "DeformConv": "a convolution with offsets",
    "Det": "determinants",
    "ImageDecoder": "files of images",
    "NonMaxSuppression": "boxes",
    "RoiAlign": "boxes",
    "Scatter": "older than opset 13",
    "Upsample": "older than opset 13",
}
# Data types that Lucid does not have.
NO_DTYPE = {"STRING", "UINT16", "UINT32", "UINT64", "UINT4", "INT4", "UINT2", "INT2", "FLOAT4E2M1", "FLOAT8E4M3FN"}
NO_DTYPE |= {"FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "FLOAT8E8M0", "COMPLEX64", "COMPLEX128"}

ROUNDED_ONCE = "the expected values are those of 16-bit floats rounded after each step; Lucid rounds once"
WINDOWS = "attention with windows or with lengths of keys, which is newer than opset 23"
TRAINING_DROPOUT = "dropout in training mode draws random numbers"
# Tests of ops that are covered.
SINGLE = {
    "test_attention_(4d_causal|4d_attn_mask_causal|3d_causal)_bf16(_expanded)?": ROUNDED_ONCE,
    "test_attention_4d_((causal_)?padded_kv_bf16|causal_fp16)_expanded": ROUNDED_ONCE,
    "test_attention_(?!.*expanded)(?!local_window_default$).*(window|nonpad|padded_kv).*": WINDOWS,
    "test_training_dropout(?!_zero_ratio).*": TRAINING_DROPOUT,
    "test_dropout_.*_old": "a definition of Dropout older than opset 13",
    "test_maxpool_with_argmax_2d_precomputed_strides": "indices in column-major order",
    "test_col2im_5d": "Col2Im of other than 2 dimensions",
    "test_unique_not_sorted_without_axis": "Unique without sorting",
    "test_dynamicquantizelinear.*_expanded": "definitions older than opset 13",
}


class Case:
    """A test of the suite."""

    def __init__(self, test: Any) -> None:
        self.name: str = test.name
        self.rtol, self.atol = test.rtol, test.atol
        self._test = test

    @functools.cached_property
    def model(self) -> Any:
        if self._test.model is not None:
            return self._test.model
        return onnx.load(os.path.join(self._test.model_dir, "model.onnx"))

    @property
    def data(self) -> list[tuple[list[Any], list[Any]]]:
        return [([array_of(x) for x in ins], [array_of(y) for y in outs]) for ins, outs in self._test.data_sets or []]

    @functools.cached_property
    def ops(self) -> set[str]:
        return {node.op_type for node in nodes_of(self.model.graph)}

    @functools.cached_property
    def dtypes(self) -> set[str]:
        kinds = onnx.TensorProto.DataType
        graph = self.model.graph
        found = {
            kinds.Name(value.type.tensor_type.elem_type)
            for value in [*graph.input, *graph.output]
            if value.type.WhichOneof("value") == "tensor_type"
        }
        for node in nodes_of(graph):
            found |= {kinds.Name(each.i) for each in node.attribute if node.op_type == "Cast" and each.name == "to"}
        return found

    def reason(self) -> str | None:
        """Why the test is not covered; None if it is."""
        for op in sorted(self.ops):
            if op in NOT_SUPPORTED:
                return f"{op}: {NOT_SUPPORTED[op]}"
        if missing := self.dtypes & NO_DTYPE:
            return f"data type {min(missing)}"
        if any(value.type.WhichOneof("value") != "tensor_type" for value in self.model.graph.input):
            return SEQUENCES
        for pattern, why in SINGLE.items():
            if re.fullmatch(pattern, self.name):
                return why
        return None


def nodes_of(graph: Any) -> list[Any]:
    """The nodes of a graph and of the graphs in their attributes."""
    found = []
    for node in graph.node:
        found.append(node)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found += nodes_of(attribute.g)
    return found


def array_of(value: Any) -> Any:
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def to_tensor(array: Any) -> lucid.Tensor:
    if array.dtype.name == "bfloat16":
        return lucid.tensor(array.astype(np.float32)).bfloat16()
    return lucid.tensor(array)


def to_array(tensor: lucid.Tensor) -> Any:
    return (tensor.float() if tensor.dtype is lucid.bfloat16 else tensor).detach().numpy()


@functools.cache
def cases() -> dict[str, Case]:
    """All node tests by name. Their random inputs are those of one seed."""
    state = np.random.get_state()  # noqa: NPY002 -- the generator of the suite
    np.random.seed(0)  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {test.name: Case(test) for test in load_model_tests(kind="node")}
    finally:
        np.random.set_state(state)  # noqa: NPY002


def family_of(case: Case) -> str | None:
    """The family of the op that a test is about. Expanded tests replace it by the nodes that define it."""
    base = cases().get(re.sub(r"_expanded(_ver\d+)?$", "", case.name), case)
    return FAMILY_OF.get(base.model.graph.node[0].op_type)
