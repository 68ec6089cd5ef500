// Ops that join and split tensors.

#include <algorithm>

#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

/// Throws ValueError if a call would create more tensors than fit into memory as handles. A dimension with stride 0 may
/// be that long.
void check_parts(std::string_view op, int64_t count) {
  constexpr int64_t kMaxParts = int64_t{1} << 24;
  if (count > kMaxParts) throw ValueError("{}: too many parts: {}, at most {} are supported", op, count, kMaxParts);
}

using Types = std::vector<TensorType>;

/// Checks that the operands of a join are tensors. Numbers cannot be joined.
void check_tensors(const Call& call) {
  if (call.count() == 0) throw ValueError("{}: expected at least one tensor", call.name());
  for (size_t i = 0; i < call.count(); ++i)
    if (!call.operand(i).is_value()) throw TypeError("{}: element {} of tensors is not a tensor", call.name(), i);
}

Dtype joined_dtype(const Call& call) {
  Promotion promotion;
  for (const Operand& operand : call.operands()) promotion.add(operand.dtype(), operand.promotion_rank());
  return promotion.result();
}

Op cat_same() {
  return {
      .signature = "cat_same(tensors: tensors, dim: axis = 0)",
      .doc = R"(Concatenates tensors of one dtype and number of dimensions along `dim`. `cat` is implemented by this
op.

>>> lucid.cat_same([lucid.tensor([1]), lucid.tensor([2, 3])])
tensor([1, 2, 3]))",
      .names = {.audience = Audience::kOps},
      .algebra = {.copies = Copies::kAlways},
      .infer = [](const Call& call) -> Types {
        check_tensors(call);
        const int64_t rank = call.rank(0);
        if (rank == 0) throw ValueError("cat: 0-d tensors cannot be concatenated; use stack");
        const auto axis = static_cast<size_t>(call.axis("dim"));
        TensorType result{call.dtype(0), call.shape(0)};
        for (size_t i = 1; i < call.count(); ++i) {
          Dims shape = call.shape(i);
          const bool same_rank = shape.rank() == rank;
          const SymInt size = same_rank ? shape[axis] : SymInt(0);
          if (same_rank) shape[axis] = result.shape[axis];
          if (!same_rank || shape != result.shape)
            throw ValueError("cat: sizes must match except along dimension {}: element 0 is {}, element {} is {}", axis,
                             to_string(call.operand(0).type()), i, to_string(call.operand(i).type()));
          result.shape[axis] += size;
        }
        checked_numel("cat", result.shape, size_of(result.dtype));
        return {result};
      },
      .lowering = ConcatLowering{},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            const auto axis = static_cast<size_t>(call.axis("dim"));
            int64_t start = 0;
            for (size_t i = 0; i < call.count(); ++i) {
              const Dims& shape = call.in(i).type.shape;
              int64_t at = 0;
              for_each_index(shape, [&](const Dims& index) {
                Dims target = index;
                target[axis] += start;
                copy_element(call.in(i), at++, out, position(out.type.shape, target));
              });
              start += shape[axis];
            }
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const int64_t axis = call.axis("dim");
        Values result;
        SymInt start = 0;
        for (size_t i = 0; i < call.count(); ++i) {
          const SymInt size = call.shape(i)[static_cast<size_t>(axis)];
          result.push_back(call.needs(i) ? e.narrow(g[0], axis, start, size) : Value());
          start += size;
        }
        return result;
      }},
      .samples =
          std::vector<Sample>{{{normal({3}), normal({20})}}, {{normal({2, 3}), normal({0, 3}), normal({1, 3})}}} +
          with({{{normal({2, 3}), strided({2, 5}, {1, 2})}}}, {{"dim", int64_t{-1}}}),
  };
}

Op cat() {
  return {
      .signature = "cat(tensors: tensors, dim: axis = 0)",
      .doc = R"(Concatenates `tensors` along `dim`. Their sizes must match except along `dim`, and they must not be
0-d. Dtypes are promoted. Empty 1-d tensors are skipped if another tensor has more dimensions.

>>> lucid.cat([lucid.tensor([1, 2]), lucid.tensor([3.5])])
tensor([1.0000, 2.0000, 3.5000]))",
      .algebra = {.copies = Copies::kAlways},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_tensors(call);
        const Dtype dtype = joined_dtype(call);
        Values parts;
        for (const Value& input : inputs) {
          // Like PyTorch, skip empty 1-d tensors if another tensor has more dimensions.
          if (input.shape() == Dims{0} &&
              std::any_of(inputs.begin(), inputs.end(), [](const Value& other) { return other.rank() > 1; }))
            continue;
          parts.push_back(e.cast(input, dtype));
        }
        call.axis("dim", parts.front().rank());  // the error names this op
        return {e.cat_same(parts, call.integer("dim"))};
      },
      .samples = std::vector<Sample>{{{normal({3}), normal({20})}}, {{normal({2, 3}), normal({0}), normal({1, 3})}}} +
                 with({{{normal({2, 3}), normal({2, 1})}}}, {{"dim", int64_t{1}}}),
  };
}

