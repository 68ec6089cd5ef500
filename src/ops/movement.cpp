// Ops that copy, repeat and reorder elements.

#include <algorithm>

#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

loop::Value same_index(ElementContext& element, int64_t rank, int input = 0) {
  std::vector<loop::Value> index;
  for (int64_t d = 0; d < rank; ++d) index.push_back(element.index(d));
  return element.load(input, index, {});
}

Gradient identity_gradient() {
  return {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }};
}

std::optional<Dims> unmoved(const HostCall&, const Dims& index) { return index; }

Op contiguous() {
  return {
      .signature = "contiguous(x)",
      .doc = R"(Returns `x` in row-major layout: `x` itself if it already has it, otherwise a copy.

>>> lucid.zeros(2, 3).T.contiguous().stride()
(2, 1))",
      .names = {.in_place = false},
      .algebra = {.copies = Copies::kUnlessContiguous},
      .infer = same_as_input,
      .contiguous_result = true,
      .lowering = lower_unary([](loop::Value x) { return x; }),
      .reference = reference_moved(unmoved),
      .gradient = identity_gradient(),
      .samples = unary_samples(),
  };
}

Op clone() {
  return {
      .signature = "clone(x)",
      .doc = R"(Returns a copy of `x` with its own memory.

>>> x = lucid.tensor([1., 2.]); y = x.clone(); y[0] = 5; x
tensor([1., 2.]))",
      .names = {.in_place = false},
      .algebra = {.copies = Copies::kAlways},
      .infer = same_as_input,
      .lowering = lower_unary([](loop::Value x) { return x; }),
      .reference = reference_moved(unmoved),
      .gradient = identity_gradient(),
      .samples = unary_samples(),
  };
}

/// x repeated `repeats` times along each dimension; new dimensions come first.
Value repeated(Emitter& e, const Call& call, const Value& x, const Dims& repeats) {
  Dims split_shape;
  Dims wide;
  Dims result;
  const int64_t lead = repeats.rank() - x.rank();
  for (int64_t d = 0; d < repeats.rank(); ++d) {
    const SymInt times = repeats[static_cast<size_t>(d)];
    const SymInt size = d < lead ? SymInt(1) : x.size(d - lead);
    if (times < 0) throw ValueError("{}: repeats must not be negative, got {}", call.name(), to_string(repeats));
    split_shape.push_back(1);
    split_shape.push_back(size);
    wide.push_back(times);
    wide.push_back(size);
    int64_t product = 0;
    const bool fits = !__builtin_mul_overflow(times.unguarded(), size.unguarded(), &product);
    result.push_back(fits ? times * size : SymInt(INT64_MAX));
  }
  checked_numel(call.name(), result, size_of(x.dtype()));
  // Always a copy: the result never shares memory with x, even if nothing is repeated.
  return e.reshape(e.contiguous(e.expand(e.reshape(x, split_shape), wide)), result);
}

std::vector<Sample> repeat_samples(const std::string& name) {
  return with({{{normal({3})}}, {{normal({2, 3})}}, {{strided({2, 3}, {1, 2})}}}, {{name, Dims{2, 1, 2}}}) +
         with({{{normal({2})}}}, {{name, Dims{0}}});
}

