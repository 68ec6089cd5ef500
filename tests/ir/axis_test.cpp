#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/op.h"
#include "message_of.h"

namespace lucid {
namespace {

using test::message_of;

TensorType matrix() { return {Dtype::kF32, {3, 4}}; }

/// Calls `use` with a call of an op on values of these types.
template <typename Use>
auto with_call(const char* op, const std::vector<TensorType>& types, const Attributes& attributes, const Use& use) {
  Values values;
  std::vector<Operand> operands;
  for (const TensorType& type : types) values.push_back(make_ref<ValueBase>(type.dtype, type.shape, type.device));
  for (const Value& value : values) operands.emplace_back(value);
  return use(Call(op_table().at(op), operands, attributes));
}

int64_t axis_of(int64_t dim) {
  return with_call("cumsum", {matrix()}, {SymInt(dim), {}}, [](const Call& call) { return call.axis("dim"); });
}

Dims axes_of(const Attribute& dim, Dims shape = {3, 4}) {
  return with_call("sum", {{Dtype::kF32, std::move(shape)}}, {dim, false, {}},
                   [](const Call& call) { return call.axes("dim"); });
}

Dims order_of(const Dims& dims) {
  return with_call("permute", {matrix()}, {dims}, [](const Call& call) { return call.ordered_axes("dims"); });
}

TEST(Axis, CountsFromTheEndIfNegative) {
  EXPECT_EQ(axis_of(1), 1);
  EXPECT_EQ(axis_of(-1), 1);
  EXPECT_EQ(axis_of(-2), 0);
  EXPECT_EQ(axes_of(Dims{-1, 0}), (Dims{0, 1}));
  EXPECT_EQ(order_of({-1, 0}), (Dims{1, 0}));
}

TEST(Axis, MayBeOfATensorOfAnotherRank) {
  const auto inserted = [](int64_t dim) {
    return with_call("unsqueeze", {matrix()}, {SymInt(dim)}, [](const Call& call) { return call.axis("dim", 3); });
  };
  EXPECT_EQ(inserted(-1), 2);
  EXPECT_EQ(inserted(2), 2);
}

TEST(Axis, ScalarsCountAsVectors) {
  EXPECT_EQ(axes_of(Dims{-1}, {}), Dims{0});
  EXPECT_THROW(axes_of(Dims{1}, {}), IndexError);
}

TEST(Axis, NoneIsNoAxis) { EXPECT_EQ(axes_of(std::monostate()), Dims{}); }

TEST(Axis, ErrorsNameTheOp) {
  EXPECT_EQ(message_of<IndexError>([] { axis_of(2); }),
            "cumsum: axis 2 is out of range for a tensor with 2 dimensions; expected -2 to 1");
  EXPECT_EQ(message_of<ValueError>([] { axes_of(Dims{0, -2}); }), "sum: axes [0,-2] name axis 0 more than once");
  EXPECT_THROW(order_of({0, 0}), ValueError);
}

}  // namespace
}  // namespace lucid
