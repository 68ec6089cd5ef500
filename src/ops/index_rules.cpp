#include "ops/index_rules.h"

#include "ops/reference_index.h"

namespace lucid {

std::vector<SavedInput> index_operands(int first) {
  std::vector<SavedInput> operands;
  for (int i = 0; i < kMaxRank; ++i) operands.emplace_back(first + i);
  return operands;
}

void check_index_dtype(const Call& call, size_t i) {
  if (!call.operand(i).is_value() || call.dtype(i) != Dtype::kI64)
    throw TypeError("{}: indices must be i64 tensors, got {}; convert with .long()", call.name(),
                    to_string(call.operand(i).type()));
}

loop::Value checked_index(ElementContext& element, loop::Value index, int64_t axis, bool wraps) {
  loop::Builder& b = element.builder();
  const loop::Value size = element.input_size(0, axis);
  const loop::Value zero = b.index(0);
  const loop::Value lowest = wraps ? zero - size : zero;
  const loop::Value bad = (index < lowest) | (index >= size);
  element.fail_if(bad, 1);
  if (wraps) index = b.select(index < zero, index + size, index);
  return b.select(bad, zero, index);
}

std::vector<loop::Value> all_indices(ElementContext& element, int64_t rank) {
  std::vector<loop::Value> index;
  for (int64_t d = 0; d < rank; ++d) index.push_back(element.index(d));
  return index;
}

int64_t reference_index(const HostCall& call, size_t operand, int64_t at, int64_t size, bool wraps) {
  const int64_t index = call.in(operand).as<int64_t>()[at];
  if (index >= size || index < (wraps ? -size : 0)) throw IndexError("{}: {}", call.name(), kOutOfRange);
  return index < 0 ? index + size : index;
}

void check_gather_shape(const Call& call, size_t index, const char* what) {
  const Dims& shape = call.shape(0);
  const Dims& index_shape = call.shape(index);
  const int64_t axis = call.axis("dim");
  bool fits = index_shape.rank() == shape.rank();
  for (int64_t d = 0; fits && d < index_shape.rank(); ++d)
    fits = d == axis || index_shape[static_cast<size_t>(d)] <= shape[static_cast<size_t>(d)];
  if (!fits)
    throw ValueError("{}: {} {} must have as many dimensions as {} and be no larger except along dimension {}",
                     call.name(), what, to_string(call.operand(index).type()), to_string(call.operand(0).type()), axis);
}

void check_leading_indices(const Call& call, size_t first) {
  const auto count = static_cast<int64_t>(call.count() - first);
  if (count == 0 || count > call.rank(0))
    throw IndexError("{}: {} takes from 1 to {} index tensors, got {}", call.name(), to_string(call.operand(0).type()),
                     call.rank(0), count);
  for (size_t i = first; i < call.count(); ++i) {
    if (!call.operand(i).present()) throw TypeError("{}: index tensor {} is undefined", call.name(), i - first);
    check_index_dtype(call, i);
    if (call.shape(i) != call.shape(first))
      throw ValueError("{}: index tensors must have the same shape, got {} and {}", call.name(),
                       to_string(call.operand(first).type()), to_string(call.operand(i).type()));
  }
}

Dims indexed_shape(const Call& call, size_t first) {
  Dims shape = call.shape(first);
  for (size_t d = call.count() - first; d < call.shape(0).size(); ++d) shape.push_back(call.shape(0)[d]);
  return shape;
}

std::vector<loop::Value> leading_index(ElementContext& element, const Call& call, size_t first) {
  const int64_t index_rank = call.rank(first);
  std::vector<loop::Value> where = all_indices(element, index_rank);
  std::vector<loop::Value> index;
  for (size_t i = first; i < call.count(); ++i)
    index.push_back(
        checked_index(element, element.load(static_cast<int>(i), where, {}), static_cast<int64_t>(i - first), true));
  const auto leading = static_cast<int64_t>(call.count() - first);
  for (int64_t d = leading; d < call.rank(0); ++d) index.push_back(element.index(index_rank + d - leading));
  return index;
}

Dims reference_leading(const HostCall& call, const Dims& index, size_t first) {
  const size_t index_rank = call.shape(first).size();
  const Dims where(index.begin(), index.begin() + index_rank);
  Dims result;
  for (size_t i = first; i < call.count(); ++i)
    result.push_back(reference_index(call, i, position(call.shape(i), where), call.shape(0)[i - first], true));
  for (size_t d = index_rank; d < index.size(); ++d) result.push_back(index[d]);
  return result;
}

}  // namespace lucid
