#include <algorithm>
#include <numeric>
#include <random>

#include "base/error.h"
#include "base/options.h"
#include "support.h"

namespace lucid {
namespace {

/// With and without staging memory: lavapipe's memory can be accessed by the host.
class GpuCopies : public testing::TestWithParam<bool> {
 protected:
  GpuCopies() : scope_(changed()) {}

 private:
  static Options changed() {
    Options changed = options();
    changed.gpu_staging = GetParam();
    return changed;
  }
  OptionsScope scope_;
};

std::vector<uint8_t> random_bytes(size_t count) {
  std::vector<uint8_t> bytes(count);
  uint32_t state = static_cast<uint32_t>(count) + 1;
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  return bytes;
}

TEST_P(GpuCopies, ReturnWhatWasUploaded) {
  for (size_t bytes : {0, 1, 3, 255, 256, 257, 4095, 65537, 4 << 20, (4 << 20) + 1, 13 << 20, 100'000'001}) {
    const std::vector<uint8_t> values = random_bytes(bytes);
    const Array<uint8_t> x(bytes), y(bytes);
    gpu().upload(x.address(), values.data(), bytes);
    gpu().copy(y.address(), x.address(), bytes);
    EXPECT_TRUE(x.read() == values) << bytes;
    EXPECT_TRUE(y.read() == values) << bytes;
  }
}

TEST_P(GpuCopies, ReachPartsOfBlocks) {
  std::vector<uint8_t> expected = random_bytes(10000);
  const Array<uint8_t> x(expected);
  const std::vector<uint8_t> part = random_bytes(123);
  auto* const base = static_cast<uint8_t*>(x.address());
  gpu().upload(base + 77, part.data(), part.size());
  std::copy(part.begin(), part.end(), expected.begin() + 77);
  gpu().copy(base + 5001, base + 70, 333);
  std::copy_n(expected.begin() + 70, 333, expected.begin() + 5001);
  EXPECT_TRUE(x.read() == expected);
  std::vector<uint8_t> read(100);
  gpu().download(read.data(), base + 5001, 100);
  EXPECT_TRUE(std::equal(read.begin(), read.end(), expected.begin() + 5001));
}

TEST_P(GpuCopies, AreOrderedWithLaunches) {
  const Ref<LoadedCode> code = load(affine_kernel());
  const Array<int64_t> x(1000), y(1000);
  for (int64_t i = 0; i < 20; ++i) {
    x.write(std::vector<int64_t>(1000, i));
    Program program;
    program.add(code, 1000, {x.address()}, {3, 1});
    program.run(i % 2 ? GpuRunMode::kBatched : GpuRunMode::kRecorded);
    gpu().copy(y.address(), x.address(), 8000);
    program.run(i % 3 ? GpuRunMode::kBatched : GpuRunMode::kRecorded);
    x.write(std::vector<int64_t>(1000, -1));
    EXPECT_EQ(y.read(), std::vector<int64_t>(1000, 3 * i + 1));
    EXPECT_EQ(x.read(), std::vector<int64_t>(1000, -1));
  }
}

TEST_P(GpuCopies, DoNotReadFreedMemoryTooEarly) {
  // The upload reuses memory that pending work still writes.
  constexpr size_t kCount = 16 * 200;
  const Ref<LoadedCode> code = load(long_kernel());
  for (int i = 0; i < 5; ++i) {
    {
      const Array<int64_t> x(std::vector<int64_t>(kCount, 1));
      Program program;
      program.add(code, kCount, {x.address()}, {kMaxIterations});
      program.run();
      gpu().flush();
    }
    const Array<int64_t> y(std::vector<int64_t>(kCount, i));
    EXPECT_EQ(y.read(), std::vector<int64_t>(kCount, i));
  }
}

TEST_P(GpuCopies, RejectOtherMemory) {
  int host = 0;
  EXPECT_THROW(gpu().upload(&host, &host, 4), InternalError);
  EXPECT_THROW(gpu().download(&host, &host, 4), InternalError);
}

TEST_P(GpuCopies, NeedBoundedStagingMemory) {
  const std::vector<uint8_t> values = random_bytes(3 << 20);
  const Array<uint8_t> x(values.size());
  for (int i = 0; i < 100; ++i) gpu().upload(x.address(), values.data(), values.size());
  EXPECT_TRUE(x.read() == values);
}

INSTANTIATE_TEST_SUITE_P(Staging, GpuCopies, testing::Bool(),
                         [](const auto& info) { return info.param ? "Staged" : "Direct"; });

}  // namespace
}  // namespace lucid
