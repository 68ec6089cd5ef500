#pragma once

#include <lucid/optim.h>

#include <initializer_list>
#include <span>
#include <string_view>

#include "ir/op.h"
#include "tensor/observer.h"

namespace lucid::optim {

/// One optimizer: its name, its options and its step.
struct Rule {
  std::string name;
  /// Every option with its default, in display order. An option has the type of its default; a float may be given as an
  /// integer.
  Tree::Dict defaults;
  /// Throws ValueError for invalid options and names them.
  void (*check)(const Options& options);
  /// Updates one parameter that has a gradient.
  void (*update)(const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) = nullptr;
  /// Replaces `update` for optimizers that work on the whole group and may call the closure again.
  Tensor (*step)(Optimizer& optimizer, const std::function<Tensor()>& closure) = nullptr;
  /// Fills the state of a parameter when it is added. Without it, state is created at the first step.
  void (*prepare)(const Options& options, const Tensor& param, Tree::Dict& state) = nullptr;
};

/// Returns null if there is no optimizer of that name.
const Rule* find_rule(std::string_view name);
std::vector<std::string> rule_names();

/// Runs an op of ops/optimizer.cpp in place. `written` are its first operands (undefined if absent), which receive its
/// results; `read` are the others.
void apply_update(const Op& op, std::initializer_list<Tensor> written, std::initializer_list<Tensor> read,
                  const Attributes& attributes);

/// A tensor of the state, created by `make` if there is none.
template <typename Make>
const Tensor& state_tensor(Tree::Dict& state, const char* name, Make make) {
  Tree& entry = state[name];
  if (entry.is_none()) {
    note_setup();
    entry = make();
  }
  return entry.as_tensor(name);
}
/// A tensor that is initially zero, with the shape of the parameter.
const Tensor& zeros_state(Tree::Dict& state, const char* name, const Tensor& param);
/// A 0-d tensor of the default float dtype that is initially `value`.
const Tensor& number_state(Tree::Dict& state, const char* name, double value);

// Checks. Messages follow "Adam: lr must be at least 0, got -1".
void require_at_least(const char* optimizer, const Options& options, const char* name, double bound);
void require_betas(const char* optimizer, const Options& options);

}  // namespace lucid::optim
