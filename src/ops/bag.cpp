// embedding_bag: sums, means or maxima of groups of rows of a table.

#include <limits>

#include "ops/bound_rules.h"
#include "ops/index_rules.h"
#include "ops/rules.h"

namespace lucid {
namespace {

enum class Mode : uint8_t { kSum, kMean, kMax };

Mode mode_of(const Call& call) {
  const std::string& mode = call.text("mode");
  if (mode == "sum") return Mode::kSum;
  if (mode == "mean") return Mode::kMean;
  if (mode == "max") return Mode::kMax;
  throw ValueError("embedding_bag: mode must be sum, mean or max, got '{}'", mode);
}

/// Operands: weight, indices, offsets, per_sample_weights.
void check_bag(const Call& call) {
  check_index_dtype(call, 1);
  const Mode mode = mode_of(call);
  if (call.rank(0) != 2 || (call.rank(1) != 1 && call.rank(1) != 2))
    throw ValueError("embedding_bag: weight must be 2-d and indices 1-d or 2-d, got {} and {}",
                     to_string(call.operand(0).type()), to_string(call.operand(1).type()));
  if (call.has(2) != (call.rank(1) == 1))
    throw ValueError("embedding_bag: 1-d indices need offsets, the start of each bag; 2-d indices take no offsets");
  if (call.has(2)) {
    check_index_dtype(call, 2);
    if (call.rank(2) != 1 || (call.flag("include_last_offset") && call.shape(2)[0] == 0))
      throw ValueError("embedding_bag: offsets must be 1-d, and not empty with include_last_offset, got {}",
                       to_string(call.operand(2).type()));
  }
  if (call.has(3) && (mode != Mode::kSum || call.shape(3) != call.shape(1)))
    throw ValueError("embedding_bag: per_sample_weights need mode 'sum' and the shape of indices {}, got {}",
                     to_string(call.operand(1).type()), to_string(call.operand(3).type()));
}

/// Checks the values of offsets. Without this check, an index before the first bag would be added to the last bag, and
/// unsorted offsets would produce overlapping bags.
Op embedding_bag_offsets() {
  return {
      .signature = "embedding_bag_offsets(offsets, count: int)",
      .doc =
          R"(Returns `offsets` unchanged after checking them: they must start with 0, never decrease, and not
exceed `count`, the number of indices. Raises IndexError otherwise.

>>> lucid.embedding_bag_offsets(lucid.tensor([0, 2, 2]), 3)
tensor([0, 2, 2]))",
      .names = {.audience = Audience::kOps},
      .dtypes = Dtype::kI64,
      .infer = same_as_input,
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const loop::Value zero = b.index(0);
                                        const loop::Value i = element.index(0);
                                        const loop::Value before[] = {i - b.index(1)};
                                        const loop::Value at[] = {i};
                                        const loop::Value offset = element.load(0, at, {});
                                        // For the first offset the masked load returns 0.
                                        const loop::Value lowest = element.load(0, before, i > zero);
                                        const loop::Value count = element.number(call.integer("count"));
                                        const loop::Value highest = b.select(i > zero, count, zero);
                                        element.fail_if((offset < lowest) | (offset > highest), 1);
                                        return offset;
                                      }},
      .reference =
          [](HostCall& call) {
            const auto* offsets = call.in(0).as<int64_t>();
            auto* result = call.make_output({Dtype::kI64, call.shape(0)}).as<int64_t>();
            for (int64_t i = 0; i < call.shape(0)[0]; ++i) {
              const int64_t lowest = i > 0 ? offsets[i - 1] : 0;
              const int64_t highest = i > 0 ? call.integer("count") : SymInt(0);
              if (offsets[i] < lowest || offsets[i] > highest)
                throw IndexError("{}: {}", call.name(), call.op().errors[0]);
              result[i] = offsets[i];
            }
          },
      .gradient = zero_gradient(),
      .errors = {"offsets must begin with 0, never decrease, and not exceed the number of indices"},
      .samples = with({{{offsets({1}, 1)}}, {{offsets({9}, 1)}}, {{offsets({0}, 1)}}}, {{"count", int64_t{3}}}),
  };
}

