#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "tensor/tensor_impl.h"

/// What a call did to tensors, as it was seen.
namespace lucid::jit {

/// Some elements of a cell as they were after so many writes to it. Cells are numbered in the order they were met.
struct Place {
  int32_t cell = -1;
  int32_t version = 0;
  Dtype dtype = Dtype::kF32;
  Geometry geometry;
};

/// An operand of a recorded call: a place, a number, or nothing.
struct TracedOperand {
  std::optional<Place> place;
  std::optional<Scalar> number;
};

/// One op that ran, or the moving of a snapshot.
struct Event {
  enum class Kind : uint8_t {
    kComputed,  // the results are new cells
    kViewed,    // the result is another look at the operand's cell
    kWritten,   // the results replace what was there
    kMoved,     // the result, a new cell, holds what the operand did; no op
  };
  Kind kind = Kind::kComputed;
  const Op* op = nullptr;
  std::vector<TracedOperand> operands;
  Attributes attributes;
  std::vector<Place> results;
  std::string source;
};

/// A buffer that the call touched.
struct TracedCell {
  /// Of a cell that existed before the call: itself, and the handle through which it was met.
  Ref<Cell> outside;
  TensorRef handle;
  /// Of one that was filled by the host during the call: what it held before anything was recorded on it.
  Ref<Storage> constant;
  Dtype dtype = Dtype::kF32;
  size_t bytes = 0;
  int32_t version = 0;
  /// An event says what it holds.
  bool is_defined = false;
};

/// The obstacle of a recording or a compile for which there was no memory. Unlike others it does not last: the next
/// call may be recorded again.
inline constexpr std::string_view kOutOfMemory = "out of memory";

/// Everything that was recorded of one call.
struct Trace {
  /// Shared with those who make plans of it; they change no more once the recording has ended.
  std::shared_ptr<std::vector<Event>> events = std::make_shared<std::vector<Event>>();
  std::vector<TracedCell> cells;
  /// Why no plan can be made of it; empty if one can.
  std::string obstacle;
  /// The call made something that later calls find: not this call but a later one shows what they do.
  bool sets_up = false;
};

}  // namespace lucid::jit
