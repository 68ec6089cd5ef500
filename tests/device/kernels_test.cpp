#include <xmmintrin.h>

#include <cmath>
#include <random>

#include "loop/interpret.h"
#include "loop/narrow_indices.h"
#include "random_memory.h"
#include "support.h"

namespace lucid {
namespace {

/// The host's arithmetic as that of shaders: subnormal results become zero and, if shaders do not see to it that only
/// these do, subnormal operands too, as in Mesa's drivers since version 26.
class FloatModeScope {
 public:
  FloatModeScope() : saved_(_mm_getcsr()) { _mm_setcsr(gpu().target().flush_results ? 0x9f80 : 0x9fc0); }
  ~FloatModeScope() { _mm_setcsr(saved_); }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;

 private:
  const unsigned saved_;
};

/// Whether shaders compute with subnormal numbers as the host does.
bool has_subnormals() { return gpu().target().flush_results; }

void compare_random_kernel(uint32_t seed) {
  const loop::Kernel kernel = loop::random_kernel(seed, 12 + static_cast<int>(seed % 40));
  const Ref<LoadedCode> code = load(seed % 4 ? kernel : loop::narrow_indices(kernel));
  test::RandomMemory expected(seed, has_subnormals()), actual(seed, has_subnormals());
  std::vector<std::unique_ptr<Array<std::byte>>> arrays;
  std::vector<void*> device;
  for (const auto& bytes : expected.buffers) {
    arrays.push_back(std::make_unique<Array<std::byte>>(bytes));
    device.push_back(arrays.back()->address());
  }
  const int64_t param = seed % 3 ? static_cast<int64_t>(seed) * -7919 : 5;
  const int64_t items = loop::kRandomKernelItems - seed % 7;
  Program program;
  program.add(code, items, device, {param});
  program.run(seed % 2 ? GpuRunMode::kBatched : GpuRunMode::kRecorded);
  {
    const FloatModeScope mode;
    loop::interpret(kernel, expected.pointers().data(), &param, 0, items);
  }
  for (size_t i = 0; i < arrays.size(); ++i) actual.buffers[i] = arrays[i]->read();
  EXPECT_EQ(test::difference(expected, actual, has_subnormals()), "") << "seed " << seed;
}

/// Environment variables for longer runs: LUCID_TEST_KERNELS, the number of kernels, and LUCID_TEST_SEED, the first.
uint32_t number_from(const char* variable, uint32_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? static_cast<uint32_t>(std::atoi(text)) : otherwise;
}

TEST(GpuKernels, AgreeWithTheInterpreter) {
  const uint32_t first = number_from("LUCID_TEST_SEED", 0);
  for (uint32_t i = 0; i < number_from("LUCID_TEST_KERNELS", 40); ++i) compare_random_kernel(first + i);
}

/// A kernel whose clusters need global scratch: it reverses param 0 elements of each item by way of scratch memory.
TEST(GpuKernels, UseScratchMemory) {
  constexpr int64_t kLarge = 20000;
  loop::Builder b("scratch");
  const loop::BufferRef x = b.argument(Dtype::kI64);
  const loop::BufferRef scratch = b.scratch(Dtype::kI64, kLarge);
  const loop::Value offset = b.param();
  b.for_loop(b.begin(), b.end(), 1, [&](loop::Value item) {
    b.for_loop(b.index(0), b.index(kLarge), loop::kLanes,
               [&](loop::Value i) { b.store(scratch, i, b.splat(item + offset) + b.iota() + i); });
    const loop::Value zero[] = {b.splat(b.index(0))};
    const auto sum = b.for_loop(b.index(0), b.index(kLarge), loop::kLanes, zero,
                                [&](loop::Value i, std::span<const loop::Value> carried) {
                                  return std::vector{carried[0] + b.load_vector(scratch, i)};
                                });
    b.store(x, item * b.index(loop::kLanes), sum[0]);
  });
  const loop::Kernel kernel = b.finish();
  const Ref<LoadedCode> code = load(kernel);
  ASSERT_GE(code->scratch_bytes(), size_t{8} * kLarge);
  constexpr int64_t kItems = 1000;  // more clusters than there is scratch memory for
  std::vector<int64_t> expected(kItems * loop::kLanes);
  for (GpuRunMode mode : {GpuRunMode::kBatched, GpuRunMode::kRecorded}) {
    const Array<int64_t> a(std::vector<int64_t>(expected.size(), 0)), c(std::vector<int64_t>(expected.size(), 0));
    Program program;
    program.add(code, kItems, {a.address()}, {7}, false);
    program.add(code, kItems, {c.address()}, {9}, false);
    for (GpuLaunch& launch : program.launches) launch.grain = 1;
    const Ref<GpuCommands> commands = program.make(mode);
    EXPECT_EQ(commands->barrier_count(), 1u) << "they share scratch memory";
    program.run(*commands);
    for (int64_t param : {7, 9}) {
      void* const data[] = {expected.data()};
      loop::interpret(kernel, data, &param, 0, kItems);
      EXPECT_EQ((param == 7 ? a : c).read(), expected);
    }
  }
}

TEST(GpuKernels, CanHaveManyItems) {
  // More workgroups than fit in one dimension.
  loop::Builder b("many");
  const loop::BufferRef out = b.argument(Dtype::kU8);
  b.for_loop(b.begin(), b.end(), 1,
             [&](loop::Value i) { b.store(out, i, b.convert(i, Dtype::kU8) + b.constant(Dtype::kU8, 1)); });
  const Ref<LoadedCode> code = load(b.finish());
  constexpr size_t kItems = 5'000'000;
  const Array<uint8_t> x(std::vector<uint8_t>(kItems, 0));
  Program program;
  program.add(code, kItems, {x.address()});
  program.launches[0].grain = 1;
  program.run();
  const std::vector<uint8_t> result = x.read();
  for (size_t i = 0; i < kItems; ++i) ASSERT_EQ(result[i], static_cast<uint8_t>(i + 1)) << i;
}

TEST(GpuKernels, CompareConvertedIntegersWithConstants) {
  for (const Dtype dtype : {Dtype::kI32, Dtype::kU8, Dtype::kI8, Dtype::kI16}) {
    for (const int number : {0, 5, -1}) {
      for (int form = 0; form < 6; ++form) {
        loop::Builder b("test");
        const auto in = b.argument(dtype);
        const auto out = b.argument(Dtype::kI64);
        b.for_loop(b.begin(), b.end(), loop::kLanes, [&](loop::Value i) {
          const loop::Value x = b.convert(b.load_vector(in, i), Dtype::kI64);
          const loop::Value y = b.splat(b.constant(Dtype::kI64, number));
          static constexpr loop::Code kCodes[] = {loop::Code::kEq, loop::Code::kNe, loop::Code::kLt,
                                                  loop::Code::kLe, loop::Code::kGt, loop::Code::kGe};
          const loop::Value condition = b.binary(kCodes[form], y, x);
          b.store(out, i, b.convert(condition, Dtype::kI64));
        });
        const loop::Kernel kernel = b.finish();
        std::vector<std::byte> values(16 * size_of(dtype));
        for (int i = 0; i < 16; ++i) {
          const int64_t value = i - 3;
          std::memcpy(&values[static_cast<size_t>(i) * size_of(dtype)], &value, size_of(dtype));
        }
        Array<std::byte> input(values);
        Array<int64_t> result(std::vector<int64_t>(16));
        Program program;
        program.add(load(kernel), 16, {input.address(), result.address()}, {});
        program.run(GpuRunMode::kBatched);
        std::vector<int64_t> expected(16);
        void* const buffers[] = {values.data(), expected.data()};
        loop::interpret(kernel, buffers, nullptr, 0, 16);
        EXPECT_EQ(result.read(), expected) << name_of(dtype) << " " << number << " form " << form;
      }
    }
  }
}

}  // namespace
}  // namespace lucid
