#include "base/dtype.h"

#include <array>
#include <utility>

#include "base/error.h"

namespace lucid {
namespace {

constexpr std::array<std::string_view, kDtypeCount> kNames = {"bool", "u8",  "i8",   "i16", "i32",
                                                              "i64",  "f16", "bf16", "f32", "f64"};

constexpr std::array<const char*, kDtypeCount> kLongNames = {"bool",  "uint8",   "int8",     "int16",   "int32",
                                                             "int64", "float16", "bfloat16", "float32", "float64"};

constexpr std::pair<std::string_view, Dtype> kOtherNames[] = {
    {"short", Dtype::kI16}, {"int", Dtype::kI32},   {"long", Dtype::kI64},
    {"half", Dtype::kF16},  {"float", Dtype::kF32}, {"double", Dtype::kF64},
};

int category(Dtype dtype) { return is_bool(dtype) ? 0 : is_integer(dtype) ? 1 : 2; }

}  // namespace

std::string_view name_of(Dtype dtype) { return kNames[static_cast<size_t>(dtype)]; }

const char* long_name_of(Dtype dtype) { return kLongNames[static_cast<size_t>(dtype)]; }

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (size_t i = 0; i < kDtypeCount; ++i)
    if (kNames[i] == name || kLongNames[i] == name) return static_cast<Dtype>(i);
  for (const auto& [other, dtype] : kOtherNames)
    if (other == name) return dtype;
  return std::nullopt;
}

Dtype promote(Dtype a, Dtype b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (a == Dtype::kU8 && b == Dtype::kI8) return Dtype::kI16;
  if (a == Dtype::kF16 && b == Dtype::kBF16) return Dtype::kF32;
  return b;
}

void Promotion::add(Dtype dtype, Rank rank) {
  auto& best = best_[static_cast<int>(rank)];
  best = best ? promote(*best, dtype) : dtype;
}

Dtype Promotion::result() const {
  std::optional<Dtype> result;
  for (int rank = 2; rank >= 0; --rank) {
    const auto& candidate = best_[rank];
    if (!candidate) continue;
    // A weaker operand matters only if its category is higher, and a plain number has no width of its own.
    if (!result || category(*candidate) > category(*result))
      result = rank == 0 && is_float(*candidate) ? default_float() : *candidate;
  }
  LUCID_CHECK(result.has_value(), "promotion of no operands");
  return *result;
}

void set_default_float(Dtype dtype) {
  if (!is_float(dtype))
    throw TypeError("set_default_dtype: expected a float dtype, got {}; use f16, bf16, f32 or f64", name_of(dtype));
  g_default_float.store(dtype, std::memory_order_relaxed);
}

}  // namespace lucid
