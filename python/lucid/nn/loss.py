"""Losses: how far an input is from a target. All take reduction='mean', 'sum' or 'none'."""

from __future__ import annotations

from .. import _effects
from .._core import Tensor
from .module import Module, layer

_effects.pure_module()


class _Loss(Module):
    """What losses have in common."""

    reduction: str


class _WeightedLoss(_Loss):
    """A loss with a buffer of weights."""

    weight: Tensor | None

    def _set_weight(self, weight: Tensor | None, name: str = "weight") -> None:
        self.register_buffer(name, weight)


@layer
class MSELoss(_Loss):
    """The mean of the squared differences.

    >>> lucid.nn.MSELoss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(5.)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class L1Loss(_Loss):
    """The mean of the absolute differences.

    >>> lucid.nn.L1Loss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(2.)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class SmoothL1Loss(_Loss):
    """Squared differences below beta, absolute ones above it.

    >>> lucid.nn.SmoothL1Loss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(1.5000)
    """

    def __init__(self, reduction: str = "mean", beta: float = 1.0) -> None:
        self._build(None, reduction=reduction, beta=beta)


@layer
class HuberLoss(_Loss):
    """Squared differences below delta, absolute ones, times delta, above it.

    >>> lucid.nn.HuberLoss()(lucid.tensor([1.0, 3.0]), lucid.zeros(2))
    tensor(1.5000)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        self._build(None, reduction=reduction, delta=delta)


@layer
class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)), targets being 1 or -1.

    >>> lucid.nn.SoftMarginLoss()(lucid.zeros(2), lucid.ones(2))
    tensor(0.6931)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class KLDivLoss(_Loss):
    """The Kullback-Leibler divergence; the input is a logarithm. reduction='batchmean' is its mean over a batch.

    >>> lucid.nn.KLDivLoss(reduction="sum")(lucid.tensor([0.5]).log(), lucid.tensor([0.5]))
    tensor(0.)
    """

    def __init__(self, reduction: str = "mean", log_target: bool = False) -> None:
        self._build(None, reduction=reduction, log_target=log_target)


@layer
class PoissonNLLLoss(_Loss):
    """The negative log likelihood of counts.

    >>> lucid.nn.PoissonNLLLoss()(lucid.zeros(2), lucid.ones(2))
    tensor(1.)
    """

    def __init__(self, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean") -> None:
        self._build(None, log_input=log_input, full=full, eps=eps, reduction=reduction)


@layer
class GaussianNLLLoss(_Loss):
    """The negative log likelihood of normal variables; called with input, target and variance.

    >>> lucid.nn.GaussianNLLLoss()(lucid.zeros(2), lucid.ones(2), lucid.ones(2))
    tensor(0.5000)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        self._build(None, full=full, eps=eps, reduction=reduction)


@layer
class BCELoss(_WeightedLoss):
    """The cross-entropy of probabilities and targets between 0 and 1.

    >>> lucid.nn.BCELoss()(lucid.full((2,), 0.5), lucid.ones(2))
    tensor(0.6931)
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, reduction=reduction)


@layer
class BCEWithLogitsLoss(_WeightedLoss):
    """The cross-entropy of sigmoid(input) and targets between 0 and 1.

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
    """The cross-entropy of softmax(input) and classes, or probabilities of classes.

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
    """The negative log likelihood of classes; the input is logarithms of probabilities.

    >>> lucid.nn.NLLLoss()(lucid.tensor([[-1.0, -2.0]]), lucid.tensor([1]))
    tensor(2.)
    """

    def __init__(self, weight: Tensor | None = None, ignore_index: int = -100, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, ignore_index=ignore_index, reduction=reduction)


@layer
class MultiMarginLoss(_WeightedLoss):
    """How much other classes come within a margin of the right one.

    >>> lucid.nn.MultiMarginLoss()(lucid.zeros(1, 2), lucid.tensor([1]))
    tensor(0.5000)
    """

    def __init__(self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, p=p, margin=margin, reduction=reduction)


@layer
class MultiLabelMarginLoss(_Loss):
    """How much wrong classes come within a margin of the right ones, which the target lists up to a -1.

    >>> lucid.nn.MultiLabelMarginLoss()(lucid.zeros(1, 2), lucid.tensor([[1, -1]]))
    tensor(0.5000)
    """

    def __init__(self, reduction: str = "mean") -> None:
        self._build(None, reduction=reduction)


@layer
class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over classes of the cross-entropy of sigmoid(input) and targets.

    >>> lucid.nn.MultiLabelSoftMarginLoss()(lucid.zeros(1, 2), lucid.ones(1, 2))
    tensor(0.6931)
    """

    def __init__(self, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self._set_weight(weight)
        self._build(None, reduction=reduction)


@layer
class HingeEmbeddingLoss(_Loss):
    """The input where the target is 1, and how much it is below the margin where it is -1.

    >>> lucid.nn.HingeEmbeddingLoss()(lucid.tensor([0.25]), lucid.tensor([-1.0]))
    tensor(0.7500)
    """

    def __init__(self, margin: float = 1.0, reduction: str = "mean") -> None:
        self._build(None, margin=margin, reduction=reduction)


@layer
class MarginRankingLoss(_Loss):
    """How much the first input fails to exceed the second, or the other way round where the target is -1.

    >>> lucid.nn.MarginRankingLoss()(lucid.zeros(1), lucid.ones(1), lucid.ones(1))
    tensor(1.)
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        self._build(None, margin=margin, reduction=reduction)


@layer
class CosineEmbeddingLoss(_Loss):
    """1 - cosine where the target is 1, and the cosine above the margin where it is -1.

    >>> lucid.nn.CosineEmbeddingLoss()(lucid.ones(1, 2), lucid.ones(1, 2), lucid.tensor([-1]))
    tensor(1.)
    """

    def __init__(self, margin: float = 0.0, reduction: str = "mean") -> None:
        self._build(None, margin=margin, reduction=reduction)


@layer
class TripletMarginLoss(_Loss):
    """How much nearer than a margin the negative is than the positive; called with anchor, positive and negative.

    >>> lucid.nn.TripletMarginLoss()(lucid.zeros(1, 2), lucid.zeros(1, 2), lucid.zeros(1, 2))
    tensor(1.)
    """

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: str = "mean"
    ) -> None:
        self._build(None, margin=margin, p=p, eps=eps, swap=swap, reduction=reduction)


@layer
class CTCLoss(_Loss):
    """The negative log likelihood of label sequences, summed over all alignments.

    >>> log_probs = lucid.zeros(2, 1, 3).log_softmax(2)
    >>> lucid.nn.CTCLoss()(log_probs, lucid.tensor([[1]]), (2,), (1,))
    tensor(1.0986)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        self._build(None, blank=blank, reduction=reduction, zero_infinity=zero_infinity)


@layer
class CosineSimilarity(Module):
    """The cosine of the angle between two tensors along a dimension.

    >>> lucid.nn.CosineSimilarity()(lucid.ones(1, 2), lucid.ones(1, 2))
    tensor([1.0000])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        self._build(None, dim=dim, eps=eps)


@layer
class PairwiseDistance(Module):
    """The p-norm of the difference along the last dimension.

    >>> lucid.nn.PairwiseDistance(eps=0.0)(lucid.ones(1, 4), lucid.zeros(1, 4))
    tensor([2.])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        self._build(None, p=p, eps=eps, keepdim=keepdim)
