#include "device/gpu.h"

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "message_of.h"
#include "support.h"

// Drivers leak, and are not instrumented: the sanitizers do not see how their threads synchronize.
extern "C" const char* __lsan_default_suppressions() { return "leak:libvulkan\nleak:libLLVM\n"; }  // NOLINT
extern "C" const char* __tsan_default_suppressions() { return "race:libvulkan\nrace:libLLVM\n"; }  // NOLINT

namespace lucid {
namespace {

TEST(Gpu, IsFoundAndNamed) {
  ASSERT_GE(Gpu::count(), 1) << "these tests need a Vulkan driver: install mesa-vulkan-drivers";
  EXPECT_FALSE(gpu().name().empty());
  EXPECT_FALSE(gpu().driver().empty());
  EXPECT_EQ(&gpu(), &Gpu::at(0));
  EXPECT_GE(gpu().target().shared_bytes, 16384u);
}

TEST(Gpu, IndicesAreChecked) {
  for (int index : {-1, Gpu::count(), 1000}) EXPECT_THROW(Gpu::at(index), RuntimeError);
}

TEST(Gpu, DISABLED_LogsItsOpening) {
  Options changed = options();
  changed.log = "gpu";
  const OptionsScope scope(changed);
  std::string text;
  const LogScope sink([&](std::string_view topic, std::string_view line) {
    EXPECT_EQ(topic, "gpu");
    text.append(line).push_back('\n');
  });
  gpu();
  EXPECT_NE(text.find("opened gpu 0: " + gpu().name()), std::string::npos) << text;
  EXPECT_NE(text.find("submission 1: "), std::string::npos) << text;
}
TEST(Gpu, LogsItsOpening) { EXPECT_EQ(status_of_test("Gpu.DISABLED_LogsItsOpening"), 0); }

TEST(Gpu, DISABLED_NoneIsFound) {
  EXPECT_EQ(Gpu::count(), 0);
  EXPECT_THROW(Gpu::at(0), RuntimeError);
}
TEST(Gpu, NoneIsFoundWithoutADriver) {
  for (const char* variable : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"})
    EXPECT_EQ(status_of_test("Gpu.DISABLED_NoneIsFound",
                             {{"VK_ICD_FILENAMES", "/nowhere"}, {variable, "/nowhere/driver.json"}}),
              0);
}

TEST(Gpu, DISABLED_NeedsTheLayer) {
  EXPECT_GE(Gpu::count(), 1);
  try {
    Gpu::at(0);
    ADD_FAILURE() << "opened without the layer";
  } catch (const RuntimeError& error) {
    EXPECT_NE(std::string(error.what()).find("vulkan-validationlayers"), std::string::npos) << error.what();
  }
}
TEST(Gpu, ValidationNamesTheMissingPackage) {
  EXPECT_EQ(status_of_test("Gpu.DISABLED_NeedsTheLayer", {{"VK_LAYER_PATH", "/nowhere"}}), 0);
}

}  // namespace
}  // namespace lucid
