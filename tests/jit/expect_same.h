#pragma once

#include <cmath>

#include "../tensor/support.h"

namespace lucid::testing {

inline void expect_same(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  ASSERT_EQ(got.dtype(), expected.dtype());
  const Numbers a = read(got), b = read(expected);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) << i << ": " << a[i] << " and " << b[i];
}

}  // namespace lucid::testing
