#include "schedule/attention.h"

#include <bit>
#include <functional>
#include <limits>
#include <string>

#include "ir/node_call.h"
#include "loop/math.h"
#include "schedule/kernels.h"

// Attention, in the order of docs/decisions/0005-attention.md. The lanes of a vector are queries. Keys and values are
// loaded one element at a time and broadcast to all queries, so no sum runs across lanes.
namespace lucid {
namespace attention {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

constexpr double kAttentionProductsPerNanosecond = 30;

/// The parts that are in registers at once.
struct Shape {
  int vectors = 1;  // of queries
  int keys = 4;     // whose scores are accumulated together
  int columns = 4;  // of values that are accumulated together
  int64_t queries() const { return static_cast<int64_t>(vectors) * kLanes; }
};

Shape choose_shape(const Problem& problem, const Registers& registers) {
  const bool wide = registers.bytes == 64;
  if (!wide) return {.vectors = 1, .keys = 4, .columns = 4};
  const bool two = compute_dtype(problem.out.dtype) == Dtype::kF32 && problem.queries().unguarded() > kLanes;
  return {.vectors = two ? 2 : 1, .keys = 8, .columns = 8};
}

class AttentionWriter {
 public:
  AttentionWriter(const Problem& problem, const Shape& shape)
      : problem_(problem),
        shape_(shape),
        dtype_(compute_dtype(problem.out.dtype)),
        writer_(problem.name()),
        builder_(writer_.builder()),
        arguments_(writer_, problem, shape.queries()),
        query_scratch_(builder_.scratch(dtype_, rounded_width(problem.width()) * shape.queries())),
        scores_(builder_.scratch(dtype_, kKeys * shape.queries())),
        sums_(builder_.scratch(dtype_, rounded_width(problem.value_width()) * shape.queries())),
        state_(builder_.scratch(dtype_, 3 * shape.queries())),
        allowed_(builder_.scratch(Dtype::kBool, kKeys * shape.queries())) {}

  KernelStep write() {
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value tile = builder_.binary(Code::kRem, item, arguments_.tiles);
      const Value each = item / arguments_.tiles;
      write_tile(each / arguments_.heads, builder_.binary(Code::kRem, each, arguments_.heads),
                 tile * index(shape_.queries()));
    });
    const SymInt items = problem_.batches() * problem_.heads() * tile_count();
    const int64_t widths = problem_.width().unguarded() + problem_.value_width().unguarded() + 16;
    const auto work = static_cast<double>(problem_.keys().unguarded() * widths * shape_.queries());
    return writer_.finish(items, 100 + work / kAttentionProductsPerNanosecond * (problem_.causal ? 0.5 : 1));
  }

 private:
  SymInt tile_count() const { return ceil_div(problem_.queries(), shape_.queries()); }

  Value index(int64_t i) { return builder_.index(i); }
  Value min(Value x, Value y) { return builder_.binary(Code::kMin, x, y); }
  Value number(double value) { return builder_.splat(builder_.constant(dtype_, value)); }
  /// The offset of vector v of row `row` in a scratch buffer.
  Value offset(Value row, int v) { return row * index(shape_.queries()) + index(v * kLanes); }
  Value load_row(BufferRef scratch, Value row, int v) { return builder_.load_vector(scratch, offset(row, v)); }
  void store_row(BufferRef scratch, Value row, int v, Value value) { builder_.store(scratch, offset(row, v), value); }
  std::vector<Value> for_each_vector(const std::function<Value(int v)>& f) {
    std::vector<Value> values;
    for (int v = 0; v < shape_.vectors; ++v) values.push_back(f(v));
    return values;
  }

  // Rows of state_: the largest score so far, the sum of the weights, and the factor that rescales the sums for the
  // current block.
  static constexpr int64_t kLargest = 0;
  static constexpr int64_t kTotal = 1;
  static constexpr int64_t kFactor = 2;

