#include "jit/first_divergent_node.h"

#include <cmath>
#include <cstring>
#include <map>
#include <set>

namespace lucid::jit {
namespace {

class Search {
 public:
  Search(const CallGraph& call, const PassList* passes, std::span<void* const> inputs) : call_(call), passes_(passes) {
    for (const GraphInput& input : call.inputs) {
      geometries_[input.id] = input.geometry;
      if (input.kind == GraphInput::Kind::kConstant) {
        addresses_[input.id] = input.constant->data();
      } else {
        addresses_[input.id] = inputs.front();
        inputs = inputs.subspan(1);
      }
    }
  }

  std::optional<size_t> run() {
    for (const IRNode& node : call_.graph.nodes)
      if (!compute(node)) return std::nullopt;
    size_t right = 0, wrong = call_.graph.nodes.size();
    if (!is_wrong(wrong)) return std::nullopt;
    while (wrong - right > 1) {
      const size_t middle = right + (wrong - right) / 2;
      (is_wrong(middle) ? wrong : right) = middle;
    }
    return wrong - 1;
  }

 private:
  using Storages = std::vector<Ref<Storage>>;

  const TensorType& type(ValueId id) const { return call_.graph.type(id); }

  std::vector<void*> allocate(const std::vector<ValueId>& ids, Storages& storages) const {
    std::vector<void*> addresses;
    for (const ValueId id : ids) {
      const int64_t bytes = numel(type(id).shape) * static_cast<int64_t>(size_of(type(id).dtype));
      storages.push_back(Storage::allocate(static_cast<size_t>(bytes), type(id).device));
      addresses.push_back(storages.back()->data());
    }
    return addresses;
  }

  /// Computes the results of one node by itself. Returns false if a check in its kernel fails.
  bool compute(const IRNode& node) {
    IRGraph graph{.nodes = {node}, .output_ids = node.outputs};
    std::map<ValueId, Geometry> geometries;
    std::vector<void*> inputs;
    for (const ValueId id : node.outputs) graph.values[id] = call_.graph.values.at(id);
    for (const IROperand& operand : node.inputs) {
      if (operand.id < 0 || !graph.values.try_emplace(operand.id, call_.graph.values.at(operand.id)).second) continue;
      graph.input_ids.push_back(operand.id);
      geometries[operand.id] = geometries_.at(operand.id);
      inputs.push_back(addresses_.at(operand.id));
    }
    const Ref<Plan> plan = lucid::compile_plan(graph, geometries, {.order = OutputOrder::kRowMajor});
    const std::vector<void*> outputs = allocate(node.outputs, storages_);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      addresses_[id] = outputs[i];
      geometries_[id] = {type(id).shape, contiguous_strides(type(id).shape), 0};
    }
    return plan->run(inputs, outputs) == 0;
  }

  /// The results of the first nodes that others use, or that are results of the graph.
  std::vector<ValueId> results_of(size_t count) const {
    const std::vector<IRNode>& nodes = call_.graph.nodes;
    std::set<ValueId> used(call_.graph.output_ids.begin(), call_.graph.output_ids.end());
    for (size_t i = count; i < nodes.size(); ++i)
      for (const IROperand& operand : nodes[i].inputs) used.insert(operand.id);
    std::vector<ValueId> results;
    for (size_t i = 0; i < count; ++i)
      for (const ValueId id : nodes[i].outputs)
        if (used.contains(id)) results.push_back(id);
    return results;
  }

  /// Whether a plan of the first nodes gives other results. If passes cannot cope with a part of the graph, nothing is
  /// known about it.
  bool is_wrong(size_t count) const {
    try {
      return differs(count);
    } catch (const std::exception&) {
      return false;
    }
  }

  bool differs(size_t count) const {
    CallGraph part = call_;
    IRGraph& graph = part.graph;
    for (size_t i = count; i < graph.nodes.size(); ++i)
      for (const ValueId id : graph.nodes[i].outputs) graph.values.erase(id);
    graph.nodes.resize(count);
    graph.output_ids = results_of(count);
    graph.updates.clear();
    const std::vector<ValueId> results = graph.output_ids;
    const Ref<Plan> plan = compile_alone(part, passes_);
    std::vector<void*> inputs;
    for (const GraphInput& input : part.inputs)
      inputs.push_back(input.kind == GraphInput::Kind::kConstant ? input.constant->data() : addresses_.at(input.id));
    Storages storages;
    const std::vector<void*> outputs = allocate(results, storages);
    if (plan->run(inputs, outputs) != 0) return true;
    for (size_t i = 0; i < results.size(); ++i) {
      const auto& [dtype, shape, device] = type(results[i]);
      if (first_difference(dtype, device, outputs[i], addresses_.at(results[i]), numel(shape)) >= 0) return true;
    }
    return false;
  }

  const CallGraph& call_;
  const PassList* passes_;
  std::map<ValueId, void*> addresses_;
  std::map<ValueId, Geometry> geometries_;
  Storages storages_;
};

}  // namespace

int64_t first_difference(Dtype dtype, Device device, const void* a, const void* b, int64_t count) {
  const size_t bytes = size_of(dtype);
  if (device.is_gpu()) {
    const size_t total = static_cast<size_t>(count) * bytes;
    std::vector<char> left(total), right(total);
    read_bytes(device, left.data(), a, total);
    read_bytes(device, right.data(), b, total);
    return first_difference(dtype, kCpuDevice, left.data(), right.data(), count);
  }
  const auto* left = static_cast<const char*>(a);
  const auto* right = static_cast<const char*>(b);
  const auto is_nan = [&](const char* element) { return std::isnan(Scalar::load(dtype, element).to_double()); };
  for (int64_t i = 0; i < count; ++i, left += bytes, right += bytes)
    if (std::memcmp(left, right, bytes) != 0 && !(is_nan(left) && is_nan(right))) return i;
  return -1;
}

std::optional<size_t> find_first_divergent_node(const CallGraph& call, const PassList* passes,
                                                std::span<void* const> inputs) {
  return Search(call, passes, inputs).run();
}

}  // namespace lucid::jit
