#pragma once

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <numeric>
#include <typeinfo>

#include "base/throw_error.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"

namespace lucid::testing {

using Numbers = std::vector<double>;

inline Tensor make(const Numbers& values, const Shape& shape) { return from_vector(values, shape); }
inline Tensor make(const Numbers& values) { return make(values, {static_cast<int64_t>(values.size())}); }
/// 1, 2, 3, ... as f64.
inline Tensor counting(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  Numbers values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 1.0);
  return make(values, shape);
}
inline Tensor leaf(const Shape& shape) { return counting(shape).requires_grad_(); }
inline Numbers read(const Tensor& tensor) { return tensor.to_vector<double>(); }

inline Tensor transpose(const Tensor& x) { return lucid::transpose(x, 0, 1); }

/// Runs the op's in-place form.
inline Tensor& apply_(const char* op, Tensor& self, std::vector<Argument> others = {}) {
  std::vector<Operand> operands;
  for (const Argument& other : others) operands.push_back(operand_of(other));
  const Op& entry = op_table().at(op);
  in_place(entry, unwrap(self), operands, entry.schema.default_attributes());
  return self;
}

/// Whether it is caught as an exception of its class, such as ValueError.
inline bool is_its_class(const Error& error) {
  try {
    throw_error(error.error_class(), "");
  } catch (const Error& expected) {
    return typeid(error) == typeid(expected);
  }
}

/// Expects an Error of the given class whose message contains `text`.
template <typename F>
void expect_error(ErrorClass error_class, const std::string& text, F f) {
  try {
    f();
    ADD_FAILURE() << "nothing was thrown; expected \"" << text << '"';
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), error_class) << error.what();
    EXPECT_TRUE(is_its_class(error)) << error.what();
    EXPECT_NE(std::string(error.what()).find(text), std::string::npos) << error.what();
  }
}

}  // namespace lucid::testing