Op repeat() {
  return {
      .signature = "repeat(x, repeats: ints*)",
      .doc = R"(Returns `x` repeated `repeats` times along each dimension, as a copy. `repeats` has at least as many
numbers as `x` has dimensions; new dimensions come first.

>>> lucid.repeat(lucid.tensor([1, 2]), (2, 2))
tensor([[1, 2, 1, 2],
        [1, 2, 1, 2]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Dims& repeats = call.ints("repeats");
        if (repeats.rank() < inputs[0].rank())
          throw ValueError("repeat: x {} has more dimensions than repeats {}", to_string(inputs[0].type()),
                           to_string(repeats));
        return {repeated(e, call, inputs[0], repeats)};
      },
      .samples = repeat_samples("repeats"),
  };
}

Op tile() {
  return {
      .signature = "tile(x, dims: ints*)",
      .doc = R"(Returns `x` repeated `dims` times along each dimension, as a copy. If `dims` has fewer numbers than
`x` has dimensions, they apply to the last ones; if it has more, new dimensions come first.

>>> lucid.tile(lucid.tensor([1, 2]), (2, 2))
tensor([[1, 2, 1, 2],
        [1, 2, 1, 2]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        Dims repeats = call.ints("dims");
        while (repeats.rank() < inputs[0].rank()) repeats.insert(0, 1);
        return {repeated(e, call, inputs[0], repeats)};
      },
      .samples = repeat_samples("dims") + with({{{normal({2, 3})}}}, {{"dims", Dims{2}}}),
  };
}

Op repeat_interleave() {
  return {
      .signature = "repeat_interleave(x, repeats: int, dim: axis? = None)",
      .doc = R"(Returns `x` with each element repeated `repeats` times in a row along `dim`, as a copy. Without `dim`,
`x` is flattened first.

>>> lucid.repeat_interleave(lucid.tensor([1, 2]), 2)
tensor([1, 1, 2, 2]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const int64_t repeats = call.integer("repeats");
        if (repeats < 0) throw ValueError("repeat_interleave: repeats must not be negative, got {}", repeats);
        const bool flat = call.is_none("dim");
        const Value x = flat ? e.reshape(inputs[0], Dims{-1}) : inputs[0];
        if (x.rank() == 0) throw ValueError("repeat_interleave: a 0-d tensor has no dimension to repeat along");
        const int64_t axis = flat ? 0 : call.axis("dim");
        Dims wide = x.shape();
        Dims result = x.shape();
        const auto i = static_cast<size_t>(axis);
        wide.insert(i + 1, repeats);
        checked_numel(call.name(), wide, size_of(x.dtype()));
        result[i] *= repeats;
        return {e.reshape(e.contiguous(e.expand(e.unsqueeze(x, axis + 1), wide)), result)};
      },
      .samples = with({{{normal({2, 3})}}}, {{"repeats", int64_t{2}}}) +
                 with({{{normal({2, 3})}}}, {{"repeats", int64_t{3}}, {"dim", int64_t{-2}}}),
  };
}

Op flip() {
  return {
      .signature = "flip(x, dims: axes*)",
      .doc = R"(Returns a copy of `x` with the order of the elements reversed along the dimensions `dims`.

>>> lucid.flip(lucid.tensor([1, 2, 3]), 0)
tensor([3, 2, 1]))",
      .infer =
          [](const Call& call) {
            call.axes("dims");
            return same_as_input(call);
          },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        const Dims axes = call.axes("dims");
                                        std::vector<loop::Value> index;
                                        for (int64_t d = 0; d < rank; ++d) {
                                          const bool flips = std::find(axes.begin(), axes.end(), d) != axes.end();
                                          const loop::Value i = element.index(d);
                                          index.push_back(
                                              flips ? element.input_size(0, d) - element.builder().index(1) - i : i);
                                        }
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        for (int64_t d : call.axes("dims")) {
          const auto i = static_cast<size_t>(d);
          if (i < index.size()) index[i] = call.shape(0)[i] - 1 - index[i];
        }
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {e.flip(g[0], call.ints("dims"))};
      }},
      .samples = with({{{normal({19})}}, {{normal({3, 20})}}, {{strided({3, 4}, {1, 3})}}}, {{"dims", Dims{0}}}) +
                 with({{{normal({2, 3, 4})}}}, {{"dims", Dims{0, -1}}}) +
                 with({{{normal({2, 3})}}}, {{"dims", Dims{}}}),
  };
}

