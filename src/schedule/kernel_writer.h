#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loop/builder.h"
#include "schedule/schedule.h"

namespace lucid {

/// A kernel under construction and the launch that will run it. Each buffer and each run-time number is declared once,
/// together with the argument that the launch passes for it.
class KernelWriter {
 public:
  explicit KernelWriter(std::string name) : builder_(std::move(name)) {}

  loop::Builder& builder() { return builder_; }

  /// Declares a buffer argument; equal uses share one. All arguments must be declared before any instruction.
  loop::BufferRef buffer(const BufferUse& use, Dtype dtype);
  loop::BufferRef value(const MemoryOperand& operand, const TileSpan& tile = {}) {
    const SymInt byte_offset = operand.geometry.offset * size_of(operand.dtype);
    return buffer({operand.kind, operand.id, byte_offset, tile}, operand.dtype);
  }
  loop::BufferRef scratch(int32_t area, Dtype dtype) { return buffer({BufferUse::Kind::kScratch, area, 0, {}}, dtype); }
  /// Declares the error word; checks may then report to it.
  void declare_error() { error_ = buffer({BufferUse::Kind::kError, 0, 0, {}}, Dtype::kI64); }
  loop::BufferRef error() const { return error_; }

  /// Passes an i64 at run time, so that the kernel's text does not depend on it.
  loop::Value param(SymInt value) {
    params_.push_back(value);
    return builder_.param();
  }

  /// Declares that elements are used one by one. Buffers with the same order store their elements at the same offsets
  /// (BufferUse::first_order).
  void set_order(loop::BufferRef buffer, uint8_t order) {
    uses_[buffer.index].first_order = uses_[buffer.index].last_order = order;
  }
  /// Sets the tile of a buffer that has already been declared.
  void set_tile(loop::BufferRef buffer, const TileSpan& tile) { uses_[buffer.index].tile = tile; }

  /// Estimates of the time per item count about one nanosecond for 16 elements of light arithmetic.
  KernelStep finish(SymInt items, double nanoseconds_per_item, SymInt tile_items = 1);

 private:
  loop::Builder builder_;
  std::vector<BufferUse> uses_;
  std::vector<loop::BufferRef> refs_;
  std::vector<SymInt> params_;
  loop::BufferRef error_;
};

}  // namespace lucid
