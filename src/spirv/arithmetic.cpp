#include "base/error.h"
#include "spirv/format.h"
#include "spirv/translator.h"

namespace lucid::spirv {

using loop::Code;
using spv::Op;

Value Translator::arithmetic(const Instruction& current) {
  if (current.code >= Code::kEq && current.code <= Code::kGe) return comparison(current);
  return is_float(current.type.element) ? float_arithmetic(current) : integer_arithmetic(current);
}

Value Translator::float_arithmetic(const Instruction& current) {
  const Value x = hidden_zero(current, 0);
  const Value y = current.operands.size() > 1 ? hidden_zero(current, 1) : Value();
  switch (current.code) {
    case Code::kAdd:
      return add(x, y);
    case Code::kSub:
      return subtract(x, y);
    case Code::kMul:
      return multiply(x, y);
    case Code::kDiv:
      return divide(x, y);
    case Code::kFma:
      return fma(x, y, hidden_zero(current, 2));
    case Code::kCopySign:
      return copy_sign(x, y);
    case Code::kNeg:
      return unary(Op::OpFNegate, x, x.kind);
    case Code::kAbs:
      // Drivers take -0 for a number that needs no FAbs.
      return bitcast(bits_of(x) & format_of(x.kind).magnitude_mask(), x.kind);
    case Code::kSqrt:
      return sqrt(x);
    case Code::kFloor:
      return round_to_integer(GLSLstd450Floor, x);
    case Code::kCeil:
      return round_to_integer(GLSLstd450Ceil, x);
    case Code::kTrunc:
      return round_to_integer(GLSLstd450Trunc, x);
    case Code::kRound:
      return round_to_integer(GLSLstd450RoundEven, x);
    default:
      throw InternalError("spirv: kernel {}: code {} is not for floats", kernel_.name, static_cast<int>(current.code));
  }
}

// A product is tiny if it is below the smallest normal number after rounding with unlimited exponents. The rounded
// product itself does not tell, because subnormal numbers are rounded to fewer bits. The scaled product does: where the
// scaling overflows, the product is large.
Value Translator::multiply(Value x, Value y) {
  const Value product = x * y;
  if (!target_.flush_results) return product;
  const double smallest = x.kind == Kind::kF64 ? 0x1p-1022 : 0x1p-126;
  const Value scaled = (x * real(module_, x.kind, 0x1p64)) * y;
  return flushed_if(absolute(scaled) < real(module_, x.kind, smallest * 0x1p64), product);
}

// The result has the sign of the operand, zeros included, which some drivers lose.
Value Translator::round_to_integer(GLSLstd450 op, Value x) {
  const Value sign = bits_of(x) & format_of(x.kind).sign_bit();
  return bitcast(bits_of(extended(op, x)) | sign, x.kind);
}

Value Translator::copy_sign(Value magnitude, Value sign) {
  const Format format = format_of(magnitude.kind);
  return bitcast((bits_of(magnitude) & format.magnitude_mask()) | (bits_of(sign) & format.sign_bit()), magnitude.kind);
}

Value Translator::integer_arithmetic(const Instruction& current) {
  const bool with_sign = is_signed(current.type.element);
  const Value x = operand(current, 0);
  const Value y = current.operands.size() > 1 ? operand(current, 1) : Value();
  const auto quotient = [&] { return binary(with_sign ? Op::OpSDiv : Op::OpUDiv, x, y); };
  const auto less = [&] { return with_sign ? signed_less(x, y) : x < y; };
  switch (current.code) {
    case Code::kAdd:
      return x + y;
    case Code::kSub:
      return x - y;
    case Code::kMul:
      return x * y;
    case Code::kDiv:
      return quotient();
    case Code::kRem:
      // Vulkan leaves OpSRem undefined for negative operands.
      return with_sign ? x - quotient() * y : binary(Op::OpUMod, x, y);
    case Code::kMin:
      return select(less(), x, y);
    case Code::kMax:
      return select(less(), y, x);
    case Code::kAnd:
      return x & y;
    case Code::kOr:
      return x | y;
    case Code::kXor:
      return x ^ y;
    case Code::kShl:
      return x << y;
    case Code::kShr:
      return with_sign ? shift_right_signed(x, y) : x >> y;
    case Code::kShrLogical:
      return x >> y;
    case Code::kNeg:
      return unary(Op::OpSNegate, x, x.kind);
    case Code::kAbs:
      if (!with_sign) return x;
      return select(signed_less(x, constant_like(x, 0)), unary(Op::OpSNegate, x, x.kind), x);
    case Code::kNot:
      return x.kind == Kind::kBool ? logical_not(x) : ~x;
    default:
      throw InternalError("spirv: kernel {}: code {} is not for integers", kernel_.name,
                          static_cast<int>(current.code));
  }
}

Value Translator::comparison(const Instruction& current) {
  const Value x = operand(current, 0), y = operand(current, 1);
  const bool with_sign = is_integer(operand_dtype(current, 0)) && is_signed(operand_dtype(current, 0));
  switch (current.code) {
    case Code::kEq:
      return x == y;
    case Code::kNe:
      return x != y;
    case Code::kLt:
      return with_sign ? signed_less(x, y) : x < y;
    case Code::kLe:
      return with_sign ? compare(Op::OpSLessThanEqual, x, y) : x <= y;
    case Code::kGt:
      return with_sign ? signed_less(y, x) : x > y;
    default:
      return with_sign ? compare(Op::OpSGreaterThanEqual, x, y) : x >= y;
  }
}

}  // namespace lucid::spirv
