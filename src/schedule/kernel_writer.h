#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "loop/builder.h"
#include "schedule/schedule.h"

namespace lucid {

/// A kernel under construction together with the launch that will run it: each buffer and each run-time number is
/// declared once, with what the launch passes for it.
class KernelWriter {
 public:
  explicit KernelWriter(std::string name) : builder_(std::move(name)) {}

  loop::Builder& builder() { return builder_; }

  /// The argument for a use; equal uses share one. All are declared before anything is computed.
  loop::BufferRef buffer(const BufferUse& use, Dtype dtype);
  loop::BufferRef value(const MemoryOperand& operand, const UnitSpan& unit = {}) {
    const int64_t byte_offset = operand.geometry.offset * int64_t(size_of(operand.dtype));
    return buffer({operand.kind, operand.id, byte_offset, unit}, operand.dtype);
  }
  loop::BufferRef scratch(int32_t area, Dtype dtype) { return buffer({BufferUse::Kind::kScratch, area, 0, {}}, dtype); }
  /// Declares the error word; checks may then report to it.
  void declare_error() { error_ = buffer({BufferUse::Kind::kError, 0, 0, {}}, Dtype::kI64); }
  loop::BufferRef error() const { return error_; }

  /// A run-time i64: the kernel's text does not depend on it.
  loop::Value number(int64_t value) {
    params_.push_back(value);
    return builder_.param();
  }

  /// Says that elements are used one by one, and which buffers have them in the same places (BufferUse::first_order).
  void set_order(loop::BufferRef buffer, uint8_t order) {
    uses_[buffer.index].first_order = uses_[buffer.index].last_order = order;
  }
  /// What a unit touches of a buffer, when that is known only after it was used.
  void set_unit(loop::BufferRef buffer, const UnitSpan& unit) { uses_[buffer.index].unit = unit; }

  /// How much one item costs: about a nanosecond for 16 elements of light arithmetic.
  KernelStep finish(int64_t items, double nanoseconds_per_item, int64_t unit_items = 1);

 private:
  loop::Builder builder_;
  std::vector<BufferUse> uses_;
  std::vector<loop::BufferRef> refs_;
  std::vector<int64_t> params_;
  loop::BufferRef error_;
};

}  // namespace lucid
