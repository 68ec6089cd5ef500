#include "../tensor/support.h"
#include "device/find_device.h"
#include "device/gpu.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"
#include "stub_gpu.h"

// A backend of one folder: eager ops, plans and gradients run on it, with the bits of the CPU.
namespace lucid {
namespace {

using namespace lucid::testing;

std::string device() { return to_string(stub_gpu()); }

TEST(StubGpu, IsAGpuOfThisMachine) {
  EXPECT_EQ(find_device("test", device()), stub_gpu());
  EXPECT_EQ(Gpu::count(), 1);
  EXPECT_EQ(Gpu::at(0).name(), "stub");
  EXPECT_THROW(Gpu::at(1), RuntimeError);
  EXPECT_THROW(find_device("test", "gpu:1"), ValueError);
}

TEST(StubGpu, HoldsTensors) {
  const size_t before = g_stub_blocks.load();
  {
    const Tensor x = counting({3, 4}).to(device());
    EXPECT_GT(g_stub_blocks.load(), before);
    EXPECT_EQ(read(x.clone().to("cpu")), read(counting({3, 4})));
  }
  EXPECT_EQ(g_stub_blocks.load(), before);
}

TEST(StubGpu, RunsOps) {
  const Tensor x = randn({20, 30}), y = randn({30, 10});
  const size_t before = g_stub_launches.load();
  const Tensor result = softmax(matmul(x.to(device()), y.to(device())).tanh(), -1);
  EXPECT_GT(g_stub_launches.load(), before);
  EXPECT_EQ(read(result.to("cpu")), read(softmax(matmul(x, y).tanh(), -1)));
  EXPECT_EQ(read(x.to(device()).sort().values.to("cpu")), read(x.sort().values)) << "a host op";
}

TEST(StubGpu, ReportsAnIndexOutOfRange) {
  const Tensor x = counting({3}).to(device());
  EXPECT_EQ(read(x.index_select(0, full({1}, 2).to(device())).to("cpu")), Numbers{3});
  EXPECT_THROW(x.index_select(0, full({1}, 3).to(device())), IndexError);
}

/// The loss of a small network and the gradient of its weight.
std::vector<Numbers> step(const Tensor& x, const Tensor& weight) {
  Tensor leaf = weight.detach().clone().requires_grad_();
  const Tensor loss = (layer_norm(matmul(x, leaf), {8}).relu() * 0.5 + 1.0).log().mean();
  loss.backward();
  return {read(loss.detach().to("cpu")), read(leaf.grad().to("cpu"))};
}

TEST(StubGpu, ComputesGradients) {
  const Tensor x = randn({16, 20}), weight = randn({20, 8});
  EXPECT_EQ(step(x.to(device()), weight.to(device())), step(x, weight));
}

TEST(StubGpu, RunsPlans) {
  const auto function = [](const Tensor& x) {
    const Tensor y = (x - x.mean(-1, true)) / (x.var(-1, true) + 1e-5).sqrt();
    return conv2d(y.reshape({1, 1, 16, 16}), y.reshape({16, 1, 4, 4})).cumsum(2).sum(0);
  };
  const auto fast = compile(function);
  for (int i = 0; i < 4; ++i) {
    const Tensor x = randn({16, 16});
    EXPECT_EQ(read(fast(x.to(device())).to("cpu")), read(function(x)));
  }
  EXPECT_EQ(fast.cache_info().hits, 3);
}

}  // namespace
}  // namespace lucid
