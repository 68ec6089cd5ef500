#include "tensor/dlpack.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <functional>

#include "base/error.h"

namespace lucid {
namespace {

/// A producer's description: by default 2 rows of 3 numbers in row-major order.
struct Described {
  alignas(64) std::array<float, 8> memory = {0, 1, 2, 3, 4, 5, 6, 7};
  std::array<int64_t, 2> shape = {2, 3};
  std::array<int64_t, 2> strides = {3, 1};
  dlpack::Tensor tensor = {.data = memory.data(),
                           .device = {dlpack::kCpu, 0},
                           .rank = 2,
                           .dtype = {dlpack::kFloat, 32, 1},
                           .shape = shape.data(),
                           .strides = strides.data(),
                           .byte_offset = 0};
  int released = 0;

  TensorRef import(bool read_only = false) {
    return dlpack::import_tensor(tensor, read_only, [this] { ++released; });
  }
};

TEST(Dlpack, SharesMemoryUntilTheTensorIsDestroyed) {
  Described in;
  in.tensor.byte_offset = 4;
  TensorRef tensor = in.import();
  EXPECT_EQ(tensor->data(), &in.memory[1]);
  EXPECT_EQ(in.released, 0);
  tensor = {};
  EXPECT_EQ(in.released, 1);
}

TEST(Dlpack, CopiesReadOnlyOrMisalignedMemory) {
  Described in;
  in.strides = {1, 2};
  const TensorRef copy = in.import(true);
  EXPECT_EQ(in.released, 1);
  const auto* values = static_cast<const float*>(copy->data());
  EXPECT_EQ(std::vector<float>(values, values + 6), (std::vector<float>{0, 2, 4, 1, 3, 5}));

  in.tensor.byte_offset = 2;
  const TensorRef aligned = in.import();
  EXPECT_EQ(in.released, 2);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned->data()) % sizeof(float), 0u);
}

TEST(Dlpack, IgnoresMeaninglessStrides) {
  Described in;
  in.shape = {1, 3};
  in.strides = {INT64_MIN, 1};
  EXPECT_EQ(in.import()->strides(), (Dims{3, 1}));
  in.shape = {0, 3};
  in.strides = {INT64_MAX, INT64_MAX};
  in.tensor.data = nullptr;
  EXPECT_EQ(in.import()->strides(), (Dims{3, 1}));
}

TEST(Dlpack, RefusesInvalidDescriptions) {
  const std::pair<const char*, std::function<void(Described&)>> mistakes[] = {
      {"device type 2", [](Described& in) { in.tensor.device.type = 2; }},
      {"-1 dimensions", [](Described& in) { in.tensor.rank = -1; }},
      {"-2147483648 dimensions", [](Described& in) { in.tensor.rank = INT32_MIN; }},
      {"2147483647 dimensions", [](Described& in) { in.tensor.rank = INT32_MAX; }},
      {"no shape", [](Described& in) { in.tensor.shape = nullptr; }},
      {"2 lanes", [](Described& in) { in.tensor.dtype.lanes = 2; }},
      {"0 lanes", [](Described& in) { in.tensor.dtype.lanes = 0; }},
      {"7 bits", [](Described& in) { in.tensor.dtype.bits = 7; }},
      {"type code 200", [](Described& in) { in.tensor.dtype.code = 200; }},
      {"negative size", [](Described& in) { in.shape[1] = -3; }},
      {"too large", [](Described& in) { in.shape = {INT64_MAX, 3}; }},
      {"negative, which", [](Described& in) { in.strides[0] = -3; }},
      {"exceeds the address space", [](Described& in) { in.strides[0] = INT64_MAX; }},
      {"exceeds the address space", [](Described& in) { in.strides = {INT64_MAX / 4, INT64_MAX / 8}; }},
      {"exceeds the address space", [](Described& in) { in.tensor.byte_offset = UINT64_MAX; }},
      {"a null address", [](Described& in) { in.tensor.data = nullptr; }},
      {"a null address", [](Described& in) { in.tensor.data = nullptr, in.tensor.byte_offset = 64; }},
  };
  for (const auto& [message, make] : mistakes) {
    Described in;
    make(in);
    try {
      in.import();
      ADD_FAILURE() << message;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
      EXPECT_TRUE(std::string(error.what()).starts_with("from_dlpack: ")) << error.what();
    }
    EXPECT_EQ(in.released, 1) << message;
  }
}

}  // namespace
}  // namespace lucid
