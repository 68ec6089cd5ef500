// Result types of calls, from the op's own rule, from broadcasting and promotion, or from its decomposition.

#include <algorithm>

#include "ir/decompose.h"
#include "ir/emitter.h"
#include "ir/op.h"
#include "ir/transfer.h"

namespace lucid {
namespace {

/// "bool, i32 or f32", for the advice in messages about dtypes.
std::string list_of(DtypeSet dtypes) {
  std::vector<std::string_view> names;
  for (int i = 0; i < kDtypeCount; ++i)
    if (dtypes.contains(static_cast<Dtype>(i))) names.push_back(name_of(static_cast<Dtype>(i)));
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

/// Checks that the operands match the signature: their number, and that only optional ones are absent.
void check_operands(const Call& call) {
  const auto& parameters = call.op().schema.parameters;
  const auto tensors = std::ranges::count_if(parameters, [](const Parameter& p) { return !is_attribute(p.kind); });
  const auto lists =
      std::ranges::count_if(parameters, [](const Parameter& p) { return p.kind == ParameterKind::kTensors; });
  const auto given = static_cast<std::ptrdiff_t>(call.count());
  if (lists == 0 ? given != tensors : given < tensors - 1)
    throw TypeError("{}: takes {}{} tensors, got {}", call.name(), lists ? "at least " : "", tensors - lists, given);
  const size_t list_size = static_cast<size_t>(given - (tensors - lists));
  size_t next = 0;
  for (const Parameter& parameter : parameters) {
    if (is_attribute(parameter.kind)) continue;
    const bool is_list = parameter.kind == ParameterKind::kTensors;
    for (size_t left = is_list ? list_size : 1; left > 0; --left, ++next) {
      if (!call.has(next) && !parameter.optional)
        throw TypeError("{}: argument {} is missing", call.name(), parameter.name);
      if (is_list && call.operand(next).is_scalar())
        throw TypeError("{}: argument {} must hold tensors, not numbers", call.name(), parameter.name);
    }
  }
}

Dtype common_dtype(const Call& call) {
  const Promote promote = call.op().promote;
  Promotion promotion;
  for (size_t i = promote == Promote::kTail ? 1 : 0; i < call.count(); ++i)
    if (call.has(i)) promotion.add(call.dtype(i), call.operand(i).promotion_rank());
  const Dtype dtype = promotion.result();
  return promote == Promote::kFloat && !is_float(dtype) ? default_float() : dtype;
}

void check_dtype(const Call& call, Dtype dtype) {
  if (call.op().dtypes.contains(dtype)) return;
  throw TypeError("{}: does not take {}; convert to {}", call.name(), name_of(dtype), list_of(call.op().dtypes));
}

/// Whether an operand can be used on any device: kernels are passed a copy.
bool is_on_every_device(const Call& call, size_t i) {
  const Operand& operand = call.operand(i);
  return operand.device() == kCpuDevice && (operand.rank() == 0 || (i == 0 && call.op().is_random()));
}

/// Runs a decomposition on types alone.
class TypeEmitter : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    Values values;
    for (const TensorType& type : infer_types(Call(op, operands, attributes))) values.push_back(value(type));
    return values;
  }
  static Value value(const TensorType& type) { return make_ref<ValueBase>(type.dtype, type.shape, type.device); }
};

std::vector<TensorType> infer_by_decomposition(const Call& call) {
  Values inputs;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    // Where the op does not take a number, rules expect a value. As in eager mode, it is 0-d.
    const bool stray = operand.is_scalar() && !takes_number(call.op(), i);
    if (stray)
      inputs.push_back(TypeEmitter::value({is_float(operand.dtype()) ? default_float() : operand.dtype(), {}}));
    else
      inputs.push_back(operand.is_value() ? TypeEmitter::value(operand.type()) : Value());
  }
  const DeviceScope device(device_of(call));
  TypeEmitter emitter;
  std::vector<TensorType> types;
  for (const Value& value : call.op().decompose(emitter, call, inputs)) types.push_back(value.type());
  return types;
}

}  // namespace

Device device_of(const Call& call) {
  const Op& op = call.op();
  if (is_transfer(op)) return parse_device(call.text("device"));
  const Operand* first = nullptr;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    if (!operand.is_value() || is_on_every_device(call, i)) continue;
    if (!first) first = &operand;
    if (operand.device() != first->device())
      throw ValueError("{}: operands are on different devices: {} on {}, {} on {}; move one of them with to()",
                       call.name(), to_string(first->type()), to_string(first->device()), to_string(operand.type()),
                       to_string(operand.device()));
  }
  if (first) return first->device();
  const bool has_values = std::ranges::any_of(call.operands(), &Operand::is_value);
  const bool creates = op.is_random() || (op.names.is_factory && !op.ignores_values);
  return creates || !has_values ? current_device() : kCpuDevice;
}

std::vector<TensorType> infer_pointwise(const Call& call) {
  const Op& op = call.op();
  const Dtype dtype = common_dtype(call);
  if (op.promote == Promote::kTail && !is_bool(call.dtype(0)))
    throw TypeError("{}: argument {} must be bool, got {}", call.name(), op.schema.parameters.front().name,
                    to_string(call.operand(0).type()));
  check_dtype(call, dtype);
  Dims shape;
  for (size_t i = 0; i < call.count(); ++i)
    if (call.has(i)) shape = broadcast(call.name(), shape, call.shape(i));
  return {{op.promote == Promote::kCompare ? Dtype::kBool : dtype, std::move(shape)}};
}

std::vector<TensorType> infer_types(const Call& call) {
  const Op& op = call.op();
  check_operands(call);
  if (op.promote == Promote::kNone && call.count() > 0 && call.has(0)) check_dtype(call, call.dtype(0));
  std::vector<TensorType> types;
  if (op.infer) {
    types = op.infer(call);
  } else if (op.promote != Promote::kNone) {
    types = infer_pointwise(call);
  } else if (op.decompose) {
    types = infer_by_decomposition(call);
  } else {
    throw NotImplementedError("{}: the shape of its result depends on its values, so it cannot be known before it runs",
                              call.name());
  }
  const Device device = device_of(call);
  for (TensorType& type : types) {
    checked_numel(call.name(), type.shape, size_of(type.dtype));
    type.device = device;
  }
  return types;
}

Dtype operand_dtype(const Call& call, size_t i) {
  switch (call.op().promote) {
    case Promote::kNone:
      return call.dtype(i);
    case Promote::kTail:
      return i == 0 ? Dtype::kBool : common_dtype(call);
    case Promote::kSame:
    case Promote::kFloat:
    case Promote::kCompare:
      return common_dtype(call);
  }
  return call.dtype(i);
}

}  // namespace lucid
