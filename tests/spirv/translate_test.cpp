#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "loop/builder.h"
#include "random_kernel.h"
#include "shader_targets.h"
#include "shader_words.h"
#include "spirv/shader.h"

namespace lucid::spirv {
namespace {

using loop::Builder;
using loop::Value;

/// Capabilities that every shader needs.
const std::set<uint32_t> kAlways = {test::kShader, test::kInt64, test::kVulkanMemoryModel,
                                    test::kPhysicalStorageBufferAddresses};

std::set<uint32_t> with(std::set<uint32_t> more) {
  more.insert(kAlways.begin(), kAlways.end());
  return more;
}

std::set<uint32_t> with_controls(std::set<uint32_t> more) {
  more.insert({test::kSignedZeroInfNanPreserve, test::kRoundingModeRte});
  return with(std::move(more));
}

/// Applies `body` to vectors of one argument and stores the results in another.
loop::Kernel elementwise(Dtype from, Dtype to, const std::function<Value(Builder&, Value)>& body) {
  Builder b("elementwise");
  const auto in = b.argument(from), out = b.argument(to);
  b.for_loop(b.begin() * b.index(loop::kLanes), b.end() * b.index(loop::kLanes), loop::kLanes,
             [&](Value i) { b.store(out, i, body(b, b.load_vector(in, i))); });
  return b.finish();
}

loop::Kernel fma_of(Dtype dtype) {
  return elementwise(dtype, dtype, [](Builder& b, Value x) { return b.fma(x, x, x); });
}

/// The widths for which an execution mode is set.
std::set<uint32_t> widths_of(const Shader& shader, uint32_t mode) {
  std::set<uint32_t> widths;
  for (const test::SpirvInstruction& x : test::instructions_of(shader)) {
    if (x.op == test::kOpExecutionMode && x.operands[1] == mode) widths.insert(x.operands[2]);
  }
  return widths;
}

TEST(Translate, NoArithmeticIsContracted) {
  for (const auto& [name, target] : test::shader_targets()) {
    size_t checked = 0;
    for (uint32_t seed = 0; seed < 30; ++seed) {
      const auto instructions = test::instructions_of(translate(loop::random_kernel(seed, 40), target));
      std::set<uint32_t> exact;
      for (const test::SpirvInstruction& x : instructions) {
        if (x.op == test::kOpDecorate && x.operands[1] == test::kNoContraction) exact.insert(x.operands[0]);
      }
      for (const test::SpirvInstruction& x : instructions) {
        const bool is_fma = x.op == test::kOpExtInst && x.operands[3] == test::kGlslFma;
        const bool is_arithmetic =
            x.op == test::kOpFAdd || x.op == test::kOpFSub || x.op == test::kOpFMul || x.op == test::kOpFDiv;
        if (!is_fma && !is_arithmetic) continue;
        EXPECT_TRUE(exact.contains(x.operands[1])) << name << " seed " << seed << ": op " << x.op;
        ++checked;
      }
    }
    EXPECT_GT(checked, 30u) << name;
  }
}

TEST(Translate, DeclaresOnlyNeededCapabilities) {
  const auto same = [](Builder&, Value x) { return x; };
  const auto capabilities = [](const loop::Kernel& kernel, const Target& target) {
    return test::capabilities_of(translate(kernel, target));
  };
  EXPECT_EQ(capabilities(elementwise(Dtype::kI32, Dtype::kI32, same), {}), kAlways);
  EXPECT_EQ(capabilities(elementwise(Dtype::kF32, Dtype::kF32, same), {}), with_controls({}));
  EXPECT_EQ(capabilities(elementwise(Dtype::kF64, Dtype::kF64, same), {}), with_controls({test::kFloat64}));
  EXPECT_EQ(capabilities(elementwise(Dtype::kU8, Dtype::kU8, same), {}),
            with({test::kInt8, test::kStorageBuffer8BitAccess}));
  EXPECT_EQ(capabilities(elementwise(Dtype::kBool, Dtype::kBool, same), {}),
            with({test::kInt8, test::kStorageBuffer8BitAccess}));
  EXPECT_EQ(
      capabilities(
          elementwise(Dtype::kBF16, Dtype::kF16, [](Builder& b, Value x) { return b.convert(x, Dtype::kF16); }), {}),
      with_controls({test::kInt16, test::kStorageBuffer16BitAccess}));
  Target target;
  target.float_controls32 = target.float_controls64 = false;
  EXPECT_EQ(capabilities(elementwise(Dtype::kF32, Dtype::kF32, same), target), kAlways);
  target.subgroup_size = 32;
  EXPECT_EQ(capabilities(elementwise(Dtype::kF32, Dtype::kF32, same), target), kAlways);
  const auto rotate = [](Builder& b, Value x) { return b.rotate(x, 8); };
  EXPECT_EQ(capabilities(elementwise(Dtype::kF32, Dtype::kF32, rotate), target),
            with({test::kGroupNonUniform, test::kGroupNonUniformShuffle}));
  const auto any = [](Builder& b, Value x) { return b.splat(b.convert(b.any(x == x), Dtype::kF32)); };
  EXPECT_EQ(capabilities(elementwise(Dtype::kF32, Dtype::kF32, any), target),
            with({test::kGroupNonUniform, test::kGroupNonUniformShuffle, test::kGroupNonUniformBallot}));
}

TEST(Translate, OnlyTheEmulationOfFmaNeedsF64) {
  Target target;
  EXPECT_EQ(test::capabilities_of(translate(fma_of(Dtype::kF32), target)), with_controls({}));
  target.fused_fma32 = false;
  EXPECT_EQ(test::capabilities_of(translate(fma_of(Dtype::kF32), target)), with_controls({test::kFloat64}));
  target = {};
  target.exact_divide32 = target.exact_sqrt32 = false;
  target.flush_results = true;
  const auto quotient = elementwise(Dtype::kF32, Dtype::kF32,
                                    [](Builder& b, Value x) { return b.unary(loop::Code::kSqrt, x) / (x + x); });
  EXPECT_EQ(test::capabilities_of(translate(quotient, target)), with_controls({}));
}

TEST(Translate, SetsFloatModesOfSupportedWidthsInUse) {
  const auto widen =
      elementwise(Dtype::kF32, Dtype::kF64, [](Builder& b, Value x) { return b.convert(x, Dtype::kF64); });
  Target target;
  for (uint32_t mode : {test::kRoundingModeRteMode, test::kSignedZeroInfNanPreserveMode}) {
    EXPECT_EQ(widths_of(translate(fma_of(Dtype::kF32), target), mode), std::set<uint32_t>({32}));
    EXPECT_EQ(widths_of(translate(fma_of(Dtype::kF64), target), mode), std::set<uint32_t>({64}));
    EXPECT_EQ(widths_of(translate(widen, target), mode), std::set<uint32_t>({32, 64}));
  }
  target.float_controls64 = false;
  for (uint32_t mode : {test::kRoundingModeRteMode, test::kSignedZeroInfNanPreserveMode}) {
    EXPECT_EQ(widths_of(translate(widen, target), mode), std::set<uint32_t>({32}));
    EXPECT_EQ(widths_of(translate(fma_of(Dtype::kF64), target), mode), std::set<uint32_t>());
  }
}

/// The operation that makes the value that a shader stores last, seen through bitcasts.
uint32_t op_of_stored_value(const Shader& shader) {
  const auto instructions = test::instructions_of(shader);
  const auto last =
      std::find_if(instructions.rbegin(), instructions.rend(), [](const auto& x) { return x.op == test::kOpStore; });
  for (uint32_t id = last->operands[1];;) {
    const auto definition = std::find_if(last, instructions.rend(), [&](const auto& x) {
      return x.operands.size() > 2 && x.operands[1] == id && x.op != test::kOpStore;
    });
    if (definition->op != test::kOpBitcast) return definition->op;
    id = definition->operands[2];
  }
}

TEST(Translate, HidesFloatsThatDriversFold) {
  // Bits are hidden by xor with a word that is 0.
  const auto op_of = [](Dtype from, Dtype to, const std::function<Value(Builder&, Value)>& body) {
    return op_of_stored_value(translate(elementwise(from, to, body), Target()));
  };
  for (const Dtype from : {Dtype::kBool, Dtype::kU8, Dtype::kI32, Dtype::kI64, Dtype::kF64}) {
    const auto convert = [](Builder& b, Value x) { return b.convert(x, Dtype::kF32); };
    EXPECT_EQ(op_of(from, Dtype::kF32, convert), test::kOpBitwiseXor) << name_of(from);
  }
  const auto cast = [](Builder& b, Value x) { return b.bitcast(x, Dtype::kF32); };
  EXPECT_EQ(op_of(Dtype::kI32, Dtype::kF32, cast), test::kOpBitwiseXor);
  Target emulated;
  emulated.fused_fma32 = false;
  EXPECT_EQ(op_of_stored_value(translate(fma_of(Dtype::kF32), emulated)), test::kOpBitwiseXor);
  const auto widen = [](Builder& b, Value x) { return b.convert(x, Dtype::kF64); };
  EXPECT_EQ(op_of(Dtype::kF32, Dtype::kF64, widen), test::kOpFConvert);
}

TEST(Translate, EmulatesAnOperationInOneFunction) {
  Target target;
  target.fused_fma64 = false;
  const auto many = elementwise(Dtype::kF64, Dtype::kF64, [](Builder& b, Value x) {
    for (int i = 0; i < 10; ++i) x = b.fma(x, x, x);
    return x;
  });
  const Shader shader = translate(many, target);
  EXPECT_EQ(test::count_of(shader, test::kOpFunction), 2u);
  EXPECT_LT(shader.words.size(), translate(fma_of(Dtype::kF64), target).words.size() + 200);
}

TEST(Translate, ElementwiseKernelsNeedNoBarriers) {
  const Shader shader = translate(fma_of(Dtype::kF32), {});
  EXPECT_EQ(test::count_of(shader, test::kOpControlBarrier), 0u);
  EXPECT_EQ(shader.clusters, 4u);
  EXPECT_EQ(shader.scratch_bytes, 0u);
  Target target;
  target.subgroup_size = 128;
  EXPECT_EQ(translate(fma_of(Dtype::kF32), target).clusters, 8u);
}

TEST(Translate, LanesExchangeValuesByShufflesWhereSubgroupsAreLargeEnough) {
  const auto kernel = elementwise(Dtype::kF32, Dtype::kF32, [](Builder& b, Value x) { return b.rotate(x, 8); });
  for (uint32_t size : {0, 4, 8}) {
    Target target;
    target.subgroup_size = size;
    const Shader shader = translate(kernel, target);
    EXPECT_EQ(shader.clusters, 1u) << size;
    EXPECT_GT(test::count_of(shader, test::kOpControlBarrier), 0u) << size;
    EXPECT_EQ(test::count_of(shader, test::kOpShuffle), 0u) << size;
  }
  for (uint32_t size : {16, 32, 64}) {
    Target target;
    target.subgroup_size = size;
    const Shader shader = translate(kernel, target);
    EXPECT_EQ(shader.clusters, 4u) << size;
    EXPECT_EQ(test::count_of(shader, test::kOpControlBarrier), 0u) << size;
    EXPECT_EQ(test::count_of(shader, test::kOpShuffle), 1u) << size;
  }
}

TEST(Translate, AGroupIsAWorkgroup) {
  Builder b("group");
  const auto out = b.argument(Dtype::kF32);
  b.set_group(8);
  const auto shared = b.shared(Dtype::kF32, 128);
  const Value member = b.member();
  b.store(shared, member * b.index(16), b.convert(b.iota(), Dtype::kF32));
  b.barrier();
  b.store(out, member, b.load(shared, member * b.index(16) + b.index(1)));
  const loop::Kernel kernel = b.finish();
  for (const auto& [name, target] : test::shader_targets()) {
    const Shader shader = translate(kernel, target);
    EXPECT_EQ(shader.clusters, 8u) << name;
    EXPECT_EQ(shader.group, 8u) << name;
    EXPECT_EQ(shader.scratch_bytes, 0u) << name;
    EXPECT_EQ(test::count_of(shader, test::kOpControlBarrier), 1u) << name;
    EXPECT_EQ(test::count_of(shader, test::kOpShuffle), 0u) << name;
    EXPECT_EQ(parse_shader(to_bytes(shader)), shader) << name;
  }
}

TEST(Translate, ScratchIsInGlobalMemoryIfItDoesNotFit) {
  Builder b("scratch");
  const auto out = b.argument(Dtype::kF32);
  const auto first = b.scratch(Dtype::kU8, 1000), second = b.scratch(Dtype::kF32, 1000);
  b.store(second, b.index(0), b.convert(b.load(first, b.index(3)), Dtype::kF32));
  b.store(out, b.begin(), b.load(second, b.index(1)));
  const loop::Kernel kernel = b.finish();
  Target target;
  const Shader shared = translate(kernel, target);
  EXPECT_EQ(shared.scratch_bytes, 0u);
  EXPECT_EQ(shared.clusters, 1u);
  EXPECT_FALSE(test::capabilities_of(shared).contains(test::kStorageBuffer8BitAccess));
  target.shared_bytes = 5000;
  const Shader global = translate(kernel, target);
  EXPECT_EQ(global.scratch_bytes, 1008u + 4000u);
  EXPECT_TRUE(test::capabilities_of(global).contains(test::kStorageBuffer8BitAccess));
}

}  // namespace
}  // namespace lucid::spirv
