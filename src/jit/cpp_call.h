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
  std::map<std::string, std::set<uint32_t>, std::less<>> fixed_;
};

/// A plan of a function in C++, and what it depends on beside the arguments and tensors.
class CppPlan : public TablePlan {
 public:
  /// The numbers that the program is given, and how they are computed.
  struct Numbers {
    std::shared_ptr<const NumberTrace> trace;
    std::vector<uint32_t> given;
  };

  CppPlan(Ref<Program> program, const CallKey& key, std::vector<uint32_t> varying,
          TracingContext::Dependencies dependencies, Numbers numbers)
      : TablePlan(std::move(program), key, std::move(varying)),
        dependencies_(std::move(dependencies)),
        numbers_(std::move(numbers)) {
    guards = dependencies_.size();
  }
  /// The first dependency that does not hold, or null.
  const Dependency* changed() const;
  /// Finds the numbers of a call. Returns whether it does with its numbers what the recorded call did.
  bool find_numbers(std::span<const Number> arguments, std::vector<Scalar>& numbers) const;
  /// Repeats what the recorded call did to the objects that it depends on.
  void ran() const;

 private:
  TracingContext::Dependencies dependencies_;
  Numbers numbers_;
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
  Ref<TablePlan> plan_of(TracingContext& context, Traced& traced, const Result& results, std::string& obstacle) const;

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
