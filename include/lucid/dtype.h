#pragma once

#include <cstdint>

#pragma GCC visibility push(default)
namespace lucid {

/// Element types. The constants below name them.
enum class Dtype : uint8_t;
inline constexpr Dtype kBool = static_cast<Dtype>(0);
inline constexpr Dtype kUint8 = static_cast<Dtype>(1);
inline constexpr Dtype kInt8 = static_cast<Dtype>(2);
inline constexpr Dtype kInt16 = static_cast<Dtype>(3);
inline constexpr Dtype kInt32 = static_cast<Dtype>(4);
inline constexpr Dtype kInt64 = static_cast<Dtype>(5);
inline constexpr Dtype kFloat16 = static_cast<Dtype>(6);
inline constexpr Dtype kBfloat16 = static_cast<Dtype>(7);
inline constexpr Dtype kFloat32 = static_cast<Dtype>(8);
inline constexpr Dtype kFloat64 = static_cast<Dtype>(9);

/// The dtype that stores values of a C++ type.
template <typename T>
constexpr Dtype dtype_of();
template <>
constexpr Dtype dtype_of<bool>() {
  return kBool;
}
template <>
constexpr Dtype dtype_of<uint8_t>() {
  return kUint8;
}
template <>
constexpr Dtype dtype_of<int8_t>() {
  return kInt8;
}
template <>
constexpr Dtype dtype_of<int16_t>() {
  return kInt16;
}
template <>
constexpr Dtype dtype_of<int32_t>() {
  return kInt32;
}
template <>
constexpr Dtype dtype_of<int64_t>() {
  return kInt64;
}
template <>
constexpr Dtype dtype_of<float>() {
  return kFloat32;
}
template <>
constexpr Dtype dtype_of<double>() {
  return kFloat64;
}

}  // namespace lucid
#pragma GCC visibility pop
