#include <algorithm>
#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "ir/node_call.h"
#include "loop/math.h"
#include "schedule/contraction.h"
#include "schedule/kernel_writer.h"
#include "schedule/kernels.h"

// Attention, in the order of docs/decisions/0005-attention.md. The lanes of a vector are queries. Keys and values are
// loaded one element at a time and broadcast to all queries, so no sum runs across lanes.
namespace lucid {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

/// Number of keys whose scores are computed at once.
constexpr int64_t kKeys = 64;
/// Block size of a score's chain.
constexpr int64_t kChain = contraction::kChain;
constexpr double kProductsPerNanosecond = 30;

/// The operands and the parameters that the kernel's text depends on.
struct Problem {
  MemoryOperand q;
  MemoryOperand k;
  MemoryOperand v;
  std::optional<MemoryOperand> mask;
  MemoryOperand out;
  MemoryOperand logsumexp;
  bool causal = false;
  double scale = 1;

  Dim batches() const { return out.geometry.sizes[0]; }
  Dim heads() const { return out.geometry.sizes[1]; }
  Dim queries() const { return out.geometry.sizes[2]; }
  Dim keys() const { return k.geometry.sizes[2]; }
  Dim width() const { return q.geometry.sizes[3]; }
  Dim value_width() const { return out.geometry.sizes[3]; }
};

/// The parts that are in registers at once.
struct Shape {
  int vectors = 1;  // of queries
  int keys = 4;     // whose scores are accumulated together
  int columns = 4;  // of values that are accumulated together
  int64_t queries() const { return static_cast<int64_t>(vectors) * kLanes; }
};

Shape choose_shape(const Problem& problem) {
  const bool wide = current_registers().bytes == 64;
  if (!wide) return {.vectors = 1, .keys = 4, .columns = 4};
  const bool two = compute_dtype(problem.out.dtype) == Dtype::kF32 && problem.queries().unnoted() > kLanes;
  return {.vectors = two ? 2 : 1, .keys = 8, .columns = 8};
}

/// The run-time strides of an operand [n, h, rows, columns].
struct Strides {
  Strides(KernelWriter& writer, const MemoryOperand& operand) {
    for (const Dim stride : operand.geometry.strides) values.push_back(writer.param(stride));
  }
  Value head(Value batch, Value head) const { return batch * values[0] + head * values[1]; }
  Value row() const { return values[2]; }
  Value column() const { return values[3]; }
  std::vector<Value> values;
};

/// The width rounded up to a power of two, so that similar widths share a kernel.
int64_t rounded_width(Dim width) { return std::max<int64_t>(bit_ceil(width), 16); }

class AttentionWriter {
 public:
  AttentionWriter(const Problem& problem, const Shape& shape)
      : problem_(problem),
        shape_(shape),
        dtype_(compute_dtype(problem.out.dtype)),
        writer_(name()),
        builder_(writer_.builder()),
        q_(writer_.value(problem.q)),
        k_(writer_.value(problem.k)),
        v_(writer_.value(problem.v)),
        mask_(problem.mask ? writer_.value(*problem.mask) : q_),
        out_(writer_.value(problem.out)),
        logsumexp_(writer_.value(problem.logsumexp)),
        query_scratch_(builder_.scratch(dtype_, rounded_width(problem.width()) * shape.queries())),
        scores_(builder_.scratch(dtype_, kKeys * shape.queries())),
        sums_(builder_.scratch(dtype_, rounded_width(problem.value_width()) * shape.queries())),
        state_(builder_.scratch(dtype_, 3 * shape.queries())),
        allowed_(builder_.scratch(Dtype::kBool, kKeys * shape.queries())),
        q_strides_(writer_, problem.q),
        k_strides_(writer_, problem.k),
        v_strides_(writer_, problem.v),
        mask_strides_(writer_, problem.mask ? *problem.mask : problem.q),
        heads_(writer_.param(problem.heads())),
        queries_(writer_.param(problem.queries())),
        keys_(writer_.param(problem.keys())),
        width_(writer_.param(problem.width())),
        value_width_(writer_.param(problem.value_width())),
        tiles_(writer_.param(tile_count())),
        scale_(builder_.convert(builder_.bitcast(writer_.param(std::bit_cast<int64_t>(problem.scale)), Dtype::kF64),
                                dtype_)) {}

