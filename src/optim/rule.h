#pragma once

#include <lucid/optim.h>

#include <initializer_list>
#include <span>
#include <string_view>

#include "ir/op.h"
#include "tensor/observer.h"

namespace lucid::optim {

/// One optimizer: what it is called, what can be chosen, and how it moves parameters.
struct Rule {
  std::string name;
  /// Every option with its default, in the order in which they are shown. An option is of its default's kind; a float
  /// may be given as an integer.
  Tree::Dict defaults;
  /// Throws ValueError for options that make no sense, naming them.
  void (*check)(const Options& options);
  /// Updates one parameter that has a gradient.
  void (*update)(const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) = nullptr;
  /// For optimizers that look at the whole group, and may call the closure again. Instead of `update`.
  Tensor (*step)(Optimizer& optimizer, const std::function<Tensor()>& closure) = nullptr;
  /// Fills the state of a new parameter when the optimizer is made, where others do so at the first step.
  void (*prepare)(const Options& options, const Tensor& param, Tree::Dict& state) = nullptr;
};

/// Null when there is none of that name.
const Rule* find_rule(std::string_view name);
std::vector<std::string> rule_names();

/// Runs an op of ops/optimizer.cpp: `written`, its first operands (undefined where absent), get its results; `read` are
/// the others.
void apply_update(const Op& op, std::initializer_list<Tensor> written, std::initializer_list<Tensor> read,
                  const Attributes& attributes);

/// A tensor of the state; made by `make` if there is none.
template <typename Make>
const Tensor& state_tensor(Tree::Dict& state, const char* name, Make make) {
  Tree& entry = state[name];
  if (entry.is_none()) {
    note_setup();
    entry = make();
  }
  return entry.as_tensor(name);
}
/// Zeros of the parameter's shape.
const Tensor& zeros_state(Tree::Dict& state, const char* name, const Tensor& param);
/// A number, 0-d of the default float dtype.
const Tensor& number_state(Tree::Dict& state, const char* name, double value);

// Checks. Messages follow "Adam: lr must be at least 0, got -1".
void require_at_least(const char* optimizer, const Options& options, const char* name, double bound);
void require_betas(const char* optimizer, const Options& options);

}  // namespace lucid::optim
