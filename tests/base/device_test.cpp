#include "base/device.h"

#include <gtest/gtest.h>

#include <thread>

#include "message_of.h"

namespace lucid {
namespace {

constexpr Device kGpu = Device::gpu(0);

TEST(Device, NamesParseBack) {
  EXPECT_EQ(to_string(kCpuDevice), "cpu");
  EXPECT_EQ(to_string(kGpu), "gpu:0");
  for (const char* name : {"cpu", "gpu:0", "gpu:17", "gpu:254"}) EXPECT_EQ(to_string(parse_device(name)), name);
  EXPECT_EQ(parse_device("gpu"), kGpu);
  EXPECT_EQ(parse_device("cpu:0"), kCpuDevice);
  for (const char* name : {"", "cuda", "gpu:", "gpu:255", "gpu:-1", "gpu:1 ", "cpu:1"})
    EXPECT_EQ(test::message_of([&] { parse_device(name); }).substr(0, 18), "there is no device");
}

TEST(Device, ScopesNestAndBelongToAThread) {
  EXPECT_EQ(current_device(), kCpuDevice);
  {
    const DeviceScope gpu(kGpu);
    EXPECT_EQ(current_device(), kGpu);
    {
      const DeviceScope cpu(kCpuDevice);
      EXPECT_EQ(current_device(), kCpuDevice);
    }
    EXPECT_EQ(current_device(), kGpu);
    std::thread([] { EXPECT_EQ(current_device(), kCpuDevice); }).join();
  }
  EXPECT_EQ(current_device(), kCpuDevice);
}

TEST(Device, TheDefaultIsOfTheProcess) {
  set_default_device(kGpu);
  std::thread([] { EXPECT_EQ(current_device(), kGpu); }).join();
  set_default_device(kCpuDevice);
  EXPECT_EQ(current_device(), kCpuDevice);
}

}  // namespace
}  // namespace lucid
