#pragma once

#include <vector>

#include "ir/host_call.h"
#include "ir/op.h"
#include "loop/builder.h"

/// Shared by ops that gather or scatter elements by index tensors.
namespace lucid {

inline const char* const kOutOfRange = "an index is out of range for the dimension it indexes";

/// All operands from `first` on that may be index tensors, for gradient rules that read them.
std::vector<SavedInput> index_operands(int first);
/// Throws TypeError unless operand i is an i64 tensor.
void check_index_dtype(const Call& call, size_t i);
/// Checks an index into dimension `axis` of operand 0. Negative indices count from the end if `wraps`.
loop::Value checked_index(ElementContext& element, loop::Value index, int64_t axis, bool wraps);
/// The element's index along each axis.
std::vector<loop::Value> all_indices(ElementContext& element, int64_t rank);
/// Reads an element of an index tensor in a reference, with the same check as kernels.
int64_t reference_index(const HostCall& call, size_t operand, int64_t at, int64_t size, bool wraps);
/// Throws ValueError if an index tensor is larger than operand 0 along an axis other than the indexed one.
void check_gather_shape(const Call& call, size_t index, const char* what);
/// Checks the operands of advanced indexing: i64 tensors of one shape, from `first` on, for the leading axes.
void check_leading_indices(const Call& call, size_t first);
/// The result shape of advanced indexing: the shape of the index tensors, then the remaining axes of operand 0.
Dims indexed_shape(const Call& call, size_t first);
/// The index into operand 0 of the element that leading index tensors select.
std::vector<loop::Value> leading_index(ElementContext& element, const Call& call, size_t first);
/// The same for references.
Dims reference_leading(const HostCall& call, const Dims& index, size_t first);

}  // namespace lucid
