#pragma once

#include <span>

#include "ir/emitter.h"
#include "tensor/observer.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Computes ops at once, on tensors. Results of view ops share their operand's memory. Ops on tensors that require
/// gradients are recorded, if gradients are enabled.
class EagerEmitter : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override;

  /// Applies a composite by applying what it consists of, so that each part is recorded or viewed.
  Values decompose(const Call& call);

 private:
  /// The call with 0-d tensors in place of numbers where the op expects tensors.
  Values emit_with_tensors(const Call& call);
  Value emit_view(const Call& call);
  Values record(const Call& call);
};

EagerEmitter& eager();

// Computing without recording: what the rest of this folder is made of. All of it passes by the observer.

Values compute(const Call& call);
/// Writes the results into tensors' memory, one for each; the caller has announced the write (TensorImpl::before_write)
/// if anybody else can see it.
void compute_into(const Call& call, std::span<TensorImpl* const> destinations);
inline void compute_into(const Call& call, TensorImpl& destination) {
  TensorImpl* const destinations[] = {&destination};
  compute_into(call, destinations);
}

/// A copy with these strides.
TensorRef copy_of(const TensorImpl& source, DimsView strides);
/// destination = source, converted and stretched to the destination's dtype and shape.
void copy_into(const TensorImpl& source, TensorImpl& destination);
/// destination += source, of the same shape.
void add_into(const TensorImpl& source, TensorImpl& destination);
void fill_into(TensorImpl& destination, const Scalar& value);

/// A contiguous tensor with the operand's value: itself if it is one.
TensorRef contiguous(const TensorRef& tensor);

}  // namespace lucid