  void write_tile(Value batch, Value head, Value first) {
    first_ = first;
    k_start_ = arguments_.k_strides.head(batch, head);
    v_start_ = arguments_.v_strides.head(batch, head);
    mask_start_ = arguments_.mask_strides.head(batch, head);
    // Lanes past the last query repeat it and are not stored.
    rows_ = for_each_vector([&](int v) {
      const Value row = builder_.splat(first + index(v * kLanes)) + builder_.iota();
      return builder_.binary(Code::kMin, row, builder_.splat(arguments_.queries - index(1)));
    });
    const Value zero = index(0);
    const Value q_start = arguments_.q_strides.head(batch, head);
    builder_.for_loop(zero, arguments_.width, 1, [&](Value e) {
      for (int v = 0; v < shape_.vectors; ++v) {
        const Value at =
            rows_[static_cast<size_t>(v)] * arguments_.q_strides.row() + (q_start + e * arguments_.q_strides.column());
        store_row(query_scratch_, e, v, builder_.convert(builder_.gather(arguments_.q, at), dtype_));
      }
    });
    for (int v = 0; v < shape_.vectors; ++v) {
      store_row(state_, index(kLargest), v, number(-std::numeric_limits<double>::infinity()));
      store_row(state_, index(kTotal), v, number(0));
    }
    builder_.for_loop(zero, arguments_.value_width, 1, [&](Value d) {
      for (int v = 0; v < shape_.vectors; ++v) store_row(sums_, d, v, number(0));
    });
    // Keys that the last query of the tile does not attend to are not attended to by any other.
    const Value last = problem_.causal ? min(arguments_.keys, first + index(shape_.queries())) : arguments_.keys;
    builder_.for_loop(zero, last, kKeys, [&](Value start) {
      const Value count = min(last - start, index(kKeys));
      write_scores(start, count);
      if (problem_.mask) {
        add_block(start, count, true);
      } else if (problem_.causal) {
        builder_.if_then(
            start + count <= first + index(1), [&] { add_block(start, count, false); },
            [&] { add_block(start, count, true); });
      } else {
        add_block(start, count, false);
      }
    });
    store_results((batch * arguments_.heads + head) * arguments_.queries + first);
  }

  /// Calls f with the first of `step` rows at a time, then with the remaining rows one by one.
  void for_each_block(Value count, int step, const std::function<void(Value first, int rows)>& f) {
    const Value whole = count / index(step) * index(step);
    builder_.for_loop(index(0), whole, step, [&](Value i) { f(i, step); });
    if (step > 1) builder_.for_loop(whole, count, 1, [&](Value i) { f(i, 1); });
  }

  /// The chains of products over elements [lo, hi) of queries and keys, for `rows` keys.
  std::vector<Value> chain(Value key_start, int rows, Value lo, Value hi) {
    const std::vector<Value> zeros(static_cast<size_t>(rows * shape_.vectors), number(0));
    return builder_.for_loop(lo, hi, 1, zeros, [&](Value e, std::span<const Value> sums) {
      const auto query = for_each_vector([&](int v) { return load_row(query_scratch_, e, v); });
      const Value column = key_start + e * arguments_.k_strides.column();
      std::vector<Value> next;
      for (int i = 0; i < rows; ++i) {
        const Value element = builder_.load(arguments_.k, column + arguments_.k_strides.row() * index(i));
        const Value key = builder_.splat(builder_.convert(element, dtype_));
        for (int v = 0; v < shape_.vectors; ++v)
          next.push_back(builder_.fma(query[static_cast<size_t>(v)], key, sums[next.size()]));
      }
      return next;
    });
  }

