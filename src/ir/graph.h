#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/size_trace.h"
#include "ir/op.h"

namespace lucid {

/// Identifies a value within one graph; `%3` in text.
using ValueId = int32_t;

/// The static properties of a value.
struct IRValue {
  TensorType type;
  bool operator==(const IRValue&) const = default;
};

/// An operand of a node: a value, a number, or nothing (an absent optional operand).
struct IROperand {
  ValueId id = -1;
  std::optional<Scalar> number;
  bool operator==(const IROperand&) const = default;
};

/// An application of an op. Nodes are in execution order: operands are defined before they are used.
struct IRNode {
  const Op* op = nullptr;
  std::vector<IROperand> inputs;
  Attributes attributes;
  std::vector<ValueId> outputs;
  /// Whether a backward pass may run through this node.
  bool has_gradient = true;
  /// Location in the user's code, such as "example.py:4"; may be empty.
  std::string source;
  bool operator==(const IRNode&) const = default;
};

/// A recorded computation, purely functional. State that outlives a call is read through param_ids and state_ids. What
/// the computation writes to state and to the arguments is in updates. Nothing else is read or written.
struct IRGraph {
  std::string name = "graph";
  /// The function's arguments, in order.
  std::vector<ValueId> input_ids;
  /// Parameters, read at each call.
  std::vector<ValueId> param_ids;
  /// Other state that is read: buffers, optimizer state, the random generator.
  std::vector<ValueId> state_ids;
  /// Values that no node computes and no caller passes: tensors created from data while recording.
  std::vector<ValueId> constant_ids;
  std::vector<IRNode> nodes;
  std::map<ValueId, IRValue> values;
  std::vector<ValueId> output_ids;
  /// Pairs of an input, a parameter or a state, and its value after the call.
  std::vector<std::pair<ValueId, ValueId>> updates;
  /// What traced sizes are computed from: the symbols s0, s1, ... Null if no size is traced.
  std::shared_ptr<const SizeTrace> sizes;

  ValueId add_value(const TensorType& type);
  ValueId add_input(const TensorType& type);
  const TensorType& type(ValueId id) const { return values.at(id).type; }
  bool operator==(const IRGraph& other) const;
};

/// The gpu that any value is on, otherwise the CPU.
Device device_of(const IRGraph& graph);

/// Returns the text form, which parses back to an equal graph. The grammar is in docs/ir.md.
std::string to_text(const IRGraph& graph);
/// Returns the line of one node, without indentation.
std::string to_text(const IRGraph& graph, const IRNode& node);
/// Throws ValueError with line and column if the text is invalid. Ops are looked up in op_table().
IRGraph parse_graph(const std::string& text);
/// Throws InternalError if an invariant is broken. The message shows the node and its neighbours.
void verify(const IRGraph& graph);

/// A value of a graph under construction.
class GraphValue : public ValueBase {
 public:
  GraphValue(const TensorType& type, ValueId id) : ValueBase(type.dtype, type.shape, type.device), id_(id) {}
  ValueId id() const { return id_; }

 private:
  ValueId id_;
};

}  // namespace lucid
