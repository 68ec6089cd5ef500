#include "support.h"

namespace lucid::testing {
namespace {

/// Logs its events.
struct Log : EagerObserver {
  Log() : before(set_eager_observer(this)) {}
  ~Log() override { set_eager_observer(before); }
  void computed(const Call& call, const Values& results) override {
    lines.push_back(call.name() + " -> " + to_string(results[0].type()));
  }
  void viewed(const Call& call, const TensorImpl& result) override {
    lines.push_back("view " + call.name() + " -> " + to_string(result.type()));
  }
  void written(const Call& call, std::span<TensorImpl* const> destinations) override {
    for (const TensorImpl* destination : destinations)
      lines.push_back("write " + call.name() + " -> " + to_string(destination->type()));
  }
  EagerObserver* before;
  std::vector<std::string> lines;
};

TEST(EagerObserver, SeesWhatIsComputedViewedAndWritten) {
  Tensor x = counting({4});
  const Log log;
  Tensor y = x * 2.0;
  Tensor part = reshape(y, {2, 2});
  part += 1.0;
  EXPECT_EQ(log.lines,
            (std::vector<std::string>{"mul -> f64[4]", "view reshape -> f64[2,2]", "write add -> f64[2,2]"}));
}

TEST(EagerObserver, SeesTheOpsOfABackwardPass) {
  Tensor x = leaf({2});
  Tensor y = x * x;
  const Log log;
  y.backward(counting({2}));
  EXPECT_EQ(log.lines.front(), "mul -> f64[2]");
  EXPECT_GE(log.lines.size(), 3u);
}

}  // namespace
}  // namespace lucid::testing
