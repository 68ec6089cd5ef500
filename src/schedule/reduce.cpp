#include <algorithm>
#include <bit>

#include "base/dim_math.h"
#include "base/error.h"
#include "ir/node_call.h"
#include "schedule/element_tree.h"
#include "schedule/kernels.h"
#include "schedule/reduce_axes.h"
#include "schedule/reduce_tree.h"
#include "schedule/row_loop.h"

// All schedules in this file compute the same tree, the canonical order. Element i goes to lane i mod 16 of block i /
// 256. Each lane of a block is a chain that starts from the identity. Block vectors combine pairwise the way a binary
// counter carries, leftovers from small to large. Lanes fold last.
namespace lucid {

using loop::Code;
using loop::kLanes;

namespace {

constexpr int64_t kBlock = 256;
// Number of blocks whose chains are interleaved, to hide the latency of addition.
constexpr int64_t kInFlight = 4;
// Columns are reduced in panels of this many vectors, so that each row access reads at least a cache line.
constexpr int kPanel = kPanelColumns / kLanes;
// Long reductions with few results are split into chunks of 2^6 blocks, which threads share.
constexpr int kChunkLevel = 6;
constexpr int64_t kChunk = kBlock << kChunkLevel;
constexpr int64_t kMinChunkedLength = 4 * kChunk;
constexpr int64_t kMaxChunkedRows = 16;

/// The number of bits of a number of blocks, or more.
int levels_for(SymInt blocks) { return std::max(1, std::countr_zero(static_cast<uint64_t>(bit_ceil(blocks + 1)))); }

/// One reduction: the expression to reduce, its arithmetic, and its result.
class ReduceKernel {
 public:
  ReduceKernel(Schedule& schedule, const IRGraph& graph, const Group& group)
      : schedule_(schedule),
        graph_(graph),
        group_(group),
        node_(graph.nodes[group.root()]),
        lowering_(std::get<ReduceLowering>(node_.op->lowering)),
        result_(memory_of(schedule, graph, node_.outputs[0])) {
    const ReduceAxes axes = reduce_axes(NodeCall(graph, node_).call());
    const Dims& shape = graph.type(node_.inputs[0].id).shape;
    Dims order = axes.kept;
    for (int64_t axis : axes.reduced) order.push_back(axis);
    if (numel(shape) == 0) {
      read_empty(axes, shape, order);
    } else {
      tree_.emplace(graph, schedule.layouts, group, std::span(&node_.inputs[0].id, 1), shape,
                    std::span<const MemoryOperand>{}, order, axes.kept.size());
      if (tree_->sizes().size() > tree_->outer_count() + 1) gather_rows(axes, shape, order);
    }
    length_ = 1;
    for (int64_t axis : axes.reduced) length_ *= shape[static_cast<size_t>(axis)];
    rows_ = numel(result_.geometry.sizes);
    reduced_ = static_cast<int64_t>(tree_->outer_count());
    has_lane_axis_ = tree_->sizes().size() > tree_->outer_count();
    const bool index_result = lowering_.combine == Combine::kArgMax || lowering_.combine == Combine::kArgMin;
    element_dtype_ = compute_dtype(index_result ? graph.type(node_.inputs[0].id).dtype : result_.dtype);
  }

  void write() {
    if (rows_ == 0) return;
    const bool columns = has_lane_axis_ && reduced_ > 0 && !tree_->reads_adjacent(static_cast<size_t>(reduced_)) &&
                         tree_->reads_adjacent(static_cast<size_t>(reduced_ - 1));
    if (columns)
      write_columns();
    else if (rows_ <= kMaxChunkedRows && length_ >= kMinChunkedLength)
      write_chunks();
    else
      write_rows();
  }

 private:
  using Writer = KernelWriter;