  void write_scores(Value start, Value count) {
    for_each_block(count, shape_.keys, [&](Value first, int rows) {
      const Value key_start = k_start_ + (start + first) * arguments_.k_strides.row();
      std::vector<Value> scores;
      if (problem_.width() <= kChain) {
        scores = chain(key_start, rows, index(0), arguments_.width);
      } else {
        // Adding to -0 leaves the first block's sums unchanged.
        const std::vector<Value> none(static_cast<size_t>(rows * shape_.vectors), number(-0.0));
        scores =
            builder_.for_loop(index(0), arguments_.width, kChain, none, [&](Value e, std::span<const Value> totals) {
              std::vector<Value> sums = chain(key_start, rows, e, min(e + index(kChain), arguments_.width));
              for (size_t i = 0; i < sums.size(); ++i) sums[i] = totals[i] + sums[i];
              return sums;
            });
      }
      for (int i = 0; i < rows; ++i)
        for (int v = 0; v < shape_.vectors; ++v) {
          const int vector = i * shape_.vectors + v;
          store_row(scores_, first + index(i), v, scores[static_cast<size_t>(vector)] * arguments_.scale);
        }
    });
  }

  /// Stores which queries attend to each key, and adds a mask of numbers to the scores.
  void write_allowed(Value start, Value count) {
    builder_.for_loop(index(0), count, 1, [&](Value j) {
      const Value key = start + j;
      for (int v = 0; v < shape_.vectors; ++v) {
        const Value row = rows_[static_cast<size_t>(v)];
        Value allowed = builder_.splat(builder_.constant(Dtype::kBool, int64_t{1}));
        if (problem_.causal) allowed = builder_.splat(key) <= row;
        if (problem_.mask) {
          const Value element = mask_element(row, key);
          if (is_bool(element.dtype())) {
            allowed = allowed & element;
          } else {
            store_row(scores_, j, v, load_row(scores_, j, v) + builder_.convert(element, dtype_));
          }
        }
        store_row(allowed_, j, v, allowed);
      }
    });
  }

  Value mask_element(Value row, Value key) {
    const Value start = mask_start_ + key * arguments_.mask_strides.column();
    // A mask that is the same for all queries is loaded once.
    if (problem_.mask->geometry.strides[2] == 0) return builder_.splat(builder_.load(arguments_.mask, start));
    return builder_.gather(arguments_.mask, row * arguments_.mask_strides.row() + start);
  }

  /// Adds a block of keys to the running maximum, total and sums. With `masked`, some queries do not attend to all
  /// keys.
  void add_block(Value start, Value count, bool masked) {
    if (masked) write_allowed(start, count);
    const auto vectors = static_cast<size_t>(shape_.vectors);
    const auto before = for_each_vector([&](int v) { return load_row(state_, index(kLargest), v); });
    std::vector<Value> initial = before;
    if (masked)
      for (size_t v = 0; v < vectors; ++v)
        initial.push_back(builder_.splat(builder_.constant(Dtype::kBool, int64_t{0})));
    const auto found = builder_.for_loop(index(0), count, 1, initial, [&](Value j, std::span<const Value> current) {
      std::vector<Value> next(current.begin(), current.end());
      for (size_t v = 0; v < vectors; ++v) {
        const Value score = load_row(scores_, j, static_cast<int>(v));
        Value larger = (score > current[v]) | (score != score);
        if (masked) {
          const Value allowed = load_row(allowed_, j, static_cast<int>(v));
          larger = larger & allowed;
          next[vectors + v] = current[vectors + v] | allowed;
        }
        next[v] = builder_.select(larger, score, current[v]);
      }
      return next;
    });
    std::vector<Value> bases;
    std::vector<Value> factors;
    for (int v = 0; v < shape_.vectors; ++v) {
      const Value largest = found[static_cast<size_t>(v)];
      bases.push_back(base_of(largest));
      factors.push_back(loop::exp(before[static_cast<size_t>(v)] - bases.back()));
      store_row(state_, index(kLargest), v, largest);
      store_row(state_, index(kFactor), v, factors.back());
    }
    const auto touched = [&](int v) { return found[vectors + static_cast<size_t>(v)]; };
    const auto totals = write_weights(count, bases, masked);
    for (int v = 0; v < shape_.vectors; ++v) {
      const Value old = load_row(state_, index(kTotal), v);
      const Value total = builder_.fma(old, factors[static_cast<size_t>(v)], totals[static_cast<size_t>(v)]);
      store_row(state_, index(kTotal), v, masked ? builder_.select(touched(v), total, old) : total);
    }
    for_each_block(arguments_.value_width, shape_.columns, [&](Value d, int columns) {
      const std::vector<Value> sums = weighted_sums(start, count, d, columns, masked);
      for (int i = 0; i < columns; ++i)
        for (int v = 0; v < shape_.vectors; ++v) {
          const Value old = load_row(sums_, d + index(i), v);
          const int vector = i * shape_.vectors + v;
          const Value sum = sums[static_cast<size_t>(vector)];
          const Value total = builder_.fma(old, load_row(state_, index(kFactor), v), sum);
          store_row(sums_, d + index(i), v, masked ? builder_.select(touched(v), total, old) : total);
        }
    });
  }

