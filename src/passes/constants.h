#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "ir/graph.h"

namespace lucid {

/// The elements of a constant, contiguous.
struct ConstantData {
  TensorType type;
  std::vector<std::byte> bytes;
  bool operator==(const ConstantData&) const = default;
};

/// The data of a graph's constants; the graph itself only lists their ids. Data of large constants may be omitted:
/// passes read no constant of more than kMaxConstantElements.
using ConstantPool = std::map<ValueId, ConstantData>;

/// Constants larger than this are neither read nor created: a plan that computes them is smaller than one that holds
/// them.
inline constexpr int64_t kMaxConstantElements = 4096;

/// Throws InternalError if an entry does not belong to a constant of the graph, or has another type.
void verify_constants(const IRGraph& graph, const ConstantPool& constants);

}  // namespace lucid
