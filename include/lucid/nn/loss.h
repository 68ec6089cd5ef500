#pragma once

#include "lucid/nn/op_module.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// A number, or one for each element with reduction "none", that says how far an input is from a target. Modules are
/// called with the tensors that `kInputs` names; `reduction` is "mean", "sum" or "none".
class Loss : public OpModule {
 public:
  using OpModule::forward;
  using OpModule::OpModule;
  Tensor forward(const Tensor& input, const Tensor& target) { return apply(op_name(), {input, target}).front(); }

 protected:
  std::vector<std::string> inputs() const override { return {"input", "target"}; }
  bool shows_settings() const override { return false; }
};

/// A loss with weights for classes or elements, kept as a buffer.
class WeightedLoss : public Loss {
 public:
  using Loss::Loss;
  /// Sets the weights; none for all equal.
  void set_weight(const Tensor& weight) { register_buffer("weight", weight); }
  void build(std::optional<Dtype> dtype) override;
};

class MSELoss : public OpLayer<MSELoss, Loss> {
 public:
  static constexpr const char* kName = "MSELoss";
  static constexpr const char* kOp = "mse_loss";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class L1Loss : public OpLayer<L1Loss, Loss> {
 public:
  static constexpr const char* kName = "L1Loss";
  static constexpr const char* kOp = "l1_loss";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class SmoothL1Loss : public OpLayer<SmoothL1Loss, Loss> {
 public:
  static constexpr const char* kName = "SmoothL1Loss";
  static constexpr const char* kOp = "smooth_l1_loss";
  static Settings defaults() { return {{"reduction", "mean"}, {"beta", 1.0}}; }
  using OpLayer::OpLayer;
};
class HuberLoss : public OpLayer<HuberLoss, Loss> {
 public:
  static constexpr const char* kName = "HuberLoss";
  static constexpr const char* kOp = "huber_loss";
  static Settings defaults() { return {{"reduction", "mean"}, {"delta", 1.0}}; }
  using OpLayer::OpLayer;
};
class SoftMarginLoss : public OpLayer<SoftMarginLoss, Loss> {
 public:
  static constexpr const char* kName = "SoftMarginLoss";
  static constexpr const char* kOp = "soft_margin_loss";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class KLDivLoss : public OpLayer<KLDivLoss, Loss> {
 public:
  static constexpr const char* kName = "KLDivLoss";
  static constexpr const char* kOp = "kl_div";
  static Settings defaults() { return {{"reduction", "mean"}, {"log_target", false}}; }
  using OpLayer::OpLayer;
};
class PoissonNLLLoss : public OpLayer<PoissonNLLLoss, Loss> {
 public:
  static constexpr const char* kName = "PoissonNLLLoss";
  static constexpr const char* kOp = "poisson_nll_loss";
  static Settings defaults() { return {{"log_input", true}, {"full", false}, {"eps", 1e-8}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class GaussianNLLLoss : public OpLayer<GaussianNLLLoss, Loss> {
 public:
  static constexpr const char* kName = "GaussianNLLLoss";
  static constexpr const char* kOp = "gaussian_nll_loss";
  static Settings defaults() { return {{"full", false}, {"eps", 1e-6}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"input", "target", "var"}; }
};
class BCELoss : public OpLayer<BCELoss, WeightedLoss> {
 public:
  static constexpr const char* kName = "BCELoss";
  static constexpr const char* kOp = "binary_cross_entropy";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class BCEWithLogitsLoss : public OpLayer<BCEWithLogitsLoss, WeightedLoss> {
 public:
  static constexpr const char* kName = "BCEWithLogitsLoss";
  static constexpr const char* kOp = "binary_cross_entropy_with_logits";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
  void build(std::optional<Dtype> dtype) override;
};
class CrossEntropyLoss : public OpLayer<CrossEntropyLoss, WeightedLoss> {
 public:
  static constexpr const char* kName = "CrossEntropyLoss";
  static constexpr const char* kOp = "cross_entropy";
  static Settings defaults() { return {{"ignore_index", -100}, {"reduction", "mean"}, {"label_smoothing", 0.0}}; }
  using OpLayer::OpLayer;
};
class NLLLoss : public OpLayer<NLLLoss, WeightedLoss> {
 public:
  static constexpr const char* kName = "NLLLoss";
  static constexpr const char* kOp = "nll_loss";
  static Settings defaults() { return {{"ignore_index", -100}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class MultiMarginLoss : public OpLayer<MultiMarginLoss, WeightedLoss> {
 public:
  static constexpr const char* kName = "MultiMarginLoss";
  static constexpr const char* kOp = "multi_margin_loss";
  static Settings defaults() { return {{"p", 1}, {"margin", 1.0}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class MultiLabelMarginLoss : public OpLayer<MultiLabelMarginLoss, Loss> {
 public:
  static constexpr const char* kName = "MultiLabelMarginLoss";
  static constexpr const char* kOp = "multilabel_margin_loss";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class MultiLabelSoftMarginLoss : public OpLayer<MultiLabelSoftMarginLoss, WeightedLoss> {
 public:
  static constexpr const char* kName = "MultiLabelSoftMarginLoss";
  static constexpr const char* kOp = "multilabel_soft_margin_loss";
  static Settings defaults() { return {{"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class HingeEmbeddingLoss : public OpLayer<HingeEmbeddingLoss, Loss> {
 public:
  static constexpr const char* kName = "HingeEmbeddingLoss";
  static constexpr const char* kOp = "hinge_embedding_loss";
  static Settings defaults() { return {{"margin", 1.0}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;
};
class MarginRankingLoss : public OpLayer<MarginRankingLoss, Loss> {
 public:
  static constexpr const char* kName = "MarginRankingLoss";
  static constexpr const char* kOp = "margin_ranking_loss";
  static Settings defaults() { return {{"margin", 0.0}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"input1", "input2", "target"}; }
};
class CosineEmbeddingLoss : public OpLayer<CosineEmbeddingLoss, Loss> {
 public:
  static constexpr const char* kName = "CosineEmbeddingLoss";
  static constexpr const char* kOp = "cosine_embedding_loss";
  static Settings defaults() { return {{"margin", 0.0}, {"reduction", "mean"}}; }
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"input1", "input2", "target"}; }
};
class TripletMarginLoss : public OpLayer<TripletMarginLoss, Loss> {
 public:
  static constexpr const char* kName = "TripletMarginLoss";
  static constexpr const char* kOp = "triplet_margin_loss";
  static Settings defaults() {
    return {{"margin", 1.0}, {"p", 2.0}, {"eps", 1e-6}, {"swap", false}, {"reduction", "mean"}};
  }
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"anchor", "positive", "negative"}; }
};
/// Called with log_probs, targets, input_lengths and target_lengths, the lengths being tensors or tuples.
class CTCLoss : public OpLayer<CTCLoss, Loss> {
 public:
  static constexpr const char* kName = "CTCLoss";
  static constexpr const char* kOp = "ctc_loss";
  static Settings defaults() { return {{"blank", 0}, {"reduction", "mean"}, {"zero_infinity", false}}; }
  using OpLayer::OpLayer;
  Item forward_with(const Arguments& arguments) override;

 protected:
  std::vector<std::string> inputs() const override {
    return {"log_probs", "targets", "input_lengths", "target_lengths"};
  }
};
class CosineSimilarity : public OpLayer<CosineSimilarity> {
 public:
  static constexpr const char* kName = "CosineSimilarity";
  static constexpr const char* kOp = "cosine_similarity";
  static Settings defaults() { return {{"dim", 1}, {"eps", 1e-8}}; }
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"x1", "x2"}; }
  bool shows_settings() const override { return false; }
};
class PairwiseDistance : public OpLayer<PairwiseDistance> {
 public:
  static constexpr const char* kName = "PairwiseDistance";
  static constexpr const char* kOp = "pairwise_distance";
  static Settings defaults() { return {{"p", 2.0}, {"eps", 1e-6}, {"keepdim", false}}; }
  using OpLayer::OpLayer;

 protected:
  std::vector<std::string> inputs() const override { return {"x1", "x2"}; }
  bool shows_settings() const override { return false; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
