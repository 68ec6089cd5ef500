// Elements in other places: copies, joins, cuts, repeats.

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

Value pass_on(Emitter&, const Value& g) { return g; }

Gradient identity_gradient() {
  return {.rule = [](Emitter& e, const GradientCall&, std::span<const Value> g) -> Values { return {pass_on(e, g[0])}; }};
}

std::optional<Dims> unmoved(const HostCall&, const Dims& index) { return index; }

Op contiguous() {
  return {
      .signature = "contiguous(x)",
      .doc = R"(x laid out in row-major order: x itself if it is already, else a copy.

>>> lucid.zeros(2, 3).T.contiguous().stride()
(2, 1))",
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
      .doc = R"(A copy of x with memory of its own.

>>> x = lucid.tensor([1., 2.]); y = x.clone(); y[0] = 5; x
tensor([1., 2.]))",
      .infer = same_as_input,
      .lowering = lower_unary([](loop::Value x) { return x; }),
      .reference = reference_moved(unmoved),
      .gradient = identity_gradient(),
      .samples = unary_samples(),
  };
}

/// The operands of a join, as values. Numbers cannot be joined.
void check_tensors(const Call& call) {
  if (call.count() == 0) throw ValueError("{}: expected at least one tensor", call.name());
  for (size_t i = 0; i < call.count(); ++i)
    if (!call.operand(i).is_value()) throw TypeError("{}: element {} of tensors is no tensor", call.name(), i);
}

Dtype joined_dtype(const Call& call) {
  Promotion promotion;
  for (const Operand& operand : call.operands()) promotion.add(operand.dtype(), operand.promotion_rank());
  return promotion.result();
}

Op cat_part() {
  return {
      .signature = "cat_same(tensors: tensors, dim: int = 0)",
      .doc = R"(Tensors of one dtype and rank, one after another along a dimension: what cat comes down to.

>>> lucid.cat_same([lucid.tensor([1]), lucid.tensor([2, 3])])
tensor([1, 2, 3]))",
      .infer = [](const Call& call) -> Types {
        check_tensors(call);
        const int64_t rank = call.rank(0);
        if (rank == 0) throw ValueError("{}: 0-d tensors cannot be joined; use stack", call.name());
        const auto axis = static_cast<size_t>(normalize_axis(call.name(), call.integer("dim"), rank));
        TensorType result{call.dtype(0), call.shape(0)};
        for (size_t i = 1; i < call.count(); ++i) {
          Dims shape = call.shape(i);
          const bool same_rank = shape.rank() == rank;
          const int64_t size = same_rank ? shape[axis] : 0;
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
            const auto axis =
                static_cast<size_t>(normalize_axis("cat", call.integer("dim"), out.type.shape.rank()));
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
        const int64_t axis = normalize_axis("cat", call.integer("dim"), g[0].rank());
        Values result;
        int64_t start = 0;
        for (size_t i = 0; i < call.count(); ++i) {
          const int64_t size = call.shape(i)[static_cast<size_t>(axis)];
          result.push_back(call.needs(i) ? e.narrow(g[0], axis, start, size) : Value());
          start += size;
        }
        return result;
      }},
      .samples = std::vector<Sample>{{{normal({3}), normal({20})}}, {{normal({2, 3}), normal({0, 3}), normal({1, 3})}}} +
                 with({{{normal({2, 3}), strided({2, 5}, {1, 2})}}}, {{"dim", int64_t{-1}}}),
  };
}

Op cat() {
  return {
      .signature = "cat(tensors: tensors, dim: int = 0)",
      .doc = R"(Tensors one after another along a dimension. Dtypes are promoted.

>>> lucid.cat([lucid.tensor([1, 2]), lucid.tensor([3.5])])
tensor([1.0000, 2.0000, 3.5000]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_tensors(call);
        const Dtype dtype = joined_dtype(call);
        Values parts;
        for (const Value& input : inputs) {
          // torch passes over 1-d empty tensors of any kind beside others.
          if (input.shape() == Dims{0} && std::any_of(inputs.begin(), inputs.end(),
                                                      [](const Value& other) { return other.rank() > 1; }))
            continue;
          parts.push_back(e.cast(input, dtype));
        }
        return {e.cat_same(parts, call.integer("dim"))};
      },
      .samples = std::vector<Sample>{{{normal({3}), normal({20})}}, {{normal({2, 3}), normal({0}), normal({1, 3})}}} +
                 with({{{normal({2, 3}), normal({2, 1})}}}, {{"dim", int64_t{1}}}),
  };
}

