#include "ops/value_bounds.h"

#include <fmt/format.h>

#include <functional>
#include <string_view>
#include <unordered_map>

#include "ops/index_rules.h"

namespace lucid {
namespace {

using Bounds = std::vector<ValueBounds>;

/// Operand i holds indices into a dimension of operand 0. Negative ones count from the end if `wraps`.
ValueBounds bounds_of_index(const Call& call, size_t i, int64_t axis, bool wraps) {
  const int64_t size = call.shape(0)[static_cast<size_t>(axis)];
  return {.operand = i,
          .noun = "index",
          .lowest = wraps ? -size : 0,
          .end = size,
          .origin = fmt::format("dimension {} of size {}", axis, size)};
}

/// Operand 1 holds indices into the dimension in attribute "dim".
Bounds along_dim(const Call& call) {
  if (call.rank(0) == 0) return {};
  return {bounds_of_index(call, 1, indexed_axis(call), false)};
}

/// The operands from `first` on hold indices into the leading dimensions of operand 0.
template <size_t first>
Bounds leading(const Call& call) {
  Bounds bounds;
  for (size_t i = first; i < call.count(); ++i)
    bounds.push_back(bounds_of_index(call, i, static_cast<int64_t>(i - first), true));
  return bounds;
}

/// Operand 1 holds rows of operand 0, a table.
Bounds of_rows(const Call& call) {
  const int64_t rows = call.shape(0)[0];
  return {{.operand = 1, .noun = "index", .end = rows, .origin = fmt::format("{} rows", rows)}};
}

/// Operand 1 holds class indices, unless it holds probabilities.
Bounds of_target(const Call& call) {
  if (is_float(call.dtype(1))) return {};
  const int64_t classes = call.shape(0)[call.rank(0) == 1 ? 0 : 1];
  ValueBounds bounds{.operand = 1, .noun = "target", .end = classes, .origin = fmt::format("{} classes", classes)};
  if (call.op().schema.attribute_index("ignore_index") >= 0) bounds.ignored = call.integer("ignore_index");
  return {bounds};
}

Bounds of_one_hot(const Call& call) {
  const int64_t classes = call.integer("num_classes");
  return {{.noun = "class", .end = classes, .origin = fmt::format("{} classes", classes)}};
}

Bounds of_take_along_dim(const Call& call) {
  if (!call.is_none("dim")) return along_dim(call);
  const int64_t count = numel(call.shape(0));
  return {{.operand = 1, .noun = "index", .end = count, .origin = fmt::format("{} elements", count)}};
}

ValueBounds of_probability(size_t operand, const char* noun) { return {.operand = operand, .noun = noun, .end = 1}; }

Bounds of_one_probability(const Call&) { return {of_probability(0, "x")}; }
Bounds of_two_probabilities(const Call&) { return {of_probability(0, "x"), of_probability(1, "target")}; }

/// By op. A composite that is missing here reports the positions in the operands of its parts.
const std::unordered_map<std::string_view, Bounds (*)(const Call&)>& table() {
  static const auto& bounds = *new std::unordered_map<std::string_view, Bounds (*)(const Call&)>{
      {"index_select", along_dim},
      {"gather", along_dim},
      {"index_add", along_dim},
      {"scatter", along_dim},
      {"scatter_add", along_dim},
      {"scatter_set", along_dim},
      {"scatter_amax", along_dim},
      {"scatter_amin", along_dim},
      {"scatter_mul", along_dim},
      {"scatter_reduce", along_dim},
      {"take_along_dim", of_take_along_dim},
      {"index", leading<1>},
      {"index_put", leading<2>},
      {"index_put_set", leading<2>},
      {"index_put_add", leading<2>},
      {"embedding", of_rows},
      {"embedding_bag", of_rows},
      {"one_hot", of_one_hot},
      {"class_loss", of_target},
      {"cross_entropy", of_target},
      {"nll_loss", of_target},
      {"multi_margin_loss", of_target},
      {"checked_probability", of_one_probability},
      {"binary_cross_entropy", of_two_probabilities},
  };
  return bounds;
}

}  // namespace

std::vector<ValueBounds> value_bounds(const Call& call) {
  const auto found = table().find(call.name());
  return found == table().end() ? Bounds() : found->second(call);
}

}  // namespace lucid
