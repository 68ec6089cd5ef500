#pragma once

#include <span>

#include "ir/emitter.h"
#include "tensor/observer.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Executes ops immediately, on tensors. Results of view ops share their operand's memory. Ops on tensors that require
/// grad are recorded if gradients are enabled.
class EagerEmitter : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override;

  /// Executes a composite by executing its parts, so that each part is recorded, or is a view.
  Values decompose(const Call& call);

 private:
  /// Executes the call with 0-d tensors in place of numbers for operands that must be tensors.
  Values emit_with_tensors(const Call& call);
  Value emit_view(const Call& call);
  Values record(const Call& call);
};

EagerEmitter& eager();

// Computation without recording gradients, used by the rest of this folder. The observer sees all of it.

Values compute(const Call& call);
/// Writes the results to the memory of `destinations`, one for each result. If anything else can see that memory, the
/// caller has announced the write (TensorImpl::before_write).
void compute_into(const Call& call, std::span<TensorImpl* const> destinations);
inline void compute_into(const Call& call, TensorImpl& destination) {
  TensorImpl* const destinations[] = {&destination};
  compute_into(call, destinations);
}

/// A copy with the given strides.
TensorRef copy_of(const TensorImpl& source, DimsView strides);
/// Throws RuntimeError if the source does not broadcast to the destination's shape.
void check_broadcasts(const TensorImpl& source, const TensorImpl& destination);
/// destination = source, converted to the destination's dtype and broadcast to its shape.
void copy_into(const TensorImpl& source, TensorImpl& destination);
/// destination += source. Both have the same shape.
void add_into(const TensorImpl& source, TensorImpl& destination);
void fill_into(TensorImpl& destination, const Scalar& value);

/// The same memory with another shape, in which one size may be -1. Throws RuntimeError where that takes a copy. The
/// view is recorded.
Value view_of(TensorImpl& tensor, const Dims& shape);

/// The tensor itself if it is contiguous, otherwise a contiguous copy.
TensorRef contiguous(const TensorRef& tensor);

}  // namespace lucid
