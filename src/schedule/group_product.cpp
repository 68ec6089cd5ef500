#include "schedule/group_product.h"

#include <limits>

namespace lucid::contraction {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;
using Values = std::vector<Value>;

/// Steps of k in shared memory. Divides kChain.
constexpr int64_t kDepth = 16;
/// Steps of k that the innermost loop takes at once.
constexpr int64_t kUnrolled = 4;
/// Multiplications of a group per nanosecond.
constexpr double kGroupProductsPerNanosecond = 50;

/// kDepth steps of k by `width` rows of a or columns of b, on their way from global to shared memory. Each member loads
/// `width` / kMembers vectors, whose lanes are along k or across it.
struct Slab {
  const GroupOperand& operand;
  int64_t width;
  BufferRef shared;
  Value last;  // the last row or column

  int64_t vectors() const { return width / kMembers; }
  // Distances in shared memory. An odd distance between lanes avoids bank conflicts.
  int64_t shared_step() const { return operand.is_along_k ? 1 : width; }
  int64_t shared_across() const { return operand.is_along_k ? kDepth + 1 : 1; }
  int64_t shared_count() const { return width * (kDepth + 1); }
};

/// Writes the kernel whose items are tiles of c, each computed by a group. For every kDepth steps of k, the members
/// copy a slab of a and one of b to shared memory, then each accumulates its rows of the tile in registers. The next
/// slabs are loaded meanwhile.
class GroupWriter {
 public:
  GroupWriter(KernelWriter& writer, const GroupProduct& product)
      : product_(product),
        tile_(product.tile),
        writer_(writer),
        builder_(writer.builder()),
        a_{.operand = product.a, .width = group_rows(tile_), .shared = {}, .last = {}},
        b_{.operand = product.b, .width = tile_.columns(), .shared = {}, .last = {}} {
    builder_.set_group(kMembers);
    for (Slab* slab : {&a_, &b_}) slab->shared = builder_.shared(product.dtype, slab->shared_count());
    m_ = writer.param(product.m);
    n_ = writer.param(product.n);
    k_ = writer.param(product.k);
    row_blocks_ = writer.param(ceil_div(product.m, group_rows(tile_)));
    column_blocks_ = writer.param(ceil_div(product.n, tile_.columns()));
    batches_ = writer.param(product.batches);
    a_.last = m_ - index(1);
    b_.last = n_ - index(1);
    member_ = builder_.member();
    lanes_ = builder_.iota();
  }

