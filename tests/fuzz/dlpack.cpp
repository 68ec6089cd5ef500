// Fuzzes import_tensor() with arbitrary descriptions of memory. It must return a tensor or throw, and release the
// memory exactly once. The tensor must stay within the described memory and, if that memory exists, have its values.

#include "tensor/dlpack.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/error.h"

using namespace lucid;

namespace {

constexpr size_t kBytes = 512;
constexpr std::array<int64_t, 6> kEdges = {INT64_MIN, INT64_MAX, INT64_MAX / 2 + 1, int64_t{1} << 32, -1, 0};

int64_t number(FuzzedDataProvider& input) {
  switch (input.ConsumeIntegralInRange(0, 3)) {
    case 0:
      return input.ConsumeIntegral<int64_t>();
    case 1:
      return input.PickValueInArray(kEdges);
    default:
      return input.ConsumeIntegralInRange<int64_t>(0, 5);
  }
}

/// Exactly `rank` numbers, so that reading more is detected; none if the rank is invalid.
std::vector<int64_t> numbers(FuzzedDataProvider& input, int32_t rank) {
  std::vector<int64_t> result;
  for (int32_t i = 0; i < rank && rank <= kMaxRank; ++i) result.push_back(number(input));
  return result;
}

/// The address of the element at an index, according to the description.
const char* address(const dlpack::Tensor& in, const Dims& strides, const Dims& index) {
  const char* at = static_cast<const char*>(in.data) + in.byte_offset;
  for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i] * (in.dtype.bits / 8);
  return at;
}

/// Whether the whole description is within `memory` and small enough to read, computed without overflow.
bool is_readable(const char* memory, const dlpack::Tensor& in) {
  constexpr __int128 kMaxElements = 4096;
  const __int128 element = in.dtype.bits / 8;
  __int128 last = static_cast<__int128>(reinterpret_cast<intptr_t>(in.data)) - reinterpret_cast<intptr_t>(memory);
  last += in.byte_offset;
  if (last < 0 || in.rank < 0 || in.rank > kMaxRank || !in.shape) return false;
  const Dims sizes(in.shape, in.shape + in.rank);
  const Dims strides = in.strides ? Dims(in.strides, in.strides + in.rank) : contiguous_strides(sizes);
  __int128 count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] <= 0 || (sizes[i] > 1 && strides[i] < 0)) return sizes[i] == 0;
    const auto reach = static_cast<__int128>(sizes[i] - 1) * strides[i];
    if (reach > __int128{kBytes}) return false;
    last += reach * element;
    count *= sizes[i];
    if (count > kMaxElements) return false;
  }
  return last + element <= __int128{kBytes};
}

void require(bool holds) {
  if (!holds) std::abort();
}

void check_values(const dlpack::Tensor& in, const TensorImpl& tensor) {
  const size_t element = size_of(tensor.dtype());
  Dims described = contiguous_strides(tensor.sizes());
  if (in.strides) described = Dims(in.strides, in.strides + in.rank);
  Dims index(tensor.sizes().size());
  for (int64_t n = 0; n < tensor.numel(); ++n) {
    int64_t place = 0;
    for (size_t i = 0; i < index.size(); ++i) place += index[i] * tensor.strides()[i];
    const char* ours = static_cast<const char*>(tensor.data()) + place * static_cast<int64_t>(element);
    require(std::memcmp(ours, address(in, described, index), element) == 0);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < tensor.sizes()[i]) break;
      index[i] = 0;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  FuzzedDataProvider input(data, size);
  alignas(64) static char memory[kBytes];
  for (size_t i = 0; i < kBytes; ++i) memory[i] = static_cast<char>(i * 7);

  dlpack::Tensor in{};
  const bool exists = input.ConsumeBool();
  if (exists)
    in.data = memory + input.ConsumeIntegralInRange<size_t>(0, 15);
  else if (input.ConsumeBool())
    in.data = reinterpret_cast<void*>(input.ConsumeIntegral<uintptr_t>());
  in.device.type = input.ConsumeBool() ? static_cast<int32_t>(dlpack::kCpu) : input.ConsumeIntegral<int32_t>();
  in.rank = input.ConsumeBool() ? input.ConsumeIntegralInRange(0, 5) : input.ConsumeIntegral<int32_t>();
  if (input.ConsumeBool()) {
    in.dtype = dlpack::data_type_of(static_cast<Dtype>(input.ConsumeIntegralInRange(0, kDtypeCount - 1)));
  } else {
    in.dtype.code = input.ConsumeIntegral<uint8_t>();
    in.dtype.bits = input.ConsumeIntegral<uint8_t>();
    in.dtype.lanes = input.ConsumeIntegral<uint16_t>();
  }
  in.byte_offset = static_cast<uint64_t>(number(input));
  const bool read_only = input.ConsumeBool();
  std::vector<int64_t> shape = numbers(input, in.rank);
  std::vector<int64_t> strides = numbers(input, in.rank);
  in.shape = input.ConsumeIntegralInRange(0, 7) != 0 ? shape.data() : nullptr;
  in.strides = input.ConsumeBool() ? strides.data() : nullptr;

  const bool readable = is_readable(memory, in);
  // Misaligned memory is copied; a description of memory that does not exist would crash any consumer.
  if (!readable && (reinterpret_cast<uintptr_t>(in.data) + in.byte_offset) % sizeof(double) != 0) return 0;
  int released = 0;
  try {
    const TensorRef tensor = dlpack::import_tensor(in, false, [&] { ++released; });
    require(tensor->sizes() == Dims(shape.begin(), shape.end()));
    if (tensor->numel() != 0) require(in.data != nullptr);
    const auto [first, last] = element_range(tensor->geometry());
    require(first == 0 && last >= 0);
    require(static_cast<size_t>(last) * size_of(tensor->dtype()) <= tensor->cell()->storage()->bytes());
    require(reinterpret_cast<uintptr_t>(tensor->data()) % size_of(tensor->dtype()) == 0);
    if (readable) {
      check_values(in, *tensor);
      int again = 0;
      const TensorRef copy = dlpack::import_tensor(in, read_only, [&] { ++again; });
      require(again == (read_only ? 1 : again));
      check_values(in, *copy);
    }
  } catch (const Error& error) {
    require(error.error_class() == ErrorClass::kValue || error.error_class() == ErrorClass::kType);
  }
  require(released == 1);
  return 0;
}
