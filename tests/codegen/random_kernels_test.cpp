#include <gtest/gtest.h>
#include <xmmintrin.h>

#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "loop/interpret.h"
#include "random_memory.h"
#include "run_code.h"

namespace lucid::codegen {
namespace {

constexpr unsigned kFlushToZero = 0x8000;

/// Sets whether denormal results are flushed, until the end of the scope.
class FlushScope {
 public:
  explicit FlushScope(bool flush) : saved_(_mm_getcsr()) {
    _mm_setcsr(flush ? saved_ | kFlushToZero : saved_ & ~kFlushToZero);
  }
  FlushScope(const FlushScope&) = delete;
  FlushScope& operator=(const FlushScope&) = delete;
  ~FlushScope() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

class RandomKernels : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(RandomKernels, GeneratedCodeMatchesTheInterpreterBitForBit) {
  auto generator = make_llvm_generator();
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const loop::Kernel kernel = loop::random_kernel(seed, 12 + static_cast<int>(seed % 40));
    const auto code = generator->load(kernel, generator->compile(kernel, GetParam()));
    for (bool flush : {false, true}) {
      test::RandomMemory expected(seed), actual(seed);
      const int64_t params[] = {seed % 3 ? static_cast<int64_t>(seed) * -7919 : 5};
      const int64_t begin = seed % 20, end = loop::kRandomKernelItems - seed % 7;
      {
        const FlushScope scope(flush);
        loop::interpret(kernel, expected.pointers().data(), params, begin, end);
        run_code(*code, actual.pointers().data(), params, begin, end);
      }
      ASSERT_EQ(difference(expected, actual), "")
          << "seed " << seed << (flush ? ", flushing\n" : ", not flushing\n") << loop::to_text(kernel);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomKernels, ::testing::ValuesIn(test::runnable_levels()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace lucid::codegen
