#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "schedule/contraction.h"
#include "schedule/kernel_writer.h"

namespace lucid::contraction {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

/// Multiplications per nanosecond with registers of 64 bytes.
constexpr double kTileProductsPerNanosecond = 75;

/// Prefetch distance in rows of a packed panel. Panels are contiguous, so the end of one prefetches the next.
constexpr int64_t kRowsAhead = 32;

/// Number of rows that share an address: an instruction can add a register to it, or twice that register.
constexpr int kRowsFromAddress = 3;

/// The rows of a that a tile reads: element (i, k) is at base + i * row + k * step.
struct Rows {
  BufferRef buffer;
  Value base;
  Value row;
  Value step;
};

/// The panel of b that a tile reads: row k is at base + k * row.
struct Panel {
  Value base;
  Value row;
  /// For each vector, the mask of the columns that exist; empty if all do.
  std::vector<Value> masks;
};

/// The elements of c that a tile writes.
struct Target {
  Value index;        // of the tile's first element
  Value first_row;    // rows before it belong to the tile above
  Value first_block;  // kBool: no partial sum exists yet
  Value last_block;   // kBool
  std::vector<Value> masks;
};

/// Writes the kernel whose items are rectangles of register tiles. Within an item, for each block of k, rows of a are
/// copied to contiguous scratch, then every tile of every panel is accumulated in registers.
class TileWriter {
 public:
  TileWriter(const Product& product, const Blocking& blocking, const Registers& registers, const BufferUse& b,
             const BufferUse& totals)
      : product_(product),
        blocking_(blocking),
        dtype_(compute_dtype(product.dtype)),
        tile_(blocking.tile),
        a_adjacent_(adjacency(product.a.column, product.a.row)),
        partial_columns_(!is_multiple(product.n, blocking.tile.columns())),
        shared_rows_(!is_multiple(product.m, blocking.tile.rows)),
        masks_are_free_(registers.bytes == 64 && blocking.tile.vectors <= 4),
        writer_(name()),
        builder_(writer_.builder()),
        a_(writer_.buffer(with_span(product.a_use, a_span()), product.dtype)),
        b_(writer_.buffer(b, blocking.packs_b ? dtype_ : product.dtype)),
        c_(writer_.buffer(with_span(product.c_use, c_span()), product.dtype)),
        totals_(needs_totals(product) ? writer_.buffer(totals, dtype_) : c_),
        m_(writer_.param(product.m)),
        n_(writer_.param(product.n)),
        k_(writer_.param(product.k)) {
    const SymInt panel_elements = panel_rows(product.k) * tile_.columns();
    tiles_ = writer_.param(blocking.tiles);
    panels_ = writer_.param(blocking.panels);
    tiles_per_item_ = writer_.param(blocking.tiles_per_item);
    panels_per_item_ = writer_.param(blocking.panels_per_item);
    row_blocks_ = writer_.param(blocking.row_blocks());
    column_blocks_ = writer_.param(blocking.column_blocks());
    a_batch_ = writer_.param(product.a.batch);
    a_row_ = writer_.param(product.a.row);
    a_step_ = a_adjacent_ == Adjacent::kAlongK ? builder_.index(1) : writer_.param(product.a.column);
    if (blocking.packs_b) {
      b_batch_ = writer_.param(product.b.batch == 0 ? SymInt(0) : blocking.panels * panel_elements);
      b_panel_ = writer_.param(panel_elements);
      b_row_ = builder_.index(tile_.columns());
    } else {
      b_batch_ = writer_.param(product.b.batch);
      b_panel_ = builder_.index(tile_.columns());
      b_row_ = writer_.param(product.b.row);
    }
    if (blocking.copies_a) {
      held_row_ = a_adjacent_ == Adjacent::kAcross ? 1 : kChain + kLanes;
      held_step_ = a_adjacent_ == Adjacent::kAcross ? (tile_.rows + kLanes - 1) / kLanes * kLanes : 1;
      held_tile_ = a_adjacent_ == Adjacent::kAcross ? held_step_ * kChain : held_row_ * tile_.rows;
      held_ = builder_.scratch(dtype_, held_tile_ * blocking.held_tiles);
      tile_rows_ = writer_.param(tile_.rows);
    }
  }

