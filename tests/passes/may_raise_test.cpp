#include "passes/may_raise.h"

#include <gtest/gtest.h>

#include <set>

#include "samples.h"

namespace lucid {
namespace {

TEST(MayRaise, IsTrueForOpsThatCheckOrRunOnTheHostAndForTheirComposites) {
  std::set<std::string> raising;
  for (const Op& op : op_table().ops()) {
    for (const Sample& sample : op.samples) {
      const test::SampleCall call(op, sample, test::dtypes_of(op).back());
      if (may_raise(call.call())) raising.insert(op.name());
    }
  }
  for (const char* name : {"index_select", "gather", "floor_divide", "remainder", "fmod", "sort", "nonzero",
                           "embedding", "nll_loss", "scatter", "masked_select", "random_multinomial", "topk", "median"})
    EXPECT_TRUE(raising.contains(name)) << name;
  for (const char* name : {"add", "softmax", "linear", "layer_norm", "random_uniform", "adam_step", "reshape", "conv2d",
                           "max_pool2d", "cat", "where"})
    EXPECT_FALSE(raising.contains(name)) << name;
}

}  // namespace
}  // namespace lucid
