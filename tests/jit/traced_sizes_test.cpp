// Plans for other sizes than the recorded ones.

#include "jit/traced_sizes.h"

#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>

#include "../support/tensor_samples.h"
#include "../tensor/support.h"
#include "jit/compiled.h"
#include "jit/recorder.h"
#include "jit/traced_numbers.h"
#include "tensor/eager.h"

namespace lucid::jit {
namespace {

using Tensors = std::vector<TensorRef>;
using Function = std::function<Tensors(const Tensors&)>;

/// The program of f(arguments) with all sizes traced; null, with a reason, if there is none.
Ref<Program> record(const Function& f, const Tensors& arguments, std::string& why) {
  Recorder recorder;
  Tensors traced;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::vector<TracedSizes::Dimension> dims;
    for (size_t d = 0; d < arguments[i]->sizes().size(); ++d) dims.push_back({d});
    traced.push_back(recorder.trace_sizes(*arguments[i], i, dims));
  }
  if (!recorder.traces_sizes()) {
    why = "no size can be traced";
    return nullptr;
  }
  recorder.start();
  const Tensors results = f(traced);
  recorder.stop();
  return compiled(recorder.finish(traced, results, {}, "f", why), why);
}

/// What a program depends on.
std::string conditions_of(const Program& program) {
  std::string text;
  for (const std::string& condition : program.family()->trace().conditions()) text += condition + "; ";
  return text;
}

/// The results of a program; empty if it does not serve the call.
std::optional<Tensors> run(const Program& program, const Tensors& arguments) {
  std::vector<TensorImpl*> given;
  for (const TensorRef& argument : arguments) given.push_back(argument.get());
  Program::Handles handles;
  CallResults results;
  Program::Branch branch;
  if (!program.fits(given, handles) || !program.run(handles, results, branch)) return std::nullopt;
  Tensors made;
  for (size_t i = 0; i < results.size(); ++i) made.push_back(results.take(i));
  return made;
}

void expect_same(const Tensors& results, const Tensors& expected) {
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(to_string(results[i]->type()), to_string(expected[i]->type()));
    EXPECT_FALSE(results[i]->numel().is_traced());
    EXPECT_EQ(to_string(results[i]->strides()), to_string(expected[i]->strides()));
    EXPECT_EQ(test::bits_of(*results[i]), test::bits_of(*expected[i]));
  }
}

TensorRef random_tensor(const Dims& sizes, uint32_t seed = 1, Dtype dtype = Dtype::kF32) {
  std::mt19937 random(seed);
  TensorRef tensor = make_tensor(dtype, sizes);
  for (int64_t i = 0; i < tensor->numel(); ++i)
    Scalar(static_cast<int64_t>(random() % 7) - 3).store(dtype, test::element_at(*tensor, i));
  return tensor;
}

Value value(const TensorRef& tensor) { return Value(tensor); }
TensorRef tensor(const Value& value) { return TensorRef(tensor_of(value)); }

/// The results for a matrix with other sizes than the recorded one, which must be those of an eager call; empty if the
/// recording does not serve it, which is a failure.
Tensors served(const Function& f, const Tensors& other = {random_tensor({9, 4})}) {
  std::string why;
  const Ref<Program> program = record(f, {random_tensor({5, 7})}, why);
  const auto results = program ? run(*program, other) : std::nullopt;
  if (!results) {
    ADD_FAILURE() << (program ? conditions_of(*program) : why);
    return {};
  }
  expect_same(*results, f(other));
  return *results;
}

TEST(TracedSizes, OnePlanFamilyServesOtherSizes) {
  const auto f = [](const Tensors& in) -> Tensors {
    EagerEmitter& e = eager();
    const Value x = value(in[0]), w = value(in[1]);
    const Value y = e.relu(e.matmul(x, w));
    return {tensor(e.softmax(y, -1)), tensor(e.sum(y, Dims{0})), tensor(e.transpose(y, 0, 1))};
  };
  std::string why;
  const Tensors first{random_tensor({5, 7}), random_tensor({7, 9}, 2)};
  const Ref<Program> program = record(f, first, why);
  ASSERT_TRUE(program) << why;
  for (const int64_t m : {2, 3, 8, 17, 64, 100})
    for (const int64_t n : {2, 9, 33}) {
      const Tensors other{random_tensor({m, 12}, 3), random_tensor({12, n}, 4)};
      const auto results = run(*program, other);
      ASSERT_TRUE(results) << m << " " << n << ": " << conditions_of(*program);
      expect_same(*results, f(other));
    }
  EXPECT_EQ(program->family()->count().plans, 18u);
  // Sizes that the call would reject, or treat in another way.
  EXPECT_FALSE(run(*program, {random_tensor({5, 7}), random_tensor({8, 9})}));
  EXPECT_FALSE(run(*program, {random_tensor({1, 7}), random_tensor({7, 9})}));
  EXPECT_FALSE(run(*program, {random_tensor({0, 7}), random_tensor({7, 9})}));
}

