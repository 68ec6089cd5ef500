#include "ir/decompose.h"

#include "base/error.h"

namespace lucid {
namespace {

/// For each op, the bit mask of the operands that are numbers in some sample.
std::vector<uint64_t> numbers_in_samples() {
  std::vector<uint64_t> masks;
  for (const Op& op : op_table().ops()) {
    uint64_t& mask = masks.emplace_back(0);
    for (const Sample& sample : op.samples)
      for (size_t i = 0; i < sample.tensors.size() && i < 64; ++i)
        if (sample.tensors[i].number) mask |= uint64_t{1} << i;
  }
  return masks;
}

Values decompose(Emitter& e, const Call& call, bool widen) {
  const DeviceScope device(device_of(call));
  // Run the op's own rule first: the decomposition may rely on its checks.
  if (call.op().infer) infer_types(call);
  Values inputs(call.count());
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    if (!operand.is_value()) continue;
    const Dtype dtype = operand_dtype(call, i);
    const Value value(Ref<ValueBase>(const_cast<ValueBase*>(operand.value())));
    inputs[i] = e.cast(value, widen && is_float(dtype) ? compute_dtype(dtype) : dtype);
  }
  std::vector<Operand> operands;
  for (size_t i = 0; i < call.count(); ++i) operands.push_back(inputs[i] ? Operand(inputs[i]) : call.operand(i));
  return call.op().decompose(e, Call(call.op(), operands, call.attributes()), inputs);
}

}  // namespace

bool takes_number(const Op& op, size_t operand) {
  // Never destroyed: used until the process ends.
  static const std::vector<uint64_t>& masks = *new std::vector<uint64_t>(numbers_in_samples());
  return op.promote != Promote::kNone || (operand < 64 && (masks[op.id] >> operand & 1) != 0);
}

Values emit_decomposition(Emitter& e, const Call& call) { return decompose(e, call, false); }

Values emit_widened_decomposition(Emitter& e, const Call& call, const std::vector<TensorType>& types) {
  Values results = decompose(e, call, true);
  LUCID_CHECK(results.size() == types.size(), "{} decomposed into {} results instead of {}", call.name(),
              results.size(), types.size());
  for (size_t i = 0; i < results.size(); ++i) {
    LUCID_CHECK(results[i].shape() == types[i].shape, "{} decomposed into {} instead of {}", call.name(),
                to_string(results[i].type()), to_string(types[i]));
    results[i] = e.cast(results[i], types[i].dtype);
  }
  return results;
}

}  // namespace lucid
