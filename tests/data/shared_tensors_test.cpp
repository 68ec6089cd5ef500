// Files of tensors that another thread gives another shape while they are written.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cstdio>
#include <filesystem>

#include "base/blocking.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/plan_cache.h"

namespace lucid {
namespace {

std::function<void()> g_meanwhile;

TEST(SharedTensors, AFileHoldsTheTensorThatWasSaved) {
  const std::string path = (std::filesystem::path(::testing::TempDir()) / "lucid_shared_tensors").string();
  const Tensor x = transpose(from_vector(std::vector<double>{1, 2, 3, 4, 5, 6}, {2, 3}), 0, 1), small = scalar(7.0);
  clear_eager_plans();
  set_blocking_hooks({.begin = []() -> void* {
                        if (const auto act = std::exchange(g_meanwhile, nullptr)) act();
                        return nullptr;
                      },
                      .end = [](void*) {}});
  g_meanwhile = [&] { set_data(unwrap(x), unwrap(small)); };
  save(Tree::Dict{{"x", x}}, path);
  set_blocking_hooks({});
  EXPECT_EQ(g_meanwhile, nullptr) << "saving did not give up the lock";
  const Tree loaded = load(path);
  std::remove(path.c_str());
  const Tensor& found = loaded.as_dict("").at("x").as_tensor("");
  EXPECT_EQ(found.shape(), (Shape{3, 2}));
  EXPECT_EQ(found.to_vector<double>(), (std::vector<double>{1, 4, 2, 5, 3, 6}));
}

}  // namespace
}  // namespace lucid
