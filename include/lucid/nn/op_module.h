#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Settings by name: `MSELoss({{"reduction", "sum"}})`.
using Settings = std::vector<std::pair<std::string, Item>>;

/// A module that applies one op of the table. Its settings are those of the op's attributes that it names; tensors of
/// the op that are no inputs are its parameters and buffers of the same names.
class OpModule : public Module {
 public:
  OpModule(Settings defaults, const Settings& given);

  Tensor forward(const Tensor& input) override;
  Item forward_with(const Arguments& arguments) override;
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  /// Checks the settings.
  void build(std::optional<Dtype>) override;

 protected:
  virtual std::string op_name() const = 0;
  /// What the op's first tensors are called in calls.
  virtual std::vector<std::string> inputs() const { return {"input"}; }
  virtual bool shows_settings() const { return true; }
  const Item& setting(std::string_view name) const;
  std::vector<Tensor> apply(const std::string& op, const std::vector<Tensor>& inputs) const;

  Settings settings_;
};

/// An OpModule for an op: Self has kName, kOp and a function defaults().
template <typename Self, typename Base = OpModule>
class OpLayer : public Layer<Self, Base> {
 public:
  explicit OpLayer(const Settings& settings = {}) : Layer<Self, Base>(Self::defaults(), settings) {}

 protected:
  std::string op_name() const override { return Self::kOp; }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
