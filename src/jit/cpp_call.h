#pragma once

#include <lucid/compile.h>

#include <map>
#include <set>

#include "base/number_trace.h"
#include "jit/plan_table.h"

namespace lucid::jit {

/// The plans of a function in C++.
class CppTable {
 public:
  explicit CppTable(const CompileOptions& options);

  PlanTable& plans() const { return *plans_; }
  /// Values that the function reads and that the library cannot see.
  const Dependencies& depends_on() const { return depends_on_; }
  /// Whether sizes of tensors are traced: all, none, or those that vary.
  std::optional<bool> dynamic() const { return dynamic_; }
  /// The positions in keys with a structure of numbers on whose values the calls depend.
  std::set<uint32_t> fixed(std::string_view structure) const;
  void note_fixed(std::string_view structure, const std::set<uint32_t>& positions);

 private:
  Mutex& mutex() const { return mutex_of(LockRank::kPlanTable, this); }
  /// How many structures are remembered.
  static constexpr size_t kMaxStructures = 64;

  const std::shared_ptr<PlanTable> plans_;
  const std::optional<bool> dynamic_;
  const Dependencies depends_on_;
  std::map<std::string, std::set<uint32_t>, std::less<>> fixed_;
};

/// A function is called as part of the recorded call of another one, which thereby depends on the same values.
void note_nested_call(const std::shared_ptr<CppTable>& table);

/// A plan of a function in C++, and what it depends on beside the arguments and tensors.
class CppPlan : public TablePlan {
 public:
  /// The numbers that the program is given, and how they are computed.
  struct Numbers {
    std::shared_ptr<const NumberTrace> trace;
    std::vector<uint32_t> given;
  };

  CppPlan(Ref<Program> program, const CallKey& key, std::vector<uint32_t> varying,
          TracingContext::Dependencies dependencies, Numbers numbers, bool has_effects)
      : TablePlan(std::move(program), key, std::move(varying)),
        dependencies_(std::move(dependencies)),
        numbers_(std::move(numbers)),
        has_effects_(has_effects) {
    guards = dependencies_.size();
  }
  /// Whether the recorded call had effects on tensors from outside.
  bool has_effects() const { return has_effects_; }
  /// Says which tensors were passed to the recorded call, and which of these, unless null, the function may also
  /// capture. As long as such a tensor lives, the plan serves only calls with that argument. Precedes all calls.
  void doubt(std::span<TensorImpl* const> recorded, std::vector<TensorRef> arguments);
  std::vector<TensorRef> doubts() const;
  /// Another call of the function, with these arguments, did the same and used only these captured tensors.
  void confirm(std::span<const TensorRef> arguments, std::span<const TensorRef> captured) const;
  bool may_serve(std::span<TensorImpl* const> tensors) const;
  bool is_doubtful() const { return is_doubtful_.load(std::memory_order_acquire); }
  /// The first dependency that does not hold, or null.
  const Dependency* changed() const;
  /// Finds the numbers of a call. Returns whether it does with its numbers what the recorded call did.
  bool find_numbers(std::span<const Number> arguments, std::vector<Scalar>& numbers) const;
  /// Repeats what the recorded call did to the objects that it depends on.
  void ran() const;

 private:
  Mutex& mutex() const { return mutex_of(LockRank::kPlanTable, this); }

  TracingContext::Dependencies dependencies_;
  Numbers numbers_;
  const bool has_effects_;
  /// Addresses; the tensors may be gone.
  std::vector<const TensorImpl*> recorded_;
  /// One for each argument, or null.
  mutable std::vector<TensorRef> doubts_;
  mutable std::atomic<bool> is_doubtful_ = false;
};

/// One call from C++: the front of its plan table.
class CppCall {
 public:
  using Result = std::vector<Tensor>;

  CppCall(CppTable& table, const CallArguments& arguments, const CompiledCalls::Function& function);

  const CallKey& key() const { return key_; }
  std::span<TensorImpl* const> tensors() const { return tensors_; }
  bool holds(const TablePlan& plan, Program::Handles& handles) const;
  std::string difference(const TablePlan& plan) const;
  void missed(PlanTable& table, bool records) const;
  Result run() const { return function_(nullptr); }
  std::optional<Result> replay(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const;
  std::optional<Result> verify(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const;
  Result record(PlanTable::Recording& recording) const;

 private:
  class Traced;
  /// Whether the guards of a plan hold, except that a captured tensor may be an argument.
  bool holds_otherwise(const TablePlan& plan, Program::Handles& handles) const;
  /// The doubtful plans that would otherwise serve the call.
  std::vector<Ref<TablePlan>> doubtful_plans() const;
  Ref<TablePlan> plan_of(TracingContext& context, Traced& traced, std::span<const Ref<TablePlan>> doubtful,
                         const Result& results, std::string& obstacle) const;

  CppTable& table_;
  const CallArguments& arguments_;
  const CompiledCalls::Function& function_;
  CallKey key_;
  SmallVector<TensorImpl*, 8> tensors_;
  /// The positions in the key of the first Number, and of the first Dim.
  uint32_t first_number_ = 0;
  uint32_t first_size_ = 0;
};

}  // namespace lucid::jit
