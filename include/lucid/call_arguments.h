#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// One for each type: its address stands for the type in keys.
template <typename T>
inline char type_tag = 0;

/// The arguments of a call of a compiled function: tensors and other values. A plan serves calls with equal values,
/// except that arguments of type Number and SymInt may vary. Values are numbers, bools, enums, text, and ranges,
/// tuples, pairs and optionals of values and tensors.
class CallArguments {
 public:
  /// Adds an argument of the function.
  template <typename T>
  void add_argument(const T& value) {
    if constexpr (std::same_as<T, Number>) {
      add_byte(value.is_integer() ? 'N' : 'R');
      numbers_.push_back(value);
    } else if constexpr (std::same_as<T, SymInt>) {
      add_byte('D');
      sizes_.push_back(value);
    } else {
      if constexpr (std::same_as<T, Tensor>) add_direct();
      add(value);
    }
  }
  /// Adds a value or a tensor in an argument.
  void add(const Tensor& tensor) {
    add_byte('T');
    tensors_.push_back(tensor);
  }
  template <typename T>
  void add(const T& value) {
    // A function may do something else for another type: a plan for 1 does not serve 1.0f or a tuple of 1.
    add_bytes(&type_tag<T>);
    if constexpr (std::is_base_of_v<Tensor, T>) {
      static_assert(sizeof(T) == 0,
                    "the function's parameter is not of type Tensor: pass x[0] and others as Tensor(x[0])");
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      add_bytes(value);
    } else if constexpr (std::same_as<T, Number>) {
      add_byte(value.is_integer() ? 'N' : 'R');
      add_bytes(value.bits());
    } else if constexpr (std::same_as<T, SymInt>) {
      add_bytes(value.unguarded());
    } else if constexpr (std::is_pointer_v<T> && std::is_convertible_v<const T&, std::string_view>) {
      add_byte(value ? 'V' : '0');
      if (value) add_text(value);
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      add_text(value);
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
      std::apply([&](const auto&... items) { (add(items), ...); }, value);
    } else if constexpr (requires { std::begin(value), std::end(value); }) {
      for (const auto& item : value) {
        add_byte('I');
        add(item);
      }
      add_byte('E');
    } else if constexpr (requires { value.has_value(), *value; }) {
      add_byte(value.has_value() ? 'V' : '0');
      if (value.has_value()) add(*value);
    } else {
      static_assert(
          sizeof(T) == 0,
          "a compiled function takes tensors, numbers, enums, text, and ranges, tuples and optionals that hold them; "
          "capture anything else and name what the function reads of it with depends_on");
    }
  }

  const std::string& values() const { return values_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  /// Whether a tensor of tensors() is an argument itself.
  bool is_direct(size_t tensor) const {
    return tensor < first_direct_ || std::find(direct_.begin(), direct_.end(), tensor) != direct_.end();
  }
  const std::vector<Number>& numbers() const { return numbers_; }
  const std::vector<SymInt>& sizes() const { return sizes_; }

 private:
  void add_direct() {
    if (first_direct_ == tensors_.size())
      ++first_direct_;
    else
      direct_.push_back(tensors_.size());
  }
  void add_byte(char byte) { values_.push_back(byte); }
  template <typename T>
  void add_bytes(const T& value) {
    values_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void add_text(std::string_view text) {
    add_bytes(text.size());
    values_ += text;
  }

  std::string values_;
  std::vector<Tensor> tensors_;
  // The tensors that are arguments themselves: this many at the beginning, and others. Most calls have only the former.
  size_t first_direct_ = 0;
  std::vector<size_t> direct_;
  std::vector<Number> numbers_;
  std::vector<SymInt> sizes_;
};

/// Arguments that a function gets while its call is recorded: those of type Tensor, Number and SymInt, in order, some
/// of them traced.
struct TracedArguments {
  std::vector<Tensor> tensors;
  std::vector<Number> numbers;
  std::vector<SymInt> sizes;

  /// Returns the traced arguments in order, and an argument of another type as it is.
  class Reader {
   public:
    explicit Reader(const TracedArguments& all) : all_(all) {}
    const Tensor& next(const Tensor&) { return all_.tensors[tensor_++]; }
    const Number& next(const Number&) { return all_.numbers[number_++]; }
    const SymInt& next(const SymInt&) { return all_.sizes[size_++]; }
    template <typename T>
    const T& next(const T& argument) {
      return argument;  // NOLINT(bugprone-return-const-ref-from-parameter): arguments outlive the call
    }

   private:
    const TracedArguments& all_;
    size_t tensor_ = 0;
    size_t number_ = 0;
    size_t size_ = 0;
  };
};

}  // namespace lucid
#pragma GCC visibility pop
