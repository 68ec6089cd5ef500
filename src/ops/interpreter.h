#pragma once

#include <memory>
#include <vector>

#include "ir/emitter.h"
#include "ir/host_call.h"

namespace lucid {

/// A tensor of the interpreter: a contiguous array that it owns.
class HostValue : public ValueBase {
 public:
  explicit HostValue(const TensorType& type)
      : ValueBase(type.dtype, type.shape, type.device),
        // Never empty, so that tensors without elements have an address too.
        memory_(static_cast<size_t>(numel(type.shape)) * size_of(type.dtype) + 1) {}
  HostArray array() { return {type(), memory_.data()}; }

 private:
  std::vector<char> memory_;
};

/// Runs each op immediately by its reference. It is slow and simple, and defines the results of all other executions.
/// Composites are decomposed, with 16-bit floats widened first and rounded once at the end.
class Interpreter : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override;

  static Value make(const TensorType& type) { return make_ref<HostValue>(type); }
  static HostArray array(const Value& value) { return static_cast<HostValue*>(value.get())->array(); }

 private:
  Values decompose(const Call& call);
  Value view(const Call& call);
};

}  // namespace lucid
