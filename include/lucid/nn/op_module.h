#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Settings by name: `MSELoss({{"reduction", "sum"}})`.
using Settings = std::vector<std::pair<std::string, Item>>;

/// A module that applies one op of the op table. Its settings are attributes of the op. Tensors of the op that are not
/// inputs are parameters and buffers of the module with the same names.
class OpModule : public Module {
 public:
  OpModule(Settings defaults, const Settings& given);

  Tensor forward(const Tensor& input) override;
  Item forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  /// Validates the settings.
  void build(std::optional<Dtype>) override;

 protected:
  virtual std::string op_name() const = 0;
  /// The names of the op's first tensors in calls.
  virtual std::vector<std::string> inputs() const { return {"input"}; }
  virtual bool shows_settings() const { return true; }
  const Item& setting(std::string_view name) const;
  std::vector<Tensor> apply(const std::string& op, const std::vector<Tensor>& inputs) const;

  Settings settings_;
};

/// An OpModule for one op. Self defines kName, kOp and defaults().
template <typename Self, typename Base = OpModule>
class OpLayer : public Layer<Self, Base> {
 public:
  explicit OpLayer(const Settings& settings = {}) : Layer<Self, Base>(Self::defaults(), settings) {}

 protected:
  std::string op_name() const override { return Self::kOp; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
