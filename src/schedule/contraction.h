#pragma once

#include <cstdint>
#include <vector>

#include "base/dim_math.h"
#include "loop/builder.h"
#include "schedule/schedule.h"

/// Matrix products as kernels. docs/decisions/0002-canonical-orders.md defines the orders of accumulation. Register
/// tiles, packing and the split into items affect only speed.
namespace lucid {

void schedule_contraction(Schedule& schedule, const MemoryOperand& a, const MemoryOperand& b, const MemoryOperand& c,
                          const Registers& registers);

namespace contraction {

/// A block of k whose products are accumulated in one chain.
inline constexpr int64_t kChain = 512;
/// Block size of the reduction that a product with one column is.
inline constexpr int64_t kColumnBlock = 256;

struct Strides {
  SymInt batch = 0;
  SymInt row = 0;
  SymInt column = 0;
};

/// c[i, m, n] = sum over k of a[i, m, k] * b[i, k, n]; c is contiguous. Strides are in elements.
struct Product {
  Dtype dtype = Dtype::kF32;
  SymInt batches = 1;
  SymInt m = 0;
  SymInt n = 0;
  SymInt k = 0;
  Strides a;
  Strides b;
  BufferUse a_use;
  BufferUse b_use;
  BufferUse c_use;

  /// Total number of multiplications, for estimates.
  int64_t work() const { return batches.unguarded() * m.unguarded() * n.unguarded() * k.unguarded(); }
};

/// The accumulators that a kernel keeps in registers: `rows` by `vectors` * kLanes.
struct RegisterTile {
  int rows = 1;
  int vectors = 1;
  int64_t columns() const { return static_cast<int64_t>(vectors) * loop::kLanes; }
  bool operator==(const RegisterTile&) const = default;
};

/// How a product is split: register tiles of rows by panels of columns, and the rectangle of them that is a work item.
/// Right for all sizes with at least as many rows as a tile, but chosen for the sizes of the recorded call.
struct Blocking {
  RegisterTile tile;
  SymInt tiles = 0;
  SymInt panels = 0;
  int64_t tiles_per_item = 1;
  int64_t panels_per_item = 1;
  /// Number of tiles whose rows a kernel uses at once, in scratch if it copies them.
  int64_t held_tiles = 1;
  /// Whether panels of b are packed by a step before, and rows of a copied inside the kernel.
  bool packs_b = false;
  bool copies_a = true;

  SymInt row_blocks() const { return ceil_div(tiles, tiles_per_item); }
  SymInt column_blocks() const { return ceil_div(panels, panels_per_item); }
};

/// The tile that computes m rows of n columns in the fewest cycles. If the product may be fused, tiles that divide the
/// rows are preferred.
RegisterTile choose_tile(int64_t m, int64_t n, Dtype dtype, const Registers& registers, bool may_be_fused = false);
Blocking choose_blocking(const Product& product, const Registers& registers);

/// Which elements that a copy reads are adjacent in memory: along k, along the other axis, or neither.
enum class Adjacent : uint8_t { kAlongK, kAcross, kNeither };
Adjacent adjacency(SymInt stride_along_k, SymInt stride_across);

// The steps. Sizes and strides are run-time numbers. A kernel's text depends on the dtype, the tile, the adjacency of
// elements, and whether tiles divide the sizes.

/// Copies b into `packed`: panels of the tile's columns, each with panel_rows(k) rows, in the compute dtype.
KernelStep pack_step(const Product& product, const Blocking& blocking, const BufferUse& packed);
SymInt panel_rows(SymInt k);

/// The product by register tiles. `b` is product.b_use or the output of pack_step. `totals` holds the partial sums of
/// 16-bit products whose k has more than one block; otherwise it is not used.
KernelStep tile_step(const Product& product, const Blocking& blocking, const Registers& registers, const BufferUse& b,
                     const BufferUse& totals);
bool needs_totals(const Product& product);

/// The product on a gpu, by tiles in shared memory (schedule/group_product.h).
KernelStep group_step(const Product& product, RegisterTile tile);

/// A product with one column: a reduction in blocks of kColumnBlock.
KernelStep column_step(const Product& product);
/// Products of integers, row by row.
KernelStep integer_step(const Product& product);
/// Stores zeros, the product over an empty k.
KernelStep zero_step(const Product& product);

}  // namespace contraction
}  // namespace lucid
