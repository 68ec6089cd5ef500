#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// While one lives, ops of this thread are not recorded for gradients.
class NoGrad {
 public:
  NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;
  ~NoGrad();

 private:
  bool saved_;
};

/// While one lives, ops of this thread are recorded, also inside NoGrad.
class EnableGrad {
 public:
  EnableGrad();
  EnableGrad(const EnableGrad&) = delete;
  EnableGrad& operator=(const EnableGrad&) = delete;
  ~EnableGrad();

 private:
  bool saved_;
};

bool grad_enabled();

/// How to differentiate: `retain_graph` keeps what was saved for another pass, `create_graph` records the pass itself,
/// so that gradients can be differentiated again.
struct GradOptions {
  bool retain_graph = false;
  bool create_graph = false;
  bool allow_unused = false;
};

/// The gradients of `outputs` with respect to `inputs`, weighted by `grad_outputs` (none: 1 for outputs of one
/// element).
std::vector<Tensor> grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& grad_outputs = {}, const GradOptions& options = {});

/// Calls a function with the gradient of a tensor during backward; what it returns, if anything, replaces the gradient.
/// The returned function removes the hook.
std::function<void()> register_hook(const Tensor& tensor, std::function<Tensor(const Tensor& gradient)> hook);

/// An operation with a gradient of its own. Derive from it and call apply().
class Function {
 public:
  virtual ~Function() = default;
  virtual std::string name() const { return "function"; }
  /// Computes the results. Not recorded.
  virtual std::vector<Tensor> forward(const std::vector<Tensor>& inputs) = 0;
  /// One gradient for each input; none where there is none.
  virtual std::vector<Tensor> backward(const std::vector<Tensor>& gradients) = 0;

  /// In forward: keeps tensors for backward, as they are now.
  void save_for_backward(std::vector<Tensor> tensors) { saved_ = std::move(tensors); }
  /// In backward: what was kept.
  std::vector<Tensor> saved_tensors() const;

  /// Runs a function. It lives until the last gradient that needs it.
  static std::vector<Tensor> apply(const std::shared_ptr<Function>& function, const std::vector<Tensor>& inputs);

 private:
  std::vector<Tensor> saved_;
  std::function<std::vector<Tensor>()> unpack_;
};

}  // namespace lucid
#pragma GCC visibility pop