Op stack() {
  return {
      .signature = "stack(tensors: tensors, dim: int = 0)",
      .doc = R"(Tensors of one shape side by side along a new dimension.

>>> lucid.stack([lucid.tensor([1, 2]), lucid.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_tensors(call);
        for (size_t i = 1; i < inputs.size(); ++i)
          if (inputs[i].shape() != inputs[0].shape())
            throw ValueError("stack: tensors must have one shape: element 0 is {}, element {} is {}",
                             to_string(inputs[0].type()), i, to_string(inputs[i].type()));
        const int64_t axis = normalize_axis("stack", call.integer("dim"), inputs[0].rank() + 1);
        Values parts;
        for (const Value& input : inputs) parts.push_back(e.unsqueeze(input, axis));
        return {e.cat(parts, axis)};
      },
      .samples = std::vector<Sample>{{{normal({}), normal({})}}, {{normal({2, 3}), strided({2, 3}, {1, 2})}}} +
                 with({{{normal({2, 3}), normal({2, 3})}}}, {{"dim", int64_t{-1}}}),
  };
}

/// hstack and its kin: every tensor gets at least so many dimensions, then they are joined.
Op stacked(const char* name, const char* doc, int64_t rank, int64_t dim) {
  return {
      .signature = std::string(name) + "(tensors: tensors)",
      .doc = doc,
      .decompose = [rank, dim](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
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
      },
      .samples = {{{normal({3}), normal({3})}}, {{normal({2, 3}), normal({2, 3})}}},
  };
}

Op split() {
  return {
      .signature = "split(x, split_size: ints, dim: int = 0) -> tensors",
      .doc = R"(Parts of x along a dimension: of one size, the last perhaps smaller, or of the sizes in a list.

>>> [len(part) for part in lucid.split(lucid.arange(7), 3)]
[3, 3, 1])",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (inputs[0].rank() == 0) throw ValueError("split: a 0-d tensor cannot be split");
        const int64_t axis = normalize_axis("split", call.integer("dim"), inputs[0].rank());
        const int64_t size = inputs[0].size(axis);
        Dims sizes = call.ints("split_size");
        for (int64_t part : sizes)
          if (part < 0) throw ValueError("split: negative size {} in {}", part, to_string(sizes));
        if (sizes.size() == 1) {
          const int64_t each = sizes[0];
          if (each == 0 && size != 0)
            throw ValueError("split: split_size 0 never covers dimension {} of {}", axis, to_string(inputs[0].type()));
          sizes.clear();
          for (int64_t start = 0; start < size; start += each) sizes.push_back(std::min(each, size - start));
          if (sizes.empty()) sizes.push_back(0);
        }
        int64_t total = 0;
        for (int64_t part : sizes) total = std::min(total + part, size + 1);
        if (total != size)
          throw ValueError("split: sizes {} must add up to {}, the size of dimension {} of {}", to_string(sizes), size,
                           axis, to_string(inputs[0].type()));
        Values parts;
        int64_t start = 0;
        for (int64_t part : sizes) {
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
      .signature = "chunk(x, chunks: int, dim: int = 0) -> tensors",
      .doc = R"(x cut into at most so many parts of equal size along a dimension, the last perhaps smaller.

>>> [len(part) for part in lucid.chunk(lucid.arange(7), 3)]
[3, 3, 1])",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (inputs[0].rank() == 0) throw ValueError("chunk: a 0-d tensor cannot be cut");
        const int64_t axis = normalize_axis("chunk", call.integer("dim"), inputs[0].rank());
        const int64_t chunks = call.integer("chunks");
        if (chunks <= 0) throw ValueError("chunk: chunks must be positive, got {}", chunks);
        const int64_t size = inputs[0].size(axis);
        const int64_t each = size == 0 ? 0 : (size - 1) / std::min(chunks, size) + 1;
        return e.split(inputs[0], {each}, axis);
      },
      .samples = with({{{normal({7, 2})}}}, {{"chunks", int64_t{3}}}) +
                 with({{{normal({2, 7})}}}, {{"chunks", int64_t{2}}, {"dim", int64_t{-1}}}),
  };
}

