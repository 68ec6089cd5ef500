#pragma once

#include "lucid/nn/op_module.h"
#include "lucid/nn/options/loss.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// A loss: the distance of an input from a target. `reduction` is "mean", "sum" or "none"; "none" returns one number
/// for each element. inputs() names the tensors that a loss is called with.
class Loss : public OpModule {
 public:
  using OpModule::forward;
  using OpModule::OpModule;
  Tensor forward(const Tensor& input, const Tensor& target) { return apply(op_name(), {input, target}).front(); }

 protected:
  std::vector<std::string> inputs() const override { return {"input", "target"}; }
  bool shows_settings() const override { return false; }
};

/// A loss with weights for classes or elements, stored as the buffer "weight".
class WeightedLoss : public Loss {
 public:
  using Loss::Loss;
  /// Sets the weights. An undefined tensor means equal weights.
  void set_weight(const Tensor& weight) { register_buffer("weight", weight); }
  void build(std::optional<Dtype> dtype) override;
};

/// The squared error (x - target) ** 2.
class MSELoss : public OpLayer<MSELoss, LossOptions, Loss> {
 public:
  static constexpr const char* kName = "MSELoss";
  static constexpr const char* kSignature = "(reduction: str = 'mean')";
  static constexpr const char* kOp = "mse_loss";
  using OpLayer::OpLayer;
};
/// The absolute error |x - target|.
class L1Loss : public OpLayer<L1Loss, LossOptions, Loss> {
 public:
  static constexpr const char* kName = "L1Loss";
  static constexpr const char* kSignature = MSELoss::kSignature;
  static constexpr const char* kOp = "l1_loss";
  using OpLayer::OpLayer;
};
/// d ** 2 / (2 * beta) where d = |x - target| is below beta, and d - beta / 2 elsewhere.
class SmoothL1Loss : public OpLayer<SmoothL1Loss, SmoothL1LossOptions, Loss> {
 public:
  static constexpr const char* kName = "SmoothL1Loss";
  static constexpr const char* kSignature = "(reduction: str = 'mean', beta: float = 1.0)";
  static constexpr const char* kOp = "smooth_l1_loss";
  using OpLayer::OpLayer;
};
/// d ** 2 / 2 where d = |x - target| is below delta, and delta * (d - delta / 2) elsewhere.
class HuberLoss : public OpLayer<HuberLoss, HuberLossOptions, Loss> {
 public:
  static constexpr const char* kName = "HuberLoss";
  static constexpr const char* kSignature = "(reduction: str = 'mean', delta: float = 1.0)";
  static constexpr const char* kOp = "huber_loss";
  using OpLayer::OpLayer;
};
/// log(1 + exp(-target * x)), for targets 1 and -1.
class SoftMarginLoss : public OpLayer<SoftMarginLoss, LossOptions, Loss> {
 public:
  static constexpr const char* kName = "SoftMarginLoss";
  static constexpr const char* kSignature = MSELoss::kSignature;
  static constexpr const char* kOp = "soft_margin_loss";
  using OpLayer::OpLayer;
};
/// The Kullback-Leibler divergence target * (log(target) - x), for log probabilities x. `log_target` means that the
/// target holds log probabilities too. The reduction "batchmean" divides the sum by the batch size.
class KLDivLoss : public OpLayer<KLDivLoss, KLDivLossOptions, Loss> {
 public:
  static constexpr const char* kName = "KLDivLoss";
  static constexpr const char* kSignature = "(reduction: str = 'mean', log_target: bool = False)";
  static constexpr const char* kOp = "kl_div";
  using OpLayer::OpLayer;
};
/// The negative log likelihood of targets with a Poisson distribution: exp(x) - target * x, or x - target * log(x +
/// eps) without `log_input`. `full` adds Stirling's approximation of log(target!).
class PoissonNLLLoss : public OpLayer<PoissonNLLLoss, PoissonNLLLossOptions, Loss> {
 public:
  static constexpr const char* kName = "PoissonNLLLoss";
  static constexpr const char* kSignature =
      "(log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = 'mean')";
  static constexpr const char* kOp = "poisson_nll_loss";
  using OpLayer::OpLayer;
};
/// The negative log likelihood of targets with a normal distribution of mean x and variance `var`, which is at least
/// eps. `full` adds the constant term.
class GaussianNLLLoss : public OpLayer<GaussianNLLLoss, GaussianNLLLossOptions, Loss> {
 public:
  static constexpr const char* kName = "GaussianNLLLoss";
  static constexpr const char* kSignature = "(*, full: bool = False, eps: float = 1e-6, reduction: str = 'mean')";
  static constexpr const char* kOp = "gaussian_nll_loss";
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"input", "target", "var"}; }
};
/// The binary cross entropy of probabilities x. Logarithms are clamped to at least -100.
class BCELoss : public OpLayer<BCELoss, WeightedLossOptions, WeightedLoss> {
 public:
  static constexpr const char* kName = "BCELoss";
  static constexpr const char* kSignature = "(weight: tensor? = None, reduction: str = 'mean')";
  static constexpr const char* kOp = "binary_cross_entropy";
  using OpLayer::OpLayer;
};
/// The binary cross entropy of sigmoid(x), without overflow. The buffer "pos_weight" weights positive targets.
class BCEWithLogitsLoss : public OpLayer<BCEWithLogitsLoss, BCEWithLogitsLossOptions, WeightedLoss> {
 public:
  static constexpr const char* kName = "BCEWithLogitsLoss";
  static constexpr const char* kSignature =
      "(weight: tensor? = None, reduction: str = 'mean', pos_weight: tensor? = None)";
  static constexpr const char* kOp = "binary_cross_entropy_with_logits";
  using OpLayer::OpLayer;
  void build(std::optional<Dtype> dtype) override;
};
/// The cross entropy of softmax(x). The target holds class indices, or probabilities of all classes. Targets equal to
/// `ignore_index` do not count.
class CrossEntropyLoss : public OpLayer<CrossEntropyLoss, CrossEntropyLossOptions, WeightedLoss> {
 public:
  static constexpr const char* kName = "CrossEntropyLoss";
  static constexpr const char* kSignature =
      "(weight: tensor? = None, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0)";
  static constexpr const char* kOp = "cross_entropy";
  using OpLayer::OpLayer;
};
/// The negative log likelihood: minus x at the target class, for log probabilities x. Targets equal to `ignore_index`
/// do not count.
class NLLLoss : public OpLayer<NLLLoss, NLLLossOptions, WeightedLoss> {
 public:
  static constexpr const char* kName = "NLLLoss";
  static constexpr const char* kSignature =
      "(weight: tensor? = None, ignore_index: int = -100, reduction: str = 'mean')";
  static constexpr const char* kOp = "nll_loss";
  using OpLayer::OpLayer;
};
/// The mean over the classes of max(0, margin - x[target] + x[class]) ** p, without the target class.
class MultiMarginLoss : public OpLayer<MultiMarginLoss, MultiMarginLossOptions, WeightedLoss> {
 public:
  static constexpr const char* kName = "MultiMarginLoss";
  static constexpr const char* kSignature =
      "(p: int = 1, margin: float = 1.0, weight: tensor? = None, reduction: str = 'mean')";
  static constexpr const char* kOp = "multi_margin_loss";
  using OpLayer::OpLayer;
};
/// The sum of max(0, 1 - x[i] + x[j]) over all target classes i and other classes j, divided by the number of classes.
/// Targets are the class indices before the first -1.
class MultiLabelMarginLoss : public OpLayer<MultiLabelMarginLoss, LossOptions, Loss> {
 public:
  static constexpr const char* kName = "MultiLabelMarginLoss";
  static constexpr const char* kSignature = MSELoss::kSignature;
  static constexpr const char* kOp = "multilabel_margin_loss";
  using OpLayer::OpLayer;
};
/// The mean over the classes of the binary cross entropy of sigmoid(x).
class MultiLabelSoftMarginLoss : public OpLayer<MultiLabelSoftMarginLoss, WeightedLossOptions, WeightedLoss> {
 public:
  static constexpr const char* kName = "MultiLabelSoftMarginLoss";
  static constexpr const char* kSignature = BCELoss::kSignature;
  static constexpr const char* kOp = "multilabel_soft_margin_loss";
  using OpLayer::OpLayer;
};
/// x where the target is 1, and max(0, margin - x) where it is -1.
class HingeEmbeddingLoss : public OpLayer<HingeEmbeddingLoss, HingeEmbeddingLossOptions, Loss> {
 public:
  static constexpr const char* kName = "HingeEmbeddingLoss";
  static constexpr const char* kSignature = "(margin: float = 1.0, reduction: str = 'mean')";
  static constexpr const char* kOp = "hinge_embedding_loss";
  using OpLayer::OpLayer;
};
/// max(0, margin - target * (input1 - input2)). Target 1 means that input1 should be larger, -1 that input2 should.
class MarginRankingLoss : public OpLayer<MarginRankingLoss, MarginRankingLossOptions, Loss> {
 public:
  static constexpr const char* kName = "MarginRankingLoss";
  static constexpr const char* kSignature = "(margin: float = 0.0, reduction: str = 'mean')";
  static constexpr const char* kOp = "margin_ranking_loss";
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"input1", "input2", "target"}; }
};
/// 1 - c where the target is 1, and max(0, c - margin) where it is -1, for the cosine similarity c.
class CosineEmbeddingLoss : public OpLayer<CosineEmbeddingLoss, CosineEmbeddingLossOptions, Loss> {
 public:
  static constexpr const char* kName = "CosineEmbeddingLoss";
  static constexpr const char* kSignature = MarginRankingLoss::kSignature;
  static constexpr const char* kOp = "cosine_embedding_loss";
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"input1", "input2", "target"}; }
};
/// max(0, margin + d(anchor, positive) - d(anchor, negative)), where d is the pairwise distance. With `swap`,
/// d(positive, negative) is used instead of d(anchor, negative) where it is smaller.
class TripletMarginLoss : public OpLayer<TripletMarginLoss, TripletMarginLossOptions, Loss> {
 public:
  static constexpr const char* kName = "TripletMarginLoss";
  static constexpr const char* kSignature =
      "(margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, reduction: str = 'mean')";
  static constexpr const char* kOp = "triplet_margin_loss";
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"anchor", "positive", "negative"}; }
};
/// Connectionist temporal classification. Called with log_probs, targets, input_lengths and target_lengths; the lengths
/// are tensors or tuples.
class CTCLoss : public OpLayer<CTCLoss, CTCLossOptions, Loss> {
 public:
  static constexpr const char* kName = "CTCLoss";
  static constexpr const char* kSignature = "(blank: int = 0, reduction: str = 'mean', zero_infinity: bool = False)";
  static constexpr const char* kOp = "ctc_loss";
  using OpLayer::OpLayer;
  Tree forward_with(const Arguments& arguments) override;

 protected:
  std::vector<std::string> inputs() const override {
    return {"log_probs", "targets", "input_lengths", "target_lengths"};
  }
};
/// The cosine of the angle between vectors along `dim`.
class CosineSimilarity : public OpLayer<CosineSimilarity, CosineSimilarityOptions> {
 public:
  static constexpr const char* kName = "CosineSimilarity";
  static constexpr const char* kSignature = "(dim: int = 1, eps: float = 1e-8)";
  static constexpr const char* kOp = "cosine_similarity";
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"x1", "x2"}; }
  bool shows_settings() const override { return false; }
};
/// The p-norm of x1 - x2 + eps along the last dimension.
class PairwiseDistance : public OpLayer<PairwiseDistance, PairwiseDistanceOptions> {
 public:
  static constexpr const char* kName = "PairwiseDistance";
  static constexpr const char* kSignature = "(p: float = 2.0, eps: float = 1e-6, keepdim: bool = False)";
  static constexpr const char* kOp = "pairwise_distance";
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"x1", "x2"}; }
  bool shows_settings() const override { return false; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
