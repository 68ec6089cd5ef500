#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// Base of objects that set a mode of this thread: restores the gradient mode and the inference mode.
class GradModeGuard {
 public:
  GradModeGuard(const GradModeGuard&) = delete;
  GradModeGuard& operator=(const GradModeGuard&) = delete;

 protected:
  GradModeGuard();
  ~GradModeGuard();

 private:
  bool saved_enabled_;
  bool saved_inference_;
};

/// Disables the recording of gradients on this thread for the lifetime of the object.
class NoGrad : public GradModeGuard {
 public:
  NoGrad();
};

/// Enables the recording of gradients on this thread for the lifetime of the object, also inside NoGrad.
class EnableGrad : public GradModeGuard {
 public:
  EnableGrad();
};

/// Like NoGrad, with the promise that the results are not used for gradients later. `InferenceMode(false)` disables the
/// mode.
class InferenceMode : public GradModeGuard {
 public:
  explicit InferenceMode(bool mode = true);
};

/// Whether ops on this thread are recorded.
bool grad_enabled();
/// Whether an InferenceMode is in effect on this thread.
bool inference_mode_enabled();

/// Options of grad().
struct GradOptions {
  /// Keeps the saved tensors of the graph, so that it can be differentiated again.
  bool retain_graph = false;
  /// Records the backward pass itself, so that the gradients can be differentiated. Implies retain_graph.
  bool create_graph = false;
  /// Returns an undefined tensor for inputs that the outputs do not depend on, instead of throwing RuntimeError.
  bool allow_unused = false;
};

/// The gradients of `outputs` with respect to `inputs`. `grad_outputs` holds one gradient for each output; if it is
/// empty, each output must have one element and gets the gradient 1. Does not change any Tensor::grad().
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, const GradOptions& options = {});

/// Registers a function that is called with the gradient of a tensor during backward. If it returns a defined tensor,
/// that replaces the gradient. The returned function removes the hook. Throws RuntimeError without requires_grad().
std::function<void()> register_hook(const Tensor& tensor, std::function<Tensor(const Tensor& gradient)> hook);

/// An operation with a custom gradient. Derive from it, override forward() and backward(), and call apply().
class Function {
 public:
  virtual ~Function() = default;
  /// The name in error messages.
  virtual std::string name() const { return "function"; }
  /// Computes the results. The ops that it calls are not recorded.
  virtual std::vector<Tensor> forward(const std::vector<Tensor>& inputs) = 0;
  /// Computes one gradient for each input from the gradients of the results. An undefined tensor means no gradient.
  virtual std::vector<Tensor> backward(const std::vector<Tensor>& gradients) = 0;

  /// In forward(): saves the current values of tensors for backward().
  void save_for_backward(std::vector<Tensor> tensors) { saved_ = std::move(tensors); }
  /// In backward(): the tensors that forward() saved.
  std::vector<Tensor> saved_tensors() const;

  /// Runs forward() and records the function. The function lives as long as any gradient needs it.
  static std::vector<Tensor> apply(const std::shared_ptr<Function>& function, const std::vector<Tensor>& inputs);

 private:
  std::vector<Tensor> saved_;
  std::function<std::vector<Tensor>()> unpack_;
};

}  // namespace lucid
#pragma GCC visibility pop
