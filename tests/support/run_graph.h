#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "ir/graph.h"
#include "ops/interpreter.h"
#include "passes/constants.h"

/// Runs graphs with the reference interpreter.
namespace lucid::test {

using Known = std::map<ValueId, Value>;

inline Value value_of(const ConstantData& data) {
  const Value value = Interpreter::make(data.type);
  std::ranges::copy(data.bytes, static_cast<std::byte*>(Interpreter::array(value).data));
  return value;
}

inline ConstantData data_of(const Value& value) {
  const HostArray array = Interpreter::array(value);
  const auto* const bytes = static_cast<const std::byte*>(array.data);
  return {array.type, {bytes, bytes + static_cast<size_t>(array.size()) * size_of(array.type.dtype)}};
}

/// The bits of the elements, with one pattern for all NaNs.
inline std::string bits_of(const Value& value) {
  const HostArray array = Interpreter::array(value);
  const size_t bytes = size_of(array.type.dtype);
  std::string bits;
  for (int64_t i = 0; i < array.size(); ++i) {
    const char* element = array.as<char>() + static_cast<size_t>(i) * bytes;
    const Scalar number = Scalar::load(array.type.dtype, element);
    if (number.is_float() && number.to_double() != number.to_double())
      bits.append(bytes, '\x7f');
    else
      bits.append(element, bytes);
  }
  return bits;
}

/// The bits of outputs and updates, in order, or the message of the error that a node raised. `leaves` contains the
/// inputs, parameters and states.
inline std::vector<std::string> run_graph(const IRGraph& graph, const ConstantPool& constants, Known leaves) {
  for (const auto& [id, data] : constants) leaves[id] = value_of(data);
  try {
    for (const IRNode& node : graph.nodes) {
      std::vector<Operand> operands;
      for (const IROperand& input : node.inputs)
        operands.push_back(input.id >= 0  ? Operand(leaves.at(input.id))
                           : input.number ? Operand(*input.number)
                                          : Operand());
      const Values results = Interpreter().emit(*node.op, operands, node.attributes);
      for (size_t i = 0; i < results.size(); ++i) leaves[node.outputs[i]] = results[i];
    }
  } catch (const Error& error) {
    return {error.what()};
  }
  std::vector<std::string> bits;
  for (const ValueId id : graph.output_ids) bits.push_back(to_string(graph.type(id)) + bits_of(leaves.at(id)));
  for (const auto& update : graph.updates) bits.push_back(bits_of(leaves.at(update.second)));
  return bits;
}

}  // namespace lucid::test
