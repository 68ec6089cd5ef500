#include "passes/constant_fold.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ir/evaluate.h"
#include "ops/interpreter.h"
#include "passes/graph_edit.h"
#include "passes/layout_facts.h"

namespace lucid {
namespace {

/// Thrown if the reference might not produce the same bits as a kernel.
struct NotFoldable {};

bool is_subnormal(double value, Dtype dtype) {
  if (!is_float(dtype)) return false;
  // f16 computes in f32, where its own subnormal numbers are normal.
  const double smallest =
      dtype == Dtype::kF64 ? std::numeric_limits<double>::min() : double{std::numeric_limits<float>::min()};
  return value != 0 && std::fabs(value) < smallest;
}

/// The reference interpreter, restricted to calls for which kernels produce the same bits.
class FoldingInterpreter : public Interpreter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    if (op.host || op.ulp != 0) throw NotFoldable();
    for (const Operand& operand : operands) {
      // A number may be converted to f32, depending on the other operand.
      if (operand.is_scalar() && is_subnormal(operand.scalar().to_double(), Dtype::kF32)) throw NotFoldable();
      if (operand.is_value()) check(Value(Ref<ValueBase>(const_cast<ValueBase*>(operand.value()))));
    }
    for (const Attribute& attribute : attributes)
      if (const double* real = std::get_if<double>(&attribute); real && is_subnormal(*real, Dtype::kF32))
        throw NotFoldable();
    for (const TensorType& type : infer_types(Call(op, operands, attributes)))
      if (numel(type.shape) > kMaxPartElements) throw NotFoldable();
    Values results = Interpreter::emit(op, operands, attributes);
    for (const Value& result : results) check(result);
    return results;
  }

 private:
  /// Parts of composites may be larger than their results.
  static constexpr int64_t kMaxPartElements = 16 * kMaxConstantElements;

  static void check(const Value& value) {
    const HostArray array = Interpreter::array(value);
    const size_t bytes = size_of(array.type.dtype);
    if (!is_float(array.type.dtype)) return;
    for (int64_t i = 0; i < array.size(); ++i) {
      const Scalar element = Scalar::load(array.type.dtype, array.as<char>() + static_cast<size_t>(i) * bytes);
      if (is_subnormal(element.to_double(), array.type.dtype)) throw NotFoldable();
    }
  }
};

/// Sets rounding to nearest, disables traps, and sets whether subnormal results are flushed, until the end of a scope.
class FlushScope {
 public:
  explicit FlushScope(bool flush) : saved_(_mm_getcsr()) { _mm_setcsr(flush ? 0x9f80 : 0x1f80); }
  FlushScope(const FlushScope&) = delete;
  FlushScope& operator=(const FlushScope&) = delete;
  ~FlushScope() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

/// The data of a value, as a constant of the given type.
ConstantData data_of(const Value& value, const TensorType& type) {
  const HostArray array = Interpreter::array(value);
  const auto* const bytes = static_cast<const std::byte*>(array.data);
  const size_t size = static_cast<size_t>(array.size()) * size_of(array.type.dtype);
  return {type, std::vector<std::byte>(bytes, bytes + size)};
}

bool is_small(const TensorType& type) { return !is_traced(type.shape) && numel(type.shape) <= kMaxConstantElements; }

class Folder {
 public:
  Folder(IRGraph& graph, ConstantPool& constants)
      : graph_(graph),
        constants_(constants),
        results_(results_of(graph)),
        visible_(values_with_visible_layout(graph)),
        layouts_(graph) {}

  bool run() {
    for (const ValueId id : graph_.constant_ids)
      if (constants_.contains(id) && is_small(graph_.type(id))) known_.insert(id);
    std::vector<IRNode> kept;
    for (const IRNode& node : graph_.nodes)
      if (!is_known(node) || !may_fold(node) || !fold(node)) kept.push_back(node);
    const bool changed = kept.size() != graph_.nodes.size();
    graph_.nodes = std::move(kept);
    return changed;
  }

 private:
  /// Whether all operands are known, and the results are small enough to become constants.
  bool is_known(const IRNode& node) const {
    const auto known = [&](const IROperand& input) {
      return input.id < 0 || known_.contains(input.id) || deferred_.contains(input.id);
    };
    return std::ranges::all_of(node.inputs, known) && !is_traced(node.attributes) &&
           std::ranges::none_of(node.inputs,
                                [](const IROperand& input) { return input.number && input.number->is_size(); }) &&
           std::ranges::all_of(node.outputs, [&](ValueId id) { return is_small(graph_.type(id)); });
  }

  /// Whether the results should become constants. Records nodes that are only computed as operands of folded nodes.
  bool may_fold(const IRNode& node) {
    layouts_.define(node);
    // Views and tensors created from numbers cost a plan nothing.
    if (node.op->view || std::ranges::none_of(node.inputs, [](const IROperand& input) { return input.id >= 0; })) {
      for (const ValueId id : node.outputs) deferred_.emplace(id, node);
      return false;
    }
    return std::ranges::all_of(node.outputs, [&](ValueId id) {
      // A result of the graph would have to be copied from the constant.
      if (results_.contains(id)) return false;
      return !visible_.contains(id) || layouts_.of(id).strides == contiguous_strides(graph_.type(id).shape);
    });
  }

  bool fold(const IRNode& node) {
    try {
      const auto flushed = evaluate(node, true);
      // A sum may have a subnormal intermediate value that its result does not show.
      if (flushed != evaluate(node, false)) return false;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        constants_[node.outputs[i]] = flushed[i];
        graph_.constant_ids.push_back(node.outputs[i]);
        known_.insert(node.outputs[i]);
      }
      return true;
    } catch (const NotFoldable&) {
      return false;
    } catch (const Error&) {
      return false;
    }
  }

  std::vector<ConstantData> evaluate(const IRNode& node, bool flush) {
    const FlushScope scope(flush);
    const DeviceScope device(kCpuDevice);
    const Values results = interpret(node);
    std::vector<ConstantData> data;
    for (size_t i = 0; i < results.size(); ++i) data.push_back(data_of(results[i], graph_.type(node.outputs[i])));
    return data;
  }

  Values interpret(const IRNode& node) {
    Values held;
    held.reserve(node.inputs.size());
    std::vector<Operand> operands;
    for (const IROperand& input : node.inputs) {
      if (input.id >= 0) {
        held.push_back(value(input.id));
        operands.emplace_back(held.back());
      } else {
        operands.push_back(input.number ? Operand(*input.number) : Operand());
      }
    }
    return FoldingInterpreter().emit(*node.op, operands, node.attributes);
  }

  Value value(ValueId id) {
    if (const auto node = deferred_.find(id); node != deferred_.end()) {
      const auto& outputs = node->second.outputs;
      return interpret(node->second)[static_cast<size_t>(std::ranges::find(outputs, id) - outputs.begin())];
    }
    const ConstantData& data = constants_.at(id);
    // The interpreter computes on the CPU, whichever device the graph is for.
    const Value value = Interpreter::make({data.type.dtype, data.type.shape});
    std::ranges::copy(data.bytes, static_cast<std::byte*>(Interpreter::array(value).data));
    return value;
  }

  IRGraph& graph_;
  ConstantPool& constants_;
  std::set<ValueId> results_;
  std::set<ValueId> visible_;
  LayoutFacts layouts_;
  std::set<ValueId> known_;
  std::map<ValueId, IRNode> deferred_;  // nodes that are computed only if a folded node reads them
};

}  // namespace

bool ConstantFoldPass::run(IRGraph& graph, ConstantPool& constants) { return Folder(graph, constants).run(); }

}  // namespace lucid