Op roll_one() {
  return {
      .signature = "roll_one(x, shift: int, dim: axis)",
      .doc = R"(Returns `x` with its elements moved by `shift` along `dim`. Elements moved past the end reappear at
the start, and vice versa.

>>> lucid.roll_one(lucid.tensor([1, 2, 3]), 1, 0)
tensor([3, 1, 2]))",
      .names = {.audience = Audience::kOps},
      .infer =
          [](const Call& call) {
            call.axis("dim");
            return same_as_input(call);
          },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        const int64_t axis = call.axis("dim");
                                        std::vector<loop::Value> index;
                                        for (int64_t d = 0; d < rank; ++d) index.push_back(element.index(d));
                                        if (rank == 0) return element.load(0, index, {});
                                        const int64_t size = call.shape(0)[static_cast<size_t>(axis)];
                                        const int64_t shift =
                                            size ? ((call.integer("shift") % size) + size) % size : SymInt(0);
                                        loop::Value& i = index[static_cast<size_t>(axis)];
                                        const loop::Value moved = i - element.number(shift);
                                        i = element.builder().select(moved < element.builder().index(0),
                                                                     moved + element.number(size), moved);
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        if (index.empty()) return index;
        const auto axis = static_cast<size_t>(call.axis("dim"));
        const int64_t size = call.shape(0)[axis];
        index[axis] = (((index[axis] - call.integer("shift") % size) % size) + size) % size;
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const int64_t axis = call.axis("dim");
        const SymInt size = g[0].rank() ? g[0].size(axis) : SymInt(0);
        return {e.roll_one(g[0], size != 0 ? -(call.integer("shift") % size) : SymInt(0), axis)};
      }},
      .samples = with({{{normal({19})}}, {{normal({5, 3})}}}, {{"shift", int64_t{2}}, {"dim", int64_t{0}}}) +
                 with({{{strided({3, 20}, {1, 3})}}}, {{"shift", int64_t{-23}}, {"dim", int64_t{-1}}}),
  };
}

Op roll() {
  return {
      .signature = "roll(x, shifts: ints, dims: axes? = None)",
      .doc =
          R"(Returns `x` with its elements moved by `shifts` along the dimensions `dims`. Elements moved past the
end reappear at the start, and vice versa. Without `dims`, `x` is rolled as if it were flattened, and keeps its
shape.

>>> lucid.roll(lucid.tensor([1, 2, 3]), 1)
tensor([3, 1, 2]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Dims& shifts = call.ints("shifts");
        if (call.is_none("dims")) {
          if (shifts.size() != 1)
            throw ValueError("roll: shifts must be one number if dims is not given, got {}", to_string(shifts));
          const Value flat = e.reshape(inputs[0], Dims{-1});
          return {e.reshape(e.roll_one(flat, shifts[0], 0), inputs[0].shape())};
        }
        const Dims& dims = call.ints("dims");
        if (dims.size() != shifts.size())
          throw ValueError("roll: shifts {} and dims {} differ in length", to_string(shifts), to_string(dims));
        for (const int64_t dim : dims) normalize_axis(call.name(), dim, call.rank(0));  // the error names this op
        Value result = inputs[0];
        for (size_t i = 0; i < dims.size(); ++i) result = e.roll_one(result, shifts[i], dims[i]);
        return {dims.empty() ? e.clone(result) : result};
      },
      .samples = with({{{normal({3, 4})}}}, {{"shifts", Dims{5}}}) +
                 with({{{normal({3, 4})}}}, {{"shifts", Dims{1, -1}}, {"dims", Dims{0, 1}}}),
  };
}

/// tril and triu: keeps the elements on one side of a diagonal.
Op triangle(Op op, bool lower) {
  op.infer = [](const Call& call) {
    if (call.rank(0) < 2)
      throw ValueError("{}: x must have at least two dimensions, got {}", call.name(),
                       to_string(call.operand(0).type()));
    return same_as_input(call);
  };
  op.lowering = IndexedLowering{.body = [lower](ElementContext& element, const Call& call) {
    loop::Builder& b = element.builder();
    const int64_t rank = call.rank(0);
    const loop::Value row = element.index(rank - 2);
    const loop::Value column = element.index(rank - 1);
    // Clamped, so that distant diagonals do not overflow.
    const int64_t far =
        1 + std::max(call.shape(0)[static_cast<size_t>(rank - 1)], call.shape(0)[static_cast<size_t>(rank - 2)]);
    const loop::Value k = element.number(std::clamp<int64_t>(call.integer("diagonal"), -far, far));
    const loop::Value kept = lower ? column <= row + k : column >= row + k;
    const loop::Value x = same_index(element, rank);
    return b.select(kept, x, b.like(x, 0));
  }};
  op.reference = reference_moved([lower](const HostCall& call, const Dims& index) -> std::optional<Dims> {
    const int64_t row = index[index.size() - 2];
    const int64_t column = index[index.size() - 1];
    const int64_t k = call.integer("diagonal");
    const bool kept = lower ? column - row <= k : column - row >= k;
    return kept ? std::optional(index) : std::nullopt;
  });
  op.gradient = {.rule = [lower](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
    const int64_t k = call.integer("diagonal");
    return {lower ? e.tril(g[0], k) : e.triu(g[0], k)};
  }};
  op.samples = std::vector<Sample>{{{normal({4, 19})}}, {{strided({3, 3}, {1, 3})}}} +
               with({{{normal({2, 5, 3})}}}, {{"diagonal", int64_t{1}}}) +
               with({{{normal({4, 4})}}}, {{"diagonal", int64_t{-2}}});
  return op;
}

