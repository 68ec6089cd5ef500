#include <algorithm>
#include <limits>
#include <thread>

#include "schedule/contraction.h"

namespace lucid::contraction {
namespace {

// Each cycle starts two multiply-adds, which take four cycles, and two loads.
constexpr double kPerCycle = 2;
constexpr double kLatency = 4;
/// Cost of a vector of b beyond its load, since it comes from the second-level cache.
constexpr double kStreaming = 0.25;
/// Cost factor if the last tile overlaps the one above, since these rows cannot be fused with other steps.
constexpr double kSharedRows = 1.03;

/// Bytes of a's rows that a kernel may hold in scratch, and bytes of b's panels that the second-level cache should
/// hold.
constexpr int64_t kHeldBytes = 256 << 10;
constexpr int64_t kPanelBytes = 1 << 20;
/// Bytes of b that the tiles must read in total before packing pays.
constexpr int64_t kPackedTraffic = 8 << 20;
/// Wanted items per CPU, so that threads finish together, as long as an item has at least kItemProducts
/// multiplications. If b is larger than kPanelBytes, every item loads its panels again, so fewer items are wanted.
constexpr int64_t kItemsPerCpu = 16;
constexpr int64_t kLargeItemsPerCpu = 4;
constexpr int64_t kItemProducts = 400'000;
/// Items have at least this many panels, which share the copied rows of a.
constexpr int64_t kMinPanels = 4;

/// Number of registers that hold a vector of kLanes elements.
int registers_per_vector(Dtype dtype, const Registers& registers) {
  return std::max(1, static_cast<int>(size_of(dtype)) * loop::kLanes / registers.bytes);
}

bool fits(RegisterTile tile, int per_vector, const Registers& registers) {
  const int accumulators = tile.rows * tile.vectors * per_vector;
  // A single row uses each vector of b once, directly from memory. It needs only enough accumulators to hide the
  // latency.
  if (tile.rows == 1) return accumulators <= registers.count / 2;
  return accumulators + tile.vectors * per_vector + 1 <= registers.count;
}

/// Cycles per step of k, determined by the busiest part of the core.
double step_cycles(RegisterTile tile, int per_vector) {
  const double arithmetic = tile.rows * tile.vectors * per_vector / kPerCycle;
  const double loads = (tile.rows + tile.vectors * per_vector) / kPerCycle;
  return std::max({arithmetic, loads, kLatency}) + kStreaming * tile.vectors * per_vector;
}

int64_t b_bytes(const Product& product) {
  return product.k.unguarded() * product.n.unguarded() * static_cast<int64_t>(size_of(product.dtype));
}

int64_t wanted_items(const Product& product) {
  static const int64_t cpus = std::max(std::thread::hardware_concurrency(), 1u);
  const bool is_large = b_bytes(product) > kPanelBytes;
  return (is_large ? kLargeItemsPerCpu : kItemsPerCpu) * cpus;
}

/// Rows that are a multiple of 4 KiB apart map to the same few cache lines.
bool rows_collide(SymInt row_stride, const Product& product) {
  return row_stride.unguarded() * static_cast<int64_t>(size_of(product.dtype)) % 4096 == 0 &&
         product.k.unguarded() > loop::kLanes;
}

bool worth_packing(const Product& product, const Blocking& blocking) {
  if (product.b.column != 1) return true;
  // Packing reads and writes b once, so at least three passes over it must follow.
  if (blocking.tiles.unguarded() < 3) return false;
  if (product.dtype != compute_dtype(product.dtype)) return true;
  return rows_collide(product.b.row, product) || blocking.tiles.unguarded() * b_bytes(product) >= kPackedTraffic;
}

/// Rows are normally read in place. A copy pays if several panels use it and the rows collide in the caches, their
/// elements are not adjacent, or they need a conversion.
bool worth_copying(const Product& product, const Blocking& blocking) {
  if (blocking.tile.rows == 1 || blocking.panels.unguarded() == 1) return false;
  if (product.dtype != compute_dtype(product.dtype)) return true;
  return product.a.column != 1 || rows_collide(product.a.row, product);
}

}  // namespace

RegisterTile choose_tile(int64_t m, int64_t n, Dtype dtype, const Registers& registers, bool may_be_fused) {
  const int per_vector = registers_per_vector(compute_dtype(dtype), registers);
  RegisterTile best;
  double best_cycles = std::numeric_limits<double>::infinity();
  const int64_t vectors = ceil_div(n, loop::kLanes);
  for (int rows = 1; rows <= std::min<int64_t>(m, registers.count); ++rows) {
    for (int width = 1; width <= std::min<int64_t>(vectors, registers.count); ++width) {
      const RegisterTile tile{rows, width};
      if (!fits(tile, per_vector, registers)) break;
      const double cycles = static_cast<double>(ceil_div(m, rows) * ceil_div(vectors, width)) *
                            step_cycles(tile, per_vector) * (may_be_fused && m % rows != 0 ? kSharedRows : 1);
      if (cycles < best_cycles) {
        best = tile;
        best_cycles = cycles;
      }
    }
  }
  return best;
}

Blocking choose_blocking(const Product& product, const Registers& registers) {
  Blocking blocking;
  // Rows of a product that is not large may be fused with the steps before and after it.
  const bool is_large = b_bytes(product) >= kPanelBytes;
  blocking.tile = choose_tile(product.m.unguarded(), product.n.unguarded(), product.dtype, registers, !is_large);
  blocking.tiles = ceil_div(product.m, blocking.tile.rows);
  blocking.panels = ceil_div(product.n, blocking.tile.columns());
  blocking.packs_b = worth_packing(product, blocking);
  blocking.copies_a = worth_copying(product, blocking);

  const auto bytes = static_cast<int64_t>(size_of(compute_dtype(product.dtype)));
  blocking.held_tiles = std::max<int64_t>(1, kHeldBytes / (blocking.tile.rows * (kChain + loop::kLanes) * bytes));
  int64_t& tiles = blocking.tiles_per_item;
  int64_t& panels = blocking.panels_per_item;
  const int64_t all_tiles = blocking.tiles.unguarded(), all_panels = blocking.panels.unguarded();
  tiles = all_tiles;
  panels = std::clamp<int64_t>(kPanelBytes / (blocking.tile.columns() * kChain * bytes), 1, all_panels);
  const auto row_blocks = [&] { return ceil_div(all_tiles, tiles); };
  const auto column_blocks = [&] { return ceil_div(all_panels, panels); };
  const auto items = [&] { return product.batches.unguarded() * row_blocks() * column_blocks(); };
  const int64_t wanted = wanted_items(product);
  while (items() < wanted && product.work() / items() > kItemProducts) {
    if (tiles > 1) {
      tiles = ceil_div(tiles, 2);
    } else if (panels > kMinPanels) {
      panels = ceil_div(panels, 2);
    } else {
      break;
    }
  }
  // Distributes tiles and panels evenly over the items.
  tiles = ceil_div(all_tiles, row_blocks());
  panels = ceil_div(all_panels, column_blocks());
  return blocking;
}

Adjacent adjacency(SymInt stride_along_k, SymInt stride_across) {
  if (stride_along_k == 1) return Adjacent::kAlongK;
  return stride_across == 1 ? Adjacent::kAcross : Adjacent::kNeither;
}

SymInt panel_rows(SymInt k) { return ceil_div(k, loop::kLanes) * loop::kLanes; }

}  // namespace lucid::contraction
