#include "schedule/hazards.h"

#include <gtest/gtest.h>

namespace lucid {
namespace {

constexpr bool kReads = false;
constexpr bool kWrites = true;

struct TestStep {
  KernelStep step;
  std::vector<bool> writes;
};

/// A step that uses values, each read or written.
TestStep uses(const std::vector<std::pair<ValueId, bool>>& values) {
  TestStep made;
  loop::Kernel kernel;
  for (const auto& [id, is_written] : values) {
    made.step.buffers.push_back({.index = id});
    kernel.buffers.push_back({});
    made.writes.push_back(is_written);
  }
  made.step.kernel = std::make_shared<const loop::Kernel>(std::move(kernel));
  return made;
}

bool allows(const TestStep& earlier, const TestStep& step) {
  Accesses accesses;
  accesses.add(earlier.step, earlier.writes);
  return accesses.allows(step.step, step.writes);
}

TEST(Accesses, StepsThatOnlyReadTheSameMemoryMayBeReordered) {
  EXPECT_TRUE(allows(uses({{0, kReads}, {1, kWrites}}), uses({{0, kReads}, {2, kWrites}})));
}

TEST(Accesses, AStepStaysAfterOneWhoseResultItReads) {
  EXPECT_FALSE(allows(uses({{0, kReads}, {1, kWrites}}), uses({{1, kReads}, {2, kWrites}})));
}

TEST(Accesses, AStepStaysAfterOneThatReadsWhatItWrites) {
  EXPECT_FALSE(allows(uses({{0, kReads}, {1, kWrites}}), uses({{2, kReads}, {0, kWrites}})));
}

TEST(Accesses, AStepStaysAfterOneThatWritesTheSameMemory) {
  EXPECT_FALSE(allows(uses({{0, kReads}, {1, kWrites}}), uses({{2, kReads}, {1, kWrites}})));
}

TEST(Accesses, ScratchWithTheSameIndexIsDifferentMemory) {
  TestStep scratch = uses({{1, kReads}, {2, kWrites}});
  scratch.step.buffers[0].kind = BufferUse::Kind::kScratch;
  EXPECT_TRUE(allows(uses({{0, kReads}, {1, kWrites}}), scratch));
}

TEST(Accesses, HostFunctionsCountAsWritingToAllBuffers) {
  TestStep host = uses({{0, kReads}, {1, kReads}});
  host.step.host = 0;
  EXPECT_EQ(writes_of(host.step), (std::vector<bool>{true, true}));
}

/// Values of `elements` f32, each with its own memory.
Schedule values_of(int64_t elements, ValueId count) {
  Schedule schedule;
  for (ValueId id = 0; id < count; ++id) schedule.layouts[id] = {id, {{elements}, {1}, 0}};
  return schedule;
}

TEST(Users, NearbyStepsMayComeEarlyWhateverTheyWrite) {
  const Schedule schedule = values_of(1 << 20, 2);
  const TestStep step = uses({{0, kReads}, {1, kWrites}});
  const Users users({&step.step, 1});
  EXPECT_TRUE(users.may_come_early(schedule, step.step, step.writes, {}, 4));
  EXPECT_FALSE(users.may_come_early(schedule, step.step, step.writes, {0}, 5));
}

TEST(Users, DistantStepsMayComeEarlyOnlyIfMemoryDoesNotGrow) {
  const TestStep step = uses({{0, kReads}, {1, kWrites}});
  const Users only({&step.step, 1});
  // It frees as much memory as it writes.
  EXPECT_TRUE(only.may_come_early(values_of(1 << 20, 2), step.step, step.writes, {}, 100));
  // It writes to the caller's memory, or little.
  EXPECT_TRUE(only.may_come_early(values_of(1 << 20, 2), step.step, step.writes, {0, 1}, 100));
  EXPECT_TRUE(only.may_come_early(values_of(4096, 2), step.step, step.writes, {0}, 100));
  EXPECT_FALSE(only.may_come_early(values_of(4097, 2), step.step, step.writes, {0}, 100));
}

TEST(Users, CountTheRemainingSteps) {
  const TestStep first = uses({{0, kReads}, {1, kWrites}});
  const TestStep second = uses({{0, kReads}, {2, kWrites}});
  const KernelStep steps[] = {first.step, second.step};
  Users users(steps);
  EXPECT_EQ(users.total({BufferUse::Kind::kValue, 0}), 2u);
  EXPECT_EQ(users.total({BufferUse::Kind::kValue, 2}), 1u);
  const Schedule schedule = values_of(1 << 20, 3);
  // The first still reads %0: the second would not free it.
  EXPECT_FALSE(users.may_come_early(schedule, second.step, second.writes, {}, 100));
  users.remove(first.step);
  EXPECT_TRUE(users.may_come_early(schedule, second.step, second.writes, {}, 100));
}

}  // namespace
}  // namespace lucid
