// Random functions of numbers and sizes that vary from call to call.

#include <random>

#include "jit/expect_same.h"
#include "lucid/lucid.h"

namespace lucid {
namespace {

using namespace lucid::testing;

const CompileOptions kWait = {.wait = true};

/// A random function of a tensor, a Number and a SymInt.
class RandomFunction {
 public:
  explicit RandomFunction(uint32_t seed) : seed_(seed) {}

  Tensor operator()(const Tensor& x, Number k, SymInt n) const {
    std::mt19937 random(seed_);
    Tensor y = x;
    for (int i = 0; i < 8; ++i) {
      switch (random() % 14) {
        case 0:
          y = y * k;
          break;
        case 1:
          y = y + n;
          break;
        case 2:
          k = k * 2 - 1;
          break;
        case 3:
          k = k / 3.0;
          break;
        case 4:
          y = k > 1 ? y - k : y + 1;
          break;
        case 5:
          y = y.narrow(0, 0, y.size(0) < n ? y.size(0) : n);
          break;
        case 6:
          y = cat({y, ones({n, 2})});
          break;
        case 7:
          y = y.reshape({-1, 2}) * y.size(0);
          break;
        case 8:
          y = y + y.mean(0) * static_cast<double>(k);
          break;
        case 9:
          n = n + 1;
          break;
        case 10:
          y = n % 2 == 0 ? y.tanh() : y * 0.5;
          break;
        case 11:
          y = y[{Slice(kNone, n)}].expand({-1, -1});
          break;
        case 12:
          y = where(y > k, y, k);
          break;
        case 13:
          y = y - Number(n) * k;
          break;
      }
    }
    return y;
  }

 private:
  uint32_t seed_;
};

TEST(VaryingArguments, RandomFunctions) {
  int64_t hits = 0, calls = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    const RandomFunction f(seed);
    const auto fast = compile(
        f, {.max_cache_entries = 32, .wait = true, .dynamic = seed % 3 == 0 ? kNone : std::optional(seed % 3 == 1)});
    std::mt19937 random(seed);
    for (int i = 0; i < 10; ++i) {
      const Tensor x = randn({static_cast<int64_t>(2 + random() % 6), 2});
      const Number k = random() % 2 == 0 ? Number(static_cast<int64_t>(random() % 5)) : Number(0.5 * (random() % 5));
      const SymInt n = random() % 8 == 0 ? random() % 2 : 2 + random() % 7;
      expect_same(fast(x, k, n), f(x, k, n));
      if (HasFailure()) FAIL() << fast.explain();
    }
    hits += fast.cache_info().hits;
    calls += 10;
  }
  EXPECT_GE(hits, calls / 10);
}

}  // namespace
}  // namespace lucid
