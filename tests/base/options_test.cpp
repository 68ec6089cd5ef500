#include "base/options.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"

namespace lucid {
namespace {

std::map<std::string, std::string> g_variables;

Options read(std::map<std::string, std::string> variables) {
  g_variables = std::move(variables);
  return read_options([](const char* name) -> const char* {
    const auto found = g_variables.find(name);
    return found == g_variables.end() ? nullptr : found->second.c_str();
  });
}

std::string message_of(std::map<std::string, std::string> variables) {
  try {
    read(std::move(variables));
  } catch (const ValueError& error) {
    return error.what();
  }
  return "did not throw";
}

TEST(Options, DefaultsNeedNoEnvironment) {
  EXPECT_EQ(read({}), Options{});
  EXPECT_EQ(read({{"LUCID_NUM_THREADS", ""}, {"LUCID_TARGET", ""}}), Options{});
}

TEST(Options, AreReadFromTheEnvironment) {
  const Options options = read({{"LUCID_NUM_THREADS", "7"},
                                {"LUCID_TARGET", "avx2"},
                                {"LUCID_CACHE_DIR", "/tmp/kernels"},
                                {"LUCID_LOG", "passes"},
                                {"LUCID_DISABLE_PASSES", "SomePass"},
                                {"LUCID_VERIFY_PASSES", "1"},
                                {"LUCID_VERIFY", "100"},
                                {"LUCID_COMPILE_WAIT", "1"},
                                {"LUCID_GPU_MEMORY_LIMIT", "1000000"},
                                {"LUCID_GPU_TIMEOUT", "5"},
                                {"LUCID_GPU_VALIDATE", "1"},
                                {"LUCID_GPU_SHUFFLE", "42"},
                                {"LUCID_GPU_STAGING", "1"}});
  EXPECT_EQ(options, (Options{7, CpuLevel::kAvx2, "/tmp/kernels", "passes", "SomePass", true, 100, true, 1000000, 5,
                              true, 42, true}));
  EXPECT_FALSE(read({{"LUCID_VERIFY_PASSES", "0"}}).verify_passes);
  for (CpuLevel level : {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512})
    EXPECT_EQ(read({{"LUCID_TARGET", std::string(name_of(level))}}).target, level);
}

TEST(Options, ErrorsNameTheVariableAndTheAllowedValues) {
  for (const char* text : {"0", "-1", "two", "3x", "1025", "99999999999"})
    EXPECT_EQ(message_of({{"LUCID_NUM_THREADS", text}}),
              fmt::format("LUCID_NUM_THREADS is \"{}\"; it has to be a number from 1 to 1024", text));
  EXPECT_EQ(message_of({{"LUCID_TARGET", "sse"}}), "LUCID_TARGET is \"sse\"; it has to be avx512, avx2 or scalar");
  EXPECT_EQ(message_of({{"LUCID_VERIFY_PASSES", "yes"}}), "LUCID_VERIFY_PASSES is \"yes\"; it has to be 0 or 1");
  EXPECT_EQ(message_of({{"LUCID_VERIFY", "-1"}}),
            "LUCID_VERIFY is \"-1\"; it has to be a number from 0 to 1000000000000");
  EXPECT_EQ(message_of({{"LUCID_COMPILE_WAIT", "2"}}), "LUCID_COMPILE_WAIT is \"2\"; it has to be 0 or 1");
  EXPECT_EQ(message_of({{"LUCID_GPU_MEMORY_LIMIT", "1G"}}),
            "LUCID_GPU_MEMORY_LIMIT is \"1G\"; it has to be a number from 0 to 1125899906842624");
  EXPECT_EQ(message_of({{"LUCID_GPU_TIMEOUT", "0"}}),
            "LUCID_GPU_TIMEOUT is \"0\"; it has to be a number from 1 to 1000000");
  EXPECT_EQ(message_of({{"LUCID_GPU_VALIDATE", "on"}}), "LUCID_GPU_VALIDATE is \"on\"; it has to be 0 or 1");
  EXPECT_EQ(message_of({{"LUCID_GPU_SHUFFLE", "-1"}}),
            "LUCID_GPU_SHUFFLE is \"-1\"; it has to be a number from 0 to 9223372036854775807");
}

TEST(Options, LogTopicsAreSeparatedByCommas) {
  Options options;
  EXPECT_FALSE(options.logs("passes"));
  options.log = "cache,passes";
  EXPECT_TRUE(options.logs("passes"));
  EXPECT_TRUE(options.logs("cache"));
  EXPECT_FALSE(options.logs("pass"));
  options.log = "all";
  EXPECT_TRUE(options.logs("passes"));
}

TEST(Options, AScopeRestoresThePreviousOptions) {
  const Options before = options();
  {
    const OptionsScope scope(Options{3, CpuLevel::kScalar, "", "x", ""});
    EXPECT_EQ(options().num_threads, 3);
    EXPECT_EQ(options().target, CpuLevel::kScalar);
  }
  EXPECT_EQ(options(), before);
}

}  // namespace
}  // namespace lucid
