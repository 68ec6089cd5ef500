#include <algorithm>
#include <map>
#include <set>

#include "ir/graph.h"
#include "ir/graph_emitter.h"

namespace lucid {
namespace {

/// An error message shows this many nodes before and after the invalid one.
constexpr size_t kNeighbours = 3;

class Verifier {
 public:
  explicit Verifier(const IRGraph& graph) : graph_(graph) {}

  void run() {
    check_values();
    check_arguments();
    for (at_ = 0; at_ < graph_.nodes.size(); ++at_) check_node(graph_.nodes[at_]);
    at_ = kNowhere;
    check_results();
  }

 private:
  static constexpr size_t kNowhere = SIZE_MAX;

  template <typename... Args>
  void require(bool holds, fmt::format_string<Args...> format, Args&&... args) {
    if (!holds) fail(fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void fail(const std::string& message) {
    std::string text = fmt::format("graph {} is malformed: {}\n", graph_.name, message);
    const size_t begin = at_ == kNowhere ? graph_.nodes.size() - std::min(graph_.nodes.size(), kNeighbours)
                                         : at_ - std::min(at_, kNeighbours);
    const size_t end = at_ == kNowhere ? graph_.nodes.size() : std::min(graph_.nodes.size(), at_ + kNeighbours + 1);
    for (size_t i = begin; i < end; ++i)
      text += fmt::format("{} {}\n", i == at_ ? ">" : " ", to_text(graph_, graph_.nodes[i]));
    throw InternalError(text);
  }

  void check_values() {
    for (const auto& [id, value] : graph_.values) {
      require(id >= 0, "%{} is a negative id", id);
      try {
        checked_numel("value", value.type.shape, size_of(value.type.dtype));
      } catch (const Error& error) {
        fail(fmt::format("%{}: {}", id, error.what()));
      }
    }
  }

  void check_arguments() {
    for (const auto* ids : {&graph_.input_ids, &graph_.param_ids, &graph_.state_ids, &graph_.constant_ids}) {
      for (const ValueId id : *ids) {
        require(graph_.values.contains(id), "%{} is an argument but has no type", id);
        require(defined_.insert(id).second, "%{} is an argument twice", id);
      }
    }
  }

  void check_node(const IRNode& node) {
    require(node.op != nullptr, "the node has no op");
    require(op_table().find(node.op->name()) == node.op, "the node's op is not in the op table");
    check_attributes(node);
    std::vector<Operand> operands = check_operands(node);
    std::vector<TensorType> types;
    try {
      // Nodes without operands are on the device that they declare.
      const auto result = node.outputs.empty() ? graph_.values.end() : graph_.values.find(node.outputs.front());
      const DeviceScope device(result == graph_.values.end() ? kCpuDevice : result->second.type.device);
      types = infer_types(Call(*node.op, operands, node.attributes));
    } catch (const Error& error) {
      fail(error.what());
    }
    require(types.size() == node.outputs.size(), "{} results expected, {} named", types.size(), node.outputs.size());
    for (size_t i = 0; i < types.size(); ++i) {
      const ValueId id = node.outputs[i];
      require(graph_.values.contains(id), "result %{} has no type", id);
      require(defined_.insert(id).second, "%{} is defined twice", id);
      require(graph_.type(id) == types[i], "%{} has type {}, but the op returns {}", id, to_string(graph_.type(id)),
              to_string(types[i]));
    }
  }

  void check_attributes(const IRNode& node) {
    size_t next = 0;
    for (const Parameter& parameter : node.op->schema.parameters) {
      if (!is_attribute(parameter.kind)) continue;
      require(next < node.attributes.size(), "attribute {} is missing", parameter.name);
      const Attribute& value = node.attributes[next++];
      const auto converted = convert_attribute(parameter, value);
      require(converted && converted->index() == value.index(), "attribute {} does not take {}", parameter.name,
              to_string(value));
    }
    require(next == node.attributes.size(), "{} attributes are too many; {} takes {}", node.attributes.size(),
            node.op->name(), next);
  }

  /// The operands as shape rules expect them. They refer to values in `types_`.
  std::vector<Operand> check_operands(const IRNode& node) {
    std::vector<Operand> operands;
    for (const IROperand& input : node.inputs) {
      if (input.number) {
        require(input.id < 0, "an operand is both %{} and a number", input.id);
        operands.emplace_back(*input.number);
      } else if (input.id < 0) {
        operands.emplace_back();
      } else {
        require(graph_.values.contains(input.id), "operand %{} has no type", input.id);
        require(defined_.contains(input.id), "operand %{} is used before it is defined", input.id);
        auto& value = types_[input.id];
        if (!value) value = make_ref<GraphValue>(graph_.type(input.id), input.id);
        operands.emplace_back(value);
      }
    }
    return operands;
  }

  void check_results() {
    for (const ValueId id : graph_.output_ids) require(defined_.contains(id), "output %{} is not defined", id);
    std::set<ValueId> updated;
    for (const auto& [state, value] : graph_.updates) {
      const auto leaves = {&graph_.input_ids, &graph_.param_ids, &graph_.state_ids};
      require(std::ranges::any_of(leaves, [&](const auto* ids) { return std::ranges::count(*ids, state) == 1; }),
              "%{} is updated but is neither an input, a param nor a state", state);
      require(updated.insert(state).second, "%{} is updated twice", state);
      require(defined_.contains(value), "%{} is updated with %{}, which is not defined", state, value);
      require(graph_.values.at(state) == graph_.values.at(value), "%{} is {}, but is updated with %{}, which is {}",
              state, to_string(graph_.type(state)), value, to_string(graph_.type(value)));
    }
    for (const auto& entry : graph_.values)
      require(defined_.contains(entry.first), "%{} has a type, but nothing defines it", entry.first);
  }

  const IRGraph& graph_;
  std::set<ValueId> defined_;
  std::map<ValueId, Value> types_;
  size_t at_ = kNowhere;
};

}  // namespace

void verify(const IRGraph& graph) { Verifier(graph).run(); }

}  // namespace lucid
