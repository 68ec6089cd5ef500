#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "tensor/tensor_impl.h"

/// Recording and compiling calls.
namespace lucid::jit {

/// A view of a cell at one version of its contents.
struct TracedView {
  /// Index in Trace::cells, which are in the order in which the call first used them.
  int32_t cell = -1;
  /// How many recorded writes to the cell came before.
  int32_t version = 0;
  Dtype dtype = Dtype::kF32;
  Geometry geometry;
};

/// An operand of a recorded call: a tensor, a number, or neither. A traced number is one that the plan is given.
struct TracedOperand {
  std::optional<TracedView> view;
  std::optional<Scalar> number;
};

/// One op that ran, or the move of a snapshot to memory of its own.
struct Event {
  enum class Kind : uint8_t {
    kComputed,  // the results are new cells
    kViewed,    // the result is another view of the operand's cell
    kWritten,   // the results replace the contents of existing cells
    kMoved,     // the result, a new cell, holds the operand's contents; no op
  };
  Kind kind = Kind::kComputed;
  const Op* op = nullptr;
  std::vector<TracedOperand> operands;
  Attributes attributes;
  std::vector<TracedView> results;
  std::string source;
};

/// A buffer that the call used.
struct TracedCell {
  /// If the cell existed before the call: the cell, and the handle through which the call first used it.
  Ref<Cell> outside;
  TensorRef handle;
  /// If the host filled the cell during the call: its contents before anything was recorded on it.
  Ref<Storage> constant;
  Dtype dtype = Dtype::kF32;
  SymInt bytes = 0;
  Device device;
  int32_t version = 0;
  /// Whether its contents are known: from before the call, from an event, or as a constant.
  bool is_defined = false;
};

/// Values of a tensor that the call read. Calls that would read others may take another course.
struct ValueGuard {
  /// A cell that holds a copy of what was read.
  int32_t cell = -1;
  /// What was read, as bytes.
  std::string expected;
  bool operator==(const ValueGuard&) const = default;
};

/// The obstacle of a recording or compile that ran out of memory. Unlike other obstacles it is temporary: the next call
/// may be recorded again.
inline constexpr std::string_view kOutOfMemory = "out of memory";

/// Everything that was recorded of one call.
struct Trace {
  /// Shared with the compile task. Constant once the recording has ended.
  std::shared_ptr<std::vector<Event>> events = std::make_shared<std::vector<Event>>();
  std::vector<TracedCell> cells;
  /// In the order of reading.
  std::vector<ValueGuard> guards;
  /// Why the call cannot be compiled; empty if it can.
  std::string obstacle;
  /// The call created state that later calls reuse, so it is not typical of them. The C++ front records a later call
  /// instead. The Python front learns the same from its guards, which differ after the call.
  bool sets_up = false;
};

}  // namespace lucid::jit
