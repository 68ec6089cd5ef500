#include "codegen/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "loop/builder.h"
#include "loop/codes.h"
#include "random_kernel.h"

namespace lucid::codegen {
namespace {

using loop::Code;
using loop::Id;
using loop::Value;

/// Two vectors, each through a chain of `length` additions, and then stored.
loop::Kernel two_chains(int length) {
  loop::Builder b("chains");
  const auto data = b.argument(Dtype::kF32);
  b.for_loop(b.begin(), b.end(), 2 * loop::kLanes, [&](Value i) {
    Value results[2];
    for (int k = 0; k < 2; ++k) {
      Value x = b.load_vector(data, i + b.index(k * loop::kLanes));
      for (int step = 0; step < length; ++step) x = x + 1.5;
      results[k] = x;
    }
    for (int k = 0; k < 2; ++k) b.store(data, i + b.index(k * loop::kLanes), results[k]);
  });
  return b.finish();
}

/// Calls `f` for every block of a kernel with its order.
template <typename F>
void for_each_block(const loop::Kernel& kernel, const F& f) {
  for (const loop::Block& block : kernel.blocks) f(block, latency_order(kernel, block));
}

TEST(LatencyOrder, InterleavesIndependentChains) {
  const loop::Kernel kernel = two_chains(20);
  const loop::Block& body = kernel.blocks[1];
  std::vector<Id> additions;
  for (Id id : latency_order(kernel, body))
    if (kernel.instructions[id].code == Code::kAdd && kernel.instructions[id].type.vector) additions.push_back(id);
  ASSERT_EQ(additions.size(), 40u);
  // No addition directly follows the one that it depends on.
  for (size_t i = 1; i < additions.size(); ++i)
    EXPECT_NE(kernel.instructions[additions[i]].operands[0], additions[i - 1]);
}

TEST(LatencyOrder, LeavesShortBlocksAlone) {
  const loop::Kernel kernel = two_chains(3);
  EXPECT_EQ(latency_order(kernel, kernel.blocks[1]), kernel.blocks[1].instructions);
}

TEST(LatencyOrder, RespectsOperandsAndKeepsStoresAndLoopsInPlace) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const loop::Kernel kernel = loop::random_kernel(seed, 40 + static_cast<int>(seed % 80));
    for_each_block(kernel, [&](const loop::Block& block, const std::vector<Id>& order) {
      ASSERT_TRUE(
          std::is_permutation(order.begin(), order.end(), block.instructions.begin(), block.instructions.end()));
      const std::set<Id> all(order.begin(), order.end());
      std::set<Id> placed;
      for (size_t i = 0; i < order.size(); ++i) {
        const loop::Instruction& x = kernel.instructions[order[i]];
        for (Id operand : x.operands) EXPECT_TRUE(placed.contains(operand) || !all.contains(operand));
        placed.insert(order[i]);
        if (!loop::has_result(x.code)) EXPECT_EQ(order[i], block.instructions[i]);
      }
    });
  }
}

}  // namespace
}  // namespace lucid::codegen
