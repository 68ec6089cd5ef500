#include "bindings/graph.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "base/error.h"
#include "bindings/attribute.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/gil.h"
#include "passes/graph_edit.h"
#include "passes/pipeline.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// A snapshot of a node.
struct NodeHandle {
  IRNode node;
  std::string device;
  std::string text;
};

NodeHandle handle_of(const IRGraph& graph, const IRNode& node) {
  return {node, to_string(graph.type(node.outputs.front()).device), to_text(graph, node)};
}

nb::list nodes_of(const GraphHandle& self) {
  nb::list nodes;
  for (const IRNode& node : self.graph->nodes) nodes.append(handle_of(*self.graph, node));
  return nodes;
}

nb::list inputs_of(const NodeHandle& self) {
  nb::list inputs;
  for (const IROperand& operand : self.node.inputs) {
    if (operand.id >= 0)
      inputs.append(operand.id);
    else if (operand.number)
      inputs.append(checked(from_scalar(*operand.number)));
    else
      inputs.append(nb::none());
  }
  return inputs;
}

/// The operands that are values, without numbers.
std::vector<ValueId> input_ids_of(const NodeHandle& self) {
  std::vector<ValueId> ids;
  for (const IROperand& operand : self.node.inputs)
    if (operand.id >= 0) ids.push_back(operand.id);
  return ids;
}

nb::dict attributes_of(const NodeHandle& self) {
  nb::dict attributes;
  size_t at = 0;
  for (const Parameter& parameter : self.node.op->schema.parameters)
    if (is_attribute(parameter.kind)) attributes[parameter.name.c_str()] = from_attribute(self.node.attributes[at++]);
  return attributes;
}

nb::dict values_of(const GraphHandle& self) {
  nb::dict values;
  for (const auto& [id, value] : self.graph->values) values[nb::cast(id)] = value;
  return values;
}

// ---- Editing.

std::vector<IRNode>::iterator find_node(IRGraph& graph, ValueId output) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const IRNode& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), output) != node.outputs.end();
  });
  if (found == graph.nodes.end()) throw ValueError("IRGraph: no node computes %{}", output);
  return found;
}

void remove_node(GraphHandle& self, const NodeHandle& handle) {
  IRGraph& graph = *self.graph;
  const auto found = find_node(graph, handle.node.outputs.front());
  const std::set<ValueId> results = results_of(graph);
  for (ValueId id : found->outputs) {
    if (results.contains(id)) throw ValueError("IRGraph.remove: %{} is a result of the graph", id);
    for (const IRNode& node : graph.nodes)
      for (const IROperand& operand : node.inputs)
        if (operand.id == id) throw ValueError("IRGraph.remove: %{} is used by {}", id, to_text(graph, node));
  }
  graph.nodes.erase(found);
  ConstantPool none;
  drop_undefined(graph, none);
}

/// Replaces every use of `gone` by `id`.
void replace_value(GraphHandle& self, ValueId gone, ValueId id) {
  IRGraph& graph = *self.graph;
  for (ValueId each : {gone, id})
    if (!graph.values.contains(each)) throw ValueError("IRGraph.replace: there is no %{}", each);
  Substitution substitution(graph);
  if (!substitution.allows(gone, id))
    throw ValueError(
        "IRGraph.replace: %{} cannot replace %{}: the types must be the same, and a result of the graph can only be "
        "replaced by the result of a node",
        id, gone);
  substitution.add(gone, id);
  // A node cannot read `id` before it is defined.
  bool is_defined = std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const IRNode& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), id) != node.outputs.end();
  });
  for (const IRNode& node : graph.nodes) {
    if (!is_defined && std::any_of(node.inputs.begin(), node.inputs.end(),
                                   [&](const IROperand& operand) { return operand.id == gone; }))
      throw ValueError("IRGraph.replace: %{} is computed after {}", id, to_text(graph, node));
    is_defined = is_defined || std::find(node.outputs.begin(), node.outputs.end(), id) != node.outputs.end();
  }
  for (IRNode& node : graph.nodes) substitution.apply(node);
  substitution.apply_to_results(graph);
}

// ---- Passes.

std::shared_ptr<Pass> pass_named(const std::string& name) {
  for (const auto& pass : standard_passes())
    if (pass->name() == name) return pass;
  throw ValueError("unknown pass {}", name);
}

/// A user-defined pass written in Python.
class PythonPass : public Pass {
 public:
  explicit PythonPass(const nb::object& pass)
      : name_(nb::cast<std::string>(pass.type().attr("__name__"))), pass_(pass) {}
  std::string name() const override { return name_; }