Op unbind() {
  return {
      .signature = "unbind(x, dim: int = 0) -> tensors",
      .doc = R"(The parts of x at each index along a dimension.

>>> a, b = lucid.unbind(lucid.tensor([[1, 2], [3, 4]])); b
tensor([3, 4]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (inputs[0].rank() == 0) throw ValueError("unbind: a 0-d tensor has no dimension to unbind");
        const int64_t axis = normalize_axis("unbind", call.integer("dim"), inputs[0].rank());
        Values parts;
        for (int64_t i = 0; i < inputs[0].size(axis); ++i) parts.push_back(e.select(inputs[0], axis, i));
        return parts;
      },
      .samples = std::vector<Sample>{{{normal({3, 2})}}} + with({{{normal({2, 3})}}}, {{"dim", int64_t{1}}}),
  };
}

Op repeat(const char* name, const char* parameter) {
  const std::string key = parameter;
  const bool tile = std::string(name) == "tile";
  return {
      .signature = std::string(name) + "(x, " + parameter + ": ints*)",
      .doc = std::string(R"(x repeated so often along each dimension; new dimensions come first.

>>> lucid.)") + name + R"((lucid.tensor([1, 2]), (2, 2))
tensor([[1, 2, 1, 2],
        [1, 2, 1, 2]]))",
      .decompose = [key, tile](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        Dims repeats = call.ints(key);
        const Value& x = inputs[0];
        while (tile && repeats.rank() < x.rank()) repeats.insert(0, 1);
        if (repeats.rank() < x.rank())
          throw ValueError("{}: {} has more dimensions than repeats {}", call.name(), to_string(x.type()),
                           to_string(repeats));
        Dims split_shape;
        Dims wide;
        Dims result;
        const int64_t lead = repeats.rank() - x.rank();
        for (int64_t d = 0; d < repeats.rank(); ++d) {
          const int64_t times = repeats[static_cast<size_t>(d)];
          const int64_t size = d < lead ? 1 : x.size(d - lead);
          if (times < 0) throw ValueError("{}: negative number of repeats in {}", call.name(), to_string(repeats));
          split_shape.push_back(1);
          split_shape.push_back(size);
          wide.push_back(times);
          wide.push_back(size);
          result.push_back(size && times > INT64_MAX / std::max<int64_t>(size, 1) ? INT64_MAX : times * size);
        }
        checked_numel(call.name(), result, size_of(x.dtype()));
        // A copy, also when nothing repeats: the result never shares memory with x.
        return {e.reshape(e.contiguous(e.expand(e.reshape(x, split_shape), wide)), result)};
      },
      .samples = with({{{normal({3})}}, {{normal({2, 3})}}, {{strided({2, 3}, {1, 2})}}}, {{key, Dims{2, 1, 2}}}) +
                 with({{{normal({2})}}}, {{key, Dims{0}}}),
  };
}

