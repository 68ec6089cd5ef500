// Idioms of the C++ API, which are those of Python.

#include <gtest/gtest.h>

#include <sstream>

#include "lucid/lucid.h"

namespace lucid {
namespace {

std::vector<double> read(const Tensor& x) { return x.to_vector<double>(); }
using Numbers = std::vector<double>;

TEST(Idioms, MethodsTakeArgumentsAsInPython) {
  const Tensor x = arange(6).reshape({2, 3}).to(kFloat32);
  EXPECT_EQ(read(x.sum(-1).sqrt()), read(tensor({3.0f, 12.0f}).sqrt()));
  EXPECT_EQ(x.sum().item<float>(), 15);
  EXPECT_EQ(x.sum({0, 1}, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(x.sum(kNone, true).shape(), (Shape{1, 1}));
  EXPECT_EQ(x.reshape(-1).shape(), (Shape{6}));
  EXPECT_EQ(x.permute({1, 0}).shape(), (Shape{3, 2}));
  EXPECT_EQ(x.t().shape(), (Shape{3, 2}));
  EXPECT_EQ(x.mT().shape(), (Shape{3, 2}));
  EXPECT_EQ(zeros(3).shape(), (Shape{3}));
  EXPECT_EQ(zeros({}).shape(), Shape());
  const size_t count = 2;
  EXPECT_EQ(read((x * count).max()), (Numbers{10}));
  EXPECT_EQ(x.device(), "cpu");
  EXPECT_EQ(x.to(kInt64).dtype(), kInt64);
}

TEST(Idioms, ResultsOfSeveralTensorsHaveNames) {
  const Tensor x = tensor({3.0f, 1.0f, 2.0f});
  const auto [values, indices] = x.sort();
  EXPECT_EQ(read(values), (Numbers{1, 2, 3}));
  EXPECT_EQ(read(indices), (Numbers{1, 2, 0}));
  EXPECT_EQ(read(x.topk(1).indices), (Numbers{0}));
  EXPECT_EQ(read(x.max(0).indices), (Numbers{0}));
  EXPECT_EQ(x.min().item<float>(), 1);
  EXPECT_EQ(read(x.max(tensor({0.0f, 5.0f, 0.0f}))), (Numbers{3, 5, 2}));
  EXPECT_EQ(x.median().item<float>(), 2);
}

TEST(Idioms, OperatorsAreElementwise) {
  const Tensor x = tensor({1.0f, 2.0f, 3.0f}), y = tensor({3.0f, 2.0f, 1.0f});
  EXPECT_EQ(read(x == y), (Numbers{0, 1, 0}));
  EXPECT_EQ(read(x != 2), (Numbers{1, 0, 1}));
  EXPECT_EQ(read(x < y), (Numbers{1, 0, 0}));
  EXPECT_EQ(read(2.0 >= x), (Numbers{1, 1, 0}));
  EXPECT_EQ(read((x > 1) & (y > 1)), (Numbers{0, 1, 0}));
  EXPECT_EQ(read(~(x > 1) | (y <= 1)), (Numbers{1, 0, 1}));
  EXPECT_EQ(read((x > 1) ^ (y > 1)), (Numbers{1, 0, 1}));
  EXPECT_EQ(read(x % 2), (Numbers{1, 0, 1}));
  Tensor z = x.clone();
  z %= 2;
  EXPECT_EQ(read(z), (Numbers{1, 0, 1}));
  z.add_(1).mul_(y);
  EXPECT_EQ(read(z), (Numbers{6, 2, 2}));
}

TEST(Idioms, AssigningToAnIndexWrites) {
  Tensor x = zeros({3, 4});
  x[0] = 1;
  x[{1, Slice(1, 3)}] = tensor({5.0f, 6.0f});
  x[{kEllipsis, -1}] = 9.0;
  EXPECT_EQ(read(x), (Numbers{1, 1, 1, 9, 0, 5, 6, 9, 0, 0, 0, 9}));
  x[x == 9] = 0;
  x[{Slice(kNone, kNone, 2), 0}] += 10;
  x[tensor({int64_t{1}, int64_t{2}})] *= 2;
  EXPECT_EQ(read(x), (Numbers{11, 1, 1, 0, 0, 10, 12, 0, 20, 0, 0, 0}));
  x[0] = x[1];
  EXPECT_EQ(read(x[0]), (Numbers{0, 10, 12, 0}));
}

TEST(Idioms, AssigningToAVariableWritesNothing) {
  const Tensor x = zeros({2, 2});
  Tensor row = x[0];
  row = ones({2});
  auto other = x[1];
  other = ones({2});
  EXPECT_EQ(read(row), (Numbers{1, 1}));
  EXPECT_EQ(read(other), (Numbers{1, 1}));
  EXPECT_EQ(read(x), (Numbers{0, 0, 0, 0}));
  row = x[1];
  row += 1;
  EXPECT_EQ(read(x), (Numbers{0, 0, 1, 1}));
}

TEST(Idioms, VariablesOfPartsAreChangedInPlace) {
  const Tensor x = zeros({2, 2});
  auto row = x[0];
  row += 3;
  row -= 1;
  row *= 4;
  row /= 2;
  EXPECT_EQ(read(x), (Numbers{4, 4, 0, 0}));
  (row += 1) %= 2;
  EXPECT_EQ(read(x), (Numbers{1, 1, 0, 0}));
  // An index with a tensor copies, so x stays as it is.
  auto copies = x[tensor({int64_t{0}})];
  copies += 5;
  EXPECT_EQ(read(copies), (Numbers{6, 6}));
  EXPECT_EQ(read(x), (Numbers{1, 1, 0, 0}));

  const Tensor bits = tensor({int64_t{12}, int64_t{10}});
  auto first = bits[0], second = bits[1];
  first &= 6;
  first |= 3;
  second ^= first;
  EXPECT_EQ(read(bits), (Numbers{7, 13}));
}

TEST(Idioms, PrintsAsPythonDoes) {
  const auto text = [](const auto& value) {
    std::ostringstream out;
    out << value;
    return out.str();
  };
  EXPECT_EQ(text(tensor({1.0f, 2.5f})), "tensor([1.0000, 2.5000])");
  EXPECT_EQ(text(tensor({int64_t{1}, int64_t{-20}})), "tensor([  1, -20])");
  EXPECT_EQ(text(ones({2, 2}).to(kFloat64)), "tensor([[1., 1.],\n        [1., 1.]], dtype=lucid.float64)");
  EXPECT_EQ(text(ones(1).requires_grad_() * 2), "tensor([2.], grad_fn=<MulBackward>)");
  EXPECT_EQ(text(zeros({0, 2})), "tensor([], size=(0, 2))");
  EXPECT_EQ(text(tensor({true, false})), "tensor([ True, False])");
  EXPECT_EQ(text(arange(2000)), "tensor([   0,    1,    2,  ..., 1997, 1998, 1999])");
  EXPECT_EQ(text(Tensor()), "tensor()");
  EXPECT_EQ(text(kBfloat16), "bfloat16");
  set_print_options({.precision = 1});
  EXPECT_EQ(text(tensor({1.25f})), "tensor([1.2])");
  set_print_options({});
}

TEST(Idioms, ErrorsHaveClassesOfTheirOwn) {
  const Tensor x = zeros({2, 3});
  EXPECT_THROW(x.reshape(4), ValueError);
  EXPECT_THROW(x[5], IndexError);
  EXPECT_THROW((void)x.item<float>(), RuntimeError);
  EXPECT_THROW(x.t().view(6), RuntimeError);
  EXPECT_THROW(x.bitwise_and(1), TypeError);
  try {
    (void)x.matmul(x);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.error_class(), ErrorClass::kValue);
    EXPECT_NE(std::string(error.what()).find("matmul"), std::string::npos);
  }
}

}  // namespace
}  // namespace lucid
