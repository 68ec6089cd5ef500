"""Loss functions. `reduction` is 'mean', 'sum' or 'none'; 'none' returns a loss per element or sample."""

from __future__ import annotations

from .. import _effects
from .._core import Tensor
from .module import Module, layer

_effects.pure_module()

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PairwiseDistance",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]


class _Loss(Module):
    """The base class of losses."""

    _inputs = "input, target"

    reduction: str


class _WeightedLoss(_Loss):
    """The base class of losses with a buffer of weights."""

    weight: Tensor | None

    def _set_weight(self, weight: Tensor | None, name: str = "weight") -> None:
        self.register_buffer(name, weight)


@layer
class MSELoss(_Loss):
    """Mean squared error: `(input - target) ** 2`.

    >>> lucid.nn.MSELoss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(5.)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class L1Loss(_Loss):
    """Mean absolute error: `|input - target|`.

    >>> lucid.nn.L1Loss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(2.)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class SmoothL1Loss(_Loss):
    """With d = |input - target|: `d ** 2 / (2 * beta)` where d is below `beta`, and `d - beta / 2` elsewhere.

    >>> lucid.nn.SmoothL1Loss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(1.5000)
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        self._build(None, reduction=reduction, beta=beta)


@layer
class HuberLoss(_Loss):
    """With d = |input - target|: `d ** 2 / 2` where d is below `delta`, and `delta * (d - delta / 2)` elsewhere.

    >>> lucid.nn.HuberLoss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(1.5000)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        self._build(None, reduction=reduction, delta=delta)


@layer
class SoftMarginLoss(_Loss):
    """Logistic loss for targets of 1 or -1: `log(1 + exp(-target * input))`.

    >>> lucid.nn.SoftMarginLoss()(lucid.zeros(2), lucid.ones(2))
    tensor(0.6931)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class KLDivLoss(_Loss):
    """Kullback-Leibler divergence. The input, and with `log_target` the target, are log-probabilities.

    The reduction 'batchmean' divides the sum by the batch size, which is the mathematical definition.

    >>> lucid.nn.KLDivLoss(reduction="sum")(lucid.tensor([0.5]).log(), lucid.tensor([0.5]))
    tensor(0.)
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        self._build(None, reduction=reduction, log_target=log_target)


@layer
class PoissonNLLLoss(_Loss):
    """Negative log-likelihood of counts under a Poisson distribution.

    Args:
        log_input: Whether the input is the logarithm of the rate.
        full: Whether to add Stirling's approximation of log(target!) for targets above 1.
        eps: Added to the rate before the logarithm, if `log_input` is false.

    >>> lucid.nn.PoissonNLLLoss()(lucid.zeros(2), lucid.ones(2))
    tensor(1.)
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        self._build(None, log_input=log_input, full=full, eps=eps, reduction=reduction)


@layer
class GaussianNLLLoss(_Loss):
    """Negative log-likelihood under normal distributions. A call takes input, target and variance.

    Args:
        full: Whether to add the constant log(2 * pi) / 2.
        eps: Lower bound of the variance.

    >>> lucid.nn.GaussianNLLLoss()(lucid.zeros(2), lucid.ones(2), lucid.ones(2))
    tensor(0.5000)
    """

    _inputs = "input, target, var"

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        self._build(None, full=full, eps=eps, reduction=reduction)


@layer
class BCELoss(_WeightedLoss):
    """Binary cross-entropy between probabilities and targets in [0, 1].

    >>> lucid.nn.BCELoss()(lucid.full((2,), 0.5), lucid.ones(2))
    tensor(0.6931)
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, reduction=reduction)


@layer
class BCEWithLogitsLoss(_WeightedLoss):
    """Binary cross-entropy between sigmoid(input) and targets in [0, 1].

    Args:
        weight: Weight of each element, broadcast to the input.
        pos_weight: Weight of the positive part of the loss.

    >>> lucid.nn.BCEWithLogitsLoss()(lucid.zeros(2), lucid.ones(2))
    tensor(0.6931)
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean", pos_weight: Tensor | None = None) -> None:
        super().__init__()
        self._set_weight(weight)
        self._set_weight(pos_weight, "pos_weight")
        self._build(None, reduction=reduction)


@layer
class CrossEntropyLoss(_WeightedLoss):
    """Cross-entropy between softmax(input) and a target.

    The input has shape (N, C) or (N, C, ...) and holds a score per class. The target holds class indices, in the
    input's shape without C, or class probabilities, in the input's shape.

    Args:
        weight: Weight of each class.
        ignore_index: A class index whose samples are left out of the loss.
        label_smoothing: Amount of the uniform distribution mixed into the target.

    >>> lucid.nn.CrossEntropyLoss()(lucid.zeros(1, 2), lucid.tensor([1]))
    tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)


