#pragma once

#include <numeric>
#include <random>

#include "ir/graph_emitter.h"
#include "run_graph.h"
#include "samples.h"
#include "special_values.h"

namespace lucid::test {

/// A random graph with the values of its inputs, parameters and states. Its nodes are calls from the op table's samples
/// and calls that passes rewrite, on each other's results.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed, size_t nodes) : emitter_(graph), random_(seed) {
    graph.name = "random" + std::to_string(seed);
    new_leaf({Dtype::kF32, {2, 3}});
    while (graph.nodes.size() < nodes) grow();
    finish();
  }
  RandomGraph(const RandomGraph&) = delete;

  IRGraph graph;
  ConstantPool constants;
  Known leaves;

 private:
  int below(size_t bound) { return static_cast<int>(random_() % bound); }
  template <typename T>
  T one_of(std::initializer_list<T> choices) {
    return choices.begin()[below(choices.size())];
  }

  void grow() {
    try {
      const int kind = below(10);
      if (kind < 2 && !graph.nodes.empty())
        repeat();
      else if (kind < 7)
        look_alike();
      else
        sample();
    } catch (const Error&) {
      // The random attributes were invalid for the operands.
    }
  }

  /// Repeats an existing node.
  void repeat() {
    const IRNode node = graph.nodes[static_cast<size_t>(below(graph.nodes.size()))];
    Values held;
    held.reserve(node.inputs.size());
    std::vector<Operand> operands;
    for (const IROperand& input : node.inputs) {
      if (input.id >= 0) held.push_back(emitter_.value(input.id));
      operands.push_back(input.id >= 0 ? Operand(held.back()) : input.number ? Operand(*input.number) : Operand());
    }
    emit(*node.op, operands, node.attributes);
  }

  /// Calls that the identity rules match, and calls that they nearly match.
  void look_alike() {
    const Value x = any_value();
    const int64_t rank = x.rank();
    const auto axis = [&] { return rank ? int64_t{below(static_cast<size_t>(rank))} : 0; };
    switch (below(16)) {
      case 0: {
        Dims shape = x.shape();
        if (below(2) && rank > 0)
          shape = {numel(shape)};
        else if (below(2))
          shape.push_back(1);
        else
          std::reverse(shape.begin(), shape.end());
        return call("reshape", {x}, {shape});
      }
      case 1:
      case 2: {
        Dims order(static_cast<size_t>(rank));
        std::iota(order.begin(), order.end(), 0);
        std::shuffle(order.begin(), order.end(), random_);
        return call("permute", {x}, {order});
      }
      case 3:
        return call("transpose", {x}, {axis(), axis()});
      case 4:
        return call("unsqueeze", {x}, {axis()});
      case 5:
        return call("squeeze", {x}, {Attribute()});
      case 6: {
        Dims size = x.shape();
        if (below(2)) size.insert(0, 2);
        return call("expand", {x}, {size});
      }
      case 7:
        return call("slice", {x}, {axis(), Attribute(), Attribute(), int64_t{1 + below(2)}});
      case 8:
        return call("to", {x}, {static_cast<Dtype>(below(3) ? below(kDtypeCount) : static_cast<int>(x.dtype()))});
      case 9:
        return call(one_of({"clone", "contiguous", "cat"}), {x}, {});
      case 10:
      case 11:
        return call(op_with_identity(1), {x}, {});
      case 12:
      case 13: {
        const std::string op = op_with_identity(2);
        const Scalar number = one_of<Scalar>({0, 1, -1, 0.0, 1.0, false, true});
        if (below(3) == 0) return call(op, {x, x}, {});
        const Value made =
            emit(op_table().at(one_of({"ones_like", "zeros_like"})), std::vector<Operand>{x}, {Attribute()}).front();
        const Operand other = below(2) ? Operand(number) : Operand(made);
        return below(2) ? call(op, {x, other}, {}) : call(op, {other, x}, {});
      }
      case 14: {
        const Value made = emit(op_table().at(one_of({"ones", "zeros"})), {}, {x.shape(), Dtype::kBool}).front();
        return call("where", {below(2) ? Operand(made) : Operand(below(2) == 0), x, below(2) ? Operand(x) : Operand(1)},
                    {});
      }
      default:
        return call(one_of({"sum", "amax", "exp"}), {x}, {});
    }
  }

  /// A call from a sample of the table, on existing values where the types match.
  void sample() {
    const auto ops = op_table().ops();
    const Op& op = ops[static_cast<size_t>(below(ops.size()))];
    const std::vector<Dtype> dtypes = dtypes_of(op);
    const Sample& sample = op.samples[static_cast<size_t>(below(op.samples.size()))];
    const SampleCall made(op, sample, dtypes[static_cast<size_t>(below(dtypes.size()))]);
    if (!has_types(made)) return;
    Values held;
    held.reserve(made.values.size());
    std::vector<Operand> operands;
    for (size_t i = 0; i < made.values.size(); ++i) {
      if (!made.values[i]) {
        operands.push_back(made.operands[i]);
        continue;
      }
      const bool is_plain = sample.tensors[i].fill == Fill::kNormal && !sample.tensors[i].dtype;
      Value value;
      if (is_plain && below(4)) value = value_of_type(made.values[i].type());
      if (!value && is_plain && below(2)) value = leaf(special_tensor(made.values[i].type(), random_() % 16));
      if (!value) value = leaf(made.values[i]);
      held.push_back(value);
      operands.emplace_back(held.back());
    }
    emit(op, operands, made.attributes);
  }

  /// The name of an op with this many operands that is an involution, is idempotent, or has a neutral element.
  std::string op_with_identity(size_t operands) {
    std::vector<std::string> names;
    for (const Op& op : op_table().ops()) {
      const Algebra& algebra = op.algebra;
      if (op.schema.parameters.size() == operands &&
          (algebra.is_involution || algebra.is_idempotent || algebra.neutral))
        names.push_back(op.name());
    }
    return names[static_cast<size_t>(below(names.size()))];
  }

  void call(const std::string& name, const std::vector<Operand>& operands, Attributes attributes) {
    const Op& op = op_table().at(name);
    const Attributes defaults = op.schema.default_attributes();
    for (size_t i = attributes.size(); i < defaults.size(); ++i) attributes.push_back(defaults[i]);
    emit(op, operands, attributes);
  }

  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) {
    for (const TensorType& type : infer_types(Call(op, operands, attributes)))
      if (numel(type.shape) > 2000) throw ValueError("too large to be tested often");
    Values results = emitter_.emit(op, operands, attributes);
    if (below(2)) graph.nodes.back().source = "f.py:" + std::to_string(graph.nodes.size());
    graph.nodes.back().has_gradient = below(8) > 0;
    return results;
  }

  Value any_value() {
    if (below(6) == 0)
      return new_leaf({static_cast<Dtype>(below(kDtypeCount)), one_of<Dims>({{2, 3}, {3, 1, 2}, {4}, {}})});
    auto at = graph.values.begin();
    // Prefer late values, so that chains grow.
    const auto skip = std::max(below(graph.values.size()), below(graph.values.size()));
    std::advance(at, skip);
    return emitter_.value(at->first);
  }

  Value value_of_type(const TensorType& type) {
    std::vector<ValueId> fitting;
    for (const auto& [id, value] : graph.values)
      if (value.type == type) fitting.push_back(id);
    return fitting.empty() ? Value() : emitter_.value(fitting[static_cast<size_t>(below(fitting.size()))]);
  }

  Value new_leaf(const TensorType& type) { return leaf(special_tensor(type, random_() % 16)); }

  Value leaf(const Value& value) {
    const ValueId id = graph.add_value(value.type());
    switch (below(4)) {
      case 0:
        graph.input_ids.push_back(id);
        break;
      case 1:
        graph.state_ids.push_back(id);
        break;
      default:
        graph.constant_ids.push_back(id);
        constants[id] = data_of(value);
        return emitter_.value(id);
    }
    leaves[id] = value;
    return emitter_.value(id);
  }

  void finish() {
    for (int left = 1 + below(4); left > 0; --left) graph.output_ids.push_back(GraphEmitter::id_of(any_value()));
    for (const ValueId state : graph.state_ids)
      if (below(2)) graph.updates.emplace_back(state, GraphEmitter::id_of(value_of_type(graph.type(state))));
  }

  GraphEmitter emitter_;
  std::mt19937 random_;
};

}  // namespace lucid::test
