#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include "lucid/dtype.h"
#include "lucid/number.h"
#include "lucid/sym_int.h"

#pragma GCC visibility push(default)
namespace lucid {

class Tensor;
class TensorImpl;

/// Sizes or strides, one for each dimension.
using Shape = std::vector<int64_t>;

/// Python's None: an argument that is not given, a bound of a slice that is open, or a new axis in an index.
inline constexpr std::nullopt_t kNone = std::nullopt;

/// An argument of an op: a tensor or a number. A number adapts to the dtype of the tensors in type promotion. Use it
/// only as a parameter: it borrows the tensor, which must outlive it.
class Argument {
 public:
  Argument() = default;
  Argument(std::nullopt_t) {}                                                               // NOLINT
  Argument(const Tensor& tensor);                                                           // NOLINT
  Argument(std::same_as<bool> auto value) : number_(int64_t{value}), kind_(Kind::kBool) {}  // NOLINT
  Argument(std::floating_point auto number) : number_(number), kind_(Kind::kNumber) {}      // NOLINT
  Argument(WholeNumber auto number) : number_(number), kind_(Kind::kNumber) {}              // NOLINT
  Argument(const Number& number) : number_(number), kind_(Kind::kNumber) {}                 // NOLINT
  Argument(SymInt size) : size_(size), kind_(Kind::kSize) {}                                // NOLINT

  enum class Kind : uint8_t { kNone, kTensor, kBool, kNumber, kSize };
  Kind kind() const { return kind_; }
  TensorImpl* tensor() const { return tensor_; }
  /// The number, or the bool as 0 or 1.
  const Number& number() const { return number_; }
  SymInt size() const { return size_; }

 private:
  TensorImpl* tensor_ = nullptr;
  Number number_;
  SymInt size_;
  Kind kind_ = Kind::kNone;
};

/// A list of integers as an argument, such as sizes: `{2, 3}`, a Shape, or one integer, which stands for a list of one.
/// Use it only as a parameter: it borrows the list, which must outlive it.
class Ints {
 public:
  Ints(WholeNumber auto number) : one_(number) {}                            // NOLINT
  Ints(SymInt number) : one_(number) {}                                      // NOLINT
  Ints(std::initializer_list<SymInt> list) : dims_(list), is_list_(true) {}  // NOLINT
  Ints(std::span<const SymInt> list) : dims_(list), is_list_(true) {}        // NOLINT
  Ints(const Shape& list) : plain_(list), is_list_(true) {}                  // NOLINT
  Ints(std::span<const int64_t> list) : plain_(list), is_list_(true) {}      // NOLINT

  /// Calls a function with each integer.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    if (!is_list_) visit(one_);
    for (const SymInt number : dims_) visit(number);
    for (const int64_t number : plain_) visit(SymInt(number));
  }

 private:
  // One of these three.
  SymInt one_ = 0;
  std::span<const SymInt> dims_;
  std::span<const int64_t> plain_;
  bool is_list_ = false;
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
