#include <bit>
#include <concepts>
#include <limits>
#include <span>
#include <string>

#include "loop/math.h"
#include "schedule/attention.h"
#include "schedule/group_product.h"

namespace lucid::attention {
namespace {

using contraction::group_rows;
using contraction::kConcurrentGroups;
using contraction::kMembers;
using contraction::RegisterTile;
using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;
using Values = std::vector<Value>;

/// Elements of a score's chain, or keys, whose operands are in shared memory at once. Divides kChain and kKeys.
constexpr int64_t kDepth = 16;
/// Steps that the innermost loops take at once.
constexpr int64_t kUnrolled = 2;
/// Vectors of scores of a query.
constexpr int kScoreVectors = kKeys / kLanes;
/// The distance of rows in shared memory. An odd distance avoids bank conflicts.
constexpr int64_t kDistance = kDepth + 1;
/// The most vectors of sums that a member may have in registers.
constexpr int kMaxSums = 16;
/// Multiplications of a group per nanosecond.
constexpr double kGpuAttentionProductsPerNanosecond = 40;

// Sizes of the shared buffers: a slab of queries, later of weights, and a slab of keys, later of values.
int64_t row_count(RegisterTile tile) { return group_rows(tile) * kDistance; }
int64_t column_count(RegisterTile tile) { return std::max(kKeys * kDistance, kDepth * tile.columns()); }

/// Writes the kernel whose items are tiles of queries, each computed by a group. For every kKeys keys, the scores are a
/// matrix product, with lanes along keys. The weights are multiplied by the values with lanes along columns. Operands
/// are copied to shared memory kDepth elements or keys at a time; the next ones are loaded meanwhile.
class GroupWriter {
 public:
  GroupWriter(const Problem& problem, RegisterTile tile)
      : problem_(problem),
        tile_(tile),
        dtype_(compute_dtype(problem.out.dtype)),
        writer_(problem.name() + contraction::name_of(tile)),
        builder_(writer_.builder()),
        arguments_(writer_, problem, group_rows(tile)) {
    builder_.set_group(kMembers);
    row_slab_ = builder_.shared(dtype_, row_count(tile));
    column_slab_ = builder_.shared(dtype_, column_count(tile));
    member_ = builder_.member();
    lanes_ = builder_.iota();
    row_start_ = member_ * index(tile.rows * kDistance);
    lane_start_ = lanes_ * index(kDistance);
  }

  KernelStep write() {
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value first = builder_.binary(Code::kRem, item, arguments_.tiles) * index(group_rows(tile_));
      const Value each = item / arguments_.tiles;
      write_tile(each / arguments_.heads, builder_.binary(Code::kRem, each, arguments_.heads), first);
    });
    const int64_t widths = problem_.width().unguarded() + tile_.columns();
    const auto work = static_cast<double>(problem_.keys().unguarded() * widths * group_rows(tile_));
    return writer_.finish(problem_.batches() * problem_.heads() * tile_count(),
                          100 + work / kGpuAttentionProductsPerNanosecond * (problem_.causal ? 0.5 : 1));
  }

 private:
  /// The running state of the softmax of a member's queries, after some blocks of keys.
  struct State {
    Values largest;  // scores
    Values totals;   // of weights
    Values sums;     // of weighted values: vectors, row by row

    Values all() const {
      Values values = largest;
      append(values, totals);
      append(values, sums);
      return values;
    }
  };

  SymInt tile_count() const { return ceil_div(problem_.queries(), group_rows(tile_)); }
  size_t rows() const { return static_cast<size_t>(tile_.rows); }
  size_t vectors() const { return static_cast<size_t>(tile_.vectors); }
  bool has_bools() const { return problem_.mask && is_bool(problem_.mask->dtype); }
  bool has_numbers() const { return problem_.mask && !has_bools(); }

  Value index(std::integral auto value) { return builder_.index(static_cast<int64_t>(value)); }
  Value min(Value x, Value y) { return builder_.binary(Code::kMin, x, y); }
  Value number(double value) { return builder_.constant(dtype_, value); }
  Value vector(double value) { return builder_.splat(number(value)); }
  static void append(Values& values, std::span<const Value> more) {
    values.insert(values.end(), more.begin(), more.end());
  }
  static Values part(std::span<const Value> values, size_t first, size_t count) {
    const auto found = values.subspan(first, count);
    return {found.begin(), found.end()};
  }
  State state_of(std::span<const Value> values) const {
    return {.largest = part(values, 0, rows()),
            .totals = part(values, rows(), rows()),
            .sums = part(values, 2 * rows(), rows() * vectors())};
  }