Op stack() {
  return {
      .signature = "stack(tensors: tensors, dim: axis = 0)",
      .doc = R"(Joins `tensors` of one shape along a new dimension `dim`. Dtypes are promoted.

>>> lucid.stack([lucid.tensor([1, 2]), lucid.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_tensors(call);
        for (size_t i = 1; i < inputs.size(); ++i)
          if (inputs[i].shape() != inputs[0].shape())
            throw ValueError("stack: tensors must have the same shape: element 0 is {}, element {} is {}",
                             to_string(inputs[0].type()), i, to_string(inputs[i].type()));
        const int64_t axis = call.axis("dim", call.rank(0) + 1);
        Values parts;
        for (const Value& input : inputs) parts.push_back(e.unsqueeze(input, axis));
        return {e.cat(parts, axis)};
      },
      .samples = std::vector<Sample>{{{normal({}), normal({})}}, {{normal({2, 3}), strided({2, 3}, {1, 2})}}} +
                 with({{{normal({2, 3}), normal({2, 3})}}}, {{"dim", int64_t{-1}}}),
  };
}

/// hstack, vstack and dstack: every tensor gets at least `rank` dimensions, then they are concatenated along `dim`.
Op stacked(Op op, int64_t rank, int64_t dim) {
  op.decompose = [rank, dim](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
    check_tensors(call);
    Values parts;
    for (Value part : inputs) {
      if (part.rank() == 0) part = e.unsqueeze(part, 0);
      if (rank >= 2 && part.rank() == 1) part = e.unsqueeze(part, 0);
      if (rank >= 3 && part.rank() == 2) part = e.unsqueeze(part, 2);
      parts.push_back(part);
    }
    const bool flat = dim == 1 && parts[0].rank() == 1;
    return {e.cat(parts, flat ? 0 : dim)};
  };
  op.samples = {{{normal({3}), normal({3})}}, {{normal({2, 3}), normal({2, 3})}}, {{normal({}), normal({})}}};
  return op;
}

Op hstack() {
  return stacked(
      {.signature = "hstack(tensors: tensors)",
       .doc = R"(Concatenates `tensors` horizontally: along the first dimension if they are 1-d, otherwise along the
second. 0-d tensors become 1-d.

>>> lucid.hstack([lucid.tensor([1, 2]), lucid.tensor([3])])
tensor([1, 2, 3]))"},
      1, 1);
}

Op vstack() {
  return stacked(
      {.signature = "vstack(tensors: tensors)",
       .doc = R"(Concatenates `tensors` vertically, along the first dimension. 0-d and 1-d tensors become rows.

>>> lucid.vstack([lucid.tensor([1, 2]), lucid.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]]))"},
      2, 0);
}

Op dstack() {
  return stacked(
      {.signature = "dstack(tensors: tensors)",
       .doc = R"(Concatenates `tensors` along the third dimension. A tensor of shape [n] becomes [1, n, 1] and one of
shape [n, m] becomes [n, m, 1].

>>> lucid.dstack([lucid.tensor([1, 2]), lucid.tensor([3, 4])]).shape
(1, 2, 2))"},
      3, 2);
}

Op split() {
  return {
      .signature = "split(x, split_size: ints, dim: axis = 0) -> tensors",
      .doc = R"(Splits `x` along `dim` into parts of `split_size` elements, the last of which may be smaller. If
`split_size` is a list of several sizes, the parts have these sizes, which must add up to the size of `dim`. The
parts are views of `x`.

>>> [len(part) for part in lucid.split(lucid.arange(7), 3)]
[3, 3, 1])",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (inputs[0].rank() == 0) throw ValueError("split: a 0-d tensor cannot be split");
        const int64_t axis = call.axis("dim");
        const SymInt size = inputs[0].size(axis);
        Dims sizes = call.ints("split_size");
        for (const SymInt part : sizes)
          if (part < 0) throw ValueError("split: negative size {} in {}", part, to_string(sizes));
        if (sizes.size() == 1) {
          const SymInt each = sizes[0];
          if (each == 0 && size != 0)
            throw ValueError("split: split_size must be positive, got 0 for dimension {} of {}", axis,
                             to_string(inputs[0].type()));
          if (each != 0) check_parts("split", (size - 1) / each + 1);
          sizes.clear();
          for (SymInt start = 0; start < size; start += each) sizes.push_back(std::min(each, size - start));
          if (sizes.empty()) sizes.push_back(0);
        }
        SymInt total = 0;
        for (const SymInt part : sizes) total = std::min(total + part, size + 1);
        if (total != size)
          throw ValueError("split: sizes {} must add up to {}, the size of dimension {} of {}", to_string(sizes), size,
                           axis, to_string(inputs[0].type()));
        Values parts;
        SymInt start = 0;
        for (const SymInt part : sizes) {
          parts.push_back(e.narrow(inputs[0], axis, start, part));
          start += part;
        }
        return parts;
      },
      .samples = with({{{normal({7, 2})}}}, {{"split_size", Dims{3}}}) +
                 with({{{normal({2, 7})}}}, {{"split_size", Dims{3, 0, 4}}, {"dim", int64_t{1}}}),
  };
}

