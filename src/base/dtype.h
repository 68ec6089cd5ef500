#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lucid {

/// Element types. The order is the order of promotion within a category.
enum class Dtype : uint8_t { kBool, kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64 };

inline constexpr int kDtypeCount = 10;

/// A set of dtypes. Op schemas use it for the dtypes that an op accepts.
class DtypeSet {
 public:
  constexpr DtypeSet() = default;
  constexpr DtypeSet(Dtype dtype) : bits_(static_cast<uint16_t>(1u << static_cast<int>(dtype))) {}  // NOLINT
  constexpr bool contains(Dtype dtype) const { return (bits_ >> static_cast<int>(dtype)) & 1; }
  constexpr DtypeSet operator|(DtypeSet other) const { return DtypeSet(static_cast<uint16_t>(bits_ | other.bits_)); }
  constexpr bool operator==(const DtypeSet&) const = default;

 private:
  constexpr explicit DtypeSet(uint16_t bits) : bits_(bits) {}
  uint16_t bits_ = 0;
};

inline constexpr DtypeSet kBoolean = Dtype::kBool;
inline constexpr DtypeSet kIntegers = DtypeSet(Dtype::kU8) | Dtype::kI8 | Dtype::kI16 | Dtype::kI32 | Dtype::kI64;
inline constexpr DtypeSet kFloats = DtypeSet(Dtype::kF16) | Dtype::kBF16 | Dtype::kF32 | Dtype::kF64;
inline constexpr DtypeSet kNumbers = kIntegers | kFloats;
inline constexpr DtypeSet kAllDtypes = kBoolean | kNumbers;

constexpr size_t size_of(Dtype dtype) {
  constexpr uint8_t sizes[kDtypeCount] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8};
  return sizes[static_cast<int>(dtype)];
}

constexpr bool is_float(Dtype dtype) { return kFloats.contains(dtype); }
/// True for the integers, not for bool.
constexpr bool is_integer(Dtype dtype) { return kIntegers.contains(dtype); }
constexpr bool is_bool(Dtype dtype) { return dtype == Dtype::kBool; }

/// The short name used in the IR's text form and in messages: "f32".
std::string_view name_of(Dtype dtype);
/// The name in Python: "float32".
const char* long_name_of(Dtype dtype);
/// The inverse of name_of; also accepts the long names ("float32", "float", "long", ...).
std::optional<Dtype> parse_dtype(std::string_view name);

/// The result dtype of arithmetic on two tensors of these dtypes, by PyTorch's lattice.
Dtype promote(Dtype a, Dtype b);

/// 16-bit floats compute in f32 and round once; every other dtype computes in itself.
constexpr Dtype compute_dtype(Dtype dtype) {
  return dtype == Dtype::kF16 || dtype == Dtype::kBF16 ? Dtype::kF32 : dtype;
}
/// Whether the dtype is a 16-bit float.
constexpr bool is_half(Dtype dtype) { return dtype == Dtype::kF16 || dtype == Dtype::kBF16; }

/// The rank of an operand in promotion: a tensor with dimensions outranks a 0-d tensor, which outranks a Python number,
/// unless the weaker one has a higher category (bool < integer < float).
enum class Rank : uint8_t { kNumber, kZeroDim, kTensor };

/// Accumulates the result dtype over the operands of one call.
class Promotion {
 public:
  void add(Dtype dtype, Rank rank);
  Dtype result() const;

 private:
  std::optional<Dtype> best_[3];
};

inline constinit std::atomic<Dtype> g_default_float{Dtype::kF32};
/// The dtype of floating-point results of integer inputs (`lucid.set_default_dtype`).
inline Dtype default_float() { return g_default_float.load(std::memory_order_relaxed); }
void set_default_float(Dtype dtype);

}  // namespace lucid