TEST(TracedSizes, OtherStridesAreNotServed) {
  const auto f = [](const Tensors& in) -> Tensors { return {tensor(eager().neg(value(in[0])))}; };
  std::string why;
  const Ref<Program> program = record(f, {random_tensor({5, 7})}, why);
  ASSERT_TRUE(program) << why;
  EXPECT_TRUE(run(*program, {random_tensor({6, 3})}));
  EXPECT_FALSE(run(*program, {tensor(eager().transpose(value(random_tensor({6, 3})), 0, 1))}));
}

TEST(TracedSizes, ResultsMayBeViewsOfArguments) {
  const auto f = [](const Tensors& in) -> Tensors {
    const Value x = value(in[0]);
    return {tensor(eager().slice(x, 0, 1, x.size(0) - 1)), in[0], tensor(eager().reshape(x, {x.size(1), x.size(0)}))};
  };
  const Tensors other{random_tensor({9, 4})};
  const Tensors results = served(f, other);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[1], other[0]);
  EXPECT_EQ(results[0]->cell(), other[0]->cell());
}

TEST(TracedSizes, PartsDependOnSizes) {
  const auto f = [](const Tensors& in) -> Tensors {
    EagerEmitter& e = eager();
    const Value x = value(in[0]);
    const Value part = e.slice(x, 0, 1, x.size(0) - 1);
    return {tensor(e.sum(part, Dims{1})), tensor(e.neg(e.select(x, 0, x.size(0) - 1)))};
  };
  served(f);
}

TEST(TracedSizes, SizesAreNumbersToo) {
  const auto f = [](const Tensors& in) -> Tensors {
    EagerEmitter& e = eager();
    const Value x = value(in[0]);
    return {tensor(e.div(e.sum(x, Dims{0}), x.size(0))), tensor(e.mul(x, x.size(1) * 2))};
  };
  served(f);
}

TEST(TracedSizes, CodeThatReadsASizeDependsOnIt) {
  const auto f = [](const Tensors& in) -> Tensors {
    const int64_t rows = in[0]->sizes()[0];
    return {tensor(eager().mul(value(in[0]), rows))};
  };
  std::string why;
  const Ref<Program> program = record(f, {random_tensor({5, 7})}, why);
  ASSERT_TRUE(program) << why;
  EXPECT_TRUE(program->family()->trace().is_fixed(0));
  EXPECT_FALSE(program->family()->trace().is_fixed(1));
  EXPECT_TRUE(run(*program, {random_tensor({5, 9})}));
  EXPECT_FALSE(run(*program, {random_tensor({6, 7})}));
}

TEST(TracedSizes, OneListOfStepsServesSizesOfOneBucket) {
  const auto f = [](const Tensors& in) -> Tensors {
    EagerEmitter& e = eager();
    const Value x = value(in[0]);
    return {tensor(e.softmax(e.matmul(e.gelu(x), value(in[1])), -1)), tensor(e.mean(x, Dims{0}))};
  };
  std::string why;
  const Tensors first{random_tensor({40, 24}), random_tensor({24, 32}, 2)};
  const Ref<Program> program = record(f, first, why);
  ASSERT_TRUE(program) << why;
  const auto check = [&](int64_t rows) {
    const Tensors other{random_tensor({rows, 24}, 3), random_tensor({24, 32}, 4)};
    const auto results = run(*program, other);
    ASSERT_TRUE(results) << rows << ": " << conditions_of(*program);
    expect_same(*results, f(other));
  };
  for (int64_t rows = 32; rows < 64; ++rows) check(rows);
  EXPECT_EQ(program->family()->count().templates, 1u);
  EXPECT_EQ(program->family()->count().plans, 32u);
  check(64);
  EXPECT_EQ(program->family()->count().templates, 2u);
}