Op repeat_interleave() {
  return {
      .signature = "repeat_interleave(x, repeats: int, dim: int? = None)",
      .doc = R"(Each element of x repeated so often in place along a dimension, or of x flattened.

>>> lucid.repeat_interleave(lucid.tensor([1, 2]), 2)
tensor([1, 1, 2, 2]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const int64_t repeats = call.integer("repeats");
        if (repeats < 0) throw ValueError("repeat_interleave: repeats must not be negative, got {}", repeats);
        const bool flat = call.is_none("dim");
        const Value x = flat ? e.reshape(inputs[0], Dims{-1}) : inputs[0];
        if (x.rank() == 0) throw ValueError("repeat_interleave: a 0-d tensor has no dimension to repeat along");
        const int64_t axis = flat ? 0 : normalize_axis("repeat_interleave", call.integer("dim"), x.rank());
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

Op meshgrid() {
  return {
      .signature = "meshgrid(tensors: tensors, *, indexing: str = \"ij\") -> tensors",
      .doc = R"(Coordinate grids from 1-d coordinates: one tensor for each, all of the grid's shape.

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

Op flip() {
  return {
      .signature = "flip(x, dims: ints*)",
      .doc = R"(x with the order of elements reversed along the given dimensions.

>>> lucid.flip(lucid.tensor([1, 2, 3]), 0)
tensor([3, 2, 1]))",
      .infer =
          [](const Call& call) {
            normalize_axes(call.name(), call.ints("dims"), call.rank(0));
            return same_as_input(call);
          },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        const Dims axes = normalize_axes(call.name(), call.ints("dims"), rank);
                                        std::vector<loop::Value> index;
                                        for (int64_t d = 0; d < rank; ++d) {
                                          const bool flips = std::find(axes.begin(), axes.end(), d) != axes.end();
                                          const loop::Value i = element.index(d);
                                          index.push_back(flips ? element.input_size(0, d) -
                                                                      element.builder().index(1) - i
                                                                : i);
                                        }
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        for (int64_t d : normalize_axes(call.name(), call.ints("dims"), call.rank(0))) {
          const auto i = static_cast<size_t>(d);
          if (i < index.size()) index[i] = call.shape(0)[i] - 1 - index[i];
        }
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {e.flip(g[0], call.ints("dims"))};
      }},
      .samples = with({{{normal({19})}}, {{normal({3, 20})}}, {{strided({3, 4}, {1, 3})}}}, {{"dims", Dims{0}}}) +
                 with({{{normal({2, 3, 4})}}}, {{"dims", Dims{0, -1}}}) + with({{{normal({2, 3})}}}, {{"dims", Dims{}}}),
  };
}

Op roll_one() {
  return {
      .signature = "roll_one(x, shift: int, dim: int)",
      .doc = R"(x with its elements moved on along one dimension, those past the end coming back at the start.

>>> lucid.roll_one(lucid.tensor([1, 2, 3]), 1, 0)
tensor([3, 1, 2]))",
      .infer =
          [](const Call& call) {
            normalize_axis(call.name(), call.integer("dim"), call.rank(0));
            return same_as_input(call);
          },
      .lowering =
          IndexedLowering{.body =
                              [](ElementContext& element, const Call& call) {
                                const int64_t rank = call.rank(0);
                                const int64_t axis = normalize_axis(call.name(), call.integer("dim"), rank);
                                std::vector<loop::Value> index;
                                for (int64_t d = 0; d < rank; ++d) index.push_back(element.index(d));
                                if (rank == 0) return element.load(0, index, {});
                                const int64_t size = call.shape(0)[static_cast<size_t>(axis)];
                                const int64_t shift = size ? ((call.integer("shift") % size) + size) % size : 0;
                                loop::Value& i = index[static_cast<size_t>(axis)];
                                const loop::Value moved = i - element.number(shift);
                                i = element.builder().select(moved < element.builder().index(0),
                                                             moved + element.number(size), moved);
                                return element.load(0, index, {});
                              }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        if (index.empty()) return index;
        const auto axis = static_cast<size_t>(normalize_axis(call.name(), call.integer("dim"), call.rank(0)));
        const int64_t size = call.shape(0)[axis];
        index[axis] = (((index[axis] - call.integer("shift") % size) % size) + size) % size;
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const int64_t axis = call.integer("dim");
        const int64_t size = g[0].rank() ? g[0].size(normalize_axis("roll", axis, g[0].rank())) : 0;
        return {e.roll_one(g[0], size ? -(call.integer("shift") % size) : 0, axis)};
      }},
      .samples = with({{{normal({19})}}, {{normal({5, 3})}}}, {{"shift", int64_t{2}}, {"dim", int64_t{0}}}) +
                 with({{{strided({3, 20}, {1, 3})}}}, {{"shift", int64_t{-23}}, {"dim", int64_t{-1}}}),
  };
}

