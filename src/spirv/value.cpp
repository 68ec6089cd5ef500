#include "spirv/value.h"

#include <bit>

#include "base/error.h"

namespace lucid::spirv {

using spv::Op;

namespace {

Value pick(Value x, Value y, Op for_integers, Op for_reals) {
  return is_real(x.kind) ? exact(binary(for_reals, x, y)) : binary(for_integers, x, y);
}

Value pick_logical(Value x, Value y, Op for_integers, Op for_bools) {
  return binary(x.kind == Kind::kBool ? for_bools : for_integers, x, y);
}

Value pick_comparison(Value x, Value y, Op for_integers, Op for_reals) {
  return compare(is_real(x.kind) ? for_reals : for_integers, x, y);
}

}  // namespace

Value constant(Module& module, Kind kind, uint64_t bits) { return {&module, module.constant(kind, bits), kind}; }

Value constant_like(Value like, uint64_t bits) {
  const uint32_t width = width_of(like.kind);
  return constant(*like.module, like.kind, width < 64 ? bits & ((uint64_t{1} << width) - 1) : bits);
}

Value real(Module& module, Kind kind, double real) {
  if (kind == Kind::kF64) return constant(module, kind, std::bit_cast<uint64_t>(real));
  return constant(module, kind, std::bit_cast<uint32_t>(static_cast<float>(real)));
}

Value binary(Op op, Value x, Value y) {
  return {x.module, x.module->op(op, x.module->type(x.kind), {x.id, y.id}), x.kind};
}

Value compare(Op op, Value x, Value y) {
  return {x.module, x.module->op(op, x.module->type(Kind::kBool), {x.id, y.id}), Kind::kBool};
}

Value unary(Op op, Value x, Kind result) {
  return {x.module, x.module->op(op, x.module->type(result), {x.id}), result};
}

Value extended(GLSLstd450 op, Value x) {
  return {x.module, x.module->extended(op, x.module->type(x.kind), {x.id}), x.kind};
}

Value exact(Value value) {
  value.module->decorate(value.id, spv::Decoration::NoContraction);
  return value;
}

Value operator+(Value x, Value y) { return pick(x, y, Op::OpIAdd, Op::OpFAdd); }
Value operator-(Value x, Value y) { return pick(x, y, Op::OpISub, Op::OpFSub); }
Value operator*(Value x, Value y) { return pick(x, y, Op::OpIMul, Op::OpFMul); }
Value operator&(Value x, Value y) { return pick_logical(x, y, Op::OpBitwiseAnd, Op::OpLogicalAnd); }
Value operator|(Value x, Value y) { return pick_logical(x, y, Op::OpBitwiseOr, Op::OpLogicalOr); }
Value operator^(Value x, Value y) { return pick_logical(x, y, Op::OpBitwiseXor, Op::OpLogicalNotEqual); }
Value operator<<(Value x, Value y) { return binary(Op::OpShiftLeftLogical, x, y); }
Value operator>>(Value x, Value y) { return binary(Op::OpShiftRightLogical, x, y); }
Value logical_not(Value x) { return unary(Op::OpLogicalNot, x, Kind::kBool); }
Value operator~(Value x) { return unary(Op::OpNot, x, x.kind); }

Value operator==(Value x, Value y) {
  if (x.kind == Kind::kBool) return compare(Op::OpLogicalEqual, x, y);
  return pick_comparison(x, y, Op::OpIEqual, Op::OpFOrdEqual);
}
Value operator!=(Value x, Value y) {
  if (x.kind == Kind::kBool) return compare(Op::OpLogicalNotEqual, x, y);
  return pick_comparison(x, y, Op::OpINotEqual, Op::OpFUnordNotEqual);
}
Value operator<(Value x, Value y) { return pick_comparison(x, y, Op::OpULessThan, Op::OpFOrdLessThan); }
Value operator<=(Value x, Value y) { return pick_comparison(x, y, Op::OpULessThanEqual, Op::OpFOrdLessThanEqual); }
Value operator>(Value x, Value y) { return pick_comparison(x, y, Op::OpUGreaterThan, Op::OpFOrdGreaterThan); }
Value operator>=(Value x, Value y) {
  return pick_comparison(x, y, Op::OpUGreaterThanEqual, Op::OpFOrdGreaterThanEqual);
}

Value select(Value condition, Value x, Value y) {
  return {x.module, x.module->op(Op::OpSelect, x.module->type(x.kind), {condition.id, x.id, y.id}), x.kind};
}

Value signed_less(Value x, Value y) { return compare(Op::OpSLessThan, x, y); }

Value shift_right_signed(Value x, Value y) { return binary(Op::OpShiftRightArithmetic, x, y); }

Value to_integer(Value condition, Kind kind) {
  return select(condition, constant(*condition.module, kind, 1), constant(*condition.module, kind, 0));
}

Value resize(Value x, Kind kind) { return x.kind == kind ? x : unary(Op::OpUConvert, x, kind); }

Value sign_extend(Value x, Kind kind) {
  if (x.kind == kind) return x;
  if (x.kind != Kind::kU32 || kind != Kind::kU64) return unary(Op::OpSConvert, x, kind);
  // Of two halves, since some drivers compare the result of OpSConvert with constants wrongly.
  const Id pair = x.module->type(Op::OpTypeVector, {x.module->type(Kind::kU32), 2});
  const Value high = shift_right_signed(x, constant_like(x, 31));
  const Id halves = x.module->op(Op::OpCompositeConstruct, pair, {x.id, high.id});
  return {x.module, x.module->op(Op::OpBitcast, x.module->type(kind), {halves}), kind};
}

Value bitcast(Value x, Kind kind) { return x.kind == kind ? x : unary(Op::OpBitcast, x, kind); }

Kind bits_kind(Kind kind) {
  switch (kind) {
    case Kind::kF32:
      return Kind::kU32;
    case Kind::kF64:
      return Kind::kU64;
    default:
      return kind;
  }
}

Value bits_of(Value x) { return bitcast(x, bits_kind(x.kind)); }

Value absolute(Value x) { return extended(GLSLstd450FAbs, x); }

Value device_fma(Value x, Value y, Value z) {
  const Id id = x.module->extended(GLSLstd450Fma, x.module->type(x.kind), {x.id, y.id, z.id});
  return exact({x.module, id, x.kind});
}

Value device_divide(Value x, Value y) { return exact(binary(Op::OpFDiv, x, y)); }

Value device_sqrt(Value x) { return exact(extended(GLSLstd450Sqrt, x)); }

}  // namespace lucid::spirv
