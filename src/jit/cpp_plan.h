#pragma once

#include <lucid/compile.h>

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
  /// A recorded call with this key has kept a tensor that it created. Returns whether it is the first one: later calls
  /// may find that tensor, and keep none.
  bool add_keeping(const CallKey& key);

 private:
  Mutex& mutex() const { return mutex_of(LockRank::kPlanTable, this); }
  /// How many keys are remembered.
  static constexpr size_t kMaxRemembered = 64;

  const std::shared_ptr<PlanTable> plans_;
  const Dependencies depends_on_;
  /// The structures and numbers of the keys given to add_keeping().
  std::set<std::pair<std::string, std::vector<int64_t>>> keeping_;
};

/// A recorded call calls a compiled function: the outer recording inherits what that depends on.
void on_nested_call(const std::shared_ptr<CppTable>& table);

/// A plan of a function in C++, and what it depends on other than arguments and tensors.
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
  /// The arguments of the recorded call, and which of them the function may also capture; null where it cannot. While
  /// such an argument is alive, the plan has an identity guard: it serves only calls with the same argument. Called
  /// once, before the plan is used.
  void guard_arguments(std::span<TensorImpl* const> recorded, std::vector<TensorRef> arguments);
  std::vector<TensorRef> ambiguous_arguments() const;
  /// Another recorded call, with these arguments, did the same and used only these captured tensors. The function does
  /// not capture others.
  void rule_out(std::span<const TensorRef> arguments, std::span<const TensorRef> captured) const;
  bool may_serve(std::span<TensorImpl* const> tensors) const;
  bool is_ambiguous() const { return is_ambiguous_.load(std::memory_order_acquire); }
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
  mutable std::vector<TensorRef> ambiguous_;
  mutable std::atomic<bool> is_ambiguous_ = false;
};

}  // namespace lucid::jit
