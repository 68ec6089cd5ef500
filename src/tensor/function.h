#pragma once

#include <functional>
#include <string>

#include "tensor/node.h"
#include "tensor/snapshot.h"

namespace lucid {

/// What a custom function keeps between its forward and its backward.
class FunctionContext {
 public:
  /// Keeps tensors as they are now. Those among the results are recognised as such.
  void save_for_backward(std::vector<TensorRef> tensors) { to_save_ = std::move(tensors); }
  /// The saved tensors, in order; throws RuntimeError when they were freed. Null entries stay null.
  std::vector<TensorRef> saved_tensors() const;
  /// Whether the gradient of input i is wanted.
  bool needs_input_grad(size_t i) const { return i < needed_.size() && needed_[i]; }
  const std::vector<bool>& needed() const { return needed_; }
  /// Results for which no gradient is computed.
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

/// Operations with a gradient of their own: `forward` computes without being recorded, `backward` returns one gradient
/// for each input, empty where there is none. Gradients of the gradient work if backward is made of recorded ops.
struct CustomFunction {
  std::string name;
  std::function<std::vector<TensorRef>(FunctionContext& context, std::span<const TensorRef> inputs)> forward;
  std::function<std::vector<TensorRef>(FunctionContext& context, std::span<const TensorRef> gradients)> backward;
  /// Makes the function of another call that did the same; only its backward will run. Absent where what backward reads
  /// besides the context may differ from call to call.
  std::function<CustomFunction(NodeCloner& cloner)> copy;
};

/// Null inputs stand for arguments that are no tensors.
std::vector<TensorRef> apply_function(const CustomFunction& function, std::span<const TensorRef> inputs);

/// The function whose backward a node runs; null for other nodes.
const CustomFunction* custom_function_of(const GradNode& node);

}  // namespace lucid
