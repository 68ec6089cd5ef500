#pragma once

#include <gtest/gtest.h>
#include <lucid/tensor.h>

namespace lucid {

inline void expect_same(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  EXPECT_EQ(got.to_vector<double>(), expected.to_vector<double>());
}

}  // namespace lucid
