#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <version>

#include "lucid/tensor.h"

#ifdef __cpp_lib_format
#include <format>
#endif

#pragma GCC visibility push(default)
namespace lucid {

/// How tensors are printed.
struct PrintOptions {
  /// Digits after the decimal point.
  int precision = 4;
  /// Tensors with more elements are summarized.
  int64_t threshold = 1000;
  /// Elements shown at each end of a summarized dimension.
  int64_t edge_items = 3;
  /// Characters per line.
  int64_t line_width = 80;
  /// Whether to use scientific notation; kNone decides per tensor.
  std::optional<bool> scientific = std::nullopt;
};
/// Sets the options for all threads.
void set_print_options(const PrintOptions& options);
PrintOptions print_options();

/// Prints a tensor as Python does.
std::ostream& operator<<(std::ostream& out, const Tensor& tensor);
/// Prints the name of a dtype: float32.
std::ostream& operator<<(std::ostream& out, Dtype dtype);

}  // namespace lucid
#pragma GCC visibility pop

#ifdef __cpp_lib_format
template <>
struct std::formatter<lucid::Tensor> : std::formatter<std::string> {
  template <typename Context>
  auto format(const lucid::Tensor& tensor, Context& context) const {
    return std::formatter<std::string>::format(tensor.to_string(), context);
  }
};
template <>
struct std::formatter<lucid::SymInt> : std::formatter<int64_t> {
  template <typename Context>
  auto format(lucid::SymInt size, Context& context) const {
    return std::formatter<int64_t>::format(size, context);
  }
};
#endif
