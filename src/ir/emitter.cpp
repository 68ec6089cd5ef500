#include "ir/emitter.h"

#include "base/shape.h"

namespace lucid {
namespace {

Value filled_like(Emitter& e, const Value& like, int64_t value) {
  static const Op& full = op_table().at("full");
  const DeviceScope device(like.device());
  const Operand operands[] = {value};
  return e.emit_one(full, operands, {like.shape(), like.dtype()});
}

}  // namespace

Value Emitter::zeros_of(const Value& like) { return filled_like(*this, like, 0); }
Value Emitter::ones_of(const Value& like) { return filled_like(*this, like, 1); }

Value Emitter::cast(const Value& x, Dtype dtype) {
  if (x.dtype() == dtype) return x;
  static const Op& to = op_table().at("to");
  const Operand operands[] = {x};
  return emit_one(to, operands, {dtype});
}

Value Emitter::sum_to(const Value& x, DimsView shape) {
  const auto lead = static_cast<size_t>(x.rank()) - shape.size();
  Dims axes;
  bool inner = false;
  for (size_t i = 0; i < x.shape().size(); ++i) {
    if (i >= lead && (shape[i - lead] != 1 || x.shape()[i] == 1)) continue;
    axes.push_back(static_cast<int64_t>(i));
    inner |= i >= lead;
  }
  if (axes.empty()) return x;
  static const Op& sum = op_table().at("sum");
  const Operand operands[] = {x};
  const bool keepdim = lead == 0;
  Value total = emit_one(sum, operands, {axes, keepdim, std::monostate()});
  if (keepdim || !inner) return total;
  static const Op& reshape = op_table().at("reshape");
  const Operand reshaped[] = {total};
  return emit_one(reshape, reshaped, {Dims(shape)});
}

}  // namespace lucid
