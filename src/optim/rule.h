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
  /// Every option with its default (docs/decisions/0038-layers-declared-once.md). An option has the type of its
  /// default; a float may be given as an integer.
  const char* signature;
  /// Options that no constructor takes.
  Tree::Dict fixed = {};
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

/// A tensor of a parameter's state, or its gradient, does not fit the parameter. The step throws it as a ValueError
/// that names the parameter.
struct UnfitState {
  std::string reason;
};
enum class StateKind : uint8_t { kNumber, kLikeParameter, kRead };
/// Throws UnfitState unless the tensor has no dimensions, if it is a number, otherwise the parameter's shape, and,
/// unless it is only read, can be written.
void check_state(const Tensor& param, std::string_view name, const Tensor& value, StateKind kind);

/// The number in the cell of an option, which may be a tensor of one element. Throws UnfitState if it has more.
Tensor as_number(const Tensor& cell, std::string_view name);

/// Runs an op of ops/optimizer.cpp in place. `written` are its first operands (undefined if absent), which receive its
/// results; `read` are the others, the gradient first.
void apply_update(const Op& op, std::initializer_list<Tensor> written, std::initializer_list<Tensor> read,
                  const Attributes& attributes);

/// A tensor of the state, created by `make` if there is none.
template <typename Make>
Tensor state_tensor(Tree::Dict& state, const char* name, Make make) {
  if (const Tree* entry = state.find(name); entry && !entry->is_none()) return entry->as_tensor(name);
  on_setup();
  // May give up the caller's lock: another thread may have made one meanwhile.
  const Tensor made = make();
  Tree& entry = state[name];
  if (entry.is_none()) entry = made;
  return entry.as_tensor(name);
}
/// A tensor that is initially zero, with the shape of the parameter.
Tensor zeros_state(Tree::Dict& state, const char* name, const Tensor& param);
/// A 0-d tensor of the default float dtype that is initially `value`.
Tensor number_state(Tree::Dict& state, const char* name, double value);

// Checks. Messages follow "Adam: lr must be at least 0, got -1".
void require_at_least(const char* optimizer, const Options& options, const char* name, double bound);
void require_betas(const char* optimizer, const Options& options);

}  // namespace lucid::optim