  /// Replaces the block's scores by their weights; returns the sums of the weights.
  std::vector<Value> write_weights(Value count, const std::vector<Value>& bases, bool masked) {
    const std::vector<Value> zeros(static_cast<size_t>(shape_.vectors), number(0));
    return builder_.for_loop(index(0), count, 1, zeros, [&](Value j, std::span<const Value> current) {
      std::vector<Value> next;
      for (int v = 0; v < shape_.vectors; ++v) {
        const auto at = static_cast<size_t>(v);
        const Value weight = loop::exp(load_row(scores_, j, v) - bases[at]);
        store_row(scores_, j, v, weight);
        const Value sum = current[at] + weight;
        next.push_back(masked ? builder_.select(load_row(allowed_, j, v), sum, current[at]) : sum);
      }
      return next;
    });
  }

  /// The chains of weights times values over the block's keys, for `columns` columns of the values.
  std::vector<Value> weighted_sums(Value start, Value count, Value column, int columns, bool masked) {
    const std::vector<Value> zeros(static_cast<size_t>(columns * shape_.vectors), number(0));
    const Value first = v_start_ + start * arguments_.v_strides.row() + column * arguments_.v_strides.column();
    return builder_.for_loop(index(0), count, 1, zeros, [&](Value j, std::span<const Value> sums) {
      const auto weights = for_each_vector([&](int v) { return load_row(scores_, j, v); });
      const auto allowed = for_each_vector([&](int v) { return masked ? load_row(allowed_, j, v) : Value(); });
      const Value row = first + j * arguments_.v_strides.row();
      std::vector<Value> next;
      for (int i = 0; i < columns; ++i) {
        const Value element = builder_.load(arguments_.v, row + arguments_.v_strides.column() * index(i));
        const Value value = builder_.splat(builder_.convert(element, dtype_));
        for (int v = 0; v < shape_.vectors; ++v) {
          const Value sum = sums[next.size()];
          const Value next_sum = builder_.fma(weights[static_cast<size_t>(v)], value, sum);
          next.push_back(masked ? builder_.select(allowed[static_cast<size_t>(v)], next_sum, sum) : next_sum);
        }
      }
      return next;
    });
  }

  /// `row` is the index of the tile's first query among all queries.
  void store_results(Value row) {
    std::vector<Value> exists;
    std::vector<Value> addresses;
    for (int v = 0; v < shape_.vectors; ++v) {
      const Value total = load_row(state_, index(kTotal), v);
      const Value base = base_of(load_row(state_, index(kLargest), v));
      exists.push_back(builder_.lanes_below(arguments_.queries - first_ - index(v * kLanes)));
      const Value at = row + index(v * kLanes);
      builder_.store(arguments_.logsumexp, at, base + loop::log(total), exists.back());
      addresses.push_back((builder_.splat(at) + builder_.iota()) * arguments_.value_width);
    }
    builder_.for_loop(index(0), arguments_.value_width, 1, [&](Value d) {
      for (int v = 0; v < shape_.vectors; ++v) {
        const Value total = load_row(state_, index(kTotal), v);
        const Value mean = builder_.select(total == number(0), number(0), load_row(sums_, d, v) / total);
        builder_.scatter(arguments_.out, addresses[static_cast<size_t>(v)] + d,
                         builder_.convert(mean, problem_.out.dtype), exists[static_cast<size_t>(v)]);
      }
    });
  }

