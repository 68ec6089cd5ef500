#include <gtest/gtest.h>

#include <bit>

#include "loop/builder.h"
#include "loop/interpret.h"
#include "ops/reference.h"
#include "samples.h"

// Runs the loops of pointwise ops in the loop language's interpreter and compares them with the references.
namespace lucid {
namespace {

using test::describe;
using test::SampleCall;

loop::Value load(loop::Builder& b, loop::BufferRef buffer, loop::Value index, bool vector, loop::Value mask) {
  const loop::Value value = vector ? b.load_vector(buffer, index, mask) : b.load(buffer, index);
  return b.convert(value, compute_dtype(buffer.dtype));
}

/// A kernel that computes out[i] = body(in...[i]) and sets an error word. Inputs are contiguous arrays.
loop::Kernel pointwise_kernel(const Call& call, const std::vector<Dtype>& inputs, Dtype result, bool vector) {
  loop::Builder b("test");
  std::vector<loop::BufferRef> buffers;
  for (const Dtype dtype : inputs) buffers.push_back(b.argument(dtype));
  const loop::BufferRef out = b.argument(result);
  const loop::BufferRef error = b.argument(Dtype::kI64);
  const auto& lowering = std::get<PointwiseLowering>(call.op().lowering);
  b.for_loop(b.begin(), b.end(), vector ? loop::kLanes : 1, [&](loop::Value i) {
    const loop::Value mask = vector ? b.lanes_below(b.end() - i) : loop::Value();
    std::vector<loop::Value> values;
    for (const loop::BufferRef& buffer : buffers) values.push_back(load(b, buffer, i, vector, mask));
    if (lowering.fails) {
      if (loop::Value failed = lowering.fails(b, values, call)) {
        if (vector) failed = b.any(failed & mask);
        b.if_then(failed, [&] { b.store(error, b.index(0), b.index(1)); });
      }
    }
    loop::Value value = b.convert(b.convert(lowering.body(b, values, call), compute_dtype(result)), result);
    b.store(out, i, value, mask);
  });
  return b.finish();
}

/// The distance of two elements of `dtype` in units in the last place. All NaNs are equal.
double distance(Dtype dtype, const char* a, const char* b) {
  const double x = Scalar::load(dtype, a).to_double();
  const double y = Scalar::load(dtype, b).to_double();
  if (x == y || (x != x && y != y)) return 0;
  if (!is_float(dtype) || x != x || y != y) return HUGE_VAL;
  const int digits = dtype == Dtype::kF64 ? 53 : dtype == Dtype::kF32 ? 24 : dtype == Dtype::kF16 ? 11 : 8;
  return std::fabs(x - y) / std::ldexp(1.0, std::max(std::ilogb(y), -126) - digits + 1);
}

class EveryPointwiseOp : public testing::TestWithParam<const Op*> {};

std::vector<const Op*> pointwise_ops() {
  std::vector<const Op*> ops;
  for (const Op& op : op_table().ops())
    if (op.is_pointwise()) ops.push_back(&op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryPointwiseOp, testing::ValuesIn(pointwise_ops()),
                         [](const auto& info) { return info.param->name(); });

/// Operand i broadcast to the shape of the result, in the dtype that the op computes in.
Value spread(const SampleCall& sample, size_t i, const Dims& shape) {
  const Call call = sample.call();
  const Dtype wanted = operand_dtype(call, i);
  Interpreter e;
  const Operand& operand = sample.operands[i];
  if (operand.is_value()) return e.expand(e.to(operand, wanted), shape);
  return e.full(shape, operand, compute_dtype(wanted));
}

void compare(const SampleCall& sample, bool vector) {
  const TensorType type = sample.types().front();
  Interpreter interpreter;
  const Value expected = interpreter.emit_one(sample.op, sample.operands, sample.attributes);
  const Value actual = Interpreter::make(type);
  Values inputs;
  std::vector<Dtype> dtypes;
  std::vector<void*> buffers;
  for (size_t i = 0; i < sample.operands.size(); ++i) {
    inputs.push_back(spread(sample, i, type.shape));
    dtypes.push_back(inputs.back().dtype());
    buffers.push_back(Interpreter::array(inputs.back()).data);
  }
  int64_t error = 0;
  buffers.push_back(Interpreter::array(actual).data);
  buffers.push_back(&error);
  const Call call = sample.call();
  const loop::Kernel kernel = pointwise_kernel(call, dtypes, type.dtype, vector);
  loop::interpret(kernel, buffers.data(), nullptr, 0, numel(type.shape));
  ASSERT_EQ(error, 0);
  const auto bytes = static_cast<int64_t>(size_of(type.dtype));
  for (int64_t i = 0; i < numel(type.shape); ++i) {
    const char* a = Interpreter::array(actual).as<char>() + i * bytes;
    const char* r = Interpreter::array(expected).as<char>() + i * bytes;
    ASSERT_LE(distance(type.dtype, a, r), sample.op.ulp)
        << "element " << i << ": " << to_string(Scalar::load(type.dtype, a)) << " instead of "
        << to_string(Scalar::load(type.dtype, r));
    const double number = Scalar::load(type.dtype, r).to_double();
    if (sample.op.ulp == 0 && is_float(type.dtype) && number == number)
      ASSERT_EQ(std::signbit(Scalar::load(type.dtype, a).to_double()), std::signbit(number)) << "element " << i;
  }
}

TEST_P(EveryPointwiseOp, LoopsAgreeWithTheReference) {
  const Op& op = *GetParam();
  for (const Sample& sample : op.samples) {
    for (const Dtype dtype : test::dtypes_of(op)) {
      const SampleCall call(op, sample, dtype);
      SCOPED_TRACE(describe(call));
      compare(call, true);
      if (HasFatalFailure()) return;
    }
  }
  if (op.samples.empty()) return;
  for (const Dtype dtype : test::dtypes_of(op)) {
    const SampleCall call(op, op.samples.front(), dtype);
    SCOPED_TRACE(describe(call) + " by scalars");
    compare(call, false);
    if (HasFatalFailure()) return;
  }
}

/// Corner values of a dtype. Ops with two operands are tested on every pair.
std::vector<double> corners(Dtype dtype) {
  if (is_bool(dtype)) return {0, 1};
  if (dtype == Dtype::kU8) return {0, 1, 2, 3, 7, 8, 127, 128, 254, 255};
  if (is_integer(dtype)) {
    const double limit = std::ldexp(1.0, 8 * static_cast<int>(size_of(dtype)) - 1);
    return {0, 1, -1, 2, -2, 3, 7, 8, 63, -limit, limit - 1, -limit + 1, limit / 2};
  }
  const double infinity = std::numeric_limits<double>::infinity();
  return {0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3, 7, -7, 1e4, 3.5e4, infinity, -infinity, std::nan("")};
}

class CornerCases : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Exact, CornerCases,
                         testing::Values("add", "sub", "mul", "div", "floor_divide", "remainder", "fmod", "minimum",
                                         "maximum", "eq", "ne", "lt", "le", "gt", "ge", "bitwise_left_shift",
                                         "bitwise_right_shift", "logical_and", "logical_or", "logical_xor", "neg",
                                         "abs", "sign", "floor", "ceil", "round", "trunc", "relu", "isnan", "isinf",
                                         "isfinite", "nan_to_num", "sqrt"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CornerCases, LoopsAgreeWithTheReference) {
  const Op& op = op_table().at(std::string_view(GetParam()));
  const bool is_binary = op.schema.parameters.size() > 1 && !is_attribute(op.schema.parameters[1].kind);
  for (const Dtype dtype : test::dtypes_of(op)) {
    const std::vector<double> numbers = corners(dtype);
    const auto count = static_cast<int64_t>(numbers.size());
    const bool divides = GetParam() == std::string("floor_divide") || GetParam() == std::string("remainder") ||
                         GetParam() == std::string("fmod");
    const int64_t rows = is_binary ? count : 1;
    SampleCall call(op, {{normal({rows, count}), normal({rows, count})}}, dtype);
    for (int64_t i = 0; i < rows * count; ++i) {
      for (size_t k = 0; k < 2; ++k) {
        const HostArray array = Interpreter::array(call.values[k]);
        double number = numbers[static_cast<size_t>(k == 0 ? i % count : i / count)];
        if (k == 1 && divides && !is_float(dtype) && number == 0) number = 5;
        // The largest i64 is not representable as a double, so it is stored as an integer.
        const bool is_largest = dtype == Dtype::kI64 && number == std::ldexp(1.0, 63);
        (is_largest ? Scalar(INT64_MAX) : Scalar(number))
            .store(dtype, array.as<char>() + i * static_cast<int64_t>(size_of(dtype)));
      }
    }
    if (!is_binary) call.operands.pop_back();
    SCOPED_TRACE(describe(call));
    compare(call, true);
    if (HasFatalFailure()) return;
  }
}

TEST(DivisionByZero, IsReportedAndNeverTraps) {
  for (const char* name : {"floor_divide", "remainder", "fmod"}) {
    const Op& op = op_table().at(std::string_view(name));
    EXPECT_EQ(op.errors.size(), 1u);
    EXPECT_EQ(op.error_class, ErrorClass::kRuntime);
    const Attributes none;
    for (const Dtype dtype : test::dtypes_of(op, kIntegers)) {
      const Value x = Interpreter::make({dtype, {3}});
      const Value y = Interpreter::make({dtype, {3}});
      const Operand operands[] = {x, y};
      std::memset(Interpreter::array(x).data, 0x7f, 3 * size_of(dtype));
      std::memset(Interpreter::array(y).data, 0, 3 * size_of(dtype));
      const Value out = Interpreter::make({dtype, {3}});
      int64_t error = 0;
      void* buffers[] = {Interpreter::array(x).data, Interpreter::array(y).data, Interpreter::array(out).data, &error};
      loop::interpret(pointwise_kernel(Call(op, operands, none), {dtype, dtype}, dtype, true), buffers, nullptr, 0, 3);
      EXPECT_EQ(error, 1) << name << " " << name_of(dtype);
      EXPECT_THROW(Interpreter().emit(op, operands, none), RuntimeError);
    }
  }
}

}  // namespace
}  // namespace lucid