  KernelStep write() {
    builder_.for_loop(builder_.begin(), builder_.end(), 1, [&](Value item) {
      const Value tile = builder_.binary(Code::kRem, item, tiles_);
      const Value each = item / tiles_;
      write_tile(each / heads_, builder_.binary(Code::kRem, each, heads_), tile * index(shape_.queries()));
    });
    const Dim items = problem_.batches() * problem_.heads() * tile_count();
    const int64_t widths = problem_.width().unnoted() + problem_.value_width().unnoted() + 16;
    const auto work = static_cast<double>(problem_.keys().unnoted() * widths * shape_.queries());
    return writer_.finish(items, 100 + work / kProductsPerNanosecond * (problem_.causal ? 0.5 : 1));
  }

 private:
  std::string name() const {
    std::string name = "attention_" + std::string(name_of(problem_.out.dtype));
    if (problem_.causal) name += "_causal";
    if (problem_.mask) name += "_masked";
    return name;
  }
  Dim tile_count() const { return ceil_div(problem_.queries(), shape_.queries()); }

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
    k_start_ = k_strides_.head(batch, head);
    v_start_ = v_strides_.head(batch, head);
    mask_start_ = mask_strides_.head(batch, head);
    // Lanes past the last query repeat it and are not stored.
    rows_ = for_each_vector([&](int v) {
      const Value row = builder_.splat(first + index(v * kLanes)) + builder_.iota();
      return builder_.binary(Code::kMin, row, builder_.splat(queries_ - index(1)));
    });
    const Value zero = index(0);
    const Value q_start = q_strides_.head(batch, head);
    builder_.for_loop(zero, width_, 1, [&](Value e) {
      for (int v = 0; v < shape_.vectors; ++v) {
        const Value at = rows_[static_cast<size_t>(v)] * q_strides_.row() + (q_start + e * q_strides_.column());
        store_row(query_scratch_, e, v, builder_.convert(builder_.gather(q_, at), dtype_));
      }
    });
    for (int v = 0; v < shape_.vectors; ++v) {
      store_row(state_, index(kLargest), v, number(-std::numeric_limits<double>::infinity()));
      store_row(state_, index(kTotal), v, number(0));
    }
    builder_.for_loop(zero, value_width_, 1, [&](Value d) {
      for (int v = 0; v < shape_.vectors; ++v) store_row(sums_, d, v, number(0));
    });
    // Keys that the last query of the tile does not attend to are not attended to by any other.
    const Value last = problem_.causal ? min(keys_, first + index(shape_.queries())) : keys_;
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
    store_results((batch * heads_ + head) * queries_ + first);
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
      const Value column = key_start + e * k_strides_.column();
      std::vector<Value> next;
      for (int i = 0; i < rows; ++i) {
        const Value element = builder_.load(k_, column + k_strides_.row() * index(i));
        const Value key = builder_.splat(builder_.convert(element, dtype_));
        for (int v = 0; v < shape_.vectors; ++v)
          next.push_back(builder_.fma(query[static_cast<size_t>(v)], key, sums[next.size()]));
      }
      return next;
    });
  }

  void write_scores(Value start, Value count) {
    for_each_block(count, shape_.keys, [&](Value first, int rows) {
      const Value key_start = k_start_ + (start + first) * k_strides_.row();
      std::vector<Value> scores;
      if (problem_.width() <= kChain) {
        scores = chain(key_start, rows, index(0), width_);
      } else {
        // Adding to -0 leaves the first block's sums unchanged.
        const std::vector<Value> none(static_cast<size_t>(rows * shape_.vectors), number(-0.0));
        scores = builder_.for_loop(index(0), width_, kChain, none, [&](Value e, std::span<const Value> totals) {
          std::vector<Value> sums = chain(key_start, rows, e, min(e + index(kChain), width_));
          for (size_t i = 0; i < sums.size(); ++i) sums[i] = totals[i] + sums[i];
          return sums;
        });
      }
      for (int i = 0; i < rows; ++i)
        for (int v = 0; v < shape_.vectors; ++v) {
          const int vector = i * shape_.vectors + v;
          store_row(scores_, first + index(i), v, scores[static_cast<size_t>(vector)] * scale_);
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
    const Value start = mask_start_ + key * mask_strides_.column();
    // A mask that is the same for all queries is loaded once.
    if (problem_.mask->geometry.strides[2] == 0) return builder_.splat(builder_.load(mask_, start));
    return builder_.gather(mask_, row * mask_strides_.row() + start);
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
    for_each_block(value_width_, shape_.columns, [&](Value d, int columns) {
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

  /// The value that is subtracted from scores: the largest of them, or 0 while all are -inf.
  Value base_of(Value largest) {
    return builder_.select(largest == number(-std::numeric_limits<double>::infinity()), number(0), largest);
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
    const Value first = v_start_ + start * v_strides_.row() + column * v_strides_.column();
    return builder_.for_loop(index(0), count, 1, zeros, [&](Value j, std::span<const Value> sums) {
      const auto weights = for_each_vector([&](int v) { return load_row(scores_, j, v); });
      const auto allowed = for_each_vector([&](int v) { return masked ? load_row(allowed_, j, v) : Value(); });
      const Value row = first + j * v_strides_.row();
      std::vector<Value> next;
      for (int i = 0; i < columns; ++i) {
        const Value element = builder_.load(v_, row + v_strides_.column() * index(i));
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
      exists.push_back(builder_.lanes_below(queries_ - first_ - index(v * kLanes)));
      const Value at = row + index(v * kLanes);
      builder_.store(logsumexp_, at, base + loop::log(total), exists.back());
      addresses.push_back((builder_.splat(at) + builder_.iota()) * value_width_);
    }
    builder_.for_loop(index(0), value_width_, 1, [&](Value d) {
      for (int v = 0; v < shape_.vectors; ++v) {
        const Value total = load_row(state_, index(kTotal), v);
        const Value mean = builder_.select(total == number(0), number(0), load_row(sums_, d, v) / total);
        builder_.scatter(out_, addresses[static_cast<size_t>(v)] + d, builder_.convert(mean, problem_.out.dtype),
                         exists[static_cast<size_t>(v)]);
      }
    });
  }

  const Problem& problem_;
  const Shape& shape_;
  Dtype dtype_;

  KernelWriter writer_;
  Builder& builder_;
  BufferRef q_;
  BufferRef k_;
  BufferRef v_;
  BufferRef mask_;
  BufferRef out_;
  BufferRef logsumexp_;
  // Scratch with one row of the tile's queries for each element of the queries, each key, or each element of the
  // results.
  BufferRef query_scratch_;
  BufferRef scores_;
  BufferRef sums_;
  BufferRef state_;
  BufferRef allowed_;
  Strides q_strides_;
  Strides k_strides_;
  Strides v_strides_;
  Strides mask_strides_;
  Value heads_;
  Value queries_;
  Value keys_;
  Value width_;
  Value value_width_;
  Value tiles_;
  Value scale_;

  // State of the current tile.
  Value first_;
  Value k_start_;
  Value v_start_;
  Value mask_start_;
  std::vector<Value> rows_;
};

}  // namespace

void schedule_attention(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const NodeCall call(graph, node);
  const auto memory = [&](ValueId id) { return memory_of(schedule, graph, id); };
  Problem problem{.q = memory(node.inputs[0].id),
                  .k = memory(node.inputs[1].id),
                  .v = memory(node.inputs[2].id),
                  .mask = std::nullopt,
                  .out = memory(node.outputs[0]),
                  .logsumexp = memory(node.outputs[1]),
                  .causal = call.call().flag("causal"),
                  .scale = call.call().real("scale")};
  if (node.inputs[3].id >= 0) problem.mask = memory(node.inputs[3].id);
  if (problem.batches() * problem.heads() * problem.queries() == 0) return;
  const Shape shape = choose_shape(problem);
  schedule.steps.push_back(AttentionWriter(problem, shape).write());
}

}  // namespace lucid
