#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "loop/builder.h"
#include "loop/codes.h"
#include "random_kernel.h"
#include "shader_targets.h"
#include "spirv/shader.h"

// Every shader is a valid module, by the tool of the SPIR-V project.
namespace lucid::spirv {
namespace {

using loop::Builder;
using loop::Code;
using loop::Value;

constexpr int kSeedsOfAllTargets = 12;
constexpr int kSeedsOfOneTarget = 300;

/// Runs spirv-val. Returns what it printed, empty if the shader is valid.
std::string validate(const Shader& shader) {
  const std::string path = testing::TempDir() + "lucid_" + std::to_string(getpid()) + ".spv";
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(shader.words.data()),
             static_cast<std::streamsize>(shader.words.size() * sizeof(uint32_t)));
  FILE* tool = popen(("spirv-val --target-env vulkan1.3 " + path + " 2>&1").c_str(), "r");
  if (!tool) return "popen failed";
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t count = std::fread(buffer.data(), 1, buffer.size(), tool)) output.append(buffer.data(), count);
  const int status = pclose(tool);
  std::remove(path.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
  return output.empty() ? "spirv-val failed" : output;
}

/// Applies every code that accepts `dtype` to it, and converts it to and from every dtype.
loop::Kernel every_code(Dtype dtype) {
  Builder b("every_code");
  std::vector<loop::BufferRef> in, out;
  for (int d = 0; d < kDtypeCount; ++d) in.push_back(b.argument(static_cast<Dtype>(d)));
  for (int d = 0; d < kDtypeCount; ++d) out.push_back(b.argument(static_cast<Dtype>(d)));
  const auto own = static_cast<size_t>(dtype);
  const loop::BufferRef scratch = b.scratch(dtype, 64);
  const loop::BufferRef table = b.table(dtype, std::vector<uint64_t>(16, 1));
  const Value shift = b.param();
  b.for_loop(b.begin(), b.end(), loop::kLanes, [&](Value i) {
    const Value mask = b.lanes_below(b.end() - i);
    const Value x = b.load_vector(in[own], i, mask), y = b.load_vector(in[own], i);
    const auto save = [&](Value value) { b.store(out[static_cast<size_t>(value.dtype())], i, value, mask); };
    for (int c = static_cast<int>(Code::kAdd); c <= static_cast<int>(Code::kGe); ++c) {
      const auto code = static_cast<Code>(c);
      const loop::CodeInfo& info = loop::info_of(code);
      if (!info.dtypes.contains(dtype)) continue;
      if (info.family == loop::Family::kUnary) save(b.unary(code, x));
      if (info.family == loop::Family::kFma) save(b.fma(x, y, b.splat(b.load(in[own], i))));
      if (info.family == loop::Family::kBinary || info.family == loop::Family::kComparison) save(b.binary(code, x, y));
    }
    for (size_t d = 0; d < kDtypeCount; ++d) {
      const auto other = static_cast<Dtype>(d);
      if (other == dtype) continue;
      save(b.convert(x, other));
      save(b.convert(b.load_vector(in[d], i), dtype));
      const bool casts = size_of(other) == size_of(dtype) && loop::info_of(Code::kBitcast).dtypes.contains(other);
      if (casts && loop::info_of(Code::kBitcast).dtypes.contains(dtype)) save(b.bitcast(x, other));
    }
    const Value indices = b.iota();
    save(b.select(mask, x, y));
    save(b.rotate(x, 3));
    save(b.splat(b.extract(x, 5)));
    save(b.load_alternate(in[own], i, mask));
    save(b.load_twice(in[own], i, mask));
    save(b.gather(in[own], b.splat(i) + indices, mask));
    save(b.gather(table, indices));
    b.store(scratch, b.index(0), x);
    b.store(scratch, b.index(40), b.extract(x, 15));
    save(b.load_vector(scratch, b.index(30)));
    b.scatter(out[own], b.splat(i) + indices, x, mask);
    b.scatter(out[own], b.splat(i), x);
    b.prefetch(in[own], i);
    b.if_then(b.any(mask), [&] { b.store(out[own], i, b.load(in[own], i + shift)); }, [&] { save(x); });
    const std::vector<Value> carried = {x, b.extract(y, 0)};
    const auto results = b.for_loop(i, shift, 3, carried, [&](Value k, std::span<const Value> now) {
      return std::vector<Value>{b.rotate(now[0], 1), b.load(in[own], k)};
    });
    save(results[0]);
    b.store(out[own], i, results[1]);
  });
  return b.finish();
}

TEST(Validation, KernelsOfEveryCodeAndDtypeForAllTargets) {
  for (const auto& [name, target] : test::shader_targets()) {
    for (int d = 0; d < kDtypeCount; ++d) {
      const auto dtype = static_cast<Dtype>(d);
      EXPECT_EQ(validate(translate(every_code(dtype), target)), "") << name << " " << name_of(dtype);
    }
  }
}

TEST(Validation, RandomKernelsForAllTargets) {
  for (const auto& [name, target] : test::shader_targets()) {
    for (uint32_t seed = 0; seed < kSeedsOfAllTargets; ++seed)
      EXPECT_EQ(validate(translate(loop::random_kernel(seed, 40), target)), "") << name << " seed " << seed;
  }
}

TEST(Validation, ManyRandomKernels) {
  const auto targets = test::shader_targets();
  for (uint32_t seed = kSeedsOfAllTargets; seed < kSeedsOfOneTarget; ++seed) {
    const auto& [name, target] = targets[seed % targets.size()];
    const auto length = static_cast<int>(12 + seed % 40);
    EXPECT_EQ(validate(translate(loop::random_kernel(seed, length), target)), "") << name << " seed " << seed;
  }
}

/// A group copies a slab to shared memory and sums products of it, in the way of a matrix product.
loop::Kernel group_kernel(Dtype dtype) {
  Builder b("group");
  const auto in = b.argument(dtype), out = b.argument(dtype);
  b.set_group(16);
  const auto slab = b.shared(dtype, 17 * 16);
  const Value k = b.param(), member = b.member();
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
    const std::vector<Value> zero{b.splat(b.constant(dtype, 0))};
    const auto sums = b.for_loop(b.index(0), k, 16, zero, [&](Value first, std::span<const Value> now) {
      b.barrier();
      b.store(slab, member * b.index(17), b.load_vector(in, item * k + first));
      b.barrier();
      return b.for_loop(b.index(0), b.index(16), 1, now, [&](Value step, std::span<const Value> sum) {
        const Value column = b.gather(slab, b.iota() * b.index(17) + step);
        return std::vector<Value>{sum[0] + column * b.load(slab, member * b.index(17) + step)};
      });
    });
    b.if_then(member < k, [&] { b.store(out, item * k + member, sums[0], b.lanes_below(k)); });
  });
  return b.finish();
}

TEST(Validation, GroupsForAllTargets) {
  for (const auto& [name, target] : test::shader_targets()) {
    for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kI8, Dtype::kI16, Dtype::kI64})
      EXPECT_EQ(validate(translate(group_kernel(dtype), target)), "") << name << " " << name_of(dtype);
  }
}

TEST(Validation, AKernelThatDoesNothing) {
  Builder b("nothing");
  EXPECT_EQ(validate(translate(b.finish(), {})), "");
}

TEST(Validation, FindsAnInvalidShader) {
  Builder b("nothing");
  Shader shader = translate(b.finish(), {});
  shader.words.pop_back();
  EXPECT_NE(validate(shader), "");
}

}  // namespace
}  // namespace lucid::spirv