  // There are no elements: all rows are empty, however many axes are reduced.
  void read_empty(const ReduceAxes& axes, const Dims& shape, const Dims& order) {
    Dims sizes = shape;
    for (int64_t axis : axes.reduced) sizes[static_cast<size_t>(axis)] = axis == axes.reduced.back() ? 0 : 1;
    const auto area = static_cast<int32_t>(schedule_.scratch_bytes.size());
    schedule_.scratch_bytes.push_back(0);
    const MemoryOperand rows{
        area, graph_.type(node_.inputs[0].id).dtype, {sizes, contiguous_strides(sizes), 0}, BufferUse::Kind::kScratch};
    tree_.emplace(graph_, rows, std::span<const MemoryOperand>{}, order, axes.kept.size());
  }

  // The reduced axes cannot be merged into one: the elements are copied into contiguous rows first.
  void gather_rows(const ReduceAxes& axes, const Dims& shape, const Dims& order) {
    const Dtype dtype = graph_.type(node_.inputs[0].id).dtype;
    Dims sizes;
    for (int64_t axis : order) sizes.push_back(shape[static_cast<size_t>(axis)]);
    const Dims row_strides = contiguous_strides(sizes);
    Dims strides(shape.size());
    for (size_t i = 0; i < order.size(); ++i) strides[static_cast<size_t>(order[i])] = row_strides[i];
    const auto area = static_cast<int32_t>(schedule_.scratch_bytes.size());
    schedule_.scratch_bytes.push_back(numel(shape) * size_of(dtype));
    const MemoryOperand rows{area, dtype, {shape, strides, 0}, BufferUse::Kind::kScratch};
    ElementTree gathered(graph_, schedule_.layouts, group_, {&node_.inputs[0].id, 1}, shape, {&rows, 1}, order);
    write_elementwise(schedule_, gathered, kernel_name(graph_, group_) + "_rows");
    tree_.emplace(graph_, rows, std::span<const MemoryOperand>{}, order, axes.kept.size());
  }

  ReduceState element(ElementTree::Point& point, loop::Value position, loop::Value lanes_from) {
    loop::Builder& b = lanes_from.builder();
    if (has_lane_axis_) point.index[static_cast<size_t>(reduced_)] = position;
    loop::Value value = b.convert(tree_->evaluate(point), element_dtype_);
    if (lowering_.map) value = lowering_.map(b, value);
    if (!value.is_vector()) value = b.splat(value);
    if (lowering_.combine != Combine::kArgMax && lowering_.combine != Combine::kArgMin) return {value};
    return {value, lanes_from};
  }

  // Along rows, lanes are adjacent elements of the reduced dimension.
  ReduceState row_element(ElementTree::Point& point, loop::Value i, loop::Value mask) {
    point.lane_axis = has_lane_axis_ ? reduced_ : -1;
    point.mask = has_lane_axis_ ? mask : loop::Value();
    loop::Builder& b = i.builder();
    return element(point, i, b.splat(i) + b.iota());
  }

  // The chain of one block [lo, hi).
  ReduceState chain(const Reducer& reducer, ElementTree::Point& point, loop::Value lo, loop::Value hi) {
    loop::Builder& b = lo.builder();
    const loop::Value whole = lo + (hi - lo) / b.index(kLanes) * b.index(kLanes);
    ReduceState state =
        b.for_loop(lo, whole, kLanes, reducer.identity(), [&](loop::Value i, std::span<const loop::Value> current) {
          return reducer.combine({current.begin(), current.end()}, row_element(point, i, {}));
        });
    return b.for_loop(whole, hi, kLanes, state, [&](loop::Value i, std::span<const loop::Value> current) {
      const loop::Value mask = b.lanes_below(hi - i);
      const ReduceState previous(current.begin(), current.end());
      return reducer.select(mask, reducer.combine(previous, row_element(point, i, mask)), previous);
    });
  }

