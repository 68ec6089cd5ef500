#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "base/error.h"
#include "codegen/translator.h"

namespace lucid::codegen {

using loop::Code;

namespace {

// 0, 1 and -1 (and -0) are the constants that LLVM treats as the identity of some operation.
bool is_identity(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant) return false;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number && (number->isZero() || number->isExactlyValue(1.0) || number->isExactlyValue(-1.0));
}

// The inverse of a constant power of two: multiplying by it produces the same bits as dividing by the constant. Returns
// null for other values, and for 1 and -1, which prevent_folding() hides.
llvm::Value* exact_inverse(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (!constant || is_identity(value)) return nullptr;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  llvm::APFloat inverse(0.0);
  if (!number || !number->getValueAPF().getExactInverse(&inverse)) return nullptr;
  return llvm::ConstantFP::get(value->getType(), inverse);
}

}  // namespace

llvm::Value* Translator::opaque(Value* value) {
  return builder_.CreateIntrinsic(llvm::Intrinsic::arithmetic_fence, {value->getType()}, {value});
}

llvm::Value* Translator::opaque_bits(Value* product) {
  if (!product->getType()->isVectorTy() || product->getType()->getScalarSizeInBits() != 64) return product;
  if (llvm::isa<llvm::Constant>(product)) return product;
  Value* reals = builder_.CreateBitCast(product, vector_of(builder_.getDoubleTy()));
  return builder_.CreateBitCast(opaque(reals), product->getType());
}

llvm::Value* Translator::prevent_folding(Value* operand, Value* other) {
  const bool both_constant = llvm::isa<llvm::Constant>(operand) && llvm::isa<llvm::Constant>(other);
  return both_constant || is_identity(operand) ? opaque(operand) : operand;
}

llvm::Value* Translator::arithmetic(const Instruction& current) {
  if (current.code >= Code::kEq && current.code <= Code::kGe) return comparison(current);
  return is_float(current.type.element) ? float_arithmetic(current) : integer_arithmetic(current);
}

llvm::Value* Translator::float_arithmetic(const Instruction& current) {
  Value* x = operand(current, 0);
  Value* y = current.operands.size() > 1 ? operand(current, 1) : nullptr;
  auto unary = [&](llvm::Intrinsic::ID id) { return builder_.CreateUnaryIntrinsic(id, x); };
  switch (current.code) {
    case Code::kAdd:
      return builder_.CreateFAdd(prevent_folding(x, y), prevent_folding(y, x));
    case Code::kSub:
      return builder_.CreateFSub(prevent_folding(x, y), prevent_folding(y, x));
    case Code::kMul:
      return builder_.CreateFMul(prevent_folding(x, y), prevent_folding(y, x));
    case Code::kDiv:
      if (Value* inverse = exact_inverse(y)) return builder_.CreateFMul(prevent_folding(x, inverse), inverse);
      return builder_.CreateFDiv(prevent_folding(x, y), prevent_folding(y, x));
    case Code::kFma: {
      Value* z = operand(current, 2);
      return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()},
                                      {prevent_folding(x, y), prevent_folding(y, x), prevent_folding(z, z)});
    }
    case Code::kCopySign:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, x, y);
    case Code::kNeg:
      return builder_.CreateFNeg(x);
    case Code::kAbs:
      return unary(llvm::Intrinsic::fabs);
    case Code::kSqrt:
      return unary(llvm::Intrinsic::sqrt);
    case Code::kFloor:
      return unary(llvm::Intrinsic::floor);
    case Code::kCeil:
      return unary(llvm::Intrinsic::ceil);
    case Code::kTrunc:
      return unary(llvm::Intrinsic::trunc);
    case Code::kRound:
      return unary(llvm::Intrinsic::roundeven);
    default:
      throw InternalError("codegen: kernel {}: code {} is not for floats", kernel_.name,
                          static_cast<int>(current.code));
  }
}

