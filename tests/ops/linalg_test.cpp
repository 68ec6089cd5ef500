#include <gtest/gtest.h>

#include <limits>

#include "message_of.h"
#include "ops/interpreter.h"

// Values and messages of products, sorts and ranges that the tests of the table do not cover.
namespace lucid {
namespace {

using test::message_of;

Value tensor(const Dims& shape, std::initializer_list<double> numbers, Dtype dtype = Dtype::kF64) {
  const Value value = Interpreter::make({dtype, shape});
  char* at = Interpreter::array(value).as<char>();
  for (const double number : numbers) {
    Scalar(number).store(dtype, at);
    at += size_of(dtype);
  }
  return value;
}

std::vector<double> numbers(const Value& value) {
  const HostArray array = Interpreter::array(value);
  std::vector<double> result;
  for (int64_t i = 0; i < array.size(); ++i)
    result.push_back(
        Scalar::load(value.dtype(), array.as<char>() + i * static_cast<int64_t>(size_of(value.dtype()))).to_double());
  return result;
}

using Numbers = std::vector<double>;

TEST(Matmul, MultipliesVectorsMatricesAndBatches) {
  Interpreter e;
  const Value m = tensor({2, 2}, {1, 2, 3, 4});
  const Value v = tensor({2}, {5, 6});
  EXPECT_EQ(numbers(e.matmul(m, v)), (Numbers{17, 39}));
  EXPECT_EQ(numbers(e.matmul(v, m)), (Numbers{23, 34}));
  EXPECT_EQ(numbers(e.matmul(v, v)), (Numbers{61}));
  EXPECT_EQ(e.matmul(v, v).shape(), Dims());
  EXPECT_EQ(numbers(e.matmul(m, m)), (Numbers{7, 10, 15, 22}));
  const Value batch = tensor({2, 1, 2}, {1, 0, 0, 1});
  EXPECT_EQ(numbers(e.matmul(batch, m)), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(e.matmul(m, e.expand(m, {3, 2, 2})).shape(), (Dims{3, 2, 2}));
}

TEST(Matmul, ReportsWhatDoesNotFit) {
  Interpreter e;
  const Value x = Interpreter::make({Dtype::kF32, {8, 4}});
  const Value y = Interpreter::make({Dtype::kF32, {3, 2}});
  EXPECT_EQ(message_of([&] { e.matmul(x, y); }),
            "matmul: inner dimensions differ: lhs f32[8,4] has 4, rhs f32[3,2] has 3");
  const Value z = Interpreter::make({Dtype::kF64, {4, 2}});
  EXPECT_EQ(message_of([&] { e.matmul(x, z); }),
            "matmul: x f32[8,4] and y f64[4,2] must have the same dtype; convert one of them with .to()");
}

TEST(Einsum, SumsWhatTheResultLeavesOut) {
  Interpreter e;
  const Value m = tensor({2, 2}, {1, 2, 3, 4});
  const Value v = tensor({2}, {5, 6});
  const auto einsum = [&](const char* equation, const Values& tensors) { return numbers(e.einsum(equation, tensors)); };
  EXPECT_EQ(einsum("ij,j", {m, v}), (Numbers{17, 39}));
  EXPECT_EQ(einsum("ij->ji", {m}), (Numbers{1, 3, 2, 4}));
  EXPECT_EQ(einsum("ii", {m}), (Numbers{5}));
  EXPECT_EQ(einsum("ii->i", {m}), (Numbers{1, 4}));
  EXPECT_EQ(einsum("i,j->ij", {v, v}), (Numbers{25, 30, 30, 36}));
  EXPECT_EQ(einsum("...j,...j->...", {m, v}), (Numbers{17, 39}));
  EXPECT_EQ(einsum("ij,jk,k->i", {m, m, v}), (Numbers{95, 207}));
}

TEST(Einsum, RejectsEquationsThatDoNotFit) {
  Interpreter e;
  const Value m = tensor({2, 2}, {1, 2, 3, 4});
  for (const char* equation : {"i", "ij,jk", "ij->k", "ij->ii", "i1", "i.j", "ijk"})
    EXPECT_THROW(e.einsum(equation, Values{m}), ValueError) << equation;
}

TEST(Tensordot, ContractsNamedDimensions) {
  Interpreter e;
  const Value m = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(e.tensordot(m, m, {2})), (Numbers{30}));
  EXPECT_EQ(numbers(e.tensordot(m, m, {0}, Dims{1})), (Numbers{7, 15, 10, 22}));
}

TEST(Sort, PutsNanLastAndKeepsEqualElementsInOrder) {
  Interpreter e;
  const double nan = std::nan("");
  const Value x = tensor({5}, {2, nan, 1, 2, -1}, Dtype::kF32);
  EXPECT_EQ(numbers(e.sort(x)[1]), (Numbers{4, 2, 0, 3, 1}));
  EXPECT_EQ(numbers(e.sort(x, -1, true)[1]), (Numbers{1, 0, 3, 2, 4}));
  EXPECT_EQ(numbers(e.topk(x, 3)[1]), (Numbers{1, 0, 3}));
  EXPECT_EQ(numbers(e.topk(x, 2, 0, false)[0]), (Numbers{-1, 1}));
  EXPECT_TRUE(std::isnan(numbers(e.median(x))[0]));
  EXPECT_EQ(numbers(e.median(tensor({4}, {4, 1, 3, 2}))), (Numbers{2}));
  EXPECT_EQ(numbers(e.kthvalue(x, 3)[0]), (Numbers{2}));
}

TEST(Unique, FindsElementsAndRows) {
  Interpreter e;
  const Values found = e.unique_all(tensor({2, 2}, {3, 1, 3, 2}));
  EXPECT_EQ(numbers(found[0]), (Numbers{1, 2, 3}));
  EXPECT_EQ(numbers(found[1]), (Numbers{2, 0, 2, 1}));
  EXPECT_EQ(numbers(found[2]), (Numbers{1, 1, 2}));
  const Values rows = e.unique_all(tensor({3, 2}, {1, 2, 0, 9, 1, 2}), 0);
  EXPECT_EQ(numbers(rows[0]), (Numbers{0, 9, 1, 2}));
  EXPECT_EQ(numbers(rows[1]), (Numbers{1, 0, 1}));
}

TEST(Search, FindsPlacesAndCounts) {
  Interpreter e;
  const Value sorted = tensor({3}, {1, 3, 5});
  EXPECT_EQ(numbers(e.searchsorted(sorted, tensor({3}, {3, 0, 9}))), (Numbers{1, 0, 3}));
  EXPECT_EQ(numbers(e.searchsorted(sorted, tensor({1}, {3}), true)), (Numbers{2}));
  const Value lines = tensor({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(numbers(e.searchsorted(lines, tensor({2, 1}, {2, 2}))), (Numbers{1, 0}));
  EXPECT_EQ(numbers(e.bincount(tensor({3}, {1, 1, 3}, Dtype::kI64))), (Numbers{0, 2, 0, 1}));
  EXPECT_EQ(numbers(e.histc(tensor({3}, {1, 2, 1}), 4, 0, 3)), (Numbers{0, 2, 1, 0}));
}

TEST(Arange, CountsAsTorchDoes) {
  Interpreter e;
  EXPECT_EQ(numbers(e.arange(2, 10, 3)), (Numbers{2, 5, 8}));
  EXPECT_EQ(numbers(e.arange(3)), (Numbers{0, 1, 2}));
  EXPECT_EQ(numbers(e.arange(1, -2, -1)), (Numbers{1, 0, -1}));
  // From one end of i64 to the other is more than i64 holds.
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(e.arange(kLow, kHigh, int64_t{1} << 62).shape(), Dims{4});
  EXPECT_EQ(e.arange(kHigh, kLow, -(int64_t{1} << 62)).shape(), Dims{4});
  EXPECT_EQ(e.arange(0, 1, 0.1).shape(), Dims{10});
  EXPECT_EQ(e.arange(3).dtype(), Dtype::kI64);
  EXPECT_EQ(e.arange(3.0).dtype(), Dtype::kF32);
  EXPECT_THROW(e.arange(0, 1, 0), ValueError);
  EXPECT_THROW(e.arange(0, 1, -1), ValueError);
  EXPECT_THROW(e.arange(0, HUGE_VAL), ValueError);
  EXPECT_EQ(numbers(e.linspace(0, 1, 3)), (Numbers{0, 0.5, 1}));
  EXPECT_EQ(numbers(e.tril_indices(2, 2)), (Numbers{0, 1, 1, 0, 0, 1}));
}

}  // namespace
}  // namespace lucid
