// Plans on memory that other libraries own and that several tensors share.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "../tensor/support.h"
#include "jit/compiled.h"
#include "jit/program.h"
#include "tensor/borrowed.h"

namespace lucid::jit {
namespace {

using namespace lucid::testing;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

std::vector<TensorRef> refs(const Tensors& tensors) {
  std::vector<TensorRef> result;
  for (const Tensor& tensor : tensors) result.emplace_back(&unwrap(tensor));
  return result;
}

/// An array that tensors import parts of.
struct Array {
  alignas(64) std::vector<float> values;

  explicit Array(size_t size) : values(size) { std::iota(values.begin(), values.end(), 0.0f); }
  Tensor part(int64_t begin, int64_t size, int64_t stride = 1) {
    return wrap(borrow_tensor({values.data() + begin, Dtype::kF32, {size}, {stride}}, nullptr));
  }
  Tensor ints(int64_t begin, int64_t size) {
    return wrap(borrow_tensor({values.data() + begin, Dtype::kI32, {size}, {1}}, nullptr));
  }
};

struct Recorded {
  Ref<Program> program;
  std::string obstacle;
};

Recorded record(const Function& f, const Tensors& arguments) {
  Recorded recorded;
  TracingContext context;
  const Tensors results = f(arguments);
  context.stop();
  recorded.program = compiled(RecordedCall::finish(context, refs(arguments), refs(results), {}, "f", recorded.obstacle),
                              recorded.obstacle);
  return recorded;
}

bool fits(const Program& program, const Tensors& arguments) {
  std::vector<TensorImpl*> pointers;
  for (const Tensor& argument : arguments) pointers.push_back(&unwrap(argument));
  return program.fits(pointers);
}

void run(const Program& program, const Tensors& arguments) {
  std::vector<TensorImpl*> pointers;
  for (const Tensor& argument : arguments) pointers.push_back(&unwrap(argument));
  ASSERT_TRUE(program.fits(pointers));
  CallResults results;
  ASSERT_TRUE(program.run(pointers, results));
}

Tensors write_both(const Tensors& x) {
  Tensor a = x[0], b = x[1];
  apply_("mul", b, {2.0});
  apply_("add", a, {10.0});
  apply_("add", b, {a[{0}]});
  return {};
}

using Parts = std::function<Tensors(Array&)>;

void expect_same(const Parts& parts) {
  Array recorded_on(16), found(16), expected(16);
  const Recorded recorded = record(write_both, parts(recorded_on));
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  for (int i = 0; i < 3; ++i) {
    run(*recorded.program, parts(found));
    write_both(parts(expected));
    ASSERT_EQ(found.values, expected.values);
  }
}

TEST(ImportedMemory, OverlappingTensorsAreOneCellInAPlan) {
  expect_same([](Array& a) { return Tensors{a.part(0, 16), a.part(3, 4)}; });
  expect_same([](Array& a) { return Tensors{a.part(3, 4), a.part(0, 16)}; });
  expect_same([](Array& a) { return Tensors{a.part(4, 8), a.part(0, 8)}; });
  expect_same([](Array& a) { return Tensors{a.part(0, 8), a.part(4, 8)}; });
  expect_same([](Array& a) { return Tensors{a.part(0, 8), a.part(0, 8)}; });
  expect_same([](Array& a) { return Tensors{a.part(0, 8, 2), a.part(1, 7, 2)}; });
}

TEST(ImportedMemory, APlanRunsOnlyWhereMemoryOverlapsAsRecorded) {
  Array memory(32), other(32);
  const auto program_on = [&](const Tensors& arguments) { return record(write_both, arguments).program; };
  const Ref<Program> separate = program_on({memory.part(0, 4), other.part(0, 4)});
  const Ref<Program> overlapping = program_on({memory.part(0, 4), memory.part(2, 4)});
  const Ref<Program> same = program_on({memory.part(0, 4), memory.part(0, 4)});
  struct Case {
    Tensors arguments;
    bool separate, overlapping, same;
  };
  const Case cases[] = {
      {{other.part(0, 4), memory.part(2, 4)}, true, false, false},
      {{memory.part(0, 4), memory.part(4, 4)}, true, false, false},
      {{memory.part(8, 4), memory.part(10, 4)}, false, true, false},
      {{memory.part(8, 4), memory.part(11, 4)}, false, false, false},
      {{memory.part(10, 4), memory.part(8, 4)}, false, false, false},
      {{memory.part(8, 4), memory.part(8, 4)}, false, false, true},
  };
  for (const Case& expected : cases) {
    EXPECT_EQ(fits(*separate, expected.arguments), expected.separate);
    EXPECT_EQ(fits(*overlapping, expected.arguments), expected.overlapping);
    EXPECT_EQ(fits(*same, expected.arguments), expected.same);
  }
}

TEST(ImportedMemory, TensorsThatAreOnlyReadMayOverlap) {
  Array memory(32), written(4);
  const Function f = [](const Tensors& x) {
    Tensor sum = x[0];
    apply_("add", sum, {x[1] * x[2]});
    return Tensors{};
  };
  const Recorded recorded = record(f, {written.part(0, 4), memory.part(0, 4), memory.part(1, 4)});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  for (int64_t begin : {0, 1, 3, 8})
    EXPECT_TRUE(fits(*recorded.program, {written.part(0, 4), memory.part(0, 4), memory.part(begin, 4)}));
  EXPECT_FALSE(fits(*recorded.program, {memory.part(2, 4), memory.part(0, 4), memory.part(8, 4)}));
}

TEST(ImportedMemory, WritesToMemoryOfTwoDtypesAreNotCompiled) {
  Array memory(8);
  const Function f = [](const Tensors& x) {
    Tensor written = x[0];
    apply_("add", written, {1.0});
    return Tensors{x[1] + x[1]};
  };
  EXPECT_EQ(record(f, {memory.part(0, 8), memory.ints(2, 2)}).obstacle,
            "writes to imported memory that is also used as another dtype");
  EXPECT_EQ(record(f, {memory.part(0, 4), memory.ints(4, 2)}).obstacle, "");
}

TEST(ImportedMemory, EagerOpsReadOverlappingOperandsFirst) {
  Array found(8), expected(8);
  found.part(1, 7).copy_(found.part(0, 7));
  for (size_t i = 8; i-- > 1;) expected.values[i] = expected.values[i - 1];
  EXPECT_EQ(found.values, expected.values);
}

}  // namespace
}  // namespace lucid::jit
