#include <gtest/gtest.h>

#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "loop/interpret.h"
#include "math_reference.h"
#include "run_code.h"

namespace lucid::math_reference {
namespace {

template <typename Function, typename T>
void expect_the_interpreters_bits(CodeGenerator& generator, const Function& function, std::vector<T> x,
                                  std::vector<T> y) {
  const loop::Kernel kernel = kernel_of(function, kDtypeOf<T>);
  std::vector<T> want(x.size()), got(x.size());
  const auto buffers_to = [&](std::vector<T>& out) {
    std::vector<void*> buffers = {x.data()};
    if (std::is_same_v<Function, Binary>) buffers.push_back(y.data());
    buffers.push_back(out.data());
    return buffers;
  };
  const auto count = static_cast<int64_t>(x.size());
  for (CpuLevel target : test::runnable_levels()) {
    const auto code = generator.load(kernel, generator.compile(kernel, target));
    for (bool flush : {false, true}) {
      {
        FlushScope scope(flush);
        loop::interpret(kernel, buffers_to(want).data(), nullptr, 0, count);
        run_code(*code, buffers_to(got).data(), nullptr, 0, count);
      }
      for (size_t i = 0; i < x.size(); ++i) {
        using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        EXPECT_TRUE(std::bit_cast<Bits>(got[i]) == std::bit_cast<Bits>(want[i]) ||
                    (std::isnan(got[i]) && std::isnan(want[i])))
            << function.name << "(" << x[i] << ", " << y[i] << ") is " << want[i] << " but " << name_of(target)
            << " gave " << got[i];
      }
    }
  }
}

template <typename T>
void expect_the_interpreters_bits() {
  auto generator = codegen::make_llvm_generator();
  std::mt19937_64 random(1);
  std::vector<T> x = special_values<T>(), y(x.rbegin(), x.rend());
  for (int i = 0; i < 500; ++i) {
    x.push_back(random_number<T>(random));
    y.push_back(random_number<T>(random));
  }
  for (const Unary& function : unary_functions()) expect_the_interpreters_bits(*generator, function, x, y);
  for (const Binary& function : binary_functions()) expect_the_interpreters_bits(*generator, function, x, y);
}

TEST(MathCode, MatchesTheInterpreterOnEveryTargetInF32) { expect_the_interpreters_bits<float>(); }
TEST(MathCode, MatchesTheInterpreterOnEveryTargetInF64) { expect_the_interpreters_bits<double>(); }

/// A sample of what tools/accuracy measures.
TEST(MathCode, IsAccurateForEvery4099thF32) {
  auto generator = codegen::make_llvm_generator();
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  std::vector<float> flushed(x.size()), kept(x.size());
  for (const Unary& function : unary_functions()) {
    const loop::Kernel kernel = kernel_of(function, Dtype::kF32);
    const auto code = generator->load(kernel, generator->compile(kernel, host_level()));
    for (bool flush : {false, true}) {
      void* buffers[] = {x.data(), flush ? flushed.data() : kept.data()};
      FlushScope scope(flush);
      run_code(*code, buffers, nullptr, 0, static_cast<int64_t>(x.size()));
    }
    double worst = 0;
    float at = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double truth = exact(function, x[i]);
      const double error = std::max(ulp_error(kept[i], truth, false), ulp_error(flushed[i], truth, true));
      if (error > worst) std::tie(worst, at) = std::pair(error, x[i]);
    }
    EXPECT_LE(worst, function.limit) << function.name << " at " << at;
  }
}

}  // namespace
}  // namespace lucid::math_reference
