#pragma once

#include <span>

#include "ir/op.h"
#include "tensor/observer.h"
#include "tensor/tensor_impl.h"

/// Computation that records no gradients. The observer sees all of it.
namespace lucid {

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