  /// The index among the tile's queries of row i of this member.
  Value row(size_t i) { return member_ * index(tile_.rows) + index(i); }

  void write_tile(Value batch, Value head, Value first) {
    q_rows_ =
        row_starts(arguments_.q_strides, arguments_.q_strides.head(batch, head), first, arguments_.queries, rows());
    k_start_ = arguments_.k_strides.head(batch, head);
    v_start_ = arguments_.v_strides.head(batch, head);
    // Queries past the end repeat the last one and are not stored.
    queries_of_rows_.clear();
    mask_rows_.clear();
    for (size_t i = 0; i < rows(); ++i) {
      queries_of_rows_.push_back(min(first + row(i), arguments_.queries - index(1)));
      if (problem_.mask)
        mask_rows_.push_back(arguments_.mask_strides.head(batch, head) +
                             queries_of_rows_[i] * arguments_.mask_strides.row());
    }
    State state{.largest = Values(rows(), number(-std::numeric_limits<double>::infinity())),
                .totals = Values(rows(), number(0)),
                .sums = Values(rows() * vectors(), vector(0))};
    // Keys that the last query of the tile does not attend to are not attended to by any other. All queries attend to
    // the keys of blocks before `whole`.
    const Value last = problem_.causal ? min(arguments_.keys, first + index(group_rows(tile_))) : arguments_.keys;
    const Value whole = has_bools() ? index(0) : problem_.causal ? min(last, (first + index(1)) & index(-kKeys)) : last;
    if (!has_bools()) state = add_blocks(state, index(0), whole, last, false);
    if (has_bools() || problem_.causal) state = add_blocks(state, whole, last, last, true);
    store_results(state, (batch * arguments_.heads + head) * arguments_.queries, first);
  }

  /// Adds blocks of keys that start in [lo, hi) and end at `last`. With `masked`, some queries do not attend to all
  /// keys.
  State add_blocks(const State& before, Value lo, Value hi, Value last, bool masked) {
    return state_of(builder_.for_loop(lo, hi, kKeys, before.all(), [&](Value start, std::span<const Value> now) {
      return add_block(state_of(now), start, min(last - start, index(kKeys)), masked).all();
    }));
  }

  State add_block(const State& before, Value start, Value count, bool masked) {
    const Values block_scores = scores(start);
    State after{.largest = largest(block_scores, before.largest, start, masked), .totals = {}, .sums = {}};
    Values bases;
    for (const Value score : after.largest) bases.push_back(base_of(score));
    const Values block = weighted_sums(block_scores, bases, start, count, masked);
    const size_t sums = rows() * vectors();
    for (size_t i = 0; i < rows(); ++i) {
      const Value factor = loop::exp(before.largest[i] - bases[i]);
      // A block of excluded keys changes nothing.
      const auto rescale = [&](Value old, Value added) {
        const Value total = builder_.fma(old, old.is_vector() ? builder_.splat(factor) : factor, added);
        return masked ? builder_.select(block[sums + rows() + i], total, old) : total;
      };
      after.totals.push_back(rescale(before.totals[i], block[sums + i]));
      for (size_t c = 0; c < vectors(); ++c) {
        const size_t at = i * vectors() + c;
        after.sums.push_back(rescale(before.sums[at], block[at]));
      }
    }
    return after;
  }

  /// For each of `count` rows of q or k that this member copies, the part of the index that does not depend on the
  /// column. Rows past the end repeat the last one.
  Values row_starts(const Strides& strides, Value base, Value first, Value end, size_t count) {
    Values starts;
    for (size_t i = 0; i < count; ++i)
      starts.push_back(base + min(first + index(i * kMembers) + member_, end - index(1)) * strides.row());
    return starts;
  }

