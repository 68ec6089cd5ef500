#pragma once

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

/// What a compiled function is called with: tensors, and other values, which a plan serves exactly as they are. Values
/// are numbers, bools, enums, text, and ranges, tuples, pairs and optionals of values and tensors.
class CallArguments {
 public:
  void add(const Tensor& tensor) {
    add_byte('T');
    tensors_.push_back(tensor);
  }
  template <typename T>
  void add(const T& value) {
    // A function may do something else for another type: a plan for 1 does not serve 1.0f or a tuple of 1.
    add_bytes(&type_tag<T>);
    if constexpr (std::is_base_of_v<Tensor, T>) {
      add(static_cast<const Tensor&>(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      add_bytes(value);
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
          "a compiled function takes tensors, numbers, enums, text, and ranges, tuples and optionals of these; "
          "capture anything else and name what the function reads of it with depends_on");
    }
  }

  const std::string& values() const { return values_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
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
};

}  // namespace lucid
#pragma GCC visibility pop
