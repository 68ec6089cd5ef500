#include "tensor/composite.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/throw_error.h"
#include "ir/decompose.h"
#include "ir/graph.h"
#include "ir/graph_emitter.h"
#include "tensor/eager.h"
#include "tensor/refused_values.h"
#include "tensor/tensor_impl.h"

namespace lucid {
namespace {

/// Expands a call to find out what it consists of.
class Probe : public GraphEmitter {
 public:
  struct RunsOnHost {};

  explicit Probe(IRGraph& graph) : GraphEmitter(graph) {}
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    const Call call(op, operands, attributes);
    if (op.host) throw RunsOnHost();
    if (op.decompose) return emit_decomposition(*this, call);
    computes_ |= !op.view;
    return GraphEmitter::emit(op, operands, attributes);
  }
  bool computes() const { return computes_; }

 private:
  bool computes_ = false;
};

bool probe(const Call& call) {
  IRGraph graph;
  Probe emitter(graph);
  Values held;
  std::vector<Operand> operands;
  for (const Operand& operand : call.operands())
    held.push_back(operand.is_value() ? emitter.value(graph.add_input(operand.type())) : Value());
  for (size_t i = 0; i < call.count(); ++i) operands.push_back(held[i] ? Operand(held[i]) : call.operand(i));
  try {
    emitter.emit(call.op(), operands, call.attributes());
  } catch (const Probe::RunsOnHost&) {
    return true;
  }
  return !emitter.computes();
}

bool shares_memory(const TensorImpl& result, std::span<const Operand> operands) {
  return std::any_of(operands.begin(), operands.end(), [&](const Operand& operand) {
    return operand.is_value() && tensor_of(operand)->cell() == result.cell();
  });
}

enum class Kind : uint8_t { kUnknown, kOnePlan, kParts };

}  // namespace

bool must_emit_parts(const Call& call) {
  // Outlives threads that still run at exit.
  static std::atomic<Kind>* const kinds = new std::atomic<Kind>[op_table().ops().size()]();
  std::atomic<Kind>& kind = kinds[call.op().id];
  if (kind.load(std::memory_order_relaxed) == Kind::kUnknown)
    kind.store(probe(call) ? Kind::kParts : Kind::kOnePlan, std::memory_order_relaxed);
  return kind.load(std::memory_order_relaxed) == Kind::kParts;
}

namespace {

Values decomposed(EagerEmitter& e, const Call& call) {
  // A plan computes composites of 16-bit floats in f32 and rounds once. For the same bits, their parts must do so too.
  bool half = false;
  for (const Operand& operand : call.operands()) half |= operand.is_value() && is_half(operand.dtype());
  Values results = half && !must_emit_parts(call) ? emit_widened_decomposition(e, call, infer_types(call))
                                                  : emit_decomposition(e, call);
  if (results.size() == 1 && !shares_memory(*tensor_of(results[0]), call.operands()))
    tensor_of(results[0])->become_root();
  return results;
}

}  // namespace

Values EagerEmitter::decompose(const Call& call) {
  try {
    return decomposed(*this, call);
  } catch (const Error& error) {
    // An error raised by a part is reported in the name of the op that was called, and about its operands.
    const bool refused = is_refused(error);
    if (refused) throw_if_out_of_bounds(call);
    const std::string_view message = error.what();
    const size_t colon = std::min(message.find(": "), message.size());
    const Op* part = op_table().find(message.substr(0, colon));
    if (!part || part == &call.op() || error.error_class() == ErrorClass::kInternal) throw;
    const std::string renamed = call.name() + std::string(message.substr(colon));
    if (refused) throw_refused(error.error_class(), renamed);
    throw_error(error.error_class(), renamed);
  }
}

}  // namespace lucid
