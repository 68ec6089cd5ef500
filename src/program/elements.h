#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program_file.h"

namespace lucid::program {

/// A view with numbers.
struct Elements {
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  int64_t count = 1;

  bool is_contiguous() const;
};

/// Throws ValueError if the value does not fit.
int64_t value_of(const SizeFormula& formula, std::span<const int64_t> sizes);

/// Throws ValueError if an element would be outside `bytes` bytes of memory.
Elements elements_of(const View& view, std::span<const int64_t> sizes, size_t element_bytes, size_t bytes);

/// Copies the elements from memory at `source`, one after the other.
void copy_elements(const Elements& from, const char* source, size_t element_bytes, char* to);

}  // namespace lucid::program
