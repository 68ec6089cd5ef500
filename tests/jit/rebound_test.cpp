// Tensors that another thread binds to other memory while a call is recorded, or while a plan for its sizes is made.

#include <thread>

#include "../tensor/support.h"
#include "base/blocking.h"
#include "lucid/compile.h"

namespace lucid {
namespace {

using namespace lucid::testing;

void rebind_in_another_thread(const Tensor& tensor, const Tensor& source) {
  std::thread([&] { set_data(unwrap(tensor), unwrap(source)); }).join();
}

TEST(Rebound, ACallThatIsRecordedMeanwhileIsRecordedAgain) {
  const Tensor memory = full({100}, 1.0, kFloat64), part = narrow(memory, 0, 0, 10).detach();
  const Tensor p = full({10}, 1.0, kFloat64);
  set_data(unwrap(p), unwrap(part));
  bool disturbs = true;
  const auto f = compile(
      [&](const Tensor& x) {
        if (disturbs) rebind_in_another_thread(p, memory);
        const Tensor result = sum(p * 2.0) + x;
        if (disturbs) rebind_in_another_thread(p, part);
        return result;
      },
      {.wait = true});
  EXPECT_EQ(read(f(zeros({}, kFloat64))), (Numbers{200}));
  EXPECT_EQ(f.cache_info().compiles, 0);
  disturbs = false;
  // A plan of the first call would read 100 elements.
  const Tensor own = full({10}, 3.0, kFloat64);
  set_data(unwrap(p), unwrap(own));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(read(f(zeros({}, kFloat64))), (Numbers{60}));
  EXPECT_EQ(f.cache_info().compiles, 1);
  EXPECT_GT(f.cache_info().hits, 0);
}

TEST(Rebound, AnArgumentWhileAPlanForItsSizesIsMade) {
  static std::function<void()> meanwhile;
  set_blocking_hooks({.begin = []() -> void* {
                        if (const auto act = std::exchange(meanwhile, nullptr)) act();
                        return nullptr;
                      },
                      .end = [](void*) {}});
  const auto f = compile([](const Tensor& x) { return sum(exp(x) - exp(x) + x * 2.0); }, {.wait = true});
  for (const int64_t size : {5, 6, 7, 8, 9}) EXPECT_EQ(read(f(full({size}, 1.0))), (Numbers{2.0 * double(size)}));
  const Tensor small = full({2}, 1.0);
  for (const int64_t size : {100, 1000, 3000}) {
    const Tensor x = full({size}, 1.0);
    meanwhile = [&] { rebind_in_another_thread(x, small); };
    const Numbers found = read(f(x));
    // As a whole, with either memory.
    EXPECT_TRUE(found == Numbers{2.0 * double(size)} || found == Numbers{4}) << found[0];
    meanwhile = nullptr;
    EXPECT_EQ(read(f(full({size}, 1.0))), (Numbers{2.0 * double(size)}));
  }
  set_blocking_hooks({});
}

}  // namespace
}  // namespace lucid
