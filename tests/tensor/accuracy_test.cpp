#include <gtest/gtest.h>

#include "composition_reference.h"

namespace lucid::math_reference {
namespace {

template <typename T>
void expect_accurate(const std::vector<T>& x) {
  std::vector<T> out(x.size());
  for (const Composition& composition : compositions()) {
    for (bool flush : {false, true}) {
      apply(composition, x.data(), out.data(), x.size(), flush);
      double worst = 0;
      T at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = ulp_error(out[i], exact(composition.truth, x[i]), flush);
        if (error > worst) std::tie(worst, at) = std::pair(error, x[i]);
      }
      EXPECT_LE(worst, composition.truth.limit)
          << composition.truth.name << " at " << at << (flush ? ", flushing" : "");
    }
  }
}

/// A sample of the measurements of tools/accuracy.
TEST(Compositions, AreAccurateForEvery4099thF32) {
  std::vector<float> x = special_values<float>();
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4099) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  expect_accurate(x);
}

TEST(Compositions, AreAccurateForRandomF64) {
  std::vector<double> x = special_values<double>();
  std::mt19937_64 generator(1);
  for (int i = 0; i < 100'000; ++i) x.push_back(random_number<double>(generator));
  expect_accurate(x);
}

}  // namespace
}  // namespace lucid::math_reference
