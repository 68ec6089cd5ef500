#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "base/error.h"
#include "codegen/translator.h"

namespace lucid::codegen {

// Conversions of 16-bit floats to and from every other type go through f32.
llvm::Value* Translator::convert(Value* value, loop::Type from, loop::Type to) {
  if (from.element == to.element) return value;
  const loop::Type single{Dtype::kF32, from.vector};
  if (from.element == Dtype::kF16) return convert(f16_to_f32(value), single, to);
  if (from.element == Dtype::kBF16) return convert(bf16_to_f32(value), single, to);
  if (is_half(to.element)) {
    Value* rounded = convert(value, from, single);
    return to.element == Dtype::kF16 ? f32_to_f16(rounded) : f32_to_bf16(rounded);
  }

  llvm::Type* type = type_of(to);
  if (is_float(from.element)) {
    if (to.element == Dtype::kF64) return builder_.CreateFPExt(value, type);
    // Opaque, because LLVM would remove f32 -> f64 -> f32, but the last step flushes denormals.
    if (to.element == Dtype::kF32) return builder_.CreateFPTrunc(opaque(value), type);
    return float_to_integer(value, from, to);
  }
  if (is_float(to.element)) {
    return is_signed(from.element) ? builder_.CreateSIToFP(value, type) : builder_.CreateUIToFP(value, type);
  }
  if (is_bool(to.element)) return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
  return builder_.CreateIntCast(value, type, is_signed(from.element));
}

llvm::Value* Translator::bitcast(Value* value, loop::Type from, loop::Type to) {
  if (size_of(from.element) != size_of(to.element) || is_bool(from.element) != is_bool(to.element)) {
    throw InternalError("codegen: kernel {}: bitcast from {} to {}", kernel_.name, name_of(from.element),
                        name_of(to.element));
  }
  return builder_.CreateBitCast(value, type_of(to));
}

llvm::Value* Translator::float_to_integer(Value* value, loop::Type from, loop::Type to) {
  if (is_bool(to.element)) return builder_.CreateFCmpUNE(value, llvm::Constant::getNullValue(type_of(from)));
  const auto id = is_signed(to.element) ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat;
  return builder_.CreateIntrinsic(id, {type_of(to), value->getType()}, {value});
}

llvm::Value* Translator::f16_to_f32(Value* bits) {
  if (target_ == CpuLevel::kScalar) return f16_to_f32_by_integers(bits);
  Value* half = builder_.CreateBitCast(bits, with_element(bits->getType(), builder_.getHalfTy()));
  return builder_.CreateFPExt(half, with_element(bits->getType(), builder_.getFloatTy()));
}

// The hardware instruction ignores the flush-to-zero mode, as the integer version does.
llvm::Value* Translator::f32_to_f16(Value* value) {
  if (target_ == CpuLevel::kScalar) return f32_to_f16_by_integers(value);
  // Opaque, because LLVM would merge a scalar f64 -> f32 -> f16 into one rounding, by a library function that does not
  // exist here.
  Value* half = builder_.CreateFPTrunc(opaque(value), with_element(value->getType(), builder_.getHalfTy()));
  return builder_.CreateBitCast(half, with_element(value->getType(), builder_.getInt16Ty()));
}

llvm::Value* Translator::f16_to_f32_by_integers(Value* bits) {
  llvm::Type* integers = with_element(bits->getType(), builder_.getInt32Ty());
  llvm::Type* floats = with_element(bits->getType(), builder_.getFloatTy());
  auto number = [&](uint32_t value) { return llvm::ConstantInt::get(integers, value); };

  Value* wide = builder_.CreateZExt(bits, integers);
  Value* sign = builder_.CreateShl(builder_.CreateAnd(wide, number(0x8000)), number(16));
  Value* magnitude = builder_.CreateAnd(wide, number(0x7fff));
  // The exponent's bias grows from 15 to 127; the exponent of infinities and NaNs grows from 31 to 255.
  Value* moved = builder_.CreateShl(magnitude, number(13));
  Value* normal = builder_.CreateAdd(moved, number(112u << 23));
  Value* special = builder_.CreateAdd(moved, number(224u << 23));
  Value* is_nan = builder_.CreateICmpUGT(magnitude, number(0x7c00));
  special = builder_.CreateOr(special, builder_.CreateSelect(is_nan, number(1u << 22), number(0)));
  // A denormal is a small integer times 2^-24, exact and normal in f32.
  Value* scaled = builder_.CreateFMul(builder_.CreateSIToFP(magnitude, floats), llvm::ConstantFP::get(floats, 0x1p-24));
  Value* denormal = builder_.CreateBitCast(scaled, integers);

  Value* result = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, number(0x0400)), denormal, normal);
  result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, number(0x7c00)), special, result);
  return builder_.CreateBitCast(builder_.CreateOr(result, sign), floats);
}

