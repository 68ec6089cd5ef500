#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "ir/graph.h"
#include "loop/kernel.h"
#include "loop/target.h"

namespace lucid {

/// The part of a buffer that one tile touches: `bytes` bytes starting at tile * `stride`, or an unknown part. A tile
/// that is a panel of columns touches that many bytes in each of `rows` rows, which are `pitch` bytes apart.
struct TileSpan {
  SymInt stride = -1;  // negative: unknown
  SymInt bytes = 0;
  SymInt rows = 1;
  SymInt pitch = 0;
  bool operator==(const TileSpan&) const = default;
  /// Whether no two tiles touch the same bytes.
  bool is_disjoint() const { return stride >= bytes && bytes > 0; }
  /// Whether the tiles of both spans advance through memory in the same way.
  bool same_strides(const TileSpan& other) const {
    return stride == other.stride && rows == other.rows && pitch == other.pitch;
  }
};

/// The memory that is passed as a kernel's buffer argument.
struct BufferUse {
  enum class Kind : uint8_t {
    kValue,    // the memory of graph value `index`
    kScratch,  // scratch area `index` of the schedule
    kError,    // the run's error word, an i64 that is 0 until a check fails
  };
  Kind kind = Kind::kValue;
  int32_t index = 0;
  SymInt byte_offset = 0;
  TileSpan tile = {};
  /// Element order in the first and in the last stage. Not 0 if every element is used only to compute the result's
  /// element with the same index; buffers with the same nonzero order store their elements at the same offsets.
  uint8_t first_order = 0;
  uint8_t last_order = 0;
  /// The first and last stage that use the buffer, counted over the whole schedule.
  size_t first_stage = 0;
  size_t last_stage = 0;
};

/// The arguments of one kernel launch.
struct Launch {
  std::vector<BufferUse> buffers;
  std::vector<SymInt> params;
  SymInt items = 0;
};

/// One or more launches of a kernel, or one call of a host function. Launches that differ only in params have the same
/// kernel text.
struct KernelStep {
  std::shared_ptr<const loop::Kernel> kernel;  // null if it is a host function
  std::vector<BufferUse> buffers;
  std::vector<SymInt> params;
  SymInt items = 0;
  /// Number of consecutive items in a tile (BufferUse::tile).
  SymInt tile_items = 1;
  /// Estimated time per item.
  double nanoseconds = 1;
  /// If set, the step's only output is scratch area `buffers.back().index`, computed from graph input `packs` alone.
  /// The runtime may keep it until that input is written.
  std::optional<ValueId> packs = {};
  /// Further launches of the kernel. All launches of a step may run at the same time.
  std::vector<Launch> more_launches = {};
  /// If set, the step has no kernel: the op's host function computes node `host` of the graph. `buffers` are the
  /// operands that are values, then the results, all contiguous.
  std::optional<size_t> host = {};
  /// Whether an output of the plan is compared after the step, and the run may end there.
  bool is_checked = false;
  /// Whether it copies its first buffer to the second, element by element: it need not run if they are one.
  bool is_copy = false;
};

/// Where a value is stored. A view shares its operand's storage.
struct Layout {
  ValueId storage = -1;  // the value that owns the memory
  Geometry geometry;
};

/// Number of columns in a panel.
inline constexpr int64_t kPanelColumns = 64;

/// The kernels that compute a graph of primitives, in order.
struct Schedule {
  /// Where the kernels run.
  TargetTraits target = cpu_traits();
  std::vector<KernelStep> steps;
  std::vector<SymInt> scratch_bytes;
  /// For every value, including those that are fused into their consumers and never stored.
  std::map<ValueId, Layout> layouts;

  /// Adds a scratch area, which lives between two steps.
  BufferUse new_scratch(SymInt elements, Dtype dtype) {
    scratch_bytes.push_back(elements * static_cast<int64_t>(size_of(dtype)));
    return {.kind = BufferUse::Kind::kScratch, .index = static_cast<int32_t>(scratch_bytes.size() - 1)};
  }
};

/// Assigns a memory layout to every value of a graph of primitives, the same as in eager mode. Inserts a contiguous
/// copy before each view that the strides do not allow and before host functions. `inputs` has the strides of each
/// value that no node computes (offset 0: the caller passes the address of the first element). `outputs` imposes
/// strides on results of pointwise nodes.
std::map<ValueId, Layout> assign_layouts(IRGraph& graph, const std::map<ValueId, Geometry>& inputs,
                                         const std::map<ValueId, Geometry>& outputs = {});

/// Plans with a memory peak up to this size stay in the caches: rematerialization would not pay.
inline constexpr int64_t kRematerializationThreshold = int64_t{4} << 20;

/// Rematerialization: where a plan would hold more than `threshold` bytes, cheap values with long live ranges are
/// computed again for their late uses. `changing` are the inputs whose contents are replaced by the end of the run.
/// Returns whether the graph changed.
bool rematerialize(IRGraph& graph, std::map<ValueId, Layout>& layouts, const std::set<ValueId>& changing,
                   int64_t threshold = kRematerializationThreshold);

/// Stores values whose live range ends in the computation of a result with the same layout in that result's memory.
/// Only for results in new memory, from which nothing else is read. Returns whether any value was placed.
bool place_in_results(const IRGraph& graph, std::map<ValueId, Layout>& layouts);

/// Groups the nodes of a graph of primitives into kernels for a target and writes their loops.
Schedule schedule_graph(const IRGraph& graph, std::map<ValueId, Layout> layouts,
                        const TargetTraits& target = cpu_traits());

/// Joins steps into kernels that run a few tiles at a time through all of them, where this saves launches or keeps what
/// one step writes in the cache for the next. Buffers that only the joined steps use are then never stored. Steps may
/// be reordered for it. `outside` are the values whose memory the caller passes. Requires that values alias only
/// through their layouts. Returns whether anything changed.
bool fuse_steps(Schedule& schedule, const std::set<ValueId>& outside);

/// Calls `function` with every buffer use of the step, in all its launches.
template <typename Function>
void for_each_use(const KernelStep& step, const Function& function) {
  for (const BufferUse& use : step.buffers) function(use);
  for (const Launch& launch : step.more_launches)
    for (const BufferUse& use : launch.buffers) function(use);
}

/// Sets the stage index of a step with one stage.
void set_stage(KernelStep& step, size_t stage);

/// Numbers the stages of a schedule whose steps have one stage each.
void number_stages(Schedule& schedule);

/// Horizontal fusion: joins independent launches of the same kernel into one step, such as an optimizer's updates of
/// all parameters. Returns whether anything changed.
bool fuse_horizontally(Schedule& schedule, const std::set<ValueId>& outside);

/// For targets with 32-bit indices: kernels with small sizes compute indices in i32. Returns whether any does.
bool narrow_indices(Schedule& schedule);

/// The smallest number of items of a step that is worth a thread.
int64_t grain_of(const KernelStep& step);

/// An operand or result in memory, as kernel writers see it.
struct MemoryOperand {
  int32_t id = -1;  // the value whose storage is used, or the scratch area
  Dtype dtype = Dtype::kF32;
  Geometry geometry;
  BufferUse::Kind kind = BufferUse::Kind::kValue;
};

/// The batched product c[b,m,n] = a[b,m,k] @ b[b,k,n]. Operands may have any strides (broadcast batches have stride 0);
/// c is contiguous.
void schedule_contraction(Schedule& schedule, const MemoryOperand& a, const MemoryOperand& b, const MemoryOperand& c);

}  // namespace lucid
