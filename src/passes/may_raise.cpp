#include "passes/may_raise.h"

#include "ir/decompose.h"

namespace lucid {
namespace {

/// Expands decompositions on types alone, and records whether any op could raise.
class RaiseFinder : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    const Call call(op, operands, attributes);
    found_ = found_ || !op.errors.empty() || op.host;
    const std::vector<TensorType> types = infer_types(call);
    if (op.decompose) return emit_widened_decomposition(*this, call, types);
    Values results;
    for (const TensorType& type : types) results.push_back(make_ref<ValueBase>(type.dtype, type.shape, type.device));
    return results;
  }
  bool found() const { return found_; }

 private:
  bool found_ = false;
};

}  // namespace

bool may_raise(const Call& call) {
  if (!call.op().errors.empty() || call.op().host) return true;
  if (!call.op().decompose) return false;
  RaiseFinder finder;
  try {
    finder.emit(call.op(), call.operands(), call.attributes());
  } catch (const NotImplementedError&) {
    return true;  // a part's type depends on data, so it runs on the host
  }
  return finder.found();
}

}  // namespace lucid
