#include "loop/fold.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/scalar.h"

namespace lucid::loop {
namespace {

std::optional<int64_t> index_constant(const Kernel& kernel, Id id) {
  const Instruction* instruction = &kernel.instructions[id];
  if (instruction->code == Code::kSplat) instruction = &kernel.instructions[instruction->operands[0]];
  if (instruction->code != Code::kConst) return std::nullopt;
  return instruction->integer;
}

int64_t wrapping(Code code, int64_t x, int64_t y) {
  const auto a = static_cast<uint64_t>(x), b = static_cast<uint64_t>(y);
  return static_cast<int64_t>(code == Code::kAdd ? a + b : code == Code::kSub ? a - b : a * b);
}

std::optional<int64_t> evaluate(Code code, int64_t x, int64_t y) {
  switch (code) {
    case Code::kAdd:
    case Code::kSub:
    case Code::kMul:
      return wrapping(code, x, y);
    case Code::kDiv:
    case Code::kRem:
      if (y == 0 || y == -1) return std::nullopt;
      return code == Code::kDiv ? x / y : x % y;
    case Code::kMin:
      return std::min(x, y);
    case Code::kMax:
      return std::max(x, y);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Folded> fold_index(const Kernel& kernel, Code code, Id x, Id y) {
  const Type type = kernel.instructions[x].type;
  if (type.element != Dtype::kI64 || kernel.instructions[y].type.element != Dtype::kI64) return std::nullopt;
  const auto left = index_constant(kernel, x), right = index_constant(kernel, y);
  if (left && right) {
    if (const auto value = evaluate(code, *left, *right)) return Folded{std::nullopt, *value};
    return std::nullopt;
  }
  if (code == Code::kAdd && left == 0) return Folded{y};
  if ((code == Code::kAdd || code == Code::kSub) && right == 0) return Folded{x};
  if (code == Code::kMul && (left == 0 || right == 0)) return Folded{std::nullopt, 0};
  if (code == Code::kMul && left == 1) return Folded{y};
  if ((code == Code::kMul || code == Code::kDiv) && right == 1) return Folded{x};
  if (code == Code::kRem && right == 1) return Folded{std::nullopt, 0};
  return std::nullopt;
}

int64_t wrap_to(Dtype dtype, int64_t value) {
  switch (dtype) {
    case Dtype::kBool:
      return value != 0;
    case Dtype::kU8:
      return static_cast<uint8_t>(value);
    case Dtype::kI8:
      return static_cast<int8_t>(value);
    case Dtype::kI16:
      return static_cast<int16_t>(value);
    case Dtype::kI32:
      return static_cast<int32_t>(value);
    case Dtype::kI64:
      return value;
    default:
      LUCID_CHECK(false, "{} is not an integer type", name_of(dtype));
  }
  return 0;
}

int64_t saturate_to(Dtype dtype, double value) {
  if (dtype == Dtype::kBool) return value != 0;
  if (std::isnan(value)) return 0;
  const int bits = static_cast<int>(8 * size_of(dtype));
  const bool is_signed = dtype != Dtype::kU8;
  // Both bounds are powers of two (or 0), exact in a double.
  const double low = is_signed ? -std::ldexp(1.0, bits - 1) : 0.0;
  const double above = std::ldexp(1.0, is_signed ? bits - 1 : bits);
  const double whole = std::trunc(value);
  if (whole < low) return static_cast<int64_t>(low);
  if (whole >= above) return static_cast<int64_t>((uint64_t{1} << (is_signed ? bits - 1 : bits)) - 1);
  return static_cast<int64_t>(whole);
}

double round_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::kF64:
      return value;
    case Dtype::kF32:
      return static_cast<float>(value);
    case Dtype::kF16:
      return f16_to_f32(f32_to_f16(static_cast<float>(value)));
    case Dtype::kBF16:
      return bf16_to_f32(f32_to_bf16(static_cast<float>(value)));
    default:
      LUCID_CHECK(false, "{} is not a float type", name_of(dtype));
  }
  return 0;
}

}  // namespace lucid::loop