Op roll() {
  return {
      .signature = "roll(x, shifts: ints, dims: ints? = None)",
      .doc = R"(x with its elements moved on along dimensions, or flattened, those past the end coming back at the start.

>>> lucid.roll(lucid.tensor([1, 2, 3]), 1)
tensor([3, 1, 2]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Dims& shifts = call.ints("shifts");
        if (call.is_none("dims")) {
          if (shifts.size() != 1)
            throw ValueError("roll: without dims there is one shift, got {}", to_string(shifts));
          const Value flat = e.reshape(inputs[0], Dims{-1});
          return {e.reshape(e.roll_one(flat, shifts[0], 0), inputs[0].shape())};
        }
        const Dims& dims = call.ints("dims");
        if (dims.size() != shifts.size())
          throw ValueError("roll: shifts {} and dims {} differ in length", to_string(shifts), to_string(dims));
        Value result = inputs[0];
        for (size_t i = 0; i < dims.size(); ++i) result = e.roll_one(result, shifts[i], dims[i]);
        return {dims.empty() ? e.clone(result) : result};
      },
      .samples = with({{{normal({3, 4})}}}, {{"shifts", Dims{5}}}) +
                 with({{{normal({3, 4})}}}, {{"shifts", Dims{1, -1}}, {"dims", Dims{0, 1}}}),
  };
}

/// tril and triu: keeps the elements on one side of a diagonal.
Op triangle(const char* name, const char* doc, bool lower) {
  return {
      .signature = std::string(name) + "(x, diagonal: int = 0)",
      .doc = doc,
      .infer =
          [](const Call& call) {
            if (call.rank(0) < 2)
              throw ValueError("{}: {} has fewer than two dimensions", call.name(), to_string(call.operand(0).type()));
            return same_as_input(call);
          },
      .lowering = IndexedLowering{.body =
                                      [lower](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const int64_t rank = call.rank(0);
                                        const loop::Value row = element.index(rank - 2);
                                        const loop::Value column = element.index(rank - 1);
                                        // Clipped, so that far diagonals do not overflow.
                                        const int64_t far = 1 + std::max(call.shape(0)[static_cast<size_t>(rank - 1)],
                                                                         call.shape(0)[static_cast<size_t>(rank - 2)]);
                                        const loop::Value k =
                                            element.number(std::clamp(call.integer("diagonal"), -far, far));
                                        const loop::Value kept = lower ? column <= row + k : column >= row + k;
                                        const loop::Value x = same_index(element, rank);
                                        return b.select(kept, x, b.like(x, 0));
                                      }},
      .reference = reference_moved([lower](const HostCall& call, const Dims& index) -> std::optional<Dims> {
        const int64_t row = index[index.size() - 2];
        const int64_t column = index[index.size() - 1];
        const int64_t k = call.integer("diagonal");
        const bool kept = lower ? column - row <= k : column - row >= k;
        return kept ? std::optional(index) : std::nullopt;
      }),
      .gradient = {.rule = [lower](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const int64_t k = call.integer("diagonal");
        return {lower ? e.tril(g[0], k) : e.triu(g[0], k)};
      }},
      .samples = std::vector<Sample>{{{normal({4, 19})}}, {{strided({3, 3}, {1, 3})}}} +
                 with({{{normal({2, 5, 3})}}}, {{"diagonal", int64_t{1}}}) + with({{{normal({4, 4})}}}, {{"diagonal", int64_t{-2}}}),
  };
}

