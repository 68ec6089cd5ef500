#include <algorithm>
#include <functional>

#include "../tensor/support.h"
#include "base/options.h"
#include "jit/compile_queue.h"
#include "jit/plan_table_calls.h"
#include "lucid/lucid.h"

namespace lucid::jit {
namespace {

/// A front whose function multiplies the sum of a tensor by a number in the key and adds a guarded number.
class FakeCall {
 public:
  using Result = double;

  /// State shared by the calls of a test.
  struct World {
    double added = 0;
    int runs = 0;
    int verified = 0;
    bool raises = false;
    std::string obstacle;
    std::function<void()> while_recording = [] {};
    std::function<void(bool records)> missed = [](bool) {};
  };

  FakeCall(World& world, const Tensor& x, double factor) : world_(world), x_(x), factor_(factor) {
    key_.add_tensor(unwrap(x));
    key_.add_number(static_cast<int64_t>(factor));
    tensors_[0] = &unwrap(x);
  }

  const CallKey& key() const { return key_; }
  std::span<TensorImpl* const> tensors() const { return tensors_; }
  bool holds(const TablePlan& plan, Program::Handles&) const {
    return static_cast<const FakePlan&>(plan).added == world_.added;
  }
  std::string difference(const TablePlan&) const { return "the guarded number varies"; }
  void missed(PlanTable&, bool records) const { world_.missed(records); }
  bool is_stale(const TablePlan& plan, bool) const { return static_cast<const FakePlan&>(plan).added != world_.added; }
  double run() const { return compute().item<double>(); }
  double run_in_pieces(const auto& finish) const {
    const double result = run();
    finish();
    return result;
  }
  std::optional<double> verify(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const {
    ++world_.verified;
    return replay(plan, handles, branch);
  }
  std::optional<double> replay(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const {
    CallResults results;
    if (!plan.program->run(handles, results, branch)) return std::nullopt;
    return wrap(results.take(0)).item<double>();
  }

  double record(PlanTable::Recording& recording) const {
    TracingContext context;
    if (world_.raises) {
      context.stop();
      recording.raised("trouble");
      throw ValueError("trouble");
    }
    const Tensor result = compute();
    context.stop();
    world_.while_recording();
    recording.returned(false, [&](std::string& obstacle) -> Ref<TablePlan> {
      obstacle = world_.obstacle;
      if (!obstacle.empty()) return nullptr;
      const TensorRef given[] = {TensorRef(&unwrap(x_))};
      const TensorRef got[] = {TensorRef(&unwrap(result))};
      auto call = RecordedCall::finish(context, given, got, {}, "fake", obstacle);
      return call ? make_ref<FakePlan>(make_ref<Program>(std::move(*call)), key_, world_.added) : nullptr;
    });
    return result.item<double>();
  }

 private:
  struct FakePlan : TablePlan {
    FakePlan(Ref<Program> program, const CallKey& key, double guarded)
        : TablePlan(std::move(program), key), added(guarded) {}
    double added;
  };

  Tensor compute() const {
    ++world_.runs;
    return lucid::sum(x_) * factor_ + world_.added;
  }

  World& world_;
  Tensor x_;
  double factor_;
  CallKey key_;
  TensorImpl* tensors_[1] = {};
};

class PlanTableTest : public ::testing::Test {
 protected:
  double call(int64_t size, double factor = 1) { return table->call(FakeCall(world, ones({size}), factor)); }
  std::string explain(int64_t size, double factor = 1) {
    const FakeCall call(world, ones({size}), factor);
    return table->explain_call(call.key(), table->find(call).get(), "guards differ");
  }

  FakeCall::World world;
  std::shared_ptr<PlanTable> table = PlanTable::make("fake", 3);
};

TEST_F(PlanTableTest, KeysHaveAStructureAndNumbers) {
  const FakeCall one(world, ones({2}), 1), two(world, ones({3}), 2), matrix(world, ones({3, 3}), 1);
  EXPECT_EQ(one.key().structure(), two.key().structure());
  EXPECT_FALSE(std::ranges::equal(one.key().numbers(), two.key().numbers()));
  EXPECT_NE(one.key().structure(), matrix.key().structure());
}

std::vector<size_t> dims_of(const VaryingNumbers& varying, const Tensor& x,
                            const std::map<size_t, SizeTrace::Range>& marked = {}) {
  std::vector<size_t> dims;
  for (const TracedSizes::Dimension& dimension : varying.dims(unwrap(x), 0, marked)) dims.push_back(dimension.dim);
  return dims;
}

TEST_F(PlanTableTest, DecidesWhatIsTraced) {
  using Dims = std::vector<size_t>;
  const Tensor x = ones({3});
  const FakeCall other(world, x, 5);
  // Positions in the key: the size, the stride and the factor.
  const uint32_t positions[] = {0, 1, 2};
  const auto varying = [&] { return table->varying(other.key(), positions); };
  EXPECT_FALSE(varying().varies(2));
  EXPECT_EQ(dims_of(varying(), x), Dims{});
  EXPECT_EQ(dims_of(varying(), x, {{0, {.high = 8}}}), Dims{0});
  call(2, 1);
  EXPECT_TRUE(varying().varies(2));
  EXPECT_FALSE(varying().varies(1));
  EXPECT_EQ(dims_of(varying(), x), Dims{0});
  EXPECT_EQ(dims_of(varying(), ones({1})), Dims{});  // sizes 0 and 1 are not traced
  // Calls depend on them.
  table->add_fixed(other.key().structure(), {.positions = {0, 2}, .locations = {"self.count"}});
  EXPECT_FALSE(varying().varies(2));
  EXPECT_TRUE(varying().is_fixed(2));
  EXPECT_EQ(dims_of(varying(), x, {{0, {}}}), Dims{});
  EXPECT_TRUE(varying().fixed_locations().contains("self.count"));
  table->clear();
  EXPECT_FALSE(varying().is_fixed(2));
  EXPECT_TRUE(varying().fixed_locations().empty());
  // Options decide for all sizes.
  const auto decides = [&](bool dynamic) {
    const auto decided = PlanTable::make("fake", 3, /*waits=*/false, /*verify=*/0, dynamic);
    return dims_of(decided->varying(other.key(), positions), x, {{0, {}}});
  };
  EXPECT_EQ(decides(true), Dims{0});
  EXPECT_EQ(decides(false), Dims{});
}

TEST_F(PlanTableTest, SizesAndNumbersAreMatchedByPlans) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(call(2, 1), 2);
    EXPECT_EQ(call(2, 5), 10);
    EXPECT_EQ(call(3, 1), 3);
  }
  EXPECT_EQ(world.runs, 3);
  const PlanCounters counters = table->counters();
  EXPECT_EQ(counters.hits, 6);
  EXPECT_EQ(counters.misses, 3);
  EXPECT_EQ(counters.compiles, 3);
  EXPECT_EQ(counters.recompiles, 0);
  EXPECT_EQ(table->known_keys(), 3u);
}

TEST_F(PlanTableTest, OneOfNReplaysIsVerified) {
  table = PlanTable::make("fake", 3, /*waits=*/true, /*verify=*/3);
  for (int i = 0; i < 8; ++i) call(2);
  EXPECT_EQ(table->hits(), 7);
  EXPECT_EQ(world.verified, 3);
}

TEST_F(PlanTableTest, PlansThatDifferByGuardsAreTriedTheNewestFirst) {
  for (double added : {0.0, 1.0, 0.0, 1.0}) {
    world.added = added;
    EXPECT_EQ(call(2), 2 + added);
  }
  EXPECT_EQ(world.runs, 2);
  EXPECT_EQ(table->counters().recompiles, 1);
  EXPECT_EQ(explain(2), "runs plan 2");
  world.added = 2;
  EXPECT_EQ(explain(2), "would be recorded again: guards differ");
  EXPECT_EQ(explain(7), "would be recorded: there is no plan for arguments of these types");
}

TEST_F(PlanTableTest, TheOldestPlanIsEvictedFirstWithItsKey) {
  for (int64_t size : {1, 2, 3, 4}) call(size);
  EXPECT_LE(table->pending(), 3u);
  const std::vector<Ref<TablePlan>> plans = table->plans();
  ASSERT_EQ(plans.size(), 3u);
  EXPECT_EQ(plans.front()->pattern.numbers.front(), 2);
  EXPECT_EQ(table->known_keys(), 3u);
  EXPECT_EQ(table->pending(), 0u);
}

TEST_F(PlanTableTest, HitsOfRemovedPlansAreCounted) {
  for (int64_t size : {1, 1, 2, 3, 4}) call(size);
  EXPECT_EQ(table->counters().hits, 1);
  table->clear();
  EXPECT_EQ(table->counters().hits, 1);
  EXPECT_EQ(table->known_keys(), 0u);
  const PlanCounters before = total_counters();
  table.reset();
  EXPECT_EQ(total_counters().hits, before.hits);
}

TEST_F(PlanTableTest, CallsWhosePlansAreNotUsedAreSampled) {
  const auto recordings_of = [&](int calls) {
    const int64_t before = table->counters().compiles;
    for (int i = 0; i < calls; ++i) {
      world.added += 1;
      EXPECT_EQ(call(2), 2 + world.added);
    }
    return table->counters().compiles - before;
  };
  // 8 are free, and one for each of the 3 plans that the table holds. Then one of 2, 4, 8, ... is recorded.
  EXPECT_EQ(recordings_of(11), 11);
  EXPECT_EQ(recordings_of(2 + 4 + 8 + 16), 4);
  EXPECT_EQ(recordings_of(31), 0);
  EXPECT_EQ(recordings_of(1), 1);
  EXPECT_NE(table->explain().find("records only some of the calls that no plan matches, because few plans are used "
                                  "again: the guarded number varies"),
            std::string::npos);
  // Hits pay for recordings.
  for (int i = 0; i < 64; ++i) call(2);
  EXPECT_EQ(recordings_of(2), 2);
  EXPECT_EQ(recordings_of(1), 0);
}

TEST_F(PlanTableTest, TheReasonOfALateObstacleIsKept) {
  for (int i = 0; i < 8; ++i) {
    world.added = i;
    call(2);
  }
  world.added = 8;
  world.obstacle = "reads a file";
  call(2);
  EXPECT_EQ(explain(2), "runs eagerly: reads a file");
  EXPECT_EQ(table->counters().eager_calls, 1);
}

TEST_F(PlanTableTest, KeysThatKeepRaisingAreNotRecordedUntilACallReturns) {
  world.raises = true;
  for (int i = 0; i < 3; ++i) EXPECT_THROW(call(2), ValueError);
  EXPECT_EQ(explain(2), "runs eagerly: the last 3 calls that were recorded raised trouble");
  EXPECT_EQ(call(2), 2);  // not recorded, so that it does not raise
  EXPECT_THROW(call(2), ValueError);
  world.raises = false;
  call(2);
  call(2);
  EXPECT_EQ(table->counters().hits, 1);
}

TEST_F(PlanTableTest, FewKeysWithoutPlansAreRemembered) {
  table = PlanTable::make("fake", 100);
  world.raises = true;
  for (int64_t size = 1; size <= 100; ++size) EXPECT_THROW(call(size), ValueError);
  EXPECT_EQ(table->known_keys(), 64u);
}

TEST_F(PlanTableTest, ClearingDuringARecordingDiscardsIt) {
  world.while_recording = [&] { table->clear(); };
  call(2);
  EXPECT_EQ(table->known_keys(), 0u);
  EXPECT_EQ(table->counters().compiles, 0);
}

TEST_F(PlanTableTest, CallsDuringARecordingRunEagerly) {
  world.while_recording = [&] {
    world.while_recording = [] {};
    call(2);
    call(3);
  };
  call(2);
  const PlanCounters counters = table->counters();
  EXPECT_EQ(counters.misses, 3);
  EXPECT_EQ(counters.compiles, 1);
}

/// A world whose number never has an earlier value again, so that its plans are of no use once it has changed.
class ReplacedStateTest : public PlanTableTest {
 protected:
  void SetUp() override {
    world.missed = [&](bool) { table->remove(table->plans_now()); };
  }
};

TEST_F(ReplacedStateTest, APlanIsGoneBeforeTheCallThatReplacesItIsRecorded) {
  call(2);
  world.added = 1;
  size_t plans = 9;
  world.while_recording = [&] { plans = table->plans_now().size(); };
  call(2);
  EXPECT_EQ(plans, 0u);
  EXPECT_EQ(table->plans().size(), 1u);
  EXPECT_EQ(table->counters().recompiles, 1);
}

TEST_F(ReplacedStateTest, APendingPlanOfAnotherKeyIsRemoved) {
  call(2);
  world.added = 1;
  call(3);
  EXPECT_EQ(table->plans().size(), 1u);
  EXPECT_EQ(call(2), 3);
  EXPECT_EQ(call(2), 3);
  EXPECT_EQ(table->hits(), 1);
}

TEST_F(ReplacedStateTest, StateReplacedNowAndThenIsRecordedEachTime) {
  for (int i = 0; i < 30; ++i) {
    world.added = i;
    for (int k = 0; k < 40; ++k) EXPECT_EQ(call(2), 2 + i);
  }
  EXPECT_EQ(world.runs, 30);
  EXPECT_EQ(table->counters().hits, 30 * 39);
}

TEST_F(ReplacedStateTest, StateReplacedAtEveryCallIsSeldomRecorded) {
  for (int i = 0; i < 100; ++i) {
    world.added = i;
    EXPECT_EQ(call(2), 2 + i);
  }
  EXPECT_LT(table->counters().compiles, 20);
  EXPECT_TRUE(table->plans().empty());
}

TEST_F(PlanTableTest, CallsThatAreSampledReviewAPlanOnceItIsStale) {
  int recorded = 0, reviews = 0;
  world.missed = [&](bool records) { ++(records ? recorded : reviews); };
  for (int i = 0; i < 3000; ++i) {
    world.added = i;
    call(2);
  }
  EXPECT_EQ(table->counters().compiles, recorded);
  EXPECT_LT(recorded, 30);
  EXPECT_LE(reviews, recorded);
  EXPECT_GT(reviews, 0);
}

TEST_F(PlanTableTest, PlansOfAKeyThatIsNotRecordedAreReviewedEverMoreRarely) {
  call(2);
  world.obstacle = "the function prints";
  world.added = 1;
  call(2);
  std::vector<int> reviews;
  int calls = 0;
  world.missed = [&](bool records) {
    EXPECT_FALSE(records);
    reviews.push_back(calls);
  };
  for (; calls < 20'000; ++calls) call(2);
  EXPECT_EQ(reviews, (std::vector{0, 16, 64, 256, 1024, 4096, 8192, 12288, 16384}));
}

/// A table whose calls do not wait for plans.
class NoWaitTest : public PlanTableTest {
 protected:
  NoWaitTest()
      : scope_([] {
          Options changed = options();
          changed.compile_wait = false;
          return changed;
        }()) {
    table = PlanTable::make("fake", 3);
  }

  const OptionsScope scope_;
};

/// Keeps the compile thread busy until it is destroyed.
class BusyCompileThread {
 public:
  BusyCompileThread() : task_(CompileTask::start([this] { done_.wait(false); })) {}
  ~BusyCompileThread() {
    done_ = true;
    done_.notify_all();
    task_->wait();
  }

 private:
  std::atomic<bool> done_ = false;
  std::shared_ptr<CompileTask> task_;
};

TEST_F(NoWaitTest, CallsRunEagerlyUntilTheirPlanIsThere) {
  {
    const BusyCompileThread busy;
    for (int i = 0; i < 5; ++i) EXPECT_EQ(call(2), 2);
    EXPECT_EQ(world.runs, 5);
    EXPECT_EQ(table->pending(), 1u);
  }
  finish_all_recordings();
  EXPECT_EQ(call(2), 2);
  EXPECT_EQ(world.runs, 5);
  const PlanCounters counters = table->counters();
  EXPECT_EQ(counters.hits, 1);
  EXPECT_EQ(counters.misses, 5);
}

TEST_F(NoWaitTest, ACallThatFindsItsPlanCompiledRunsIt) {
  call(2);
  wait_for_compile_tasks();
  EXPECT_EQ(table->pending(), 1u);
  EXPECT_EQ(call(2), 2);
  EXPECT_EQ(world.runs, 1);
  EXPECT_EQ(table->pending(), 0u);
}

TEST_F(NoWaitTest, NoMorePlansArePendingThanTheTableHolds) {
  const BusyCompileThread busy;
  for (int64_t size = 1; size <= 10; ++size) EXPECT_EQ(call(size), static_cast<double>(size));
  EXPECT_EQ(table->pending(), 3u);
}

TEST_F(NoWaitTest, PlansAreReviewedOnceIfThePendingOneHasBecomeStale) {
  const BusyCompileThread busy;
  int reviews = 0;
  world.missed = [&](bool records) { reviews += !records; };
  for (int i = 0; i < 3; ++i) call(2);
  EXPECT_EQ(reviews, 0);
  world.added = 1;
  for (int i = 0; i < 3; ++i) call(2);
  EXPECT_EQ(reviews, 1);
}

TEST_F(NoWaitTest, ATableCanBeToldToWait) {
  table = PlanTable::make("fake", 3, /*waits=*/true);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(call(2), 2);
  EXPECT_EQ(world.runs, 1);
}

}  // namespace
}  // namespace lucid::jit