Op tril() {
  return triangle(
      {.signature = "tril(x, diagonal: int = 0)",
       .doc = R"(Returns the lower triangle of the matrices in the last two dimensions of `x`, with zeros above the
diagonal `diagonal`: 0 is the main diagonal, positive ones are above it.

>>> lucid.tril(lucid.ones(2, 2))
tensor([[1., 0.],
        [1., 1.]]))",
       .names = {.in_place = true}},
      true);
}

Op triu() {
  return triangle(
      {.signature = "triu(x, diagonal: int = 0)",
       .doc = R"(Returns the upper triangle of the matrices in the last two dimensions of `x`, with zeros below the
diagonal `diagonal`: 0 is the main diagonal, positive ones are above it.

>>> lucid.triu(lucid.ones(2, 2))
tensor([[1., 1.],
        [0., 1.]]))",
       .names = {.in_place = true}},
      false);
}

Op diag() {
  return {
      .signature = "diag(x, diagonal: int = 0)",
      .doc = R"(Returns the diagonal `diagonal` of a matrix as a vector, or a square matrix with the vector `x` on
that diagonal and zeros elsewhere. 0 is the main diagonal, positive ones are above it. The result is a copy.

>>> lucid.diag(lucid.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Value& x = inputs[0];
        const int64_t k = call.integer("diagonal");
        if (x.rank() == 2) return {e.contiguous(e.diagonal(x, k, 0, 1))};
        if (x.rank() != 1) throw ValueError("diag: expected a vector or a matrix, got {}", to_string(x.type()));
        constexpr int64_t kMaxDiagonal = int64_t{1} << 40;
        if (k < -kMaxDiagonal || k > kMaxDiagonal) throw ValueError("diag: diagonal {} is out of range", k);
        const int64_t size = x.size(0) + std::abs(k);
        checked_numel("diag", Dims{size, size}, size_of(x.dtype()));
        // A column padded with `size` zero columns, flattened and reshaped, is a matrix with the column on its
        // diagonal.
        const Value column = e.constant_pad(e.unsqueeze(x, 1), {0, size}, 0.0);
        const Value flat = e.constant_pad(e.reshape(column, Dims{-1}), {0, size * size - x.size(0) * (size + 1)}, 0.0);
        const Value square = e.reshape(flat, {size, size});
        return {k == 0 ? square : e.roll(square, Dims{k > 0 ? k : -k}, Dims{k > 0 ? 1 : 0})};
      },
      .samples = std::vector<Sample>{{{normal({3})}}, {{normal({3, 4})}}} +
                 with({{{normal({3})}}}, {{"diagonal", int64_t{2}}}) +
                 with({{{normal({3})}}}, {{"diagonal", int64_t{-1}}}) +
                 with({{{normal({3, 4})}}}, {{"diagonal", int64_t{1}}}),
  };
}

}  // namespace

void add_movement_ops(std::vector<Op>& ops) {
  for (auto make : {contiguous, clone, repeat, tile, repeat_interleave, flip, roll_one, roll, tril, triu, diag})
    ops.push_back(make());
}

}  // namespace lucid
