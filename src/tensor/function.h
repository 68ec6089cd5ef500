#pragma once

#include <functional>
#include <string>

#include "tensor/node.h"
#include "tensor/snapshot.h"

namespace lucid {

/// The state of a custom function between its forward and its backward.
class FunctionContext {
 public:
  /// Saves the current values of tensors. Results among them are recognized.
  void save_for_backward(std::vector<TensorRef> tensors) { to_save_ = std::move(tensors); }
  /// The saved tensors, in order. Null entries stay null. Throws RuntimeError if they were freed.
  std::vector<TensorRef> saved_tensors() const;
  /// Whether the gradient of input i is needed.
  bool needs_input_grad(size_t i) const { return i < needed_.size() && needed_[i]; }
  const std::vector<bool>& needed() const { return needed_; }
  /// Marks results that get no gradient.
  void mark_non_differentiable(std::vector<TensorRef> tensors) { non_differentiable_ = std::move(tensors); }
  /// Whether missing gradients are passed to backward as zeros (the default) or as empty values.
  void set_materialize_grads(bool on) { materialize_ = on; }

 private:
  friend class FunctionNode;
  friend struct FunctionCall;
  std::vector<TensorRef> to_save_;
  std::vector<TensorRef> non_differentiable_;
  std::vector<bool> needed_;
  bool materialize_ = true;
  class FunctionNode* node_ = nullptr;
};

/// An operation with a custom gradient. `forward` computes without being recorded; `backward` returns one gradient for
/// each input, empty where there is none. Higher derivatives work if backward consists of recorded ops.
struct CustomFunction {
  std::string name;
  std::function<std::vector<TensorRef>(FunctionContext& context, std::span<const TensorRef> inputs)> forward;
  std::function<std::vector<TensorRef>(FunctionContext& context, std::span<const TensorRef> gradients)> backward;
  /// Creates the function for a later call that does the same; only its backward will run. Absent if backward reads
  /// anything outside the context that may differ between calls.
  std::function<CustomFunction(NodeCloner& cloner)> copy;
};

/// Null inputs stand for non-tensor arguments.
std::vector<TensorRef> apply_function(const CustomFunction& function, std::span<const TensorRef> inputs);

/// The function whose backward a node runs; null for other nodes.
const CustomFunction* custom_function_of(const GradNode& node);

}  // namespace lucid
