// Calls every op that is a method of Tensor through the public C++ API, with the samples of the op table, and compares
// the results with those of the op itself, bit for bit.

#include <gtest/gtest.h>

#include <deque>
#include <set>

#include "lucid/ops.h"
#include "tensor/api.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"
#include "tensor_samples.h"

namespace lucid {
namespace {

using Results = std::vector<Tensor>;

Results list(Tensor result) { return {std::move(result)}; }
Results list(Results results) { return results; }

/// The arguments of a call after the tensor itself, as the public API takes them. Tensors are counted with it.
class Given {
 public:
  Given(std::span<const Operand> operands, const Attributes& attributes)
      : operands_(operands), attributes_(attributes) {
    for (const Operand& operand : operands) held_.push_back(operand.is_value() ? wrap(value_of(operand)) : Tensor());
  }

  Argument tensor_(size_t i) const {
    if (i >= operands_.size() || !operands_[i].present()) return {};
    if (operands_[i].is_value()) return Argument(held_[i]);
    const Scalar number = operands_[i].scalar();
    if (number.is_float()) return Argument(number.to_double());
    return number.kind() == Dtype::kBool ? Argument(number.to_int() != 0) : Argument(number.to_int());
  }
  Results tensors_(size_t first) const { return Results(held_.begin() + static_cast<ptrdiff_t>(first), held_.end()); }

  bool bool_(size_t i) const { return std::get<bool>(attributes_[i]); }
  int64_t int_(size_t i) const { return std::get<SymInt>(attributes_[i]); }
  int64_t axis_(size_t i) const { return int_(i); }
  double float_(size_t i) const { return std::get<double>(attributes_[i]); }
  Dtype dtype_(size_t i) const { return std::get<Dtype>(attributes_[i]); }
  const std::string& str_(size_t i) const { return std::get<std::string>(attributes_[i]); }
  const Shape& ints_(size_t i) const {
    const Dims& dims = std::get<Dims>(attributes_[i]);
    return lists_.emplace_back(dims.begin(), dims.end());
  }
  const Shape& axes_(size_t i) const { return ints_(i); }
  std::optional<bool> optional_bool_(size_t i) const { return optional(i, &Given::bool_); }
  std::optional<int64_t> optional_int_(size_t i) const { return optional(i, &Given::int_); }
  std::optional<int64_t> optional_axis_(size_t i) const { return optional_int_(i); }
  std::optional<double> optional_float_(size_t i) const { return optional(i, &Given::float_); }
  std::optional<Dtype> optional_dtype_(size_t i) const { return optional(i, &Given::dtype_); }
  std::optional<std::string> optional_str_(size_t i) const {
    return is_none(i) ? std::nullopt : std::optional(str_(i));
  }
  OptionalInts optional_ints_(size_t i) const { return is_none(i) ? OptionalInts(kNone) : OptionalInts(ints_(i)); }
  OptionalInts optional_axes_(size_t i) const { return optional_ints_(i); }

 private:
  bool is_none(size_t i) const { return std::holds_alternative<std::monostate>(attributes_[i]); }
  template <typename T>
  std::optional<T> optional(size_t i, T (Given::*get)(size_t) const) const {
    return is_none(i) ? std::nullopt : std::optional<T>((this->*get)(i));
  }

  std::span<const Operand> operands_;
  const Attributes& attributes_;
  Results held_;
  mutable std::deque<Shape> lists_;
};

struct Method {
  const char* name;
  Results (*call)(const TensorMethods& x, const Given& given);
  void (*call_in_place)(TensorMethods& x, const Given& given);
};

constexpr Method kMethods[] = {
#include "tests/method_calls.inc"
};

std::string bits_of(const Results& results) {
  std::string bits;
  for (const Tensor& result : results) bits += to_string(unwrap(result).type()) + test::bits_of(unwrap(result));
  return bits;
}

/// The bits of the results, or the message of the error.
template <typename Compute>
std::string outcome_of(const Compute& compute) {
  try {
    return bits_of(compute());
  } catch (const Error& error) {
    return error.what();
  }
}

class EveryMethod : public ::testing::TestWithParam<const Method*> {};

TEST_P(EveryMethod, ComputesWhatTheOpDoes) {
  const Method& method = *GetParam();
  const Op& op = op_table().at(method.name);
  size_t calls = 0;
  for (const Sample& sample : op.samples) {
    for (const Dtype dtype : test::dtypes_of(op, kBoolean | Dtype::kI32 | Dtype::kI64 | Dtype::kF32 | Dtype::kBF16)) {
      const test::TensorSample made(op, sample, dtype);
      if (made.operands.empty() || !made.operands[0].is_value()) continue;
      const Given given(made.operands, made.reference.attributes);
      const Tensor x = wrap(value_of(made.operands[0]));
      const auto compute = [&] { return wrap(eager().emit(op, made.operands, made.reference.attributes)); };
      ASSERT_EQ(outcome_of([&] { return method.call(x, given); }), outcome_of(compute));
      ++calls;
      if (!method.call_in_place) continue;
      const auto write_op = [&] {
        Tensor copy = x.clone();
        in_place(op, unwrap(copy), std::span(made.operands).subspan(1), made.reference.attributes);
        return Results{copy};
      };
      const auto write = [&] {
        Tensor copy = x.clone();
        method.call_in_place(copy, given);
        return Results{copy};
      };
      ASSERT_EQ(outcome_of(write), outcome_of(write_op));
    }
  }
  EXPECT_GT(calls, 0u);
}

std::vector<const Method*> methods() {
  std::vector<const Method*> all;
  for (const Method& method : kMethods) all.push_back(&method);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryMethod, ::testing::ValuesIn(methods()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(Methods, AreThoseOfPython) {
  std::set<std::string> expected, found;
  for (const Op& op : op_table().ops())
    if (op.has_method()) expected.insert(op.name());
  for (const Method& method : kMethods) found.insert(method.name);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace lucid