  const Problem& problem_;
  const Shape& shape_;
  Dtype dtype_;

  KernelWriter writer_;
  Builder& builder_;
  Arguments arguments_;
  // Scratch with one row of the tile's queries for each element of the queries, each key, or each element of the
  // results.
  BufferRef query_scratch_;
  BufferRef scores_;
  BufferRef sums_;
  BufferRef state_;
  BufferRef allowed_;

  // State of the current tile.
  Value first_;
  Value k_start_;
  Value v_start_;
  Value mask_start_;
  std::vector<Value> rows_;
};

}  // namespace

Arguments::Arguments(KernelWriter& writer, const Problem& problem, int64_t queries_per_tile)
    : q(writer.value(problem.q)),
      k(writer.value(problem.k)),
      v(writer.value(problem.v)),
      mask(problem.mask ? writer.value(*problem.mask) : q),
      out(writer.value(problem.out)),
      logsumexp(writer.value(problem.logsumexp)),
      q_strides(writer, problem.q),
      k_strides(writer, problem.k),
      v_strides(writer, problem.v),
      mask_strides(writer, problem.mask ? *problem.mask : problem.q),
      heads(writer.param(problem.heads())),
      queries(writer.param(problem.queries())),
      keys(writer.param(problem.keys())),
      width(writer.param(problem.width())),
      value_width(writer.param(problem.value_width())),
      tiles(writer.param(ceil_div(problem.queries(), queries_per_tile))) {
  Builder& builder = writer.builder();
  const Value number = builder.bitcast(writer.param(std::bit_cast<int64_t>(problem.scale)), Dtype::kF64);
  scale = builder.convert(number, compute_dtype(problem.out.dtype));
}

Value base_of(Value largest) {
  Builder& builder = largest.builder();
  const Value none = builder.like(largest, -std::numeric_limits<double>::infinity());
  return builder.select(largest == none, builder.like(largest, 0), largest);
}

std::string Problem::name() const {
  std::string name = "attention_" + std::string(name_of(out.dtype));
  if (causal) name += "_causal";
  if (mask) name += "_masked";
  return name;
}

}  // namespace attention

void schedule_attention(Schedule& schedule, const attention::Problem& problem) {
  if (problem.batches() * problem.heads() * problem.queries() == 0) return;
  if (schedule.target.has_groups()) {
    if (const auto tile = attention::choose_group_tile(problem)) {
      schedule.steps.push_back(attention::group_step(problem, *tile));
      return;
    }
  }
  const attention::Shape shape = attention::choose_shape(problem, schedule.target.registers);
  schedule.steps.push_back(attention::AttentionWriter(problem, shape).write());
}

void schedule_attention(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const NodeCall call(graph, node);
  const auto memory = [&](ValueId id) { return memory_of(schedule, graph, id); };
  attention::Problem problem{.q = memory(node.inputs[0].id),
                             .k = memory(node.inputs[1].id),
                             .v = memory(node.inputs[2].id),
                             .mask = std::nullopt,
                             .out = memory(node.outputs[0]),
                             .logsumexp = memory(node.outputs[1]),
                             .causal = call.call().flag("causal"),
                             .scale = call.call().real("scale")};
  if (node.inputs[3].id >= 0) problem.mask = memory(node.inputs[3].id);
  schedule_attention(schedule, problem);
}

}  // namespace lucid