@layer
class NLLLoss(_WeightedLoss):
    """Negative log-likelihood of classes. The input holds log-probabilities, the target class indices.

    Args:
        weight: Weight of each class.
        ignore_index: A class index whose samples are left out of the loss.

    >>> lucid.nn.NLLLoss()(lucid.tensor([[-1.0, -2.0]]), lucid.tensor([1]))
    tensor(2.)
    """

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, ignore_index=ignore_index, reduction=reduction)


@layer
class MultiMarginLoss(_WeightedLoss):
    """Multi-class hinge loss: the mean over the wrong classes of `max(0, margin - x[target] + x[class]) ** p`.

    >>> lucid.nn.MultiMarginLoss()(lucid.zeros(1, 2), lucid.tensor([1]))
    tensor(0.5000)
    """

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, p=p, margin=margin, reduction=reduction)


@layer
class MultiLabelMarginLoss(_Loss):
    """Multi-label hinge loss. A row of the target lists the correct classes; -1 ends the list.

    >>> lucid.nn.MultiLabelMarginLoss()(lucid.zeros(1, 2), lucid.tensor([[1, -1]]))
    tensor(0.5000)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Binary cross-entropy between sigmoid(input) and the target, averaged over the classes.

    >>> lucid.nn.MultiLabelSoftMarginLoss()(lucid.zeros(1, 2), lucid.ones(1, 2))
    tensor(0.6931)
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, reduction=reduction)


@layer
class HingeEmbeddingLoss(_Loss):
    """`x` where the target is 1, and `max(0, margin - x)` where it is -1.

    >>> lucid.nn.HingeEmbeddingLoss()(lucid.tensor([0.25]), lucid.tensor([-1.0]))
    tensor(0.7500)
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        self._build(None, margin=margin, reduction=reduction)


@layer
class MarginRankingLoss(_Loss):
    """`max(0, margin - target * (x1 - x2))`: target 1 ranks x1 above x2, target -1 below.

    >>> lucid.nn.MarginRankingLoss()(lucid.zeros(1), lucid.ones(1), lucid.ones(1))
    tensor(1.)
    """

    _inputs = "input1, input2, target"

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        self._build(None, margin=margin, reduction=reduction)


@layer
class CosineEmbeddingLoss(_Loss):
    """`1 - cos` where the target is 1, and `max(0, cos - margin)` where it is -1, for the cosine of two inputs.

    >>> lucid.nn.CosineEmbeddingLoss()(lucid.ones(1, 2), lucid.ones(1, 2), lucid.tensor([-1]))
    tensor(1.)
    """

    _inputs = "input1, input2, target"

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        self._build(None, margin=margin, reduction=reduction)


@layer
class TripletMarginLoss(_Loss):
    """`max(0, d(anchor, positive) - d(anchor, negative) + margin)`, where d is the p-norm distance.

    A call takes anchor, positive and negative. With `swap`, the smaller of d(anchor, negative) and
    d(positive, negative) is used.

    >>> lucid.nn.TripletMarginLoss()(lucid.zeros(1, 2), lucid.zeros(1, 2), lucid.zeros(1, 2))
    tensor(1.)
    """

    _inputs = "anchor, positive, negative"

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: str = "mean"
    ) -> None:
        self._build(None, margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)


@layer
class CTCLoss(_Loss):
    """Connectionist temporal classification: negative log-likelihood of label sequences, summed over all alignments.

    A call takes log_probs (T, N, C), targets, input_lengths and target_lengths.

    Args:
        blank: The index of the blank label.
        zero_infinity: Whether to set infinite losses, and their gradients, to zero.

    >>> log_probs = lucid.zeros(2, 1, 3).log_softmax(2)
    >>> lucid.nn.CTCLoss()(log_probs, lucid.tensor([[1]]), (2,), (1,))
    tensor(1.0986)
    """

    _inputs = "log_probs, targets, input_lengths, target_lengths"

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        self._build(None, blank=blank, reduction=reduction, zero_infinity=zero_infinity)


@layer
class CosineSimilarity(Module):
    """Computes the cosine of the angle between two tensors along dimension `dim`.

    >>> lucid.nn.CosineSimilarity()(lucid.ones(1, 2), lucid.ones(1, 2))
    tensor([1.0000])
    """

    _inputs = "x1, x2"

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self._build(None, dim=dim, eps=eps)


@layer
class PairwiseDistance(Module):
    """Computes the p-norm of `x1 - x2 + eps` along the last dimension.

    >>> lucid.nn.PairwiseDistance(eps=0.0)(lucid.ones(1, 4), lucid.zeros(1, 4))
    tensor([2.])
    """

    _inputs = "x1, x2"

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self._build(None, p=p, eps=eps, keepdim=keepdim)