  // Four blocks starting at `start`, combined.
  ReduceState four_blocks(const Reducer& reducer, ElementTree::Point& point, loop::Value start) {
    loop::Builder& b = start.builder();
    const ReduceState identity = reducer.identity();
    const size_t parts = identity.size();
    std::vector<loop::Value> initial;
    for (int64_t k = 0; k < kInFlight; ++k) initial.insert(initial.end(), identity.begin(), identity.end());
    const auto sums = b.for_loop(
        start, start + b.index(kBlock), kLanes, initial, [&](loop::Value i, std::span<const loop::Value> current) {
          std::vector<loop::Value> next;
          for (int64_t k = 0; k < kInFlight; ++k) {
            const auto at = current.begin() + k * static_cast<std::ptrdiff_t>(parts);
            const ReduceState sum = reducer.combine({at, at + static_cast<std::ptrdiff_t>(parts)},
                                                    row_element(point, i + b.index(k * kBlock), {}));
            next.insert(next.end(), sum.begin(), sum.end());
          }
          return next;
        });
    auto part = [&](size_t k) {
      const auto at = sums.begin() + static_cast<std::ptrdiff_t>(k * parts);
      return ReduceState(at, at + static_cast<std::ptrdiff_t>(parts));
    };
    return reducer.combine(reducer.combine(part(0), part(1)), reducer.combine(part(2), part(3)));
  }

  // The tree over [lo, hi). `lo` is a multiple of the chunk size.
  ReduceState tree_of(const Reducer& reducer, CarryStack& stack, ElementTree::Point& point, loop::Value lo,
                      loop::Value hi, loop::Value levels) {
    loop::Builder& b = lo.builder();
    const int64_t stride = kInFlight * kBlock;
    const loop::Value whole = lo + (hi - lo) / b.index(stride) * b.index(stride);
    b.for_loop(lo, whole, stride, [&](loop::Value k) {
      const ReduceState sum = four_blocks(reducer, point, k);
      stack.push({&sum, 1}, (k - lo) / b.index(stride), 2);
    });
    b.for_loop(whole, hi, kBlock, [&](loop::Value k) {
      const ReduceState sum = chain(reducer, point, k, b.binary(Code::kMin, k + b.index(kBlock), hi));
      stack.push({&sum, 1}, (k - lo) / b.index(kBlock), 0);
    });
    const loop::Value blocks = (hi - lo + b.index(kBlock - 1)) / b.index(kBlock);
    return stack.finish(blocks, levels).front();
  }

  ElementTree::Point row_point(loop::Builder& b, loop::Value row, std::span<const loop::Value> sizes) {
    ElementTree::Point point{split_index(b, row, sizes), -1, {}};
    if (has_lane_axis_) {
      point.index.push_back(b.index(0));
      point.lane_axis = reduced_;
    }
    tree_->hoist(point);
    return point;
  }

  std::vector<loop::Value> outer_sizes(Writer& writer, size_t count) {
    std::vector<loop::Value> sizes;
    for (size_t d = 0; d < count; ++d) sizes.push_back(writer.param(tree_->sizes()[d]));
    return sizes;
  }

  // The last component of the state is the result: the value or, for arg-reductions, the index.
  loop::Value finished(const ReduceState& state, loop::Value count) {
    loop::Builder& b = count.builder();
    loop::Value total = state.back();
    if (lowering_.finish) total = lowering_.finish(b, total, count);
    return b.convert(total, result_.dtype);
  }

  double row_cost(SymInt elements) const {
    return 10 + static_cast<double>(elements.unguarded()) / kLanes * (1 + 0.4 * tree_->cost());
  }

