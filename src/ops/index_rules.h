#pragma once

#include <vector>

#include "ir/host_call.h"
#include "ir/op.h"
#include "loop/builder.h"

/// What ops that pick and ops that place elements by index tensors share.
namespace lucid {

inline const char* const kOutOfRange = "an index is out of range for the dimension it indexes";

/// Every operand from `first` on that may be an index tensor, for gradient rules that read them.
std::vector<SavedInput> index_operands(int first);
/// Refuses an operand that cannot index.
void check_index_dtype(const Call& call, size_t i);
/// Attribute "dim" as an axis of operand 0.
int64_t indexed_axis(const Call& call);
/// An index of a dimension of operand 0, checked; negative ones count from the end if `wraps`.
loop::Value checked_index(ElementContext& element, loop::Value index, int64_t axis, bool wraps);
/// The element's index along each axis.
std::vector<loop::Value> all_indices(ElementContext& element, int64_t rank);
/// Reads index tensors in references, with the check that kernels make.
int64_t reference_index(const HostCall& call, size_t operand, int64_t at, int64_t size, bool wraps);
/// Refuses an index tensor that reaches beyond operand 0 along axes other than the indexed one.
void check_gather_shape(const Call& call, size_t index, const char* what);
/// What advanced indexing comes down to: index tensors of one shape for the leading axes.
void check_leading_indices(const Call& call, size_t first);
/// The shape that leading index tensors give: theirs, then the axes that they leave.
Dims indexed_shape(const Call& call, size_t first);
/// The index in operand 0 of an element that leading index tensors pick.
std::vector<loop::Value> leading_index(ElementContext& element, const Call& call, size_t first);
/// The same for references.
Dims reference_leading(const HostCall& call, const Dims& index, size_t first);

}  // namespace lucid
