#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/cpu_level.h"
#include "base/ref.h"
#include "base/size_trace.h"
#include "ir/graph.h"
#include "loop/target.h"
#include "passes/pass_list.h"
#include "runtime/plan_form.h"

namespace lucid::loop {
struct Kernel;
}

namespace lucid {

struct PlanDraft;

/// Rewrites composites into primitives, recursively, and makes every conversion explicit. Composites on 16-bit floats
/// compute in f32 and round once. If any value is on a gpu, all values of the result are: copies between devices become
/// copies on the gpu, of inputs that are uploaded or to outputs that are downloaded.
IRGraph expand_to_primitives(const IRGraph& graph);

/// An input of a plan and the output that is its new value.
struct PlanUpdate {
  size_t input = 0;
  size_t output = 0;
};

/// The element order of a plan's outputs.
enum class OutputOrder : uint8_t {
  kAny,       // the same as in eager mode
  kRowMajor,  // contiguous, in the order of the dimensions
};

/// An output that a run compares with the bytes of `expected`.
struct ExpectedOutput {
  size_t output = 0;
  std::string expected;
};

/// What a plan is used for.
struct PlanOptions {
  /// If given, the strides of each output in the caller's memory; pointwise nodes must compute these outputs.
  std::span<const Geometry> destinations;
  /// Inputs, and the outputs that replace them afterwards; Plan::donors tells which of them may share memory.
  std::span<const PlanUpdate> updates;
  OutputOrder order = OutputOrder::kAny;
  /// Inputs whose contents change with every run, so packed forms of them are not kept.
  std::span<const size_t> fresh;
  /// Outputs that a run compares, in this order. It ends at the first one that differs.
  std::span<const ExpectedOutput> expected;
  /// The instructions of kernels for the CPU. A plan for more than this machine has can be exported, not run.
  CpuLevel level = chosen_level();
  /// By default the traits of the device that the graph is on.
  std::optional<TargetTraits> target;
};

/// The geometries of the outputs of a plan for inputs with these strides, as compile_plan() chooses them. Sizes may be
/// traced.
std::vector<Geometry> output_geometries(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs);

/// Compiles a graph for inputs with these strides: expansion, grouping, loops, machine code. The plan's inputs are the
/// graph's input_ids in order, its outputs the output_ids. What the passes of plan_pipeline.h did is added to `report`.
Ref<Plan> compile_plan(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options = {},
                       PassReport* report = nullptr);

/// A plan as data, and its kernels.
struct PlanSource {
  PlanForm form;
  std::vector<std::shared_ptr<const loop::Kernel>> kernels;
};

/// Takes the arguments of PlanTemplate, and serves the same sizes. Throws ValueError if a step calls a host function,
/// which a file cannot hold.
PlanSource compile_form(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options,
                        const SizeTrace& recorded, std::span<const int64_t> sizes);

/// The steps of a plan whose sizes are traced. They are written for the sizes of one call. They serve all sizes that
/// meet the conditions which were recorded while the steps were written.
class PlanTemplate {
 public:
  /// Takes the arguments of compile_plan(). The graph and the inputs have sizes of `recorded` with the values of a call
  /// with these sizes.
  PlanTemplate(const IRGraph& graph, const std::map<ValueId, Geometry>& inputs, const PlanOptions& options,
               const SizeTrace& recorded, std::span<const int64_t> sizes, PassReport* report = nullptr);
  PlanTemplate(const PlanTemplate&) = delete;
  PlanTemplate& operator=(const PlanTemplate&) = delete;
  ~PlanTemplate();

  /// The plan for these sizes, or null if other steps are needed.
  Ref<Plan> plan_for(std::span<const int64_t> sizes) const;
  const SizeTrace& trace() const { return trace_; }

 private:
  SizeTrace trace_;
  std::unique_ptr<const PlanDraft> draft_;
  std::vector<Ref<LoadedCode>> codes_;
};

}  // namespace lucid