Op constant_pad() {
  return {
      .signature = "constant_pad(x, pad: ints, value: float = 0.0)",
      .doc = R"(x with so many elements of one value before and after the last dimension, then the one before it, and so on; negative numbers cut.

>>> lucid.constant_pad(lucid.tensor([1, 2]), (1, 2))
tensor([0, 1, 2, 0, 0]))",
      .infer = [](const Call& call) -> Types {
        const Dims& pad = call.ints("pad");
        if (pad.size() % 2 != 0 || pad.rank() / 2 > call.rank(0))
          throw ValueError("pad: {} must hold two numbers for each of the last dimensions of {}", to_string(pad),
                           to_string(call.operand(0).type()));
        Dims shape = call.shape(0);
        for (size_t i = 0; i < pad.size() / 2; ++i) {
          int64_t& size = shape[shape.size() - 1 - i];
          const int64_t before = pad[2 * i];
          const int64_t after = pad[2 * i + 1];
          if (before > INT32_MAX * int64_t{1024} || after > INT32_MAX * int64_t{1024} || before < -size || after < -size ||
              size + before + after < 0)
            throw ValueError("pad: {} does not fit dimension {} of {}", to_string(pad), shape.size() - 1 - i,
                             to_string(call.operand(0).type()));
          size += before + after;
        }
        checked_numel("pad", shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering =
          IndexedLowering{.body =
                              [](ElementContext& element, const Call& call) {
                                loop::Builder& b = element.builder();
                                const Dims& pad = call.ints("pad");
                                const int64_t rank = call.rank(0);
                                std::vector<loop::Value> index;
                                loop::Value valid;
                                for (int64_t d = 0; d < rank; ++d) {
                                  const auto from_last = static_cast<size_t>(rank - 1 - d);
                                  loop::Value i = element.index(d);
                                  if (2 * from_last < pad.size()) {
                                    i = i - element.number(pad[2 * from_last]);
                                    const loop::Value inside = (i >= b.index(0)) & (i < element.input_size(0, d));
                                    valid = valid ? valid & inside : inside;
                                  }
                                  index.push_back(i);
                                }
                                const loop::Value x = element.load(0, index, valid);
                                return valid ? b.select(valid, x, b.like(x, call.real("value"))) : x;
                              }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            const Dims& pad = call.ints("pad");
            int64_t at = 0;
            for_each_index(out.type.shape, [&](Dims index) {
              bool inside = true;
              for (size_t i = 0; i < pad.size() / 2; ++i) {
                const size_t d = index.size() - 1 - i;
                index[d] -= pad[2 * i];
                inside = inside && index[d] >= 0 && index[d] < call.shape(0)[d];
              }
              if (inside)
                copy_element(call.in(0), position(call.shape(0), index), out, at);
              else
                Scalar(call.real("value")).store(out.type.dtype, element_of(out, at));
              ++at;
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        Dims back = call.ints("pad");
        for (int64_t& n : back) n = -n;
        return {e.constant_pad(g[0], back, 0.0)};
      }},
      .samples = with({{{normal({5})}}, {{normal({2, 17})}}, {{strided({2, 3}, {1, 2})}}}, {{"pad", Dims{1, 2}}}) +
                 with({{{normal({2, 3, 4})}}}, {{"pad", Dims{-1, 2, 0, 1}}, {"value", 2.0}}) +
                 with({{{normal({2, 3})}}}, {{"pad", Dims{}}}),
  };
}

Op pad() {
  return {
      .signature = "pad(x, pad: ints, mode: str = \"constant\", value: float = 0.0)",
      .doc = R"(x made larger at the ends of its last dimensions: by a constant, or by its own elements reflected, replicated or in a circle.

>>> lucid.pad(lucid.tensor([1, 2, 3]), (2, 1), "reflect")
tensor([3, 2, 1, 2, 3, 2]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const std::string& mode = call.text("mode");
        const Dims& pad = call.ints("pad");
        if (mode == "constant") return {e.constant_pad(inputs[0], pad, call.real("value"))};
        if (mode != "reflect" && mode != "replicate" && mode != "circular")
          throw ValueError("pad: mode must be constant, reflect, replicate or circular, got \"{}\"", mode);
        Value result = inputs[0];
        if (pad.size() % 2 != 0 || pad.rank() / 2 > result.rank())
          throw ValueError("pad: {} must hold two numbers for each of the last dimensions of {}", to_string(pad),
                           to_string(result.type()));
        for (size_t i = 0; i < pad.size() / 2; ++i) {
          const int64_t axis = result.rank() - 1 - static_cast<int64_t>(i);
          const int64_t size = result.size(axis);
          const int64_t before = pad[2 * i];
          const int64_t after = pad[2 * i + 1];
          const int64_t most = mode == "reflect" ? size - 1 : mode == "circular" ? size : INT32_MAX;
          if (before < 0 || after < 0 || before > most || after > most || size == 0)
            throw ValueError("pad: {} does not fit dimension {} of {} in mode {}", to_string(pad), axis,
                             to_string(result.type()), mode);
          Value index = e.sub(e.iota(Dims{size + before + after}, 0), before);
          if (mode == "replicate") index = e.clamp(index, 0, size - 1);
          if (mode == "circular") index = e.remainder(index, size);
          if (mode == "reflect") index = e.sub(size - 1, e.abs(e.sub(size - 1, e.abs(index))));
          result = e.index_select(result, axis, index);
        }
        return {result};
      },
      .samples = with({{{normal({2, 3})}}}, {{"pad", Dims{1, 2}}}) +
                 with({{{normal({3, 4})}}}, {{"pad", Dims{2, 1, 1, 0}}, {"mode", std::string("reflect")}}) +
                 with({{{normal({3, 4})}}}, {{"pad", Dims{2, 1}}, {"mode", std::string("replicate")}}) +
                 with({{{normal({3, 4})}}}, {{"pad", Dims{2, 1}}, {"mode", std::string("circular")}}),
  };
}

Op diag() {
  return {
      .signature = "diag(x, diagonal: int = 0)",
      .doc = R"(The diagonal of a matrix, or the matrix with a vector on its diagonal.

>>> lucid.diag(lucid.tensor([1, 2]))
tensor([[1, 0],
        [0, 2]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Value& x = inputs[0];
        const int64_t k = call.integer("diagonal");
        if (x.rank() == 2) return {e.contiguous(e.diagonal(x, k, 0, 1))};
        if (x.rank() != 1) throw ValueError("diag: expected a vector or a matrix, got {}", to_string(x.type()));
        constexpr int64_t kFarthest = int64_t{1} << 40;
        if (k < -kFarthest || k > kFarthest) throw ValueError("diag: diagonal {} is too far out", k);
        const int64_t size = x.size(0) + std::abs(k);
        checked_numel("diag", Dims{size, size}, size_of(x.dtype()));
        // A column beside zeros, flattened, is a matrix with the column on its diagonal.
        const Value column = e.constant_pad(e.unsqueeze(x, 1), {0, size}, 0.0);
        const Value flat = e.constant_pad(e.reshape(column, Dims{-1}), {0, size * size - x.size(0) * (size + 1)}, 0.0);
        const Value square = e.reshape(flat, {size, size});
        return {k == 0 ? square : e.roll(square, Dims{k > 0 ? k : -k}, Dims{k > 0 ? 1 : 0})};
      },
      .samples = std::vector<Sample>{{{normal({3})}}, {{normal({3, 4})}}} + with({{{normal({3})}}}, {{"diagonal", int64_t{2}}}) +
                 with({{{normal({3})}}}, {{"diagonal", int64_t{-1}}}) + with({{{normal({3, 4})}}}, {{"diagonal", int64_t{1}}}),
  };
}

}  // namespace

void add_movement_ops(std::vector<Op>& ops) {
  for (auto make : {contiguous, clone, cat_part, cat, stack, split, chunk, unbind, repeat_interleave, meshgrid, flip,
                    roll_one, roll, constant_pad, pad, diag})
    ops.push_back(make());
  ops.push_back(stacked("hstack", R"(Tensors side by side: along the first dimension if they are 1-d, else along the second.

>>> lucid.hstack([lucid.tensor([1, 2]), lucid.tensor([3])])
tensor([1, 2, 3]))",
                        1, 1));
  ops.push_back(stacked("vstack", R"(Tensors below one another, vectors as rows.

>>> lucid.vstack([lucid.tensor([1, 2]), lucid.tensor([3, 4])])
tensor([[1, 2],
        [3, 4]]))",
                        2, 0));
  ops.push_back(stacked("dstack", R"(Tensors behind one another along the third dimension.

>>> lucid.dstack([lucid.tensor([1, 2]), lucid.tensor([3, 4])]).shape
(1, 2, 2))",
                        3, 2));
  ops.push_back(repeat("repeat", "repeats"));
  ops.push_back(repeat("tile", "dims"));
  ops.push_back(triangle("tril", R"(The lower triangle of a matrix, zeros above the given diagonal.

>>> lucid.tril(lucid.ones(2, 2))
tensor([[1., 0.],
        [1., 1.]]))",
                         true));
  ops.push_back(triangle("triu", R"(The upper triangle of a matrix, zeros below the given diagonal.

>>> lucid.triu(lucid.ones(2, 2))
tensor([[1., 1.],
        [0., 1.]]))",
                         false));
}

}  // namespace lucid