Op embedding_bag() {
  return {
      .signature =
          "embedding_bag(weight, indices, offsets? = None, per_sample_weights? = None, *, mode: str = 'mean', "
          "include_last_offset: bool = False, padding_idx: int? = None)",
      .doc =
          R"(Computes the sum, mean or maximum (`mode`: "sum", "mean" or "max") of the rows of `weight` that each
bag of `indices` selects. Each row of a 2-d `indices` is a bag. A 1-d `indices` is divided into bags by `offsets`,
the start of each bag, which must start with 0 and never decrease; with `include_last_offset`, the last offset is
the end of the last bag. `per_sample_weights`, of the shape of `indices` and only for mode "sum", multiplies the
rows. Indices equal to `padding_idx` are ignored. The result of an empty bag is 0.

>>> lucid.embedding_bag(lucid.tensor([[1., 2.], [3., 4.]]), lucid.tensor([0, 1, 1]), lucid.tensor([0, 2]), mode="sum")
tensor([[4., 6.],
        [3., 4.]]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_bag(call);
        const Value& weight = in[0];
        const Mode mode = mode_of(call);
        const SymInt count = numel(in[1].shape());
        const SymInt width = weight.size(1);
        const Value index = e.reshape(in[1], Dims{count});
        int64_t bags = 0;
        Value bag;  // the bag of each index
        if (in[2]) {
          // With include_last_offset, the indices after the last offset form one more bag, which `result` drops.
          bags = in[2].size(0);
          const Value begins = e.embedding_bag_offsets(in[2], count);
          const Value begun = e.ge(e.unsqueeze(e.iota(Dims{count}), 1), e.unsqueeze(begins, 0));
          bag = e.sub(e.sum(begun, Dims{1}), 1);
        } else {
          bags = in[1].size(0);
          bag = e.reshape(e.iota(in[1].shape(), 0), Dims{count});
        }
        Value rows = e.index_select(weight, 0, index);
        Value included;  // false for padding
        if (!call.is_none("padding_idx")) {
          const SymInt padding = call.integer("padding_idx");
          included = e.ne(index, padding < 0 ? padding + weight.size(0) : padding);
        } else {
          included = e.full(Dims{count}, true, Dtype::kBool);
        }
        const Value included_row = e.unsqueeze(included, 1);
        const Dims shape{bags, width};
        const Value bag_sizes = e.index_add(e.full(Dims{bags}, 0, Dtype::kI64), 0, bag, e.cast(included, Dtype::kI64));
        const Value members = e.unsqueeze(bag_sizes, 1);
        const auto result = [&](const Value& all) -> Values {
          return {call.flag("include_last_offset") ? e.narrow(all, 0, 0, bags - 1) : all};
        };
        if (mode == Mode::kMax) {
          constexpr double kLowest = -std::numeric_limits<double>::infinity();
          const Value start = e.full(shape, kLowest, weight.dtype());
          const Value bag_index = e.expand(e.unsqueeze(bag, 1), Dims{count, width});
          const Value best = e.scatter_amax(start, 0, bag_index, e.where(included_row, rows, kLowest));
          return result(e.where(e.eq(members, 0), 0, best));
        }
        if (in[3]) rows = e.mul(rows, e.reshape(in[3], Dims{count, 1}));
        rows = e.where(included_row, rows, 0);
        const Value sums = e.index_add(e.full(shape, 0, rows.dtype()), 0, bag, rows);
        if (mode == Mode::kSum) return result(sums);
        return result(e.div(sums, e.cast(e.maximum(members, 1), sums.dtype())));
      },
      .bounds = bounds_of_rows,
      .samples =
          [] {
            const auto mode = [](const char* name) {
              return std::pair<std::string, Attribute>("mode", std::string(name));
            };
            const SampleTensor weight = normal({5, 4});
            std::vector<Sample> samples;
            for (const char* name : {"sum", "mean", "max"})
              samples =
                  std::move(samples) + with({{{weight, offsets({3, 2}, 5), absent(), absent()}},
                                             {{weight,
                                               offsets({7}, 5),
                                               {.shape = {1}, .fill = Fill::kOffset, .dtype = Dtype::kI64, .bound = 1},
                                               absent()}}},
                                            {mode(name)});
            return samples + with({{{weight, offsets({3, 2}, 5), absent(), normal({3, 2})}}}, {mode("sum")});
          }(),
  };
}

}  // namespace

void add_bag_ops(std::vector<Op>& ops) {
  ops.push_back(embedding_bag_offsets());
  ops.push_back(embedding_bag());
}

}  // namespace lucid
