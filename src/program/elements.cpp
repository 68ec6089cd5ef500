#include "program/elements.h"

#include <cstring>

#include "base/error.h"
#include "base/small_vector.h"

namespace lucid::program {

bool Elements::is_contiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

int64_t value_of(const SizeFormula& formula, std::span<const int64_t> sizes) {
  const std::optional<int64_t> value = formula.evaluate(sizes);
  if (!value) throw ValueError("a size is too large");
  return *value;
}

Elements elements_of(const View& view, std::span<const int64_t> sizes, size_t element_bytes, size_t bytes) {
  Elements elements{.offset = value_of(view.offset, sizes)};
  int64_t first = elements.offset, last = elements.offset;
  bool fits = true;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    const int64_t size = value_of(view.shape[i], sizes), stride = value_of(view.strides[i], sizes);
    elements.shape.push_back(size);
    elements.strides.push_back(stride);
    int64_t distance = 0;
    fits = fits && size >= 0 && !__builtin_mul_overflow(elements.count, size, &elements.count) &&
           !__builtin_mul_overflow(size - 1, stride, &distance) &&
           !__builtin_add_overflow(distance < 0 ? first : last, distance, distance < 0 ? &first : &last);
  }
  if (fits && elements.count == 0) return elements;
  int64_t end = 0;
  if (!fits || first < 0 || __builtin_add_overflow(last, 1, &end) || static_cast<uint64_t>(end) > bytes / element_bytes)
    throw ValueError("load_program: the file is damaged: a view does not fit into its memory");
  return elements;
}

void copy_elements(const Elements& from, const char* source, size_t element_bytes, char* to) {
  if (from.count == 0) return;
  SmallVector<int64_t, 8> index(from.shape.size());
  const char* at = source + from.offset * static_cast<int64_t>(element_bytes);
  for (int64_t i = 0; i < from.count; ++i) {
    std::memcpy(to + static_cast<size_t>(i) * element_bytes, at, element_bytes);
    for (size_t dim = index.size(); dim-- > 0;) {
      const int64_t step = from.strides[dim] * static_cast<int64_t>(element_bytes);
      at += step;
      if (++index[dim] < from.shape[dim]) break;
      at -= step * from.shape[dim];
      index[dim] = 0;
    }
  }
}

}  // namespace lucid::program
