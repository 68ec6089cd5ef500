#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/gpu.h"
#include "runtime/plan.h"

namespace lucid {

/// The steps of a plan as commands for a gpu.
///
/// Kernels are one list of commands up to a host function, a comparison of outputs, or the last check that can fail:
/// what comes after it may write memory that must not change if a check fails. Long lists are cut, because drivers end
/// submissions that take seconds. Steps that pack an input are lists of their own, which run first, and only if the
/// packed form is not kept from an earlier run.
class GpuPlan {
 public:
  explicit GpuPlan(const Plan& plan);

  /// The same as Plan::run().
  int64_t run(const Plan& plan, std::span<void* const> inputs, std::span<void* const> outputs,
              std::span<PackedForms* const> forms, std::span<double> nanoseconds) const;

  /// A word of an argument block: an address relative to one of a run's memory areas. Areas are numbered: the arena,
  /// the error word, outputs, packed forms, inputs.
  struct Address {
    uint32_t word = 0;
    uint32_t area = 0;
    int64_t offset = 0;
  };

  /// Steps `first` to `end` - 1.
  struct Segment {
    size_t first = 0;
    size_t end = 0;
    /// The steps that are kernels, and the commands that run them; null if there are none.
    std::vector<size_t> kernels = {};
    Ref<GpuCommands> commands = nullptr;
    /// The words of the argument block that are addresses.
    std::vector<Address> addresses = {};
    /// The positions of host inputs in the argument block, in the order of Plan::host_inputs.
    std::vector<size_t> host_inputs = {};
    size_t block_bytes = 0;
    /// Whether a kernel may set the error word.
    bool may_fail = false;
  };

  /// The parts of a plan that are one list of commands each, without the steps that pack; there are no commands yet.
  static std::vector<Segment> segments_of(const Plan& plan);

  /// Such as "2 command buffers, 20 dispatches, 12 barriers, 1840 bytes of arguments".
  std::string to_text() const;

 private:
  class Frame;

  Gpu& gpu_;
  std::vector<Segment> segments_;
  std::vector<Segment> packing_;
};

}  // namespace lucid
