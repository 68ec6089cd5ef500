#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "ir/graph.h"

namespace lucid {

/// A constant's elements, contiguous.
struct ConstantData {
  TensorType type;
  std::vector<std::byte> bytes;
  bool operator==(const ConstantData&) const = default;
};

/// What is known of a graph's constants, which itself only names them. Data of large ones may be left out: passes read
/// no constant of more than kMaxConstantElements.
using ConstantPool = std::map<ValueId, ConstantData>;

/// Constants larger than this are neither read nor made: a plan that computes them is smaller than one that holds them.
inline constexpr int64_t kMaxConstantElements = 4096;

/// Throws InternalError when an entry is not for a constant of the graph, or not of its type.
void verify_constants(const IRGraph& graph, const ConstantPool& constants);

}  // namespace lucid
