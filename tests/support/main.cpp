#include <gtest/gtest.h>

#include <cstdlib>

/// Runs the tests of a folder. Plans are verified after each pass, as they are in debug builds.
int main(int argc, char** argv) {
  setenv("LUCID_VERIFY_PASSES", "1", 0);
  // Compiled calls wait for their plans, so that hits can be counted.
  setenv("LUCID_COMPILE_WAIT", "1", 0);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
