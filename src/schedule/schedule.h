#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "loop/kernel.h"

namespace lucid {

/// The part of a buffer that one unit of work touches: `bytes` bytes from unit * `stride` on, or anything. A unit that
/// is a panel of columns touches as much in each of `rows` rows, which are `pitch` bytes apart.
struct UnitSpan {
  int64_t stride = -1;  // negative: anything
  int64_t bytes = 0;
  int64_t rows = 1;
  int64_t pitch = 0;
  bool operator==(const UnitSpan&) const = default;
  /// Whether no two units touch the same bytes.
  bool is_disjoint() const { return stride >= bytes && bytes > 0; }
  /// Whether unit by unit the two are parts of the same memory.
  bool follows(const UnitSpan& other) const {
    return stride == other.stride && rows == other.rows && pitch == other.pitch;
  }
};

/// Where a kernel's buffer argument comes from.
struct BufferUse {
  enum class Kind : uint8_t {
    kValue,    // the memory of graph value `index`
    kScratch,  // scratch area `index` of the schedule
    kError,    // the run's error word, an i64 that is 0 until a check fails
  };
  Kind kind = Kind::kValue;
  int32_t index = 0;
  int64_t byte_offset = 0;
  UnitSpan unit = {};
  /// In the first turn, and in the last: not 0 if every element is used only for the result's element with its own
  /// index. Buffers with the same number have their elements in the same places.
  uint8_t first_order = 0;
  uint8_t last_order = 0;
  /// The first and the last turn that uses the buffer, counted over the whole schedule.
  size_t first_turn = 0;
  size_t last_turn = 0;
};

/// What a launch of a kernel passes to it.
struct Launch {
  std::vector<BufferUse> buffers;
  std::vector<int64_t> params;
  int64_t items = 0;
};

/// One kernel launch: the kernel's text is shared by every launch that differs only in params. Or one call of a host
/// function.
struct KernelStep {
  loop::Kernel kernel;
  std::vector<BufferUse> buffers;
  std::vector<int64_t> params;
  int64_t items = 0;
  /// Consecutive items that make a unit, of which BufferUse::unit speaks.
  int64_t unit_items = 1;
  /// What an item takes, about.
  double nanoseconds = 1;
  /// When set, the step's only output is scratch area `buffers.back().index`, computed from graph input `packs` alone:
  /// the runtime may keep it until that input is written.
  int32_t packs = -1;
  /// Further launches of the kernel, which may run at the same time.
  std::vector<Launch> beside = {};
  /// When set, there is no kernel: node `host` of the graph is computed by its op's host function, on buffers for its
  /// operands that are values and for its results, all contiguous.
  int64_t host = -1;
};

/// How the values of a graph lie in memory. A view shares its operand's storage.
struct Layout {
  ValueId storage = -1;  // the value that owns the memory
  Geometry geometry;
};

/// The columns of a panel.
inline constexpr int64_t kPanelColumns = 64;

/// What a graph of primitives becomes: kernels in order.
struct Schedule {
  std::vector<KernelStep> steps;
  std::vector<int64_t> scratch_bytes;
  /// Of every value, also of those that are fused into their consumers and never stored.
  std::map<ValueId, Layout> layouts;

  /// Memory that lives between two steps.
  BufferUse new_scratch(int64_t elements, Dtype dtype) {
    scratch_bytes.push_back(elements * static_cast<int64_t>(size_of(dtype)));
    return {.kind = BufferUse::Kind::kScratch, .index = static_cast<int32_t>(scratch_bytes.size() - 1)};
  }
};

/// Gives every value of a graph of primitives its place in memory, as eager results have it, and inserts a contiguous
/// copy before each view that the strides do not allow and before host functions. `inputs` gives the strides of each
/// value that no node computes (offset 0: the caller passes the address of the first element). `outputs` imposes
/// strides on results of pointwise nodes.
std::map<ValueId, Layout> assign_layouts(IRGraph& graph, const std::map<ValueId, Geometry>& inputs,
                                         const std::map<ValueId, Geometry>& outputs = {});

/// So many bytes stay in the caches: holding fewer is not worth computing anything again.
inline constexpr int64_t kEnoughMemory = int64_t{4} << 20;

/// Says what is kept and what is computed again: where a plan would hold more than `enough` bytes, values that wait
/// long for their last uses and are cheap are computed again for those. `changing` are the inputs that will be others
/// afterwards. Returns whether any is.
bool recompute_values(IRGraph& graph, std::map<ValueId, Layout>& layouts, const std::set<ValueId>& changing,
                      int64_t enough = kEnoughMemory);

/// Lets values that end in the computation of a result of the same layout lie in that result's memory. Only for results
/// whose memory is new: nothing else may be read from it. Returns whether any does.
bool place_in_results(const IRGraph& graph, std::map<ValueId, Layout>& layouts);

/// Groups the nodes of a graph of primitives into kernels and writes their loops.
Schedule schedule_graph(const IRGraph& graph, std::map<ValueId, Layout> layouts);

/// Joins steps into kernels that take a few units at a time through all of them, where that saves launches or keeps
/// what one step writes in the cache for the next; what nobody else needs is then never stored. Steps may change places
/// for it. `outside` are the values whose memory the caller knows. Only where no two values are the same memory, unless
/// by their layouts. Returns whether anything changed.
bool fuse_steps(Schedule& schedule, const std::set<ValueId>& outside);

/// Calls `function` with every use of the step, those of launches beside it among them.
template <typename Function>
void for_each_use(const KernelStep& step, const Function& function) {
  for (const BufferUse& use : step.buffers) function(use);
  for (const Launch& launch : step.beside)
    for (const BufferUse& use : launch.buffers) function(use);
}

/// Says that the step, which has one turn, is this one.
void set_turn(KernelStep& step, size_t turn);

/// Says which turn uses each buffer first and last.
void number_turns(Schedule& schedule);

/// Makes launches of the same kernel that do not depend on each other one step: the updates of all parameters, say.
/// Returns whether there are any.
bool launch_beside(Schedule& schedule, const std::set<ValueId>& outside);

/// How many items of a step are worth handing to a thread.
int64_t grain_of(const KernelStep& step);

/// An operand or result in memory as a kernel writer sees it.
struct MemoryOperand {
  int32_t id = -1;  // the value whose storage is used, or the scratch area
  Dtype dtype = Dtype::kF32;
  Geometry geometry;
  BufferUse::Kind kind = BufferUse::Kind::kValue;
};

/// The batched product c[b,m,n] = a[b,m,k] @ b[b,k,n], of any strides (broadcast batches have stride 0); c is
/// contiguous.
void schedule_contraction(Schedule& schedule, const MemoryOperand& a, const MemoryOperand& b, const MemoryOperand& c);

}  // namespace lucid
