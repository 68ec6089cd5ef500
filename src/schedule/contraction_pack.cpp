#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/kernel_writer.h"
#include "schedule/transpose.h"

namespace lucid::contraction {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

/// Number of rows of k that an item packs.
constexpr int64_t kPackedRows = 128;
constexpr double kNanosecondsPerByte = 0.1;

/// Packs rows [first, last) of k of one panel. Columns past the end of b are copies of its last column or zeros;
/// results computed from them are never stored.
class PanelWriter {
 public:
  PanelWriter(KernelWriter& writer, const Product& product, const Blocking& blocking, const BufferUse& packed)
      : builder_(writer.builder()),
        dtype_(compute_dtype(product.dtype)),
        tile_(blocking.tile),
        b_(writer.buffer(product.b_use, product.dtype)),
        packed_(writer.buffer(packed, dtype_)),
        k_(writer.param(product.k)),
        n_(writer.param(product.n)),
        row_(writer.param(product.b.row)),
        column_(writer.param(product.b.column)) {}

  /// `source` is the index of the batch in b, `target` the index of the panel's first element.
  void write(Adjacent adjacent, Value source, Value target, Value column, Value first, Value last) {
    if (adjacent == Adjacent::kAlongK) {
      write_transposed(source, target, column, first, last);
    } else {
      write_rows(adjacent == Adjacent::kAcross, source, target, column, first, last);
    }
  }

 private:
  void write_rows(bool adjacent, Value source, Value target, Value column, Value first, Value last) {
    std::vector<Value> masks, lanes;
    for (int j = 0; j < tile_.vectors; ++j) {
      const Value start = column + builder_.index(j * kLanes);
      masks.push_back(builder_.lanes_below(n_ - start));
      lanes.push_back(adjacent ? source + start : source + (start + builder_.iota()) * column_);
    }
    builder_.for_loop(first, last, 1, [&](Value k) {
      const Value from = k * row_;
      const Value to = target + k * builder_.index(tile_.columns());
      for (int j = 0; j < tile_.vectors; ++j) {
        const Value at = lanes[j] + from;
        const Value elements = adjacent ? builder_.load_vector(b_, at, masks[j]) : builder_.gather(b_, at, masks[j]);
        builder_.store(packed_, to + builder_.index(j * kLanes), builder_.convert(elements, dtype_));
      }
    });
  }

  void write_transposed(Value source, Value target, Value column, Value first, Value last) {
    const Value end = n_ - builder_.index(1);
    builder_.for_loop(first, last, kLanes, [&](Value k) {
      const Value mask = builder_.lanes_below(k_ - k);
      const Value from = source + k;
      const Value to = target + k * builder_.index(tile_.columns());
      builder_.for_loop(builder_.index(0), builder_.index(tile_.columns()), kLanes, [&](Value j) {
        std::vector<Value> square;
        for (int i = 0; i < kLanes; ++i) {
          const Value n = builder_.binary(Code::kMin, column + j + builder_.index(i), end);
          square.push_back(builder_.convert(builder_.load_vector(b_, from + n * column_, mask), dtype_));
        }
        transpose(builder_, square);
        for (int i = 0; i < kLanes; ++i) {
          builder_.store(packed_, to + j + builder_.index(i * tile_.columns()), square[static_cast<size_t>(i)]);
        }
      });
    });
  }

  Builder& builder_;
  Dtype dtype_;
  RegisterTile tile_;
  BufferRef b_;
  BufferRef packed_;
  Value k_;
  Value n_;
  Value row_;
  Value column_;
};

}  // namespace

KernelStep pack_step(const Product& product, const Blocking& blocking, const BufferUse& packed) {
  const Adjacent adjacent = adjacency(product.b.row, product.b.column);
  const char* const layouts[] = {"columns", "rows", "strided"};
  KernelWriter writer("pack_" + std::string(name_of(product.dtype)) + "_" + std::to_string(blocking.tile.columns()) +
                      "_" + layouts[static_cast<int>(adjacent)]);
  Builder& builder = writer.builder();
  PanelWriter panel_writer(writer, product, blocking, packed);
  const SymInt batches = product.b.batch == 0 ? SymInt(1) : product.batches;
  const SymInt chunk_count = ceil_div(product.k, kPackedRows);
  const SymInt panel_elements = panel_rows(product.k) * blocking.tile.columns();
  const Value k = writer.param(product.k);
  const Value panels = writer.param(blocking.panels);
  const Value chunks = writer.param(chunk_count);
  const Value b_batch = writer.param(product.b.batch);
  const Value panel_size = writer.param(panel_elements);

  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    // Consecutive items pack adjacent panels of the same rows.
    const Value panel = builder.binary(Code::kRem, item, panels);
    const Value rest = item / panels;
    const Value chunk = builder.binary(Code::kRem, rest, chunks);
    const Value batch = rest / chunks;
    const Value first = chunk * builder.index(kPackedRows);
    const Value last = builder.binary(Code::kMin, first + builder.index(kPackedRows), k);
    panel_writer.write(adjacent, batch * b_batch, (batch * panels + panel) * panel_size,
                       panel * builder.index(blocking.tile.columns()), first, last);
  });
  const SymInt items = batches * blocking.panels * chunk_count;
  const auto elements = static_cast<double>(panel_elements.unguarded()) / static_cast<double>(chunk_count.unguarded());
  const auto bytes = static_cast<double>(size_of(compute_dtype(product.dtype)));
  KernelStep step = writer.finish(items, elements * bytes * kNanosecondsPerByte);
  step.packs = product.b_use.index;
  return step;
}

}  // namespace lucid::contraction