TEST(TracedSizes, TemplatesThatServeNoOtherSizesAreNoLongerMade) {
  const auto f = [](const Tensors& in) -> Tensors { return {tensor(eager().conv1d(value(in[0]), value(in[1])))}; };
  std::string why;
  const Ref<Program> program = record(f, {random_tensor({2, 3, 9}), random_tensor({4, 3, 2}, 2)}, why);
  ASSERT_TRUE(program) << why;
  for (int64_t batch = 3; batch < 23; ++batch) {
    const Tensors other{random_tensor({batch, 3, 11}, 3), random_tensor({4, 3, 2}, 4)};
    const auto results = run(*program, other);
    ASSERT_TRUE(results) << conditions_of(*program);
    expect_same(*results, f(other));
  }
  EXPECT_EQ(program->family()->count().plans, 20u);
  EXPECT_EQ(program->family()->count().templates, 9u);
}

TEST(TracedSizes, OldPlansMakeRoomForNewOnes) {
  const auto f = [](const Tensors& in) -> Tensors { return {tensor(eager().neg(value(in[0])))}; };
  std::string why;
  const Ref<Program> program = record(f, {random_tensor({5})}, why);
  ASSERT_TRUE(program) << why;
  for (int64_t n = 2; n < 400; ++n) {
    const Tensors other{random_tensor({n})};
    const auto results = run(*program, other);
    ASSERT_TRUE(results) << conditions_of(*program);
    expect_same(*results, f(other));
  }
  EXPECT_EQ(program->family()->count().plans, 256u);
}

// Every op with every sample: all sizes of the operands are traced. For other sizes, the plans return what the op
// returns, or do not serve the call.
class EveryOpSizes : public ::testing::TestWithParam<const Op*> {};

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops;
  for (const Op& op : op_table().ops())
    if (!op.is_random() && !op.has_effects()) ops.push_back(&op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOpSizes, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param->name(); });

/// The sample with other sizes: equal sizes stay equal.
template <typename Resize>
Sample resized(const Sample& sample, const Resize& resize) {
  Sample result = sample;
  for (SampleTensor& tensor : result.tensors) {
    for (SymInt& size : tensor.shape)
      if (size >= 2) size = resize(size);
    tensor.strides = {};
  }
  return result;
}

/// The sample with sizes in the same buckets, then in others.
std::vector<Sample> resized(const Sample& sample) {
  std::vector<Sample> result;
  for (const int64_t shift : {1, 2, 3})
    result.push_back(resized(sample, [&](int64_t size) {
      const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size)));
      return power + (size - power + shift) % power;
    }));
  for (const int64_t shift : {1, 3, 6})
    result.push_back(resized(sample, [&](int64_t size) { return size + shift * size % 5 + shift; }));
  return result;
}

TEST_P(EveryOpSizes, ServeOtherSizesExactly) {
  const Op& op = *GetParam();
  for (const Sample& sample : op.samples) {
    if (std::ranges::any_of(sample.tensors, [](const SampleTensor& each) { return !each.strides.empty(); })) continue;
    for (const Dtype dtype : test::dtypes_of(op, kAllDtypes)) {
      if (dtype != Dtype::kF32 && dtype != Dtype::kI64 && dtype != Dtype::kBool) continue;
      const test::TensorSample made(op, sample, dtype);
      SCOPED_TRACE(test::describe(made.reference));
      const auto function = [&](const test::TensorSample& of) -> Function {
        return [&of](const Tensors& in) {
          std::vector<Operand> operands;
          size_t next = 0;
          for (size_t i = 0; i < of.tensors.size(); ++i)
            operands.push_back(of.tensors[i] ? Operand(in[next++].get()) : of.operands[i]);
          Tensors results;
          for (const Value& result : eager().emit(of.reference.op, operands, of.reference.attributes))
            results.push_back(tensor(result));
          return results;
        };
      };
      const auto arguments = [](const test::TensorSample& of) {
        Tensors given;
        for (const TensorRef& each : of.tensors)
          if (each) given.push_back(each);
        return given;
      };
      std::string why;
      Ref<Program> program;
      try {
        program = record(function(made), arguments(made), why);
      } catch (const Error&) {
        continue;  // the op rejects the sample
      }
      if (!program) continue;
      const auto same = run(*program, arguments(made));
      if (same) expect_same(*same, function(made)(arguments(made)));
      for (const Sample& other_sample : resized(sample)) {
        std::optional<test::TensorSample> other;
        Tensors expected;
        try {
          other.emplace(op, other_sample, dtype);
          expected = function(*other)(arguments(*other));
        } catch (const Error&) {
          if (other) EXPECT_FALSE(run(*program, arguments(*other))) << "the op rejects these sizes";
          continue;
        }
        if (const auto results = run(*program, arguments(*other))) expect_same(*results, expected);
      }
    }
  }
}

}  // namespace
}  // namespace lucid::jit
