#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "lucid/dtype.h"

#pragma GCC visibility push(default)
namespace lucid {

class Tensor;
class TensorImpl;

/// Sizes or strides, one for each dimension.
using Shape = std::vector<int64_t>;

/// Python's None: an argument that is not given, a bound of a slice that is open, or a new axis in an index.
inline constexpr std::nullopt_t kNone = std::nullopt;

/// A type of whole numbers. Bools do not count.
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;

/// An argument of an op: a tensor or a number. A number adapts to the dtype of the tensors in type promotion. Use it
/// only as a parameter: it borrows the tensor, which must outlive it.
class Argument {
 public:
  Argument() = default;
  Argument(std::nullopt_t) {}                                                                           // NOLINT
  Argument(const Tensor& tensor);                                                                       // NOLINT
  Argument(std::same_as<bool> auto number) : integer_(number), kind_(Kind::kBool) {}                    // NOLINT
  Argument(std::floating_point auto number) : real_(number), kind_(Kind::kReal) {}                      // NOLINT
  Argument(WholeNumber auto number) : integer_(static_cast<int64_t>(number)), kind_(Kind::kInteger) {}  // NOLINT

  enum class Kind : uint8_t { kNone, kTensor, kBool, kInteger, kReal };
  Kind kind() const { return kind_; }
  TensorImpl* tensor() const { return tensor_; }
  int64_t integer() const { return integer_; }
  double real() const { return real_; }

 private:
  union {
    TensorImpl* tensor_ = nullptr;
    int64_t integer_;
    double real_;
  };
  Kind kind_ = Kind::kNone;
};

/// A list of integers as an argument, such as sizes: `{2, 3}`, a Shape, or one integer, which stands for a list of one.
/// Use it only as a parameter: it borrows the list, which must outlive it.
class Ints {
 public:
  Ints(WholeNumber auto number) : one_(static_cast<int64_t>(number)), count_(1) {}             // NOLINT
  Ints(std::initializer_list<int64_t> list) : first_(std::data(list)), count_(list.size()) {}  // NOLINT
  Ints(const Shape& list) : first_(list.data()), count_(list.size()) {}                        // NOLINT
  Ints(std::span<const int64_t> list) : first_(list.data()), count_(list.size()) {}            // NOLINT

  std::span<const int64_t> values() const { return {first_ ? first_ : &one_, count_}; }

 private:
  const int64_t* first_ = nullptr;
  int64_t one_ = 0;
  size_t count_ = 0;
};

/// A list of integers, or kNone.
class OptionalInts : public Ints {
 public:
  using Ints::Ints;
  OptionalInts(std::nullopt_t) : Ints(std::span<const int64_t>()), has_value_(false) {}  // NOLINT
  bool has_value() const { return has_value_; }

 private:
  bool has_value_ = true;
};

}  // namespace lucid
#pragma GCC visibility pop
