#pragma once

#include "jit/cpp_plan.h"
#include "jit/recorder.h"

namespace lucid::jit {

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
  bool is_stale(const TablePlan&, bool) const { return false; }
  Result run() const { return function_(nullptr); }
  template <typename Finish>
  Result run_in_pieces(const Finish& finish) const {
    Result result = run();
    finish();
    return result;
  }
  std::optional<Result> replay(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const;
  std::optional<Result> verify(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const;
  Result record(PlanTable::Recording& recording) const;

 private:
  class Traced;
  /// Whether the guards of a plan hold, except that a captured tensor may be an argument.
  bool holds_otherwise(const TablePlan& plan, Program::Handles& handles) const;
  /// The plans that only the identity of arguments keeps from serving the call.
  std::vector<Ref<TablePlan>> ambiguous_plans() const;
  /// What may differ in calls that a plan serves: positions in the key, and the numbers that its program is given.
  struct Varying {
    bool has_effects = false;
    std::set<uint32_t> positions = {};
    CppPlan::Numbers numbers = {};
  };
  /// Why a recorded call has no plan; empty if none is known.
  std::string obstacle_of(const Recorder& recorder, const Result& results) const;
  /// Also tells the table on which positions such calls depend. Nothing if the sizes that were traced may not vary.
  std::optional<Varying> find_varying(Traced& traced, const Result& results) const;
  /// The recording cannot tell an argument from a captured variable that holds the same tensor. Another recording, of
  /// a call with other arguments, can.
  void guard_arguments(CppPlan& plan, const Traced& traced, const std::vector<TensorRef>& recorded,
                       std::span<const Ref<TablePlan>> ambiguous) const;
  Ref<TablePlan> plan_of(Traced& traced, std::span<const Ref<TablePlan>> ambiguous, const Result& results,
                         std::string& obstacle) const;

  CppTable& table_;
  const CallArguments& arguments_;
  const CompiledCalls::Function& function_;
  CallKey key_;
  SmallVector<TensorImpl*, 8> tensors_;
  /// The positions in the key of the first Number, and of the first SymInt.
  uint32_t first_number_ = 0;
  uint32_t first_size_ = 0;
};

}  // namespace lucid::jit
