// Prints and parses the text form of graphs. docs/ir.md has the grammar.

#include <algorithm>
#include <limits>

#include "ir/graph.h"
#include "ir/scanner.h"

namespace lucid {
namespace {

struct Role {
  std::string_view name;
  std::vector<ValueId> IRGraph::* ids;
};

constexpr Role kRoles[] = {
    {"input", &IRGraph::input_ids},
    {"param", &IRGraph::param_ids},
    {"state", &IRGraph::state_ids},
    {"constant", &IRGraph::constant_ids},
};

template <typename Items, typename Print>
std::string join(const Items& items, Print print) {
  std::string text;
  for (const auto& item : items) {
    if (!text.empty()) text += ", ";
    text += print(item);
  }
  return text;
}

std::string to_text(const IRGraph& graph, SymInt dim) {
  return graph.sizes ? graph.sizes->text(dim) : fmt::format("{}", dim);
}

std::string to_text(const IRGraph& graph, const Dims& dims) {
  std::string text;
  for (const SymInt dim : dims) text += (text.empty() ? "" : ",") + to_text(graph, dim);
  return '[' + text + ']';
}

std::string to_text(const IRGraph& graph, const Attribute& attribute) {
  if (const auto* dim = std::get_if<SymInt>(&attribute)) return to_text(graph, *dim);
  if (const auto* dims = std::get_if<Dims>(&attribute)) return to_text(graph, *dims);
  return to_string(attribute);
}

std::string to_text(const IRGraph& graph, const IROperand& operand) {
  if (operand.number)
    return operand.number->is_size() ? to_text(graph, operand.number->size()) : to_string(*operand.number);
  return operand.id < 0 ? "none" : fmt::format("%{}", operand.id);
}

std::string declaration(const IRGraph& graph, ValueId id) {
  const auto value = graph.values.find(id);
  if (value == graph.values.end()) return fmt::format("%{}: ?", id);
  const TensorType& type = value->second.type;
  return fmt::format("%{}: {}{}{}", id, name_of(type.dtype), to_text(graph, type.shape),
                     type.device == kCpuDevice ? "" : "@" + to_string(type.device));
}

/// `{dim=[1], keepdim=true}`, without attributes that have their default value.
std::string attributes_text(const IRGraph& graph, const IRNode& node) {
  std::string text;
  size_t index = 0;
  for (const Parameter& parameter : node.op->schema.parameters) {
    if (!is_attribute(parameter.kind) || index >= node.attributes.size()) continue;
    const std::string value = to_text(graph, node.attributes[index++]);
    // Compared as text, in which -0.0 differs from 0.0 and a NaN equals itself.
    if (parameter.has_default && value == to_string(parameter.default_value)) continue;
    text += fmt::format("{}{}={}", text.empty() ? " {" : ", ", parameter.name, value);
  }
  return text.empty() ? text : text + '}';
}

bool is_plain_comment(std::string_view text) {
  return text.front() != ' ' && text.front() != '"' && text.back() != ' ' &&
         std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

class Parser {
 public:
  explicit Parser(const std::string& text) : scanner_("graph text", text) {}

  IRGraph parse() {
    scanner_.expect("graph");
    graph_.name = scanner_.peek("\"") ? scanner_.string() : std::string(scanner_.identifier("the graph's name"));
    parse_symbols();
    parse_inputs();
    scanner_.expect("->");
    scanner_.expect("(");
    if (!scanner_.take(")")) {
      do graph_.output_ids.push_back(id());
      while (scanner_.take(","));
      scanner_.expect(")");
    }
    scanner_.expect("{");
    while (!scanner_.take("}")) {
      if (scanner_.take("update")) {
        const ValueId state = id();
        scanner_.expect("=");
        graph_.updates.emplace_back(state, id());
      } else {
        parse_node();
      }
    }
    if (!scanner_.at_end()) scanner_.fail("expected the end");
    return std::move(graph_);
  }

 private:
  ValueId id() {
    scanner_.expect("%");
    const int64_t value = scanner_.integer("a value's number");
    if (value < 0 || value > std::numeric_limits<ValueId>::max()) scanner_.fail("the value's number is out of range");
    return static_cast<ValueId>(value);
  }

  Device device() {
    std::string name(scanner_.identifier("a device"));
    if (scanner_.take(":")) name += fmt::format(":{}", scanner_.integer("the number of a device"));
    try {
      return parse_device(name);
    } catch (const Error& error) {
      scanner_.fail(error.what());
    }
  }

  ValueId declare() {
    const ValueId id = this->id();
    scanner_.expect(":");
    const std::string_view name = scanner_.identifier("a dtype");
    const auto dtype = parse_dtype(name);
    if (!dtype || name_of(*dtype) != name) scanner_.fail(fmt::format("`{}` is not a dtype", name));
    IRValue value{.type = {*dtype, scanner_.dims()}};
    try {
      checked_numel("shape", value.type.shape, size_of(*dtype));
    } catch (const Error& error) {
      scanner_.fail(error.what());
    }
    if (scanner_.take("@")) value.type.device = device();
    if (!graph_.values.emplace(id, std::move(value)).second) scanner_.fail(fmt::format("%{} is declared twice", id));
    return id;
  }

  void parse_symbols() {
    if (!scanner_.take("[")) return;
    const auto sizes = std::make_shared<SizeTrace>();
    graph_.sizes = sizes;
    do scanner_.symbol(*sizes);
    while (scanner_.take(","));
    scanner_.expect("]");
  }

  void parse_inputs() {
    scanner_.expect("(");
    if (scanner_.take(")")) return;
    do {
      const ValueId id = declare();
      const auto role = std::ranges::find_if(kRoles, [&](const Role& role) { return scanner_.take(role.name); });
      if (role == std::end(kRoles)) scanner_.fail("expected input, param, state or constant");
      (graph_.*role->ids).push_back(id);
    } while (scanner_.take(","));
    scanner_.expect(")");
  }

  void parse_node() {
    IRNode node;
    do node.outputs.push_back(declare());
    while (scanner_.take(","));
    scanner_.expect("=");
    const std::string_view name = scanner_.identifier("the name of an op");
    node.op = op_table().find(name);
    if (!node.op) scanner_.fail(fmt::format("no op is named `{}`", name));
    scanner_.expect("(");
    if (!scanner_.take(")")) {
      do node.inputs.push_back(parse_operand());
      while (scanner_.take(","));
      scanner_.expect(")");
    }
    parse_attributes(node);
    if (scanner_.take("no_grad")) node.has_gradient = false;
    if (scanner_.take(";"))
      node.source = scanner_.peek("\"") ? scanner_.string() : std::string(scanner_.rest_of_line());
    if (!scanner_.at_line_end()) scanner_.fail("expected the end of the line");
    graph_.nodes.push_back(std::move(node));
  }

  IROperand parse_operand() {
    if (scanner_.peek("%")) return {.id = id()};
    const Attribute value = scanner_.attribute();
    if (std::holds_alternative<std::monostate>(value)) return {};
    if (const auto* flag = std::get_if<bool>(&value)) return {.number = Scalar(*flag)};
    if (const auto* integer = std::get_if<SymInt>(&value)) return {.number = Scalar(*integer)};
    if (const auto* real = std::get_if<double>(&value)) return {.number = Scalar(*real)};
    scanner_.fail("an operand is a value, a number or none");
  }

  void parse_attributes(IRNode& node) {
    const Schema& schema = node.op->schema;
    node.attributes = schema.default_attributes();
    std::vector<bool> given(node.attributes.size());
    if (scanner_.take("{") && !scanner_.take("}")) {
      do {
        const std::string_view name = scanner_.identifier("an attribute");
        const int index = schema.attribute_index(name);
        if (index < 0) scanner_.fail(fmt::format("{} has no attribute {}", schema.name, name));
        const auto position = static_cast<size_t>(index);
        if (given[position]) scanner_.fail(fmt::format("attribute {} is given twice", name));
        given[position] = true;
        scanner_.expect("=");
        const Attribute value = scanner_.attribute();
        const auto parameter = std::ranges::find(schema.parameters, name, &Parameter::name);
        const auto converted = convert_attribute(*parameter, value);
        if (!converted) scanner_.fail(fmt::format("attribute {} does not take {}", name, to_string(value)));
        node.attributes[position] = *converted;
      } while (scanner_.take(","));
      scanner_.expect("}");
    }
    for (const Parameter& parameter : schema.parameters)
      if (is_attribute(parameter.kind) && !parameter.has_default &&
          !given[static_cast<size_t>(schema.attribute_index(parameter.name))])
        scanner_.fail(fmt::format("{} lacks attribute {}", schema.name, parameter.name));
  }

  Scanner scanner_;
  IRGraph graph_;
};

}  // namespace

std::string to_text(const IRGraph& graph, const IRNode& node) {
  std::string text = join(node.outputs, [&](ValueId id) { return declaration(graph, id); });
  if (!node.op) return text + " = ?";
  text +=
      fmt::format(" = {}({}){}", node.op->name(), join(node.inputs, [&](const auto& i) { return to_text(graph, i); }),
                  attributes_text(graph, node));
  if (!node.has_gradient) text += " no_grad";
  if (!node.source.empty()) text += "  ; " + (is_plain_comment(node.source) ? node.source : quoted(node.source));
  return text;
}

std::string to_text(const IRGraph& graph) {
  std::string text = "graph " + (is_plain_identifier(graph.name) ? graph.name : quoted(graph.name));
  if (graph.sizes) {
    int symbol = 0;
    text += fmt::format(
        "[{}]", join(graph.sizes->sizes(), [&](int64_t size) { return fmt::format("s{}={}", symbol++, size); }));
  }
  text += '(';
  bool first = true;
  for (const Role& role : kRoles) {
    for (const ValueId id : graph.*role.ids) {
      text += fmt::format("{}{} {}", first ? "" : ", ", declaration(graph, id), role.name);
      first = false;
    }
  }
  text += fmt::format(") -> ({}) {{\n", join(graph.output_ids, [](ValueId id) { return fmt::format("%{}", id); }));
  for (const IRNode& node : graph.nodes) text += "  " + to_text(graph, node) + '\n';
  for (const auto& [state, value] : graph.updates) text += fmt::format("  update %{} = %{}\n", state, value);
  return text + "}\n";
}

IRGraph parse_graph(const std::string& text) { return Parser(text).parse(); }

}  // namespace lucid