  bool run(IRGraph& graph, ConstantPool& constants) override {
    const GilAcquire lock;
    // A copy, because the Python object may outlive the call.
    const GraphHandle handle{std::make_shared<IRGraph>(graph)};
    const nb::object changed = pass_.get().attr("run")(handle);
    if (!PyBool_Check(changed.ptr()))
      throw TypeError("{}.run: expected True if the graph was changed, else False, got {}", name_,
                      Py_TYPE(changed.ptr())->tp_name);
    if (*handle.graph == graph) return false;
    try {
      verify(*handle.graph);
    } catch (const InternalError& error) {
      throw ValueError("{} produced an invalid graph: {}", name_, error.what());
    }
    graph = *handle.graph;
    std::erase_if(constants, [&](const auto& entry) { return !graph.values.contains(entry.first); });
    return true;
  }

 private:
  std::string name_;
  SharedObject pass_;
};

}  // namespace

std::optional<PassList> to_passes(nb::handle sequence) {
  if (sequence.is_none()) return std::nullopt;
  PassList passes;
  for (nb::handle item : sequence)
    passes.push_back(nb::isinstance<nb::str>(item) ? pass_named(nb::cast<std::string>(item))
                                                   : std::make_shared<PythonPass>(nb::borrow(item)));
  return passes;
}

void bind_graph(nb::module_& module) {
  nb::class_<IRValue>(module, "IRValue", "The static properties of a value of a graph.")
      .def_prop_ro("shape", [](const IRValue& self) { return read_ints(self.type.shape); })
      .def_prop_ro("dtype", [](const IRValue& self) { return nb::borrow(dtype_object(self.type.dtype)); })
      .def_prop_ro("device", [](const IRValue& self) { return to_string(self.type.device); })
      .def("__repr__", [](const IRValue& self) { return "IRValue(" + to_string(self.type) + ")"; });
  nb::class_<NodeHandle>(module, "IRNode", "One application of an op.")
      .def_prop_ro("op", [](const NodeHandle& self) { return self.node.op->name(); })
      .def_prop_ro("attributes", &attributes_of)
      .def_prop_ro("inputs", &inputs_of)
      .def_prop_ro("input_ids", &input_ids_of)
      .def_prop_ro("outputs", [](const NodeHandle& self) { return self.node.outputs; })
      .def_ro("device", &NodeHandle::device)
      .def_prop_ro("has_gradient", [](const NodeHandle& self) { return self.node.has_gradient; })
      .def_prop_ro("source", [](const NodeHandle& self) { return self.node.source; })
      .def("__repr__", [](const NodeHandle& self) { return self.text; });
  nb::class_<GraphHandle>(module, "IRGraph", "A recorded computation, purely functional.")
      .def_prop_ro("name", [](const GraphHandle& self) { return self.graph->name; })
      .def_prop_ro("input_ids", [](const GraphHandle& self) { return self.graph->input_ids; })
      .def_prop_ro("param_ids", [](const GraphHandle& self) { return self.graph->param_ids; })
      .def_prop_ro("state_ids", [](const GraphHandle& self) { return self.graph->state_ids; })
      .def_prop_ro("constant_ids", [](const GraphHandle& self) { return self.graph->constant_ids; })
      .def_prop_ro("output_ids", [](const GraphHandle& self) { return self.graph->output_ids; })
      .def_prop_ro("updates", [](const GraphHandle& self) { return self.graph->updates; })
      .def_prop_ro("nodes", &nodes_of)
      .def_prop_ro("values", &values_of)
      .def("remove", &remove_node, "node"_a, "Removes a node whose results are unused.")
      .def("replace", &replace_value, "gone"_a, "by"_a, "Replaces every use of one value by another.")
      .def(
          "verify", [](const GraphHandle& self) { verify(*self.graph); },
          "Raises InternalError if the graph is not well formed.")
      .def("copy", [](const GraphHandle& self) { return GraphHandle{std::make_shared<IRGraph>(*self.graph)}; })
      .def_static(
          "parse", [](const std::string& text) { return GraphHandle{std::make_shared<IRGraph>(parse_graph(text))}; },
          "text"_a, "Parses the text form.")
      .def(
          "__eq__",
          [](const GraphHandle& self, nb::handle other) {
            return nb::isinstance<GraphHandle>(other) && *nb::cast<GraphHandle&>(other).graph == *self.graph;
          },
          "other"_a.none())
      .def("__str__", [](const GraphHandle& self) { return to_text(*self.graph); })
      .def("__repr__", [](const GraphHandle& self) { return to_text(*self.graph); });
  module.def(
      "run_pass",
      [](const std::string& name, GraphHandle& graph) {
        ConstantPool constants;
        return pass_named(name)->run(*graph.graph, constants);
      },
      "name"_a, "graph"_a);
}

}  // namespace lucid::python
