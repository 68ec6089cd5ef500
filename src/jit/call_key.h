#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/small_vector.h"
#include "tensor/tensor_impl.h"

namespace lucid::jit {

/// The key by which a call's plans are found, in two parts. The structure selects an entry of the plan table: the
/// modes, the nesting of the arguments, their classes, dtypes, ranks and devices. The numbers are compared with those
/// of the entry's plans: sizes and strides of tensors, and numbers among the arguments.
class CallKey {
 public:
  /// Starts with the modes that a plan depends on.
  CallKey();

  void add_byte(char byte) { structure_.push_back(byte); }
  void add_bytes(const void* data, size_t size);
  template <typename T>
  void add_value(const T& value) {
    add_bytes(&value, sizeof(T));
  }
  /// Adds a number to compare. The structure determines how many numbers there are.
  void add_number(int64_t number) { numbers_.push_back(number); }
  void add_tensor(const TensorImpl& tensor);

  std::string_view structure() const { return {structure_.data(), structure_.size()}; }
  std::span<const int64_t> numbers() const { return {numbers_.data(), numbers_.size()}; }

 private:
  SmallVector<char, 64> structure_;
  SmallVector<int64_t, 16> numbers_;
};

/// The numbers of the keys that a plan serves: exactly these, except for those at `varying` (in order), which may have
/// any value and are 0 here.
struct NumberPattern {
  explicit NumberPattern(std::span<const int64_t> numbers, std::vector<uint32_t> varying = {});
  bool matches(std::span<const int64_t> others) const;
  bool varies(size_t position) const;
  bool operator==(const NumberPattern& other) const = default;

  SmallVector<int64_t, 16> numbers;
  std::vector<uint32_t> varying;
};

}  // namespace lucid::jit