Op chunk() {
  return {
      .signature = "chunk(x, chunks: int, dim: axis = 0) -> tensors",
      .doc = R"(Splits `x` along `dim` into at most `chunks` parts of equal size, the last of which may be smaller.
The parts are views of `x`.

>>> [len(part) for part in lucid.chunk(lucid.arange(7), 3)]
[3, 3, 1])",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (inputs[0].rank() == 0) throw ValueError("chunk: a 0-d tensor cannot be split");
        const int64_t axis = call.axis("dim");
        const int64_t chunks = call.integer("chunks");
        if (chunks <= 0) throw ValueError("chunk: chunks must be positive, got {}", chunks);
        const SymInt size = inputs[0].size(axis);
        const SymInt each = size == 0 ? SymInt(0) : (size - 1) / std::min<SymInt>(chunks, size) + 1;
        return e.split(inputs[0], {each}, axis);
      },
      .samples = with({{{normal({7, 2})}}}, {{"chunks", int64_t{3}}}) +
                 with({{{normal({2, 7})}}}, {{"chunks", int64_t{2}}, {"dim", int64_t{-1}}}),
  };
}

Op unbind() {
  return {
      .signature = "unbind(x, dim: axis = 0) -> tensors",
      .doc = R"(Returns the slices of `x` at each index along `dim`, without that dimension. They are views of `x`.

>>> a, b = lucid.unbind(lucid.tensor([[1, 2], [3, 4]])); b
tensor([3, 4]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (inputs[0].rank() == 0) throw ValueError("unbind: a 0-d tensor has no dimension to unbind");
        const int64_t axis = call.axis("dim");
        check_parts("unbind", inputs[0].size(axis));
        Values parts;
        for (int64_t i = 0; i < inputs[0].size(axis); ++i) parts.push_back(e.select(inputs[0], axis, i));
        return parts;
      },
      .samples = std::vector<Sample>{{{normal({3, 2})}}} + with({{{normal({2, 3})}}}, {{"dim", int64_t{1}}}),
  };
}

Op meshgrid() {
  return {
      .signature = "meshgrid(tensors: tensors, *, indexing: str = \"ij\") -> tensors",
      .doc = R"(Returns coordinate grids for `tensors`, each 0-d or 1-d: for each of them a tensor of the shape of the
grid, whose dimension i has the size of tensor i. With `indexing` "xy" instead of "ij", the first two dimensions are
swapped.

>>> lucid.meshgrid([lucid.tensor([1, 2]), lucid.tensor([3, 4, 5])])[0]
tensor([[1, 1, 1],
        [2, 2, 2]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_tensors(call);
        const std::string& indexing = call.text("indexing");
        if (indexing != "ij" && indexing != "xy")
          throw ValueError("meshgrid: indexing must be \"ij\" or \"xy\", got \"{}\"", indexing);
        const bool swaps = indexing == "xy" && inputs.size() >= 2;
        Dims shape;
        for (const Value& input : inputs) {
          if (input.rank() > 1)
            throw ValueError("meshgrid: tensors must be 0-d or 1-d, got {}", to_string(input.type()));
          shape.push_back(numel(input.shape()));
        }
        if (swaps) std::swap(shape[0], shape[1]);
        Values grids;
        for (size_t i = 0; i < inputs.size(); ++i) {
          const size_t axis = swaps && i < 2 ? 1 - i : i;
          Dims placed(shape.size(), 1);
          placed[axis] = shape[axis];
          grids.push_back(e.expand(e.reshape(inputs[i], placed), shape));
        }
        return grids;
      },
      .samples = std::vector<Sample>{{{normal({2}), normal({3})}}, {{normal({2}), normal({}), normal({3})}}} +
                 with({{{normal({2}), normal({3})}}}, {{"indexing", std::string("xy")}}),
  };
}

}  // namespace

void add_join_ops(std::vector<Op>& ops) {
  for (auto make : {cat_same, cat, stack, hstack, vstack, dstack, split, chunk, unbind, meshgrid})
    ops.push_back(make());
}

}  // namespace lucid
