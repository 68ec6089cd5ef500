#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/graph.h"
#include "loop/kernel.h"

namespace lucid {

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
};

/// One kernel launch: the kernel's text is shared by every launch that differs only in params.
struct KernelStep {
  loop::Kernel kernel;
  std::vector<BufferUse> buffers;
  std::vector<int64_t> params;
  /// Work items, and how many of them are worth handing to a thread (about 10 us of work).
  int64_t items = 0;
  int64_t grain = 1;
  /// When set, the step's only output is scratch area `buffers.back().index`, computed from graph input `packs` alone:
  /// the runtime may keep it until that input is written.
  int32_t packs = -1;
};

/// How the values of a graph lie in memory. A view shares its operand's storage.
struct Layout {
  ValueId storage = -1;  // the value that owns the memory
  Geometry geometry;
};

/// What a graph of primitives becomes: kernels in order.
struct Schedule {
  std::vector<KernelStep> steps;
  std::vector<int64_t> scratch_bytes;
  /// Of every value, also of those that are fused into their consumers and never stored.
  std::map<ValueId, Layout> layouts;
};

/// Gives every value of a graph of primitives its place in memory, as eager results have it, and inserts a contiguous
/// copy before each view that the strides do not allow. `inputs` gives the strides of each value that no node computes
/// (offset 0: the caller passes the address of the first element). `outputs` imposes strides on results of pointwise
/// nodes.
std::map<ValueId, Layout> assign_layouts(IRGraph& graph, const std::map<ValueId, Geometry>& inputs,
                                         const std::map<ValueId, Geometry>& outputs = {});

/// Groups the nodes of a graph of primitives into kernels and writes their loops.
Schedule schedule_graph(const IRGraph& graph, std::map<ValueId, Layout> layouts);

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
