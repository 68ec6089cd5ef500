#include "ops/bound_rules.h"

#include <fmt/format.h>

#include "ops/index_rules.h"

namespace lucid {
namespace {

/// Operand i holds indices into a dimension of operand 0. Negative ones count from the end if `wraps`.
ValueBounds bounds_of_index(const Call& call, size_t i, int64_t axis, bool wraps) {
  const int64_t size = call.shape(0)[static_cast<size_t>(axis)];
  return {.operand = i,
          .noun = "index",
          .lowest = wraps ? -size : 0,
          .end = size,
          .origin = fmt::format("dimension {} of size {}", axis, size)};
}

}  // namespace

std::vector<ValueBounds> bounds_along_dim(const Call& call) {
  if (call.rank(0) == 0) return {};
  return {bounds_of_index(call, 1, call.axis("dim"), false)};
}

std::vector<ValueBounds> bounds_of_leading_indices(const Call& call, size_t first) {
  std::vector<ValueBounds> bounds;
  for (size_t i = first; i < call.count(); ++i)
    bounds.push_back(bounds_of_index(call, i, static_cast<int64_t>(i - first), true));
  return bounds;
}

std::vector<ValueBounds> bounds_of_rows(const Call& call) {
  const int64_t rows = call.shape(0)[0];
  return {{.operand = 1, .noun = "index", .end = rows, .origin = fmt::format("{} rows", rows)}};
}

std::vector<ValueBounds> bounds_of_target(const Call& call) {
  if (is_float(call.dtype(1))) return {};
  const int64_t classes = call.shape(0)[call.rank(0) == 1 ? 0 : 1];
  ValueBounds bounds{.operand = 1, .noun = "target", .end = classes, .origin = fmt::format("{} classes", classes)};
  if (call.op().schema.attribute_index("ignore_index") >= 0) bounds.ignored = call.integer("ignore_index");
  return {bounds};
}

ValueBounds bounds_of_probability(size_t operand, const char* noun) {
  return {.operand = operand, .noun = noun, .end = 1};
}

}  // namespace lucid