  Values load_elements(BufferRef source, const Strides& strides, const Values& starts, Value first) {
    const Value column = min(first + lanes_, arguments_.width - index(1)) * strides.column();
    Values loaded;
    for (const Value start : starts) loaded.push_back(builder_.gather(source, start + column));
    return loaded;
  }

  /// Copies rows of q or k to shared memory. Elements past the end become `padding`.
  void share_elements(BufferRef slab, std::span<const Value> loaded, Value exists, double padding) {
    for (size_t i = 0; i < loaded.size(); ++i) {
      const Value element = builder_.select(exists, builder_.convert(loaded[i], dtype_), vector(padding));
      builder_.store(slab, (index(i * kMembers) + member_) * index(kDistance), element);
    }
  }

  /// The scores of the keys from `start` on: kScoreVectors vectors for each row.
  Values scores(Value start) {
    const Values k_rows = row_starts(arguments_.k_strides, k_start_, start, arguments_.keys, kScoreVectors);
    Values scores;
    if (problem_.width() <= kChain) {
      scores = chain(k_rows, index(0), arguments_.width);
    } else {
      // Adding to -0 leaves the first block's sums unchanged.
      const Values none(rows() * kScoreVectors, vector(-0.0));
      scores = builder_.for_loop(index(0), arguments_.width, kChain, none, [&](Value e, std::span<const Value> totals) {
        Values sums = chain(k_rows, e, min(e + index(kChain), arguments_.width));
        for (size_t i = 0; i < sums.size(); ++i) sums[i] = totals[i] + sums[i];
        return sums;
      });
    }
    for (size_t at = 0; at < scores.size(); ++at) {
      scores[at] = scores[at] * arguments_.scale;
      if (!has_numbers()) continue;
      const Value key = start + index(at % kScoreVectors * kLanes) + lanes_;
      scores[at] = scores[at] + builder_.convert(mask_elements(at / kScoreVectors, key), dtype_);
    }
    return scores;
  }

  /// The chains of products over elements [lo, hi) of queries and keys.
  Values chain(const Values& k_rows, Value lo, Value hi) {
    const size_t sums = rows() * kScoreVectors;
    const auto load = [&](Value e) {
      Values loaded = load_elements(arguments_.q, arguments_.q_strides, q_rows_, e);
      append(loaded, load_elements(arguments_.k, arguments_.k_strides, k_rows, e));
      return loaded;
    };
    Values initial(sums, vector(0));
    append(initial, load(lo));
    Values result = builder_.for_loop(lo, hi, kDepth, initial, [&](Value e, std::span<const Value> now) {
      builder_.barrier();
      const Value exists = builder_.lanes_below(arguments_.width - e);
      // Padding adds -0 * 0 = -0, which leaves any sum unchanged.
      share_elements(row_slab_, now.subspan(sums, rows()), exists, -0.0);
      share_elements(column_slab_, now.subspan(sums + rows()), exists, 0);
      builder_.barrier();
      const Values next = load(e + index(kDepth));
      Values products = for_each_step(part(now, 0, sums), [&](Value step, std::span<const Value> carried) {
        Values keys, added;
        for (int v = 0; v < kScoreVectors; ++v)
          keys.push_back(builder_.gather(column_slab_, lane_start_ + step + index(v * kLanes * kDistance)));
        for (size_t i = 0; i < rows(); ++i) {
          const Value query = builder_.splat(load_row(i, step));
          for (const Value key : keys) added.push_back(builder_.fma(query, key, carried[added.size()]));
        }
        return added;
      });
      append(products, next);
      return products;
    });
    result.resize(sums);
    return result;
  }

  /// Where row i of this member's queries or weights starts in shared memory, plus `step`.
  Value row_index(size_t i, Value step) { return row_start_ + step + index(i * kDistance); }
  Value load_row(size_t i, Value step) { return builder_.load(row_slab_, row_index(i, step)); }

  /// Takes the kDepth steps of the slabs in shared memory.
  Values for_each_step(const Values& initial, const Builder::LoopBody& body) {
    return builder_.for_loop(index(0), index(kDepth), kUnrolled, initial,
                             [&](Value step, std::span<const Value> carried) {
                               Values next(carried.begin(), carried.end());
                               for (int64_t i = 0; i < kUnrolled; ++i) next = body(step + index(i), next);
                               return next;
                             });
  }