  void write_rows() {
    Writer writer(kernel_name(graph_, group_));
    const bool has_tiles = has_lane_axis_ && reduced_ > 0;
    tree_->declare(writer, has_tiles ? ElementTree::Tiling::kFirstDimension : ElementTree::Tiling::kUnknown);
    const SymInt tile_rows = has_tiles ? rows_ / tree_->sizes()[0] : SymInt(1);
    const SymInt tile_bytes = tile_rows * size_of(result_.dtype);
    const loop::BufferRef out = writer.value(result_, has_tiles ? TileSpan{tile_bytes, tile_bytes} : TileSpan{});
    loop::Builder& b = writer.builder();
    const auto sizes = outer_sizes(writer, tree_->outer_count());
    const loop::Value length = writer.param(length_);
    const Reducer reducer(b, lowering_.combine, element_dtype_);
    const SymInt blocks = ceil_div(length_, kBlock);
    if (blocks <= 1) {
      b.for_loop(b.begin(), b.end(), 1, [&](loop::Value row) {
        ElementTree::Point point = row_point(b, row, sizes);
        const ReduceState state = reducer.fold(chain(reducer, point, b.index(0), length));
        b.store(out, row, finished(state, length));
      });
    } else {
      const loop::Value levels = writer.param(levels_for(blocks));
      CarryStack stack(b, reducer, 48, 1);
      b.for_loop(b.begin(), b.end(), 1, [&](loop::Value row) {
        ElementTree::Point point = row_point(b, row, sizes);
        const ReduceState state = reducer.fold(tree_of(reducer, stack, point, b.index(0), length, levels));
        b.store(out, row, finished(state, length));
      });
    }
    tree_->declare_indexed_tiles();
    schedule_.steps.push_back(writer.finish(rows_, row_cost(length_), tile_rows));
  }

  // Two launches: partial results of chunks, then the tree over them.
  void write_chunks() {
    const SymInt chunks = ceil_div(length_, kChunk);
    std::vector<int32_t> areas;
    const auto scratch_dtypes = [&] {
      loop::Builder probe("probe");
      return Reducer(probe, lowering_.combine, element_dtype_).dtypes();
    }();
    for (Dtype dtype : scratch_dtypes) {
      areas.push_back(static_cast<int32_t>(schedule_.scratch_bytes.size()));
      schedule_.scratch_bytes.push_back(rows_ * chunks * kLanes * size_of(dtype));
    }
    {
      Writer writer(kernel_name(graph_, group_) + "_chunks");
      tree_->declare(writer);
      std::vector<loop::BufferRef> partial;
      for (size_t k = 0; k < areas.size(); ++k) partial.push_back(writer.scratch(areas[k], scratch_dtypes[k]));
      loop::Builder& b = writer.builder();
      const auto sizes = outer_sizes(writer, tree_->outer_count());
      const loop::Value length = writer.param(length_);
      const loop::Value count = writer.param(chunks);
      const Reducer reducer(b, lowering_.combine, element_dtype_);
      CarryStack stack(b, reducer, kChunkLevel + 2, 1);
      b.for_loop(b.begin(), b.end(), 1, [&](loop::Value item) {
        const loop::Value row = item / count;
        const loop::Value lo = b.binary(Code::kRem, item, count) * b.index(kChunk);
        ElementTree::Point point = row_point(b, row, sizes);
        const loop::Value hi = b.binary(Code::kMin, lo + b.index(kChunk), length);
        const ReduceState state = tree_of(reducer, stack, point, lo, hi, b.index(kChunkLevel + 1));
        for (size_t k = 0; k < state.size(); ++k) b.store(partial[k], item * b.index(kLanes), state[k]);
      });
      schedule_.steps.push_back(writer.finish(rows_ * chunks, row_cost(kChunk)));
    }
    Writer writer(kernel_name(graph_, group_) + "_combine");
    std::vector<loop::BufferRef> partial;
    for (size_t k = 0; k < areas.size(); ++k) partial.push_back(writer.scratch(areas[k], scratch_dtypes[k]));
    const loop::BufferRef out = writer.value(result_);
    loop::Builder& b = writer.builder();
    const loop::Value length = writer.param(length_);
    const loop::Value count = writer.param(chunks);
    const loop::Value full = length / b.index(kChunk);
    const loop::Value levels = writer.param(levels_for(chunks));
    const Reducer reducer(b, lowering_.combine, element_dtype_);
    CarryStack stack(b, reducer, 48, 1);
    auto chunk_state = [&](loop::Value item) {
      ReduceState state;
      for (loop::BufferRef buffer : partial) state.push_back(b.load_vector(buffer, item * b.index(kLanes)));
      return state;
    };
    b.for_loop(b.begin(), b.end(), 1, [&](loop::Value row) {
      b.for_loop(b.index(0), full, 1, [&](loop::Value c) {
        const ReduceState state = chunk_state(row * count + c);
        stack.push({&state, 1}, c, 0);
      });
      // The last, incomplete chunk is the smallest leftover.
      const loop::Value has_rest = full < count;
      const ReduceState rest = chunk_state(row * count + b.binary(Code::kMin, full, count - b.index(1)));
      const ReduceState state = reducer.fold(stack.finish(full, levels, {&rest, 1}, has_rest).front());
      b.store(out, row, finished(state, length));
    });
    schedule_.steps.push_back(writer.finish(rows_, 10.0 * static_cast<double>(chunks)));
  }