llvm::Value* Translator::f32_to_f16_by_integers(Value* value) {
  llvm::Type* integers = with_element(value->getType(), builder_.getInt32Ty());
  auto number = [&](uint32_t value) { return llvm::ConstantInt::get(integers, value); };

  Value* bits = builder_.CreateBitCast(value, integers);
  Value* sign = builder_.CreateAnd(builder_.CreateLShr(bits, number(16)), number(0x8000));
  Value* magnitude = builder_.CreateAnd(bits, number(0x7fffffff));
  Value* odd = builder_.CreateAnd(builder_.CreateLShr(magnitude, number(13)), number(1));
  // Rounds half to even by a carry out of the 13 bits that are dropped; the largest values carry into infinity.
  Value* rounded = builder_.CreateAdd(builder_.CreateAdd(magnitude, number(0x0fff - (112u << 23))), odd);
  Value* normal = builder_.CreateLShr(rounded, number(13));
  // The last bit of 0.5f has the weight of the last bit of a denormal f16, so the addition rounds.
  Value* magnitude_float = builder_.CreateBitCast(magnitude, value->getType());
  Value* shifted = builder_.CreateFAdd(magnitude_float, llvm::ConstantFP::get(value->getType(), 0.5));
  Value* denormal = builder_.CreateSub(builder_.CreateBitCast(shifted, integers), number(0x3f000000));
  Value* payload = builder_.CreateAnd(builder_.CreateLShr(magnitude, number(13)), number(0x03ff));
  Value* nan = builder_.CreateOr(payload, number(0x7e00));

  Value* result = builder_.CreateSelect(builder_.CreateICmpULT(magnitude, number(0x38800000)), denormal, normal);
  result = builder_.CreateSelect(builder_.CreateICmpUGE(magnitude, number(0x47800000)), number(0x7c00), result);
  result = builder_.CreateSelect(builder_.CreateICmpUGT(magnitude, number(0x7f800000)), nan, result);
  return builder_.CreateTrunc(builder_.CreateOr(result, sign), with_element(value->getType(), builder_.getInt16Ty()));
}

llvm::Value* Translator::bf16_to_f32(Value* bits) {
  llvm::Type* integers = with_element(bits->getType(), builder_.getInt32Ty());
  Value* wide = builder_.CreateShl(builder_.CreateZExt(bits, integers), llvm::ConstantInt::get(integers, 16));
  return builder_.CreateBitCast(wide, with_element(bits->getType(), builder_.getFloatTy()));
}

llvm::Value* Translator::f32_to_bf16(Value* value) {
  llvm::Type* integers = with_element(value->getType(), builder_.getInt32Ty());
  auto number = [&](uint32_t value) { return llvm::ConstantInt::get(integers, value); };
  Value* bits = builder_.CreateBitCast(value, integers);
  Value* high = builder_.CreateLShr(bits, number(16));
  Value* odd = builder_.CreateAnd(high, number(1));
  Value* rounded = builder_.CreateLShr(builder_.CreateAdd(builder_.CreateAdd(bits, number(0x7fff)), odd), number(16));
  Value* nan = builder_.CreateOr(high, number(0x40));
  Value* result = builder_.CreateSelect(builder_.CreateFCmpUNO(value, value), nan, rounded);
  return builder_.CreateTrunc(result, with_element(value->getType(), builder_.getInt16Ty()));
}

}  // namespace lucid::codegen