  Value mask_elements(size_t i, Value key) {
    return builder_.gather(arguments_.mask,
                           mask_rows_[i] + min(key, arguments_.keys - index(1)) * arguments_.mask_strides.column());
  }

  /// Which of the keys from `first` on exist and, with `masked`, are attended to by the query of row i.
  Value allowed(size_t i, Value first, bool masked) {
    const Value key = first + lanes_;
    Value result = key < arguments_.keys;
    if (masked && problem_.causal) result = result & (key <= queries_of_rows_[i]);
    if (masked && has_bools()) result = result & mask_elements(i, key);
    return result;
  }

  /// The larger of a score and the largest before it. NaN wins.
  Value larger(Value score, Value before, Value condition = {}) {
    const Value wins = (score > before) | (score != score);
    return builder_.select(condition ? wins & condition : wins, score, before);
  }

  /// The largest scores so far: first in each lane, then across lanes by way of shared memory. The order matters only
  /// for the sign of 0 and for NaNs, neither of which affects results.
  Values largest(const Values& scores, const Values& before, Value start, bool masked) {
    builder_.barrier();
    for (size_t i = 0; i < rows(); ++i) {
      Value found = builder_.splat(before[i]);
      for (size_t v = 0; v < kScoreVectors; ++v)
        found = larger(scores[i * kScoreVectors + v], found, allowed(i, start + index(v * kLanes), masked));
      builder_.store(row_slab_, row_index(i, index(0)), found);
    }
    builder_.barrier();
    return builder_.for_loop(index(0), index(kLanes), 1, before, [&](Value lane, std::span<const Value> found) {
      Values next;
      for (size_t i = 0; i < rows(); ++i) next.push_back(larger(load_row(i, lane), found[i]));
      return next;
    });
  }

  /// The chains of weights times values over the block's keys, then the sums of the rows' weights and, with `masked`,
  /// whether the queries of the rows attend to any of the keys.
  Values weighted_sums(const Values& scores, const Values& bases, Value start, Value count, bool masked) {
    const size_t sums = rows() * vectors();
    Values initial(sums, vector(0));
    append(initial, Values(rows(), number(0)));
    if (masked) append(initial, Values(rows(), builder_.constant(Dtype::kBool, 0)));
    const size_t carried = initial.size();
    append(initial, load_values(start));
    Values result = builder_.for_loop(index(0), count, kDepth, initial, [&](Value first, std::span<const Value> now) {
      builder_.barrier();
      share_weights(scores, bases, start, first, masked);
      share_values(now.subspan(carried), start + first);
      builder_.barrier();
      const Values next = load_values(start + first + index(kDepth));
      Values added = for_each_step(part(now, 0, carried), [&](Value step, std::span<const Value> before) {
        return add_key(step, before, masked);
      });
      append(added, next);
      return added;
    });
    result.resize(carried);
    return result;
  }

  /// Stores the weights of the block's keys from `first` on. Those of excluded keys are negative. Those of keys past
  /// the end are -0 without `masked`: the product with a value of 0 leaves any sum unchanged.
  void share_weights(const Values& scores, const Values& bases, Value start, Value first, bool masked) {
    for (size_t i = 0; i < rows(); ++i) {
      Value score = scores[i * kScoreVectors];
      for (size_t v = 1; v < kScoreVectors; ++v)
        score = builder_.select(first == index(v * kLanes), scores[i * kScoreVectors + v], score);
      const Value weight =
          builder_.select(allowed(i, start + first, masked), loop::exp(score - bases[i]), vector(masked ? -1.0 : -0.0));
      builder_.store(row_slab_, row_index(i, index(0)), weight);
    }
  }

  /// Loads this member's row of the values of the keys from `first` on.
  Values load_values(Value first) {
    const Value start = v_start_ + min(first + member_, arguments_.keys - index(1)) * arguments_.v_strides.row();
    Values loaded;
    for (size_t c = 0; c < vectors(); ++c) {
      const Value column = min(index(c * kLanes) + lanes_, arguments_.value_width - index(1));
      loaded.push_back(builder_.gather(arguments_.v, start + column * arguments_.v_strides.column()));
    }
    return loaded;
  }

