#include "ops/interpreter.h"

#include <cstring>

#include "ir/decompose.h"
#include "ops/precision.h"

namespace lucid {
namespace {

Value value_of(const Operand& operand) { return Ref<ValueBase>(const_cast<ValueBase*>(operand.value())); }

/// Copies the elements of `source` that a geometry addresses, in row-major order.
Value copy_through(const HostArray& source, const Geometry& geometry) {
  const Value result = Interpreter::make({source.type.dtype, geometry.sizes});
  const HostArray out = Interpreter::array(result);
  const size_t bytes = size_of(source.type.dtype);
  const Dims strides = contiguous_strides(geometry.sizes);
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t at = geometry.offset;
    for (size_t d = 0; d < strides.size(); ++d) at += i / strides[d] % geometry.sizes[d] * geometry.strides[d];
    std::memcpy(out.as<char>() + static_cast<size_t>(i) * bytes, source.as<char>() + static_cast<size_t>(at) * bytes,
                bytes);
  }
  return result;
}

/// Returns nullopt for composites of ops whose result sizes depend on data.
std::optional<std::vector<TensorType>> types_before_running(const Call& call) {
  try {
    return infer_types(call);
  } catch (const NotImplementedError&) {
    return std::nullopt;
  }
}

}  // namespace

Values Interpreter::emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) {
  const Call call(op, operands, attributes);
  if (op.decompose) return decompose(call);
  if (op.view) return {view(call)};
  if (!op.host) infer_types(call);
  if (accumulates_in_memory(op) && is_half(call.dtype(0))) return {emit_widened(*this, call)};
  std::vector<HostArray> inputs;
  Values held;
  for (size_t i = 0; i < call.count(); ++i) {
    if (!call.has(i)) {
      inputs.emplace_back();
    } else if (call.operand(i).is_value()) {
      inputs.push_back(array(value_of(call.operand(i))));
    } else {
      // A number combined with 16-bit floats is not rounded to 16 bits first.
      held.push_back(make({compute_dtype(operand_dtype(call, i)), {}}));
      inputs.push_back(array(held.back()));
      call.operand(i).scalar().store(inputs.back().type.dtype, inputs.back().data);
    }
  }
  Values results;
  HostCall host(call, inputs, [&](const TensorType& type) {
    results.push_back(make(type));
    return array(results.back());
  });
  const auto& run = op.host ? op.host : op.reference;
  LUCID_CHECK(run, "{} has no reference", op.name());
  run(host);
  return results;
}

Values Interpreter::decompose(const Call& call) {
  const auto types = types_before_running(call);
  return types ? emit_widened_decomposition(*this, call, *types) : emit_decomposition(*this, call);
}

Value Interpreter::view(const Call& call) {
  const HostArray x = array(value_of(call.operand(0)));
  const Dims& sizes = x.type.shape;
  const auto geometry = call.op().view(call, {sizes, contiguous_strides(sizes), 0});
  LUCID_CHECK(geometry, "{}: a contiguous tensor cannot be viewed", call.name());
  return copy_through(x, *geometry);
}

}  // namespace lucid
