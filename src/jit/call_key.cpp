#include "jit/call_key.h"

#include <algorithm>
#include <cstring>

#include "tensor/autograd_meta.h"
#include "tensor/grad_mode.h"

namespace lucid::jit {
namespace {

char flags(bool first, bool second) {
  return static_cast<char>(static_cast<int>(first) | static_cast<int>(second) << 1);
}

}  // namespace

CallKey::CallKey() {
  const char modes[] = {flags(GradMode::enabled(), GradMode::inference()), static_cast<char>(default_float()),
                        static_cast<char>(current_device().number())};
  add_bytes(modes, sizeof modes);
}

void CallKey::add_bytes(const void* data, size_t size) {
  if (size) std::memcpy(structure_.extend(size), data, size);
}

void CallKey::add_tensor(const TensorImpl& tensor) {
  const size_t rank = tensor.sizes().size();
  const char head[] = {static_cast<char>(tensor.dtype()), static_cast<char>(rank),
                       flags(requires_grad(tensor), tensor.is_parameter()),
                       static_cast<char>(tensor.device().number())};
  add_bytes(head, sizeof head);
  int64_t* const numbers = numbers_.extend(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    numbers[i] = tensor.sizes()[i].unguarded();
    numbers[rank + i] = tensor.strides()[i].unguarded();
  }
}

NumberPattern::NumberPattern(std::span<const int64_t> numbers, std::vector<uint32_t> varying)
    : numbers(numbers), varying(std::move(varying)) {
  for (const uint32_t position : this->varying) this->numbers[position] = 0;
}

bool NumberPattern::varies(size_t position) const { return std::ranges::binary_search(varying, position); }

bool NumberPattern::matches(std::span<const int64_t> others) const {
  if (numbers.size() != others.size()) return false;
  auto skipped = varying.begin();
  for (size_t i = 0; i < others.size(); ++i) {
    if (skipped != varying.end() && *skipped == i)
      ++skipped;
    else if (numbers[i] != others[i])
      return false;
  }
  return true;
}

}  // namespace lucid::jit
