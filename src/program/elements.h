#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_int.h"
#include "program/program_file.h"

namespace lucid::program {

/// A view with numbers.
struct Elements {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  int64_t count = 0;
  /// The size of a contiguous copy.
  int64_t bytes = 0;

  bool is_contiguous() const;
};

/// Throws ValueError if the value does not fit.
int64_t value_of(const SizeFormula& formula, std::span<const int64_t> sizes);

/// Throws ValueError if an element would be outside memory of `bytes` bytes, or if a contiguous copy would not fit in
/// 63 bits of address.
Elements elements_of(const View& view, std::span<const int64_t> sizes, size_t element_bytes, CheckedInt bytes);

/// Copies the elements from memory at `source`, one after the other.
void copy_elements(const Elements& from, const char* source, size_t element_bytes, char* to);

}  // namespace lucid::program
