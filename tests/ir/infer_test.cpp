#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/graph.h"
#include "ir/graph_emitter.h"
#include "message_of.h"

namespace lucid {
namespace {

using test::message_of;

class Infer : public testing::Test {
 protected:
  Value value(Dtype dtype, Dims shape) { return e_.value(graph_.add_input({dtype, std::move(shape)})); }

  IRGraph graph_;
  GraphEmitter e_{graph_};
};

TEST_F(Infer, PromotesAndBroadcasts) {
  const Value i = value(Dtype::kI32, {3, 1});
  const Value f = value(Dtype::kF16, {4});
  EXPECT_EQ(e_.add(i, f).type(), (TensorType{Dtype::kF16, {3, 4}}));
  EXPECT_EQ(e_.add(i, 2.5).type(), (TensorType{Dtype::kF32, {3, 1}}));
  EXPECT_EQ(e_.div(i, i).type(), (TensorType{Dtype::kF32, {3, 1}}));
  EXPECT_EQ(e_.lt(i, f).type(), (TensorType{Dtype::kBool, {3, 4}}));
  EXPECT_EQ(e_.where(e_.lt(i, f), i, 1).type(), (TensorType{Dtype::kI32, {3, 4}}));
}

TEST_F(Infer, ResultsAreOnTheDeviceOfTheOperands) {
  const Device gpu = Device::gpu(1);
  const Value x = e_.value(graph_.add_input({Dtype::kF32, {3}, gpu}));
  const Value here = value(Dtype::kF32, {3});
  const Value number = value(Dtype::kF32, {});
  EXPECT_EQ(e_.add(x, 1).device(), gpu);
  EXPECT_EQ(e_.add(number, x).device(), gpu);
  EXPECT_EQ(e_.softmax(x, 0).device(), gpu);
  EXPECT_EQ(e_.add(number, number).device(), kCpuDevice);
  EXPECT_EQ(e_.to_device(x, "cpu").device(), kCpuDevice);
  EXPECT_EQ(e_.full(Dims{2}, 0, Dtype::kF32).device(), kCpuDevice);
  EXPECT_EQ(message_of([&] { e_.add(here, x); }),
            "add: operands are on different devices: f32[3] on cpu, f32[3]@gpu:1 on gpu:1; move one of them with to()");
  const DeviceScope scope(gpu);
  EXPECT_EQ(e_.full(Dims{2}, 0, Dtype::kF32).device(), gpu);
  EXPECT_EQ(e_.add(number, number).device(), kCpuDevice);
  EXPECT_EQ(e_.zeros_of(here).device(), kCpuDevice);
}

TEST_F(Infer, ReportsOperandDtypes) {
  const Value i = value(Dtype::kI32, {3});
  const Value f = value(Dtype::kF64, {});
  const Value c = value(Dtype::kBool, {3});
  const Operand operands[] = {c, i, f};
  const Attributes none;
  const Call call(op_table().at("where"), operands, none);
  EXPECT_EQ(operand_dtype(call, 0), Dtype::kBool);
  EXPECT_EQ(operand_dtype(call, 1), Dtype::kF64);
  EXPECT_EQ(operand_dtype(call, 2), Dtype::kF64);
}

TEST_F(Infer, ErrorsNameOpDtypeAndAcceptedDtypes) {
  EXPECT_EQ(message_of([&] { e_.bitwise_and(value(Dtype::kF32, {2}), 1); }),
            "bitwise_and: does not take f32; convert to bool, u8, i8, i16, i32 or i64");
  EXPECT_EQ(message_of([&] { e_.softmax(value(Dtype::kI64, {2})); }),
            "softmax: does not take i64; convert to f16, bf16, f32 or f64");
  EXPECT_THROW(e_.neg(value(Dtype::kBool, {2})), TypeError);
}

TEST_F(Infer, ChecksConditionsShapesAndArguments) {
  const Value x = value(Dtype::kF32, {2, 3});
  EXPECT_EQ(message_of([&] { e_.where(x, x, x); }), "where: argument condition must be bool, got f32[2,3]");
  EXPECT_THROW(e_.add(x, value(Dtype::kF32, {4})), ValueError);
  EXPECT_THROW(e_.add(x, {}), TypeError);
  EXPECT_THROW(e_.clamp(x), ValueError);
  EXPECT_THROW(e_.pow(value(Dtype::kI32, {2}), -1), ValueError);
  EXPECT_THROW(e_.gelu(x, "exact"), ValueError);
  EXPECT_THROW(e_.amax(value(Dtype::kF32, {2, 0}), Dims{1}), ValueError);
  EXPECT_THROW(e_.sum(x, Dims{2}), IndexError);
  EXPECT_THROW(e_.expand(x, Dims{2, 4}), ValueError);
  EXPECT_THROW(e_.full(Dims{-1}, 0), ValueError);
}

TEST_F(Infer, CompositesWithoutARuleFollowTheirDecomposition) {
  const Value x = value(Dtype::kF16, {2, 3});
  EXPECT_EQ(e_.norm(x, 2, Dims{1}).type(), (TensorType{Dtype::kF16, {2}}));
  const Values both = e_.max_dim(x, 0, true);
  EXPECT_EQ(both[0].type(), (TensorType{Dtype::kF16, {1, 3}}));
  EXPECT_EQ(both[1].type(), (TensorType{Dtype::kI64, {1, 3}}));
}

TEST_F(Infer, UndoesBroadcasting) {
  const Value x = value(Dtype::kF32, {5, 2, 3, 4});
  EXPECT_EQ(e_.sum_to(x, Dims{5, 2, 3, 4}), x);
  EXPECT_EQ(e_.sum_to(x, Dims{3, 4}).shape(), (Dims{3, 4}));
  EXPECT_EQ(e_.sum_to(x, Dims{5, 1, 3, 1}).shape(), (Dims{5, 1, 3, 1}));
  EXPECT_EQ(e_.sum_to(x, Dims{1, 4}).shape(), (Dims{1, 4}));
  EXPECT_EQ(e_.sum_to(x, Dims{}).shape(), Dims{});
}

}  // namespace
}  // namespace lucid