  void share_values(std::span<const Value> loaded, Value first) {
    const Value exists = first + member_ < arguments_.keys;
    for (size_t c = 0; c < vectors(); ++c) {
      const Value value = builder_.select(exists, builder_.convert(loaded[c], dtype_), vector(0));
      builder_.store(column_slab_, member_ * index(tile_.columns()) + index(c * kLanes), value);
    }
  }

  /// Adds one key of the slabs to the sums of weighted_sums.
  Values add_key(Value step, std::span<const Value> before, bool masked) {
    Values values, sums, totals, touched;
    for (size_t c = 0; c < vectors(); ++c)
      values.push_back(builder_.load_vector(column_slab_, step * index(tile_.columns()) + index(c * kLanes)));
    for (size_t i = 0; i < rows(); ++i) {
      const Value weight = load_row(i, step);
      const Value excluded = masked ? weight < number(0) : Value();
      const auto unless_excluded = [&](Value after, Value old) {
        return masked ? builder_.select(excluded, old, after) : after;
      };
      for (const Value value : values) {
        const Value old = before[sums.size()];
        sums.push_back(unless_excluded(builder_.fma(builder_.splat(weight), value, old), old));
      }
      const Value total = before[rows() * vectors() + i];
      totals.push_back(unless_excluded(total + weight, total));
      if (masked) touched.push_back(before[rows() * vectors() + rows() + i] | ~excluded);
    }
    append(sums, totals);
    append(sums, touched);
    return sums;
  }

  /// `head` is the index of the head's first query among all queries.
  void store_results(const State& state, Value head, Value first) {
    for (size_t i = 0; i < rows(); ++i) {
      const Value query = first + row(i);
      builder_.if_then(query < arguments_.queries, [&] {
        const Value total = state.totals[i];
        builder_.store(arguments_.logsumexp, head + query, base_of(state.largest[i]) + loop::log(total));
        for (size_t c = 0; c < vectors(); ++c) {
          const Value mean =
              builder_.select(total == number(0), vector(0), state.sums[i * vectors() + c] / builder_.splat(total));
          builder_.store(arguments_.out, (head + query) * arguments_.value_width + index(c * kLanes),
                         builder_.convert(mean, problem_.out.dtype),
                         builder_.lanes_below(arguments_.value_width - index(c * kLanes)));
        }
      });
    }
  }

  const Problem& problem_;
  RegisterTile tile_;
  Dtype dtype_;
  KernelWriter writer_;
  Builder& builder_;
  Arguments arguments_;
  BufferRef row_slab_, column_slab_;
  Value member_, lanes_;
  // The part of indices of the slabs that depends on the member and on the lane.
  Value row_start_, lane_start_;

  // State of the current tile.
  Value k_start_, v_start_;
  Values q_rows_, mask_rows_;  // where rows start
  Values queries_of_rows_;
};

}  // namespace

std::optional<RegisterTile> choose_group_tile(const Problem& problem) {
  if (problem.width() == 0 || problem.value_width() == 0) return std::nullopt;
  const auto vectors = static_cast<int>(rounded_width(problem.value_width()) / kLanes);
  const auto size = static_cast<int64_t>(size_of(compute_dtype(problem.out.dtype)));
  std::optional<RegisterTile> best;
  int64_t best_cost = std::numeric_limits<int64_t>::max();
  for (const int rows : {4, 2, 1}) {
    const RegisterTile tile{rows, vectors};
    const int64_t bytes = (row_count(tile) + column_count(tile)) * size;
    if (rows * vectors > kMaxSums || bytes > static_cast<int64_t>(loop::kMaxSharedBytes)) continue;
    const int64_t groups = problem.batches().unguarded() * problem.heads().unguarded() *
                           ceil_div(problem.queries().unguarded(), group_rows(tile));
    // Loads from shared memory for a step of a score's chain and for a key. They take longer than the arithmetic.
    const int64_t cost = ceil_div(groups, kConcurrentGroups) * (2 * rows + kScoreVectors + vectors);
    if (cost < best_cost) {
      best = tile;
      best_cost = cost;
    }
  }
  return best;
}

KernelStep group_step(const Problem& problem, RegisterTile tile) { return GroupWriter(problem, tile).write(); }

}  // namespace lucid::attention
