#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/lowering.h"
#include "loop/builder.h"

namespace lucid {

/// The state that a reduction carries: one value, or a value and its index for argmax and argmin. All scalar or all
/// vector.
using ReduceState = std::vector<loop::Value>;

/// The arithmetic of a reduction: the identity, and how two partial results are combined.
class Reducer {
 public:
  /// `element` is the dtype in which elements are combined.
  Reducer(loop::Builder& builder, Combine combine, Dtype element)
      : builder_(builder), combine_(combine), element_(element) {}

  std::vector<Dtype> dtypes() const;
  /// The partial result of no elements, as vectors.
  ReduceState identity() const;
  /// Combines two partial results; later elements are on the right.
  ReduceState combine(const ReduceState& left, const ReduceState& right) const;
  /// `next` in the lanes of the mask, `previous` elsewhere; an empty mask means everywhere.
  ReduceState select(loop::Value mask, const ReduceState& next, const ReduceState& previous) const;
  /// Folds the lanes of a vector state: j with j + 8, then j + 4, j + 2, j + 1.
  ReduceState fold(const ReduceState& state) const;

 private:
  ReduceState best(const ReduceState& left, const ReduceState& right) const;

  loop::Builder& builder_;
  Combine combine_;
  Dtype element_;
};

/// Combines partial results pairwise, the way a binary counter carries: after c pushes, one slot is in use for each bit
/// of c. The slots are in scratch memory. A state may be several vectors wide.
class CarryStack {
 public:
  CarryStack(loop::Builder& builder, const Reducer& reducer, int levels, int width);

  /// Pushes the states of a group of 2^level blocks. `count` groups of this size were pushed before it, and no smaller
  /// ones since.
  void push(std::span<const ReduceState> states, loop::Value count, int level);
  /// Combines everything that was pushed, `count` blocks in total, from the smallest slot to the largest. `first`, if
  /// not empty, comes before the smallest slot where `has_first` holds.
  std::vector<ReduceState> finish(loop::Value count, loop::Value levels, std::span<const ReduceState> first = {},
                                  loop::Value has_first = {});
  /// The states in one slot.
  std::vector<ReduceState> slot(loop::Value level);

 private:
  void store(loop::Value level, std::span<const ReduceState> states);

  loop::Builder& builder_;
  const Reducer& reducer_;
  int width_;
  std::vector<loop::BufferRef> buffers_;  // one for each component of the state
};

}  // namespace lucid
