#include "base/log.h"

#include <gtest/gtest.h>

#include <string>

namespace lucid {
namespace {

TEST(Log, PutsTheTopicBeforeEachLine) {
  testing::internal::CaptureStderr();
  log("passes", "one\n\ntwo\n");
  log("cache", "three");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "lucid[passes] one\nlucid[passes] \nlucid[passes] two\nlucid[cache] three\n");
}

TEST(Log, AScopeRedirectsLines) {
  testing::internal::CaptureStderr();
  std::string taken;
  {
    const LogScope scope(
        [&](std::string_view topic, std::string_view text) { taken.append(topic).append(": ").append(text); });
    log("passes", "inside");
  }
  log("passes", "outside");
  EXPECT_EQ(taken, "passes: inside");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "lucid[passes] outside\n");
}

}  // namespace
}  // namespace lucid