  // The elements of `width` adjacent vectors of columns at reduced position r.
  std::vector<ReduceState> column_elements(ElementTree::Point& point, loop::Value column, loop::Value r, int width) {
    std::vector<ReduceState> states;
    loop::Builder& b = r.builder();
    for (int w = 0; w < width; ++w) {
      point.index[static_cast<size_t>(reduced_ - 1)] = column + b.index(w * kLanes);
      states.push_back(element(point, r, b.splat(r)));
    }
    return states;
  }

  static std::vector<loop::Value> flatten(std::span<const ReduceState> states) {
    std::vector<loop::Value> flat;
    for (const ReduceState& state : states) flat.insert(flat.end(), state.begin(), state.end());
    return flat;
  }

  static std::vector<ReduceState> unflatten(std::span<const loop::Value> flat, size_t parts) {
    std::vector<ReduceState> states;
    for (size_t i = 0; i < flat.size(); i += parts)
      states.emplace_back(flat.begin() + static_cast<std::ptrdiff_t>(i),
                          flat.begin() + static_cast<std::ptrdiff_t>(i + parts));
    return states;
  }

  // In a panel of columns, the lanes of the canonical order are rows l, l + 16, and so on. They are processed lane by
  // lane, in the order in which folding pairs them, so that a small stack holds the partial folds.
  std::vector<ReduceState> panel(const Reducer& reducer, CarryStack& blocks, CarryStack& lanes,
                                 ElementTree::Point& point, loop::Value column, loop::Value length, loop::Value levels,
                                 int width) {
    loop::Builder& b = column.builder();
    const size_t parts = reducer.dtypes().size();
    b.for_loop(b.index(0), b.index(kLanes), 1, [&](loop::Value q) {
      const auto bit = [&](int from, int to) {
        const loop::Value taken = b.binary(Code::kShr, q, b.index(from)) & b.index(1);
        return b.binary(Code::kShl, taken, b.index(to));
      };
      const loop::Value lane = bit(0, 3) | bit(1, 2) | bit(2, 1) | bit(3, 0);
      b.for_loop(b.index(0), length, kBlock, [&](loop::Value start) {
        const loop::Value end = b.binary(Code::kMin, start + b.index(kBlock), length);
        const std::vector<ReduceState> identity(static_cast<size_t>(width), reducer.identity());
        const auto sums = b.for_loop(start + lane, end, kLanes, flatten(identity),
                                     [&](loop::Value r, std::span<const loop::Value> current) {
                                       const auto previous = unflatten(current, parts);
                                       const auto elements = column_elements(point, column, r, width);
                                       std::vector<ReduceState> next;
                                       for (size_t w = 0; w < previous.size(); ++w)
                                         next.push_back(reducer.combine(previous[w], elements[w]));
                                       return flatten(next);
                                     });
        blocks.push(unflatten(sums, parts), start / b.index(kBlock), 0);
      });
      const loop::Value count = (length + b.index(kBlock - 1)) / b.index(kBlock);
      lanes.push(blocks.finish(count, levels), q, 0);
    });
    return lanes.slot(b.index(4));
  }

