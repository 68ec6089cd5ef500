#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/busy_flag.h"
#include "base/lock.h"
#include "code/loader.h"
#include "program/program_file.h"
#include "runtime/plan.h"

namespace lucid::program {

/// A contiguous tensor that a run reads or returns.
struct Array {
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> shape;
  void* data = nullptr;
  /// Owns the memory of a result.
  Ref<Storage> memory;
};

/// Makes plans from the graphs of a program. The runtime library has none.
class PlanMaker {
 public:
  virtual ~PlanMaker() = default;
  /// Any thread may call it.
  virtual Ref<Plan> make(const Call& call, std::span<const int64_t> sizes) = 0;
};

/// Whether the machine code in a file may run. Code can do anything that the process can.
enum class Trust : uint8_t { kNone, kCode };

/// Kernels that were linked into this process.
struct LinkedKernels {
  CpuLevel level = CpuLevel::kScalar;
  std::span<void* const> functions;
};

/// What all copies of a program share: the file, machine code, weights and plans. Thread-safe.
class ProgramCode {
 public:
  /// Uses the file's machine code if it is trusted and this machine can run it. Otherwise plans are made by `maker`;
  /// throws RuntimeError if it is null.
  ProgramCode(ProgramFile file, Trust trust, std::unique_ptr<PlanMaker> maker);

  /// Uses linked kernels, which belong to the file. Throws RuntimeError if this machine cannot run them.
  ProgramCode(ProgramFile file, const LinkedKernels& kernels);

  const ProgramFile& file() const { return file_; }
  /// Null if there is no plan for these sizes.
  Ref<Plan> plan_for(size_t call, const std::vector<int64_t>& sizes);
  PackedForms& forms_of(size_t state) { return forms_[state]; }

 private:
  Ref<Plan> make(size_t call, std::span<const int64_t> sizes);
  Ref<LoadedCode> load(size_t kernel);
  std::vector<Ref<LoadedCode>> codes_of(const PlanForm& form);
  Mutex& mutex() const { return mutex_of(LockRank::kPlanFamily, this); }

  using Key = std::pair<size_t, std::vector<int64_t>>;
  /// When there are more, the oldest plan is evicted.
  static constexpr size_t kMaxPlans = 256;

  const ProgramFile file_;
  /// The level of the machine code that is used, or nothing if plans are made from graphs.
  std::optional<CpuLevel> level_;
  std::unique_ptr<PlanMaker> maker_;
  TargetCode code_;
  Loader loader_;
  std::vector<Ref<LoadedCode>> codes_;  // null until they are needed
  /// Packed forms of the state that no call writes.
  std::vector<PackedForms> forms_;
  std::map<Key, Ref<Plan>> plans_;
  std::vector<Key> order_;  // the oldest first
};

/// A program that runs, with state of its own. Any thread may run it; runs that write state wait for each other.
class LoadedProgram {
 public:
  explicit LoadedProgram(std::shared_ptr<ProgramCode> code);

  const ProgramFile& file() const { return code_->file(); }
  const std::shared_ptr<ProgramCode>& shared_code() const { return code_; }
  /// Runs the program on inputs in memory of the host. Throws ValueError or TypeError if it does not take them, and the
  /// error of an op that cannot use their values. Leaves the state as it was if it throws.
  std::vector<Array> run(std::span<const Array> inputs);
  /// Gives the state the contents that it had in the file.
  void reset();
  /// A copy of the contents of state `index`.
  Ref<Storage> state(size_t index);

 private:
  class Run;

  const std::shared_ptr<ProgramCode> code_;
  const bool writes_state_;
  BusyFlag busy_;
  /// By index. Null for state that is not written.
  std::vector<Ref<Storage>> state_;
};

/// "x: f32[batch,28,28]".
std::string to_string(const ProgramFile& file, const Signature& signature);

}  // namespace lucid::program