llvm::Value* Translator::integer_arithmetic(const Instruction& current) {
  const bool with_sign = is_signed(current.type.element);
  Value* x = operand(current, 0);
  Value* y = current.operands.size() > 1 ? operand(current, 1) : nullptr;
  auto pick = [&](llvm::Intrinsic::ID signed_id, llvm::Intrinsic::ID unsigned_id) {
    return builder_.CreateBinaryIntrinsic(with_sign ? signed_id : unsigned_id, x, y);
  };
  switch (current.code) {
    case Code::kAdd:
      return builder_.CreateAdd(x, y);
    case Code::kSub:
      return builder_.CreateSub(x, y);
    case Code::kMul:
      return opaque_bits(builder_.CreateMul(x, y));
    case Code::kDiv:
      return with_sign ? builder_.CreateSDiv(x, y) : builder_.CreateUDiv(x, y);
    case Code::kRem:
      return with_sign ? builder_.CreateSRem(x, y) : builder_.CreateURem(x, y);
    case Code::kMin:
      return pick(llvm::Intrinsic::smin, llvm::Intrinsic::umin);
    case Code::kMax:
      return pick(llvm::Intrinsic::smax, llvm::Intrinsic::umax);
    case Code::kAnd:
      return builder_.CreateAnd(x, y);
    case Code::kOr:
      return builder_.CreateOr(x, y);
    case Code::kXor:
      return builder_.CreateXor(x, y);
    case Code::kShl:
      return builder_.CreateShl(x, y);
    case Code::kShr:
      return with_sign ? builder_.CreateAShr(x, y) : builder_.CreateLShr(x, y);
    case Code::kShrLogical:
      return builder_.CreateLShr(x, y);
    case Code::kNeg:
      return builder_.CreateNeg(x);
    case Code::kAbs:
      // The absolute value of the smallest integer wraps to itself.
      return with_sign ? builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse()) : x;
    case Code::kNot:
      return builder_.CreateNot(x);
    default:
      throw InternalError("codegen: kernel {}: code {} is not for integers", kernel_.name,
                          static_cast<int>(current.code));
  }
}

llvm::Value* Translator::comparison(const Instruction& current) {
  using Predicate = llvm::CmpInst::Predicate;
  struct Row {
    Predicate real, with_sign, without_sign;
  };
  static constexpr Row rows[] = {
      {Predicate::FCMP_OEQ, Predicate::ICMP_EQ, Predicate::ICMP_EQ},
      {Predicate::FCMP_UNE, Predicate::ICMP_NE, Predicate::ICMP_NE},
      {Predicate::FCMP_OLT, Predicate::ICMP_SLT, Predicate::ICMP_ULT},
      {Predicate::FCMP_OLE, Predicate::ICMP_SLE, Predicate::ICMP_ULE},
      {Predicate::FCMP_OGT, Predicate::ICMP_SGT, Predicate::ICMP_UGT},
      {Predicate::FCMP_OGE, Predicate::ICMP_SGE, Predicate::ICMP_UGE},
  };
  const Row& row = rows[static_cast<int>(current.code) - static_cast<int>(Code::kEq)];
  const Dtype dtype = operand_type(current, 0).element;
  Value* x = operand(current, 0);
  Value* y = operand(current, 1);
  if (is_float(dtype)) return builder_.CreateFCmp(row.real, x, y);
  return builder_.CreateICmp(is_signed(dtype) ? row.with_sign : row.without_sign, x, y);
}

llvm::Value* Translator::select(const Instruction& current) {
  Value* mask = operand(current, 0);
  Value* chosen = builder_.CreateSelect(mask, operand(current, 1), operand(current, 2));
  // The lanes of the result are already known. Without this, LLVM would search chains of constant selects for a better
  // shuffle.
  const bool shuffles = llvm::isa<llvm::Constant>(mask) && chosen->getType()->isFPOrFPVectorTy();
  return shuffles ? opaque(chosen) : chosen;
}

}  // namespace lucid::codegen