  void write_columns() {
    Writer writer(kernel_name(graph_, group_) + "_columns");
    const bool has_tiles = tree_->sizes().size() == 2 && !tree_->is_indexed();
    tree_->declare(writer, has_tiles ? ElementTree::Tiling::kPanels : ElementTree::Tiling::kUnknown);
    const int64_t panel_bytes = kPanelColumns * static_cast<int64_t>(size_of(result_.dtype));
    const loop::BufferRef out = writer.value(result_, has_tiles ? TileSpan{panel_bytes, panel_bytes} : TileSpan{});
    loop::Builder& b = writer.builder();
    const auto outer = static_cast<size_t>(reduced_ - 1);
    const SymInt columns = tree_->sizes()[outer];
    const SymInt panels = ceil_div(columns, kPanel * kLanes);
    const auto sizes = outer_sizes(writer, outer);
    const loop::Value column_count = writer.param(columns);
    const loop::Value panel_count = writer.param(panels);
    const loop::Value length = writer.param(length_);
    const loop::Value levels = writer.param(levels_for(ceil_div(length_, kBlock)));
    const Reducer reducer(b, lowering_.combine, element_dtype_);
    CarryStack wide_blocks(b, reducer, 48, kPanel);
    CarryStack wide_lanes(b, reducer, 5, kPanel);
    CarryStack blocks(b, reducer, 48, 1);
    CarryStack lanes(b, reducer, 5, 1);
    b.for_loop(b.begin(), b.end(), 1, [&](loop::Value item) {
      const loop::Value row = item / panel_count;
      const loop::Value first = b.binary(Code::kRem, item, panel_count) * b.index(kPanel * kLanes);
      const loop::Value last = b.binary(Code::kMin, first + b.index(kPanel * kLanes), column_count);
      ElementTree::Point point{split_index(b, row, sizes), reduced_ - 1, {}};
      point.index.resize(tree_->sizes().size(), b.index(0));
      const loop::Value out_row = row * column_count;
      auto store = [&](std::span<const ReduceState> states, loop::Value column, loop::Value mask) {
        for (size_t w = 0; w < states.size(); ++w)
          b.store(out, out_row + column + b.index(static_cast<int64_t>(w) * kLanes), finished(states[w], length), mask);
      };
      b.if_then(
          last - first == b.index(kPanel * kLanes),
          [&] {
            point.mask = {};
            store(panel(reducer, wide_blocks, wide_lanes, point, first, length, levels, kPanel), first, {});
          },
          [&] {
            b.for_loop(first, last, kLanes, [&](loop::Value column) {
              point.mask = b.lanes_below(last - column);
              const loop::Value mask = point.mask;
              store(panel(reducer, blocks, lanes, point, column, length, levels, 1), column, mask);
            });
          });
    });
    const SymInt outer_rows = rows_ / columns;
    schedule_.steps.push_back(writer.finish(outer_rows * panels, kPanel * row_cost(length_ * kLanes)));
  }

  Schedule& schedule_;
  const IRGraph& graph_;
  const Group& group_;
  const IRNode& node_;
  const ReduceLowering& lowering_;
  MemoryOperand result_;
  std::optional<ElementTree> tree_;
  SymInt length_ = 0;
  SymInt rows_ = 0;
  int64_t reduced_ = 0;         // the reduced merged dimension, which is the last one
  bool has_lane_axis_ = false;  // false if every reduced axis has size 1
  Dtype element_dtype_ = Dtype::kF32;
};

}  // namespace

void schedule_reduce(Schedule& schedule, const IRGraph& graph, const Group& group) {
  ReduceKernel(schedule, graph, group).write();
}

}  // namespace lucid