  KernelStep write() {
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value row_block = builder_.binary(Code::kRem, item, row_blocks_);
      const Value rest = item / row_blocks_;
      const Value column_block = builder_.binary(Code::kRem, rest, column_blocks_);
      batch_ = rest / column_blocks_;
      write_item(row_block * tiles_per_item_, column_block * panels_per_item_);
    });
    const SymInt items_per_batch = blocking_.row_blocks() * blocking_.column_blocks();
    const SymInt items = product_.batches * items_per_batch;
    const auto work = static_cast<double>(product_.work()) / static_cast<double>(items.unguarded());
    return writer_.finish(items, work / kTileProductsPerNanosecond, product_.batches > 1 ? items_per_batch : SymInt(1));
  }

 private:
  // The tile for fusion (TileSpan) is a product of the batch or, if there is only one, some rows that no other item
  // reads or writes.
  bool has_tiles() const {
    return product_.batches > 1 || (blocking_.column_blocks() == 1 && is_multiple(product_.m, span_rows()));
  }
  int64_t span_rows() const { return blocking_.tile.rows * blocking_.tiles_per_item; }
  TileSpan a_span() const {
    const SymInt rows = product_.batches > 1 ? product_.m : SymInt(span_rows());
    const SymInt stride = product_.batches > 1 ? product_.a.batch : rows * product_.a.row;
    return {stride, (rows - 1) * product_.a.row + (product_.k - 1) * product_.a.column + 1};
  }
  TileSpan c_span() const {
    const SymInt elements = (product_.batches > 1 ? product_.m : SymInt(span_rows())) * product_.n;
    return {elements, elements};
  }
  /// Sets the tile of a use. `span` is in elements.
  BufferUse with_span(BufferUse use, TileSpan span) const {
    const auto bytes = static_cast<int64_t>(size_of(product_.dtype));
    if (has_tiles()) use.tile = {span.stride * bytes, span.bytes * bytes};
    return use;
  }

  std::string name() const {
    std::string name = "matmul_" + std::string(name_of(product_.dtype)) + "_" + std::to_string(tile_.rows) + "x" +
                       std::to_string(tile_.columns());
    if (blocking_.packs_b) name += "_packed";
    return name;
  }

  Value min(Value x, Value y) { return builder_.binary(Code::kMin, x, y); }

  void write_item(Value first_tile, Value first_panel) {
    const Value last_tile = min(first_tile + tiles_per_item_, tiles_);
    const Value last_panel = min(first_panel + panels_per_item_, panels_);
    const Value a_start = batch_ * a_batch_;
    const Value b_start = batch_ * b_batch_;
    builder_.for_loop(builder_.index(0), k_, kChain, [&](Value chain) {
      const Value length = min(k_ - chain, builder_.index(kChain));
      const Value a_chain = a_start + chain * a_step_;
      // The panels of this block stay in the second-level cache while groups of tiles use them.
      builder_.for_loop(first_tile, last_tile, blocking_.held_tiles, [&](Value first_held) {
        const Value last_held = min(first_held + builder_.index(blocking_.held_tiles), last_tile);
        if (blocking_.copies_a) {
          builder_.for_loop(first_held, last_held, 1, [&](Value tile) {
            copy_rows(a_chain + first_row(tile) * a_row_, (tile - first_held) * builder_.index(held_tile_), length);
          });
        }
        builder_.for_loop(first_panel, last_panel, 1, [&](Value panel) {
          const Panel b_panel{.base = b_start + panel * b_panel_ + chain * b_row_, .row = b_row_, .masks = {}};
          const std::vector<Value> masks = column_masks(panel);
          builder_.for_loop(first_held, last_held, 1, [&](Value tile) {
            const Value row = first_row(tile);
            const Rows rows = rows_of(tile - first_held, a_chain + row * a_row_);
            const Target target{.index = (batch_ * m_ + row) * n_ + panel * builder_.index(tile_.columns()),
                                .first_row = tile * builder_.index(tile_.rows) - row,
                                .first_block = chain == builder_.index(0),
                                .last_block = chain + builder_.index(kChain) >= k_,
                                .masks = masks};
            write_tile(panel, rows, b_panel, target, length);
          });
        });
      });
    });
  }

  /// The last tile starts early enough to be full: it computes some rows twice but does not store them.
  Value first_row(Value tile) {
    const Value row = tile * builder_.index(tile_.rows);
    return shared_rows_ ? min(row, m_ - builder_.index(tile_.rows)) : row;
  }

  std::vector<Value> column_masks(Value panel) {
    std::vector<Value> masks;
    if (!partial_columns_) return masks;
    const Value left = n_ - panel * builder_.index(tile_.columns());
    for (int j = 0; j < tile_.vectors; ++j) masks.push_back(builder_.lanes_below(left - builder_.index(j * kLanes)));
    return masks;
  }

  Rows rows_of(Value held, Value source) {
    if (!blocking_.copies_a) return {a_, source, a_row_, a_step_};
    return {held_, held * builder_.index(held_tile_), builder_.index(held_row_), builder_.index(held_step_)};
  }

  /// Copies a tile's rows, `length` elements of each, to scratch.
  void copy_rows(Value source, Value target, Value length) {
    const Value zero = builder_.index(0);
    if (a_adjacent_ == Adjacent::kAcross) {
      std::vector<Value> masks;
      for (int64_t i = 0; i < held_step_; i += kLanes)
        masks.push_back(builder_.lanes_below(tile_rows_ - builder_.index(i)));
      builder_.for_loop(zero, length, 1, [&](Value k) {
        const Value from = source + k * a_step_;
        const Value to = target + k * builder_.index(held_step_);
        for (int64_t i = 0; i < held_step_; i += kLanes) {
          const Value offset = builder_.index(i);
          copy_vector(from + offset, to + offset, masks[static_cast<size_t>(i / kLanes)]);
        }
      });
      return;
    }
    builder_.for_loop(zero, tile_rows_, 1, [&](Value row) {
      const Value from = source + row * a_row_;
      const Value to = target + row * builder_.index(held_row_);
      if (a_adjacent_ == Adjacent::kAlongK) {
        const Value whole = length & builder_.index(-kLanes);
        builder_.for_loop(zero, whole, kLanes, [&](Value k) { copy_vector(from + k, to + k, {}); });
        builder_.if_then(whole < length,
                         [&] { copy_vector(from + whole, to + whole, builder_.lanes_below(length - whole)); });
      } else {
        builder_.for_loop(zero, length, 1, [&](Value k) {
          builder_.store(held_, to + k, builder_.convert(builder_.load(a_, from + k * a_step_), dtype_));
        });
      }
    });
  }

  void copy_vector(Value from, Value to, Value mask) {
    builder_.store(held_, to, builder_.convert(builder_.load_vector(a_, from, mask), dtype_));
  }

  void write_tile(Value panel, const Rows& rows, const Panel& b_panel, const Target& target, Value length) {
    // A product that is packed does not fit in the caches: the results' cache lines are prefetched during accumulation.
    if (blocking_.packs_b) prefetch_target(target);
    if (blocking_.packs_b || !partial_columns_) {
      store_tile(accumulate(rows, b_panel, length), target);
      return;
    }
    Panel masked = b_panel;
    masked.masks = target.masks;
    if (masks_are_free_ || product_.n < tile_.columns()) {
      store_tile(accumulate(rows, masked, length), target);
      return;
    }
    builder_.if_then((panel + builder_.index(1)) * builder_.index(tile_.columns()) <= n_,
                     [&] {
                       Target whole = target;
                       whole.masks.clear();
                       store_tile(accumulate(rows, b_panel, length), whole);
                     },
                     [&] { store_tile(accumulate(rows, masked, length), target); });
  }

  void prefetch_target(const Target& target) {
    for (int i = 0; i < tile_.rows; ++i) {
      for (int j = 0; j < tile_.vectors; ++j) {
        builder_.prefetch(totals_, target.index + n_ * builder_.index(i) + builder_.index(j * kLanes));
      }
    }
  }

  /// Accumulates one chain for each element of the tile.
  std::vector<Value> accumulate(const Rows& rows, const Panel& panel, Value length) {
    // Three rows share an address: a load adds zero, one or two row strides.
    std::vector<Value> group_starts, row_offsets;
    for (int i = 0; i < tile_.rows; i += kRowsFromAddress) group_starts.push_back(rows.row * builder_.index(i));
    for (int i = 0; i < kRowsFromAddress; ++i) row_offsets.push_back(rows.row * builder_.index(i));
    const std::vector<Value> zeros(static_cast<size_t>(tile_.rows * tile_.vectors),
                                   builder_.splat(builder_.constant(dtype_, 0.0)));
    return builder_.for_loop(builder_.index(0), length, 1, zeros, [&](Value k, std::span<const Value> sums) {
      const Value b_index = panel.base + k * panel.row;
      std::vector<Value> columns;
      for (int j = 0; j < tile_.vectors; ++j) {
        const Value mask = panel.masks.empty() ? Value() : panel.masks[static_cast<size_t>(j)];
        columns.push_back(
            builder_.convert(builder_.load_vector(b_, b_index + builder_.index(j * kLanes), mask), dtype_));
      }
      if (blocking_.packs_b) {
        for (int j = 0; j < tile_.vectors; ++j) {
          builder_.prefetch(b_, b_index + builder_.index(kRowsAhead * tile_.columns() + j * kLanes));
        }
      }
      const Value a_index = rows.base + k * rows.step;
      std::vector<Value> next;
      for (int i = 0; i < tile_.rows; ++i) {
        const Value group = a_index + group_starts[static_cast<size_t>(i / kRowsFromAddress)];
        const Value element =
            builder_.load(rows.buffer, group + row_offsets[static_cast<size_t>(i % kRowsFromAddress)]);
        const Value factor = builder_.splat(builder_.convert(element, dtype_));
        for (int j = 0; j < tile_.vectors; ++j) {
          next.push_back(builder_.fma(factor, columns[static_cast<size_t>(j)], sums[next.size()]));
        }
      }
      return next;
    });
  }

  /// Adds a block's sums to the totals of the blocks before. The last block's result is rounded to c's dtype.
  void store_tile(const std::vector<Value>& sums, const Target& target) {
    if (totals_.dtype != dtype_) {
      // 16-bit results with a single block of k.
      store_rows(sums, target, false);
      return;
    }
    builder_.if_then(
        target.first_block, [&] { store_rows(sums, target, false); }, [&] { store_rows(sums, target, true); });
  }

  void store_rows(const std::vector<Value>& sums, const Target& target, bool add) {
    for (int i = 0; i < tile_.rows; ++i) {
      auto store_row = [&] {
        for (int j = 0; j < tile_.vectors; ++j) {
          const Value at = target.index + n_ * builder_.index(i) + builder_.index(j * kLanes);
          const Value mask = target.masks.empty() ? Value() : target.masks[static_cast<size_t>(j)];
          const int vector = i * tile_.vectors + j;
          Value sum = sums[static_cast<size_t>(vector)];
          if (add) sum = builder_.load_vector(totals_, at, mask) + sum;
          store_sum(at, sum, mask, target.last_block);
        }
      };
      // Every tile stores its last row.
      if (shared_rows_ && i + 1 < tile_.rows) {
        builder_.if_then(builder_.index(i) >= target.first_row, store_row);
      } else {
        store_row();
      }
    }
  }

  void store_sum(Value at, Value sum, Value mask, Value last_block) {
    auto store_result = [&] { builder_.store(c_, at, builder_.convert(sum, product_.dtype), mask); };
    if (!needs_totals(product_)) {
      store_result();
    } else {
      builder_.if_then(last_block, store_result, [&] { builder_.store(totals_, at, sum, mask); });
    }
  }

  const Product& product_;
  const Blocking& blocking_;
  Dtype dtype_;
  RegisterTile tile_;
  Adjacent a_adjacent_;
  bool partial_columns_;
  bool shared_rows_;
  bool masks_are_free_;

  KernelWriter writer_;
  Builder& builder_;
  BufferRef a_;
  BufferRef b_;
  BufferRef c_;
  BufferRef totals_;
  Value m_;
  Value n_;
  Value k_;
  Value tiles_;
  Value panels_;
  Value tiles_per_item_;
  Value panels_per_item_;
  Value row_blocks_;
  Value column_blocks_;
  Value a_batch_;
  Value a_row_;
  Value a_step_;
  Value b_batch_;
  Value b_panel_;
  Value b_row_;
  Value batch_;

  // The copied rows: the distances between elements along m, along k, and between tiles.
  BufferRef held_;
  int64_t held_row_ = 0;
  int64_t held_step_ = 0;
  int64_t held_tile_ = 0;
  Value tile_rows_;
};

}  // namespace

bool needs_totals(const Product& product) {
  return product.dtype != compute_dtype(product.dtype) && product.k > kChain;
}

KernelStep tile_step(const Product& product, const Blocking& blocking, const Registers& registers, const BufferUse& b,
                     const BufferUse& totals) {
  LUCID_CHECK(blocking.tile.rows <= product.m, "contraction: tiles have {} rows, but the product has {}",
              blocking.tile.rows, product.m);
  return TileWriter(product, blocking, registers, b, totals).write();
}

}  // namespace lucid::contraction
