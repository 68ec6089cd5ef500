#include "passes/constants.h"

#include <algorithm>

#include "base/error.h"

namespace lucid {

void verify_constants(const IRGraph& graph, const ConstantPool& constants) {
  for (const auto& [id, data] : constants) {
    if (std::ranges::count(graph.constant_ids, id) != 1)
      throw InternalError("graph {} is malformed: there is data for %{}, which is not a constant", graph.name, id);
    if (data.type != graph.type(id))
      throw InternalError("graph {} is malformed: %{} is {}, but its data is {}", graph.name, id,
                          to_string(graph.type(id)), to_string(data.type));
    const size_t bytes = static_cast<size_t>(numel(data.type.shape)) * size_of(data.type.dtype);
    if (data.bytes.size() != bytes)
      throw InternalError("graph {} is malformed: %{} of type {} has {} bytes of data", graph.name, id,
                          to_string(data.type), data.bytes.size());
  }
}

}  // namespace lucid
