#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/dim_math.h"
#include "schedule/contraction.h"
#include "schedule/kernel_writer.h"
#include "schedule/schedule.h"

/// Attention as kernels. docs/decisions/0005-attention.md defines the order of all additions. Tiles affect only speed.
namespace lucid {
namespace attention {

/// Number of keys whose scores are computed at once.
inline constexpr int64_t kKeys = 64;
/// Block size of a score's chain.
inline constexpr int64_t kChain = contraction::kChain;

/// The operands and the parameters that a kernel's text depends on. Results are contiguous.
struct Problem {
  MemoryOperand q;
  MemoryOperand k;
  MemoryOperand v;
  std::optional<MemoryOperand> mask;
  MemoryOperand out;
  MemoryOperand logsumexp;
  bool causal = false;
  double scale = 1;

  SymInt batches() const { return out.geometry.sizes[0]; }
  SymInt heads() const { return out.geometry.sizes[1]; }
  SymInt queries() const { return out.geometry.sizes[2]; }
  SymInt keys() const { return k.geometry.sizes[2]; }
  SymInt width() const { return q.geometry.sizes[3]; }
  SymInt value_width() const { return out.geometry.sizes[3]; }
  /// The kernel's name without what distinguishes kernels for the same problem.
  std::string name() const;
};

/// The run-time strides of an operand [n, h, rows, columns].
struct Strides {
  Strides(KernelWriter& writer, const MemoryOperand& operand) {
    for (const SymInt stride : operand.geometry.strides) values.push_back(writer.param(stride));
  }
  loop::Value head(loop::Value batch, loop::Value head) const { return batch * values[0] + head * values[1]; }
  loop::Value row() const { return values[2]; }
  loop::Value column() const { return values[3]; }
  std::vector<loop::Value> values;
};

/// The arguments of a kernel whose items are tiles of queries.
struct Arguments {
  Arguments(KernelWriter& writer, const Problem& problem, int64_t queries_per_tile);
  loop::BufferRef q, k, v;
  loop::BufferRef mask;  // q if there is none
  loop::BufferRef out, logsumexp;
  Strides q_strides, k_strides, v_strides, mask_strides;
  loop::Value heads, queries, keys, width, value_width;
  loop::Value tiles;  // of a head
  loop::Value scale;  // in the compute dtype
};

/// The value that is subtracted from scores: the largest of them, or 0 while all are -inf.
loop::Value base_of(loop::Value largest);

/// The width rounded up to a power of two, so that similar widths share a kernel.
inline int64_t rounded_width(SymInt width) { return std::max<int64_t>(bit_ceil(width), loop::kLanes); }

/// On a gpu: the queries by columns of the result that each member of a group accumulates, or nothing if the values are
/// too wide for tiles in shared memory. Right for all sizes with these widths, but chosen for the sizes of the recorded
/// call.
std::optional<contraction::RegisterTile> choose_group_tile(const Problem& problem);
KernelStep group_step(const Problem& problem, contraction::RegisterTile tile);

}  // namespace attention

void schedule_attention(Schedule& schedule, const attention::Problem& problem);

}  // namespace lucid
