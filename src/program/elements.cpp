#include "program/elements.h"

#include <cstring>

#include "base/error.h"
#include "base/small_vector.h"

namespace lucid::program {

bool Elements::is_contiguous() const {
  int64_t expected = 1;  // fits, as elements_of() has checked
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

Elements elements_of(const View& view, std::span<const int64_t> sizes, size_t element_bytes, CheckedInt bytes) {
  Elements elements{.offset = value_of(view.offset, sizes)};
  CheckedInt first = elements.offset, last = elements.offset;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    const int64_t size = value_of(view.shape[i], sizes), stride = value_of(view.strides[i], sizes);
    elements.shape.push_back(size);
    elements.strides.push_back(stride);
    (stride < 0 ? first : last) += (CheckedInt(size) - 1) * stride;
  }
  const std::optional<int64_t> copied = checked_bytes(elements.shape, element_bytes).value();
  const bool is_inside = copied == 0 || (first >= 0 && last < bytes / element_bytes);
  if (!copied || !is_inside) throw ValueError("load_program: the file is damaged: a view does not fit into its memory");
  // No element is so far away from another: the size is 1, or another size is 0. Code that computes with such a stride
  // must not overflow either.
  constexpr int64_t kMaxStride = int64_t{1} << 47;
  for (int64_t& stride : elements.strides)
    if (stride > kMaxStride || stride < -kMaxStride) stride = 0;
  elements.bytes = *copied;
  elements.count = *copied / static_cast<int64_t>(element_bytes);
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
