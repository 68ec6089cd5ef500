#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// A module that applies one op of the op table. Its settings are attributes of the op. Tensors of the op that are not
/// inputs are parameters and buffers of the module with the same names.
class OpModule : public Module {
 public:
  explicit OpModule(Settings settings) : settings_(std::move(settings)) {}

  Tensor forward(const Tensor& input) override;
  Tree forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  /// Validates the settings.
  void build(std::optional<Dtype>) override;

 protected:
  virtual std::string op_name() const = 0;
  /// The names of the op's first tensors in calls.
  virtual std::vector<std::string> inputs() const { return {"input"}; }
  virtual bool shows_settings() const { return true; }
  const Tree& setting(std::string_view name) const;
  std::vector<Tensor> apply(const std::string& op, const std::vector<Tensor>& inputs) const;

  Settings settings_;
};

/// An OpModule for one op. Self defines kName and kOp. The options that fields() lists are the settings; others are
/// tensors.
template <typename Self, typename Options_, typename Base = OpModule>
class OpLayer : public Layer<Self, Base> {
 public:
  using Options = Options_;
  OpLayer() : Layer<Self, Base>(settings_of(Options())) {}
  explicit OpLayer(const Options& options) : Layer<Self, Base>(settings_of(options)) {
    this->build(std::nullopt);
    if constexpr (requires { options.weight; }) this->register_buffer("weight", options.weight);
    if constexpr (requires { options.pos_weight; }) this->register_buffer("pos_weight", options.pos_weight);
  }

 protected:
  std::string op_name() const override { return Self::kOp; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
