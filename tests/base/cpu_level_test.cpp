#include "base/cpu_level.h"

#include <gtest/gtest.h>

#include "base/options.h"

namespace lucid {
namespace {

TEST(ChosenLevel, ComesFromTheOptionsIfTheMachineSupportsIt) {
  Options options;
  {
    const OptionsScope scope(options);
    EXPECT_EQ(chosen_level(), host_level());
  }
  options.target = CpuLevel::kScalar;
  const OptionsScope scope(options);
  EXPECT_EQ(chosen_level(), CpuLevel::kScalar);
}

}  // namespace
}  // namespace lucid