  KernelStep write() {
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value rest = item / column_blocks_;
      const Value first_row = builder_.binary(Code::kRem, rest, row_blocks_) * index(group_rows(tile_));
      const Value first_column = builder_.binary(Code::kRem, item, column_blocks_) * index(tile_.columns());
      const Value batch = rest / row_blocks_;
      store(accumulate(batch, first_row, first_column), batch, first_row, first_column);
    });
    const SymInt k = product_.by_chain ? SymInt(kChain) : product_.k;
    const double products =
        static_cast<double>(group_rows(tile_) * tile_.columns()) * static_cast<double>(k.unguarded());
    return writer_.finish(product_.chains() * group_count(tile_, product_.batches, product_.m, product_.n),
                          products / kGroupProductsPerNanosecond);
  }

 private:
  Value index(int64_t value) { return builder_.index(value); }
  Value min(Value x, Value y) { return builder_.binary(Code::kMin, x, y); }
  size_t accumulators() const { return static_cast<size_t>(tile_.rows) * static_cast<size_t>(tile_.vectors); }
  static void append(Values& values, std::span<const Value> more) {
    values.insert(values.end(), more.begin(), more.end());
  }

  /// For each vector of a slab that this member loads, its place. Rows and columns past the end repeat the last one.
  /// Their sums are not stored.
  std::vector<Values> places(const Slab& slab, Value batch, Value first) {
    std::vector<Values> result;
    for (int64_t i = 0; i < slab.vectors(); ++i) {
      const Value at =
          slab.operand.is_along_k ? first + index(i * kMembers) + member_ : first + index(i * kLanes) + lanes_;
      result.push_back(slab.operand.place(batch, min(at, slab.last)));
    }
    return result;
  }

  /// Loads the slab that starts at step `k`. Steps past the end repeat the last one. They are not used.
  Values load(const Slab& slab, const std::vector<Values>& places, Value k) {
    const Value step = min(slab.operand.is_along_k ? k + lanes_ : k + member_, k_ - index(1));
    Values result;
    for (const Values& place : places) result.push_back(slab.operand.load(place, step));
    return result;
  }

  void share(const Slab& slab, std::span<const Value> vectors) {
    for (int64_t i = 0; i < slab.vectors(); ++i) {
      const Value at = slab.operand.is_along_k ? (member_ + index(i * kMembers)) * index(slab.shared_across())
                                               : member_ * index(slab.shared_step()) + index(i * kLanes);
      builder_.store(slab.shared, at, builder_.convert(vectors[static_cast<size_t>(i)], product_.dtype));
    }
  }

  Values accumulate(Value batch, Value first_row, Value first_column) {
    const Value matrix = product_.by_chain ? builder_.binary(Code::kRem, batch, batches_) : batch;
    const auto a_places = places(a_, matrix, first_row);
    const auto b_places = places(b_, matrix, first_column);
    const auto load_slabs = [&](Value k) {
      Values slabs = load(a_, a_places, k);
      append(slabs, load(b_, b_places, k));
      return slabs;
    };
    const size_t sums = accumulators(), a_vectors = a_places.size();
    const Values zeros(sums, builder_.splat(builder_.constant(product_.dtype, 0.0)));
    /// Continues with the slabs at hand, and returns the chain's sums and the slabs after it.
    const auto add_chain = [&](Value chain, std::span<const Value> slabs) {
      const Value last = min(chain + index(kChain), k_);
      Values initial = zeros;
      append(initial, slabs);
      return builder_.for_loop(chain, last, kDepth, initial, [&](Value k, std::span<const Value> now) {
        // All members have used the slabs before.
        builder_.barrier();
        share(a_, now.subspan(sums, a_vectors));
        share(b_, now.subspan(sums + a_vectors));
        builder_.barrier();
        const Values next = load_slabs(k + index(kDepth));
        Values result = multiply(now.first(sums), min(last - k, index(kDepth)));
        append(result, next);
        return result;
      });
    };
    Values totals;
    if (product_.by_chain) {
      const Value first = batch / batches_ * index(kChain);
      totals = add_chain(first, load_slabs(first));
    } else {
      Values carried = zeros;
      append(carried, load_slabs(index(0)));
      totals = builder_.for_loop(index(0), k_, kChain, carried, [&](Value chain, std::span<const Value> before) {
        Values after = add_chain(chain, before.subspan(sums));
        for (size_t i = 0; i < sums; ++i) after[i] = builder_.select(chain == index(0), after[i], before[i] + after[i]);
        return after;
      });
    }
    totals.resize(sums);
    return totals;
  }

  /// Multiplies the first `steps` steps of the slabs in shared memory.
  Values multiply(std::span<const Value> sums, Value steps) {
    const Value whole = steps & index(-kUnrolled);
    const Values most =
        builder_.for_loop(index(0), whole, kUnrolled, sums, [&](Value k, std::span<const Value> carried) {
          Values next(carried.begin(), carried.end());
          for (int64_t i = 0; i < kUnrolled; ++i) next = multiply_step(next, k + index(i));
          return next;
        });
    return builder_.for_loop(whole, steps, 1, most,
                             [&](Value k, std::span<const Value> carried) { return multiply_step(carried, k); });
  }

  Values multiply_step(std::span<const Value> sums, Value k) {
    Values columns, next;
    for (int j = 0; j < tile_.vectors; ++j) {
      const Value at = (index(int64_t{j} * kLanes) + lanes_) * index(b_.shared_across()) + k * index(b_.shared_step());
      columns.push_back(builder_.gather(b_.shared, at));
    }
    for (int i = 0; i < tile_.rows; ++i) {
      const Value row = member_ * index(tile_.rows) + index(i);
      const Value factor =
          builder_.splat(builder_.load(a_.shared, row * index(a_.shared_across()) + k * index(a_.shared_step())));
      for (Value column : columns) {
        const Value sum = sums[next.size()];
        next.push_back(is_float(product_.dtype) ? builder_.fma(factor, column, sum) : sum + factor * column);
      }
    }
    return next;
  }

  void store(const Values& totals, Value batch, Value first_row, Value first_column) {
    for (int i = 0; i < tile_.rows; ++i) {
      const Value row = first_row + member_ * index(tile_.rows) + index(i);
      builder_.if_then(row < m_, [&] {
        for (int j = 0; j < tile_.vectors; ++j) {
          const Value column = first_column + index(int64_t{j} * kLanes);
          const int vector = i * tile_.vectors + j;
          product_.store(batch, row, column, totals[static_cast<size_t>(vector)], builder_.lanes_below(n_ - column));
        }
      });
    }
  }

  const GroupProduct& product_;
  RegisterTile tile_;
  KernelWriter& writer_;
  Builder& builder_;
  Slab a_, b_;
  Value m_, n_, k_;
  Value row_blocks_, column_blocks_, batches_;
  Value member_, lanes_;
};

}  // namespace

std::string name_of(RegisterTile tile) {
  return "_" + std::to_string(group_rows(tile)) + "x" + std::to_string(tile.columns()) + "_shared";
}

SymInt group_count(RegisterTile tile, SymInt batches, SymInt m, SymInt n) {
  return batches * ceil_div(m, group_rows(tile)) * ceil_div(n, tile.columns());
}

RegisterTile choose_group_tile(Dtype dtype, SymInt batches, SymInt m, SymInt n) {
  // Slabs of f64 for the larger tiles do not fit in shared memory.
  static constexpr RegisterTile kTiles[] = {{8, 4}, {4, 4}, {2, 2}, {1, 1}};
  static constexpr RegisterTile kWideTiles[] = {{4, 2}, {2, 2}, {1, 1}};
  const bool is_wide = size_of(dtype) > sizeof(float);
  RegisterTile best;
  int64_t best_cost = std::numeric_limits<int64_t>::max();
  for (RegisterTile tile : is_wide ? std::span<const RegisterTile>(kWideTiles) : std::span(kTiles)) {
    const int64_t groups = group_count(tile, batches.unguarded(), m.unguarded(), n.unguarded());
    // A step of k loads a row's and a column's element for each of the accumulators' rows and columns. These loads from
    // shared memory take longer than the arithmetic.
    const int64_t cost = ceil_div(groups, kConcurrentGroups) * (tile.rows + tile.vectors + 1);
    if (cost < best_cost) {
      best = tile;
      best_cost = cost;
    }
  }
  return best;
}

KernelStep group_product_step(KernelWriter& writer, const GroupProduct& product) {
  return GroupWriter(writer, product).write();
}

}  // namespace lucid::contraction
