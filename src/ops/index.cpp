// Elements picked and placed by indices that are themselves tensors.

#include <algorithm>
#include <numeric>

#include "ops/reference.h"
#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

const char* const kOutOfRange = "an index is out of range for the dimension it indexes";

/// Every operand that may be an index tensor, for gradient rules that read them.
std::vector<int> index_operands() {
  std::vector<int> operands(kMaxRank + 1);
  std::iota(operands.begin(), operands.end(), 1);
  return operands;
}

void check_index_dtype(const Call& call, size_t i) {
  if (!call.operand(i).is_value() || call.dtype(i) != Dtype::kI64)
    throw TypeError("{}: indices must be i64 tensors, got {}; convert with .long()", call.name(),
                    to_string(call.operand(i).type()));
}

int64_t axis_of(const Call& call) { return normalize_axis(call.name(), call.integer("dim"), call.rank(0)); }

/// An index of a dimension of operand 0, checked; negative ones count from the end if `wraps`.
loop::Value checked(ElementContext& element, loop::Value index, int64_t axis, bool wraps) {
  loop::Builder& b = element.builder();
  const loop::Value size = element.input_size(0, axis);
  const loop::Value zero = b.index(0);
  const loop::Value lowest = wraps ? zero - size : zero;
  const loop::Value bad = (index < lowest) | (index >= size);
  element.fail_if(bad, 1);
  if (wraps) index = b.select(index < zero, index + size, index);
  return b.select(bad, zero, index);
}

std::vector<loop::Value> all_indices(ElementContext& element, int64_t rank) {
  std::vector<loop::Value> index;
  for (int64_t d = 0; d < rank; ++d) index.push_back(element.index(d));
  return index;
}

/// Reads index tensors in references, with the check that kernels make.
int64_t reference_index(const HostCall& call, size_t operand, int64_t at, int64_t size, bool wraps) {
  const int64_t index = call.in(operand).as<int64_t>()[at];
  if (index >= size || index < (wraps ? -size : 0)) throw IndexError("{}: {}", call.name(), kOutOfRange);
  return index < 0 ? index + size : index;
}

/// Combines one element into another, as scatters do, in the dtype that kernels compute in.
void reference_combine(ScatterCombine combine, const HostArray& out, int64_t to, const HostArray& source, int64_t from) {
  dispatch_all(out.type.dtype, [&]<typename T>() {
    const T held = element_as<T>(out.type.dtype, element_of(out, to));
    const T next = element_as<T>(out.type.dtype, element_of(source, from));
    T result = next;
    if (combine == ScatterCombine::kAdd) result = static_cast<T>(held + next);
    if (combine == ScatterCombine::kMul) result = static_cast<T>(held * next);
    if (combine == ScatterCombine::kMax) result = next > held || next != next ? next : held;
    if (combine == ScatterCombine::kMin) result = next < held || next != next ? next : held;
    write_element(out, to, result);
  });
}

void check_source(const Call& call, size_t source) {
  if (call.operand(source).is_value() && call.dtype(source) != call.dtype(0))
    throw TypeError("{}: source {} and tensor {} must have one dtype", call.name(),
                    to_string(call.operand(source).type()), to_string(call.operand(0).type()));
}

Op index_select() {
  return {
      .signature = "index_select(x, dim: int, index)",
      .doc = R"(The parts of x at the given indices along a dimension.

>>> lucid.index_select(lucid.tensor([1, 2, 3]), 0, lucid.tensor([2, 0]))
tensor([3, 1]))",
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        if (call.rank(1) > 1)
          throw ValueError("index_select: index must be 0-d or 1-d, got {}", to_string(call.operand(1).type()));
        const int64_t axis = axis_of(call);
        Dims shape = call.shape(0);
        if (!shape.empty()) shape[static_cast<size_t>(axis)] = numel(call.shape(1));
        if (shape.empty() && numel(call.shape(1)) != 1)
          throw ValueError("index_select: a 0-d tensor takes one index, got {}", to_string(call.operand(1).type()));
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        if (rank == 0) return element.load(0, {}, {});
                                        const auto axis = axis_of(call);
                                        auto index = all_indices(element, rank);
                                        loop::Value& i = index[static_cast<size_t>(axis)];
                                        const loop::Value at[] = {i};
                                        const auto picks = call.rank(1) == 0 ? std::span<const loop::Value>() : at;
                                        i = checked(element, element.load(1, picks, {}), axis, false);
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        if (index.empty()) return index;
        const auto axis = static_cast<size_t>(axis_of(call));
        index[axis] = reference_index(call, 1, index[axis], call.shape(0)[axis], false);
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     if (call.rank(0) == 0) return {e.reshape(g[0], Dims{}), Value()};
                     const Value zeros = e.full(call.shape(0), 0, g[0].dtype());
                     const Value index = e.reshape(call.in(1), Dims{-1});
                     return {e.index_add(zeros, call.integer("dim"), index, g[0]), Value()};
                   },
                   .saved_inputs = {1}},
      .errors = {kOutOfRange},
      .samples = with({{{normal({5, 19}), offsets({3}, 5)}}, {{normal({5}), offsets({20}, 5)}}}, {{"dim", int64_t{0}}}) +
                 with({{{strided({4, 3}, {1, 4}), offsets({7}, 3)}}, {{normal({2, 3}), offsets({0}, 3)}}},
                      {{"dim", int64_t{-1}}}),
  };
}

void check_gather_shape(const Call& call, size_t index, const char* what) {
  const Dims& shape = call.shape(0);
  const Dims& wanted = call.shape(index);
  const int64_t axis = axis_of(call);
  bool fits = wanted.rank() == shape.rank();
  for (int64_t d = 0; fits && d < wanted.rank(); ++d)
    fits = d == axis || wanted[static_cast<size_t>(d)] <= shape[static_cast<size_t>(d)];
  if (!fits)
    throw ValueError("{}: {} {} must have the rank of {} and be no larger except along dimension {}", call.name(), what,
                     to_string(call.operand(index).type()), to_string(call.operand(0).type()), axis);
}

Op gather() {
  return {
      .signature = "gather(x, dim: int, index)",
      .doc = R"(Elements of x, picked along one dimension by an index tensor of the result's shape.

>>> lucid.gather(lucid.tensor([[1, 2], [3, 4]]), 1, lucid.tensor([[1], [0]]))
tensor([[2],
        [3]]))",
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        check_gather_shape(call, 1, "index");
        return {{call.dtype(0), call.shape(1)}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        auto index = all_indices(element, rank);
                                        if (rank == 0) return element.load(0, index, {});
                                        const int64_t axis = axis_of(call);
                                        index[static_cast<size_t>(axis)] =
                                            checked(element, element.load(1, index, {}), axis, false);
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        if (index.empty()) return index;
        const auto axis = static_cast<size_t>(axis_of(call));
        const int64_t at = position(call.shape(1), index);
        index[axis] = reference_index(call, 1, at, call.shape(0)[axis], false);
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value zeros = e.full(call.shape(0), 0, g[0].dtype());
                     return {e.scatter_add(zeros, call.integer("dim"), call.in(1), g[0]), Value()};
                   },
                   .saved_inputs = {1}},
      .errors = {kOutOfRange},
      .samples = with({{{normal({5, 19}), offsets({3, 19}, 5)}}, {{normal({5}), offsets({20}, 5)}}}, {{"dim", int64_t{0}}}) +
                 with({{{strided({4, 3}, {1, 4}), offsets({2, 7}, 3)}}, {{normal({2, 3}), offsets({2, 0}, 3)}}},
                      {{"dim", int64_t{-1}}}),
  };
}

/// Places source elements along one dimension by an index tensor of their shape.
ScatterLowering scatter_along(ScatterCombine combine) {
  return {.combine = combine,
          .source = 2,
          .target = [](ElementContext& source, const Call& call) {
            const int64_t rank = call.rank(0);
            auto index = all_indices(source, rank);
            if (rank == 0) return index;
            const int64_t axis = axis_of(call);
            index[static_cast<size_t>(axis)] = checked(source, source.load(1, index, {}), axis, false);
            return index;
          }};
}

auto reference_scatter(ScatterCombine combine) {
  return [combine](HostCall& call) {
    const HostArray out = call.make_output(call.in(0).type);
    std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
    int64_t at = 0;
    for_each_index(call.shape(1), [&](Dims index) {
      const int64_t from = position(call.shape(2), index);
      if (!index.empty()) {
        const auto axis = static_cast<size_t>(axis_of(call));
        index[axis] = reference_index(call, 1, at, call.shape(0)[axis], false);
      }
      reference_combine(combine, out, position(out.type.shape, index), call.in(2), from);
      ++at;
    });
  };
}

std::vector<Sample> scatter_samples() {
  return with({{{normal({5, 3}), offsets({4, 3}, 5), normal({4, 3})}}, {{normal({6}), offsets({20}, 6), normal({20})}}},
              {{"dim", int64_t{0}}}) +
         with({{{strided({4, 3}, {1, 4}), offsets({2, 7}, 3), normal({2, 7})}},
               {{normal({2, 3}), offsets({2, 0}, 3), normal({2, 0})}}},
              {{"dim", int64_t{-1}}});
}

/// The primitives behind scatter: index and source have one shape.
Op scatter_primitive(const char* name, const char* doc, ScatterCombine combine, Gradient gradient) {
  return {
      .signature = std::string(name) + "(x, dim: int, index, src)",
      .doc = doc,
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        check_source(call, 2);
        check_gather_shape(call, 1, "index");
        if (call.shape(1) != call.shape(2))
          throw ValueError("{}: index {} and src {} must have one shape", call.name(),
                           to_string(call.operand(1).type()), to_string(call.operand(2).type()));
        return {{call.dtype(0), call.shape(0)}};
      },
      .lowering = scatter_along(combine),
      .reference = reference_scatter(combine),
      .gradient = std::move(gradient),
      .errors = {kOutOfRange},
      .samples = scatter_samples(),
  };
}

Op scatter_add() {
  return scatter_primitive("scatter_add", R"(x with src added in at places given by index along a dimension.

>>> lucid.scatter_add(lucid.zeros(3), 0, lucid.tensor([0, 2, 0]), lucid.tensor([1., 2., 3.]))
tensor([4., 0., 2.]))",
                           ScatterCombine::kAdd,
                           {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                              return {g[0], Value(), call.needs(2) ? e.gather(g[0], call.integer("dim"), call.in(1)) : Value()};
                            },
                            .saved_inputs = {1}});
}

Op scatter_set() {
  return scatter_primitive("scatter_set", R"(x with src written at places given by index along a dimension; the last of several wins.

>>> lucid.scatter_set(lucid.zeros(3), 0, lucid.tensor([0, 2]), lucid.tensor([1., 2.]))
tensor([1., 0., 2.]))",
                           ScatterCombine::kReplace,
                           {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                              const int64_t dim = call.integer("dim");
                              const Value zeros = e.full(call.shape(1), 0, g[0].dtype());
                              return {call.needs(0) ? e.scatter_set(g[0], dim, call.in(1), zeros) : Value(), Value(),
                                      call.needs(2) ? e.gather(g[0], dim, call.in(1)) : Value()};
                            },
                            .saved_inputs = {1}});
}

/// The gradient of a maximum or minimum goes, in equal parts, to whatever attained it.
Gradient extremum_gradient() {
  return {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            const int64_t dim = call.integer("dim");
            const Value& index = call.in(1);
            const Dtype dtype = g[0].dtype();
            const Value from_x = e.cast(e.eq(call.in(0), call.out()), dtype);
            const Value from_src = e.cast(e.eq(call.in(2), e.gather(call.out(), dim, index)), dtype);
            const Value count = e.scatter_add(from_x, dim, index, from_src);
            const Value share = e.div(g[0], count);
            return {e.mul(from_x, share), Value(), e.mul(from_src, e.gather(share, dim, index))};
          },
          .saved_inputs = {0, 1, 2},
          .saves_outputs = true};
}

Op scatter_amax() {
  return scatter_primitive("scatter_amax", R"(x with src taken in where it is larger, at places given by index.

>>> lucid.scatter_amax(lucid.zeros(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([1., 3., -1.]))
tensor([3., 0.]))",
                           ScatterCombine::kMax, extremum_gradient());
}

Op scatter_amin() {
  return scatter_primitive("scatter_amin", R"(x with src taken in where it is smaller, at places given by index.

>>> lucid.scatter_amin(lucid.zeros(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([1., -3., 1.]))
tensor([-3.,  0.]))",
                           ScatterCombine::kMin, extremum_gradient());
}

Op scatter_mul() {
  return scatter_primitive("scatter_mul", R"(x with src multiplied in at places given by index.

>>> lucid.scatter_mul(lucid.ones(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([2., 3., 4.]))
tensor([6., 4.]))",
                           ScatterCombine::kMul, {});
}

Op scatter() {
  return {
      .signature = "scatter(x, dim: int, index, src, *, reduce: str? = None)",
      .doc = R"(x with src, a tensor or a number, written at places given by index along a dimension, or added or multiplied in.

>>> lucid.scatter(lucid.zeros(3), 0, lucid.tensor([0, 2]), 1.5)
tensor([1.5000, 0.0000, 1.5000]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Value& index = inputs[1];
        check_index_dtype(call, 1);
        Value src = inputs[2];
        const Dtype dtype = inputs[0].dtype();
        if (!src) {
          src = e.full(index.shape(), call.operand(2), dtype);
        } else if (src.shape() != index.shape()) {
          if (src.rank() != index.rank())
            throw ValueError("scatter: index {} and src {} must have one rank", to_string(index.type()),
                             to_string(src.type()));
          for (int64_t d = 0; d < src.rank(); ++d) {
            if (src.size(d) < index.size(d))
              throw ValueError("scatter: src {} is smaller than index {}", to_string(src.type()),
                               to_string(index.type()));
            src = e.narrow(src, d, 0, index.size(d));
          }
        }
        const int64_t dim = call.integer("dim");
        if (call.is_none("reduce")) return {e.scatter_set(inputs[0], dim, index, src)};
        const std::string& reduce = call.text("reduce");
        if (reduce == "add") return {e.scatter_add(inputs[0], dim, index, src)};
        if (reduce == "multiply") return {e.scatter_mul(inputs[0], dim, index, src)};
        throw ValueError("scatter: reduce must be None, \"add\" or \"multiply\", got \"{}\"", reduce);
      },
      .samples = scatter_samples() +
                 with({{{normal({5, 3}), offsets({4, 2}, 5), number(2)}}, {{normal({5, 3}), offsets({4, 2}, 5), normal({4, 3})}}},
                      {{"dim", int64_t{0}}}) +
                 with({{{normal({5, 3}), offsets({4, 2}, 5), normal({4, 2})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("add")}}),
  };
}

Op scatter_reduce() {
  return {
      .signature = "scatter_reduce(x, dim: int, index, src, reduce: str, *, include_self: bool = True)",
      .doc = R"(x with src combined in at places given by index: "sum", "prod", "mean", "amax" or "amin".

>>> lucid.scatter_reduce(lucid.zeros(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([1., 3., 5.]), "mean", include_self=False)
tensor([2., 5.]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_index_dtype(call, 1);
        const int64_t dim = call.integer("dim");
        const Value& index = inputs[1];
        const Value& src = inputs[2];
        const std::string& reduce = call.text("reduce");
        const Dtype dtype = inputs[0].dtype();
        Value x = inputs[0];
        auto start_from = [&](const Operand& value) {
          if (!call.flag("include_self")) x = e.scatter_set(x, dim, index, e.full(index.shape(), value, dtype));
        };
        const bool largest = reduce == "amax";
        if (reduce == "sum" || reduce == "mean") {
          start_from(0);
          const Value total = e.scatter_add(x, dim, index, src);
          if (reduce == "sum") return {total};
          const Value ones = e.ones_of(src);
          const Value base = call.flag("include_self") ? e.ones_of(x) : e.zeros_of(x);
          const Value count = e.maximum(e.scatter_add(base, dim, index, ones), 1);
          return {is_float(dtype) ? e.div(total, count) : e.floor_divide(total, count)};
        }
        if (reduce == "prod") {
          start_from(1);
          return {e.scatter_mul(x, dim, index, src)};
        }
        if (!largest && reduce != "amin")
          throw ValueError("scatter_reduce: reduce must be sum, prod, mean, amax or amin, got \"{}\"", reduce);
        if (!call.flag("include_self")) {
          // Any source element will do to start from: it takes part anyway.
          x = e.scatter_set(x, dim, index, src);
        }
        return {largest ? e.scatter_amax(x, dim, index, src) : e.scatter_amin(x, dim, index, src)};
      },
      .samples = with({{{normal({5, 3}), offsets({4, 3}, 5), normal({4, 3})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("sum")}}) +
                 with({{{normal({5, 3}), offsets({4, 3}, 5), normal({4, 3})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("mean")}, {"include_self", false}}) +
                 with({{{normal({5, 3}), offsets({4, 3}, 5), distinct({4, 3})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("amax")}}),
  };
}

Op index_add() {
  return {
      .signature = "index_add(x, dim: int, index, source)",
      .doc = R"(x with the parts of source added in at the given indices along a dimension.

>>> lucid.index_add(lucid.zeros(3), 0, lucid.tensor([0, 2, 0]), lucid.tensor([1., 2., 3.]))
tensor([4., 0., 2.]))",
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        check_source(call, 2);
        if (call.rank(1) != 1 || call.rank(0) == 0)
          throw ValueError("index_add: index must be 1-d and the tensor not 0-d, got {} and {}",
                           to_string(call.operand(1).type()), to_string(call.operand(0).type()));
        Dims expected = call.shape(0);
        expected[static_cast<size_t>(axis_of(call))] = call.shape(1)[0];
        if (call.shape(2) != expected)
          throw ValueError("index_add: source must be {} for tensor {} and index {}, got {}", to_string(expected),
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()),
                           to_string(call.operand(2).type()));
        return {{call.dtype(0), call.shape(0)}};
      },
      .lowering = ScatterLowering{.combine = ScatterCombine::kAdd,
                                  .source = 2,
                                  .target =
                                      [](ElementContext& source, const Call& call) {
                                        auto index = all_indices(source, call.rank(0));
                                        const int64_t axis = axis_of(call);
                                        loop::Value& i = index[static_cast<size_t>(axis)];
                                        const loop::Value at[] = {i};
                                        i = checked(source, source.load(1, at, {}), axis, false);
                                        return index;
                                      }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(call.in(0).type);
            std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
            const auto axis = static_cast<size_t>(axis_of(call));
            int64_t at = 0;
            for_each_index(call.shape(2), [&](Dims index) {
              index[axis] = reference_index(call, 1, index[axis], call.shape(0)[axis], false);
              reference_combine(ScatterCombine::kAdd, out, position(out.type.shape, index), call.in(2), at++);
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {g[0], Value(),
                             call.needs(2) ? e.index_select(g[0], call.integer("dim"), call.in(1)) : Value()};
                   },
                   .saved_inputs = {1}},
      .errors = {kOutOfRange},
      .samples = with({{{normal({5, 3}), offsets({4}, 5), normal({4, 3})}}, {{normal({6}), offsets({20}, 6), normal({20})}}},
                      {{"dim", int64_t{0}}}) +
                 with({{{strided({4, 3}, {1, 4}), offsets({2}, 3), normal({4, 2})}}}, {{"dim", int64_t{-1}}}),
  };
}

/// What advanced indexing comes down to: index tensors of one shape for the leading axes.
void check_leading_indices(const Call& call, size_t first) {
  const auto count = static_cast<int64_t>(call.count() - first);
  if (count == 0 || count > call.rank(0))
    throw IndexError("{}: {} takes at most {} index tensors, got {}", call.name(), to_string(call.operand(0).type()),
                     call.rank(0), count);
  for (size_t i = first; i < call.count(); ++i) {
    check_index_dtype(call, i);
    if (call.shape(i) != call.shape(first))
      throw ValueError("{}: index tensors must have one shape, got {} and {}", call.name(),
                       to_string(call.operand(first).type()), to_string(call.operand(i).type()));
  }
}

/// The shape that leading index tensors give: theirs, then the axes that they leave.
Dims indexed_shape(const Call& call, size_t first) {
  Dims shape = call.shape(first);
  for (size_t d = call.count() - first; d < call.shape(0).size(); ++d) shape.push_back(call.shape(0)[d]);
  return shape;
}

std::vector<loop::Value> leading_index(ElementContext& element, const Call& call, size_t first) {
  const int64_t index_rank = call.rank(first);
  std::vector<loop::Value> where = all_indices(element, index_rank);
  std::vector<loop::Value> index;
  for (size_t i = first; i < call.count(); ++i)
    index.push_back(checked(element, element.load(static_cast<int>(i), where, {}), static_cast<int64_t>(i - first), true));
  const auto leading = static_cast<int64_t>(call.count() - first);
  for (int64_t d = leading; d < call.rank(0); ++d) index.push_back(element.index(index_rank + d - leading));
  return index;
}

Dims reference_leading(const HostCall& call, const Dims& index, size_t first) {
  const size_t index_rank = call.shape(first).size();
  const Dims where(index.begin(), index.begin() + index_rank);
  Dims result;
  for (size_t i = first; i < call.count(); ++i)
    result.push_back(reference_index(call, i, position(call.shape(i), where), call.shape(0)[i - first], true));
  for (size_t d = index_rank; d < index.size(); ++d) result.push_back(index[d]);
  return result;
}

Op index() {
  return {
      .signature = "index(x, indices: tensors)",
      .doc = R"(Elements of x picked by index tensors of one shape, one for each leading dimension: what x[i, j] comes down to.

>>> lucid.index(lucid.tensor([[1, 2], [3, 4]]), [lucid.tensor([0, 1]), lucid.tensor([1, 1])])
tensor([2, 4]))",
      .infer = [](const Call& call) -> Types {
        check_leading_indices(call, 1);
        const Dims shape = indexed_shape(call, 1);
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        return element.load(0, leading_index(element, call, 1), {});
                                      }},
      .reference = reference_moved([](const HostCall& call, const Dims& index) -> std::optional<Dims> {
        return reference_leading(call, index, 1);
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     Values indices;
                     Values result(call.count());
                     for (size_t i = 1; i < call.count(); ++i) indices.push_back(call.in(i));
                     const Value zeros = e.full(call.shape(0), 0, g[0].dtype());
                     result[0] = e.index_put(zeros, g[0], indices, true);
                     return result;
                   },
                   .saved_inputs = index_operands()},
      .errors = {kOutOfRange},
      .samples = {{{normal({5, 19}), indices({3}, 5)}},
                  {{normal({5, 4, 3}), indices({2, 20}, 5), indices({2, 20}, 4)}},
                  {{strided({4, 3}, {1, 4}), indices({7}, 4), indices({7}, 3)}},
                  {{normal({5, 3}), indices({0}, 5)}},
                  {{normal({5, 3}), indices({}, 5)}}},
  };
}

Op index_put_primitive(const char* name, ScatterCombine combine) {
  return {
      .signature = std::string(name) + "(x, values, indices: tensors)",
      .doc = std::string("x with values written or added at places given by index tensors, in row-major order.\n\n>>> "
                         "lucid.") +
             name + "(lucid.zeros(3), lucid.tensor([1., 2.]), [lucid.tensor([0, 2])])\ntensor([1., 0., 2.])",
      .infer = [](const Call& call) -> Types {
        check_leading_indices(call, 2);
        check_source(call, 1);
        const Dims shape = indexed_shape(call, 2);
        if (call.shape(1) != shape)
          throw ValueError("{}: values must be {} for tensor {}, got {}", call.name(), to_string(shape),
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        return {{call.dtype(0), call.shape(0)}};
      },
      .lowering = ScatterLowering{.combine = combine,
                                  .source = 1,
                                  .target = [](ElementContext& source,
                                               const Call& call) { return leading_index(source, call, 2); }},
      .reference =
          [combine](HostCall& call) {
            const HostArray out = call.make_output(call.in(0).type);
            std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
            int64_t at = 0;
            for_each_index(call.shape(1), [&](const Dims& index) {
              reference_combine(combine, out, position(out.type.shape, reference_leading(call, index, 2)), call.in(1),
                                at++);
            });
          },
      .gradient = {.rule = [combine](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     Values indices;
                     for (size_t i = 2; i < call.count(); ++i) indices.push_back(call.in(i));
                     Values result(call.count());
                     if (call.needs(0))
                       result[0] = combine == ScatterCombine::kAdd
                                       ? g[0]
                                       : e.index_put_set(g[0], e.full(call.shape(1), 0, g[0].dtype()), indices);
                     if (call.needs(1)) result[1] = e.index(g[0], indices);
                     return result;
                   },
                   .saved_inputs = index_operands()},
      .errors = {kOutOfRange},
      .samples = {{{normal({5, 3}), normal({4, 3}), indices({4}, 5)}},
                  {{normal({5, 4}), normal({20}), indices({20}, 5), indices({20}, 4)}},
                  {{strided({4, 3}, {1, 4}), normal({2, 3}), indices({2}, 4)}}},
  };
}

Op index_put() {
  return {
      .signature = "index_put(x, values, indices: tensors, accumulate: bool = False)",
      .doc = R"(x with values, broadcast as needed, written or added at places given by index tensors for the leading dimensions.

>>> lucid.index_put(lucid.zeros(3), lucid.tensor(1.), [lucid.tensor([0, 2])])
tensor([1., 0., 1.]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_leading_indices(call, 2);
        const Dims shape = indexed_shape(call, 2);
        const Dtype dtype = inputs[0].dtype();
        Value values = inputs[1] ? e.cast(inputs[1], dtype) : e.full(shape, call.operand(1), dtype);
        if (values.shape() != shape) values = e.expand(values, shape);
        const Values indices(inputs.begin() + 2, inputs.end());
        return {call.flag("accumulate") ? e.index_put_add(inputs[0], values, indices)
                                        : e.index_put_set(inputs[0], values, indices)};
      },
      .samples = std::vector<Sample>{{{normal({5, 3}), normal({3}), indices({4}, 5)}}, {{normal({5, 3}), number(2), indices({4}, 5)}}} +
                 with({{{normal({5, 4}), normal({20}), indices({20}, 5), indices({20}, 4)}}}, {{"accumulate", true}}),
  };
}

Op take_along_dim() {
  return {
      .signature = "take_along_dim(x, indices, dim: int? = None)",
      .doc = R"(Elements of x picked by an index tensor along a dimension, the other dimensions broadcast; flattened without one.

>>> lucid.take_along_dim(lucid.tensor([3, 1, 2]), lucid.tensor([1, 2, 0]), 0)
tensor([1, 2, 3]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_index_dtype(call, 1);
        if (call.is_none("dim"))
          return {e.gather(e.reshape(inputs[0], Dims{-1}), 0, e.reshape(inputs[1], Dims{-1}))};
        const Value& x = inputs[0];
        const Value& index = inputs[1];
        if (x.rank() != index.rank())
          throw ValueError("take_along_dim: {} and indices {} must have one rank", to_string(x.type()),
                           to_string(index.type()));
        const int64_t axis = normalize_axis(call.name(), call.integer("dim"), x.rank());
        Dims x_shape = x.shape();
        Dims index_shape = index.shape();
        for (size_t d = 0; d < x_shape.size(); ++d) {
          if (static_cast<int64_t>(d) == axis) continue;
          const int64_t size = broadcast(call.name(), Dims{x_shape[d]}, Dims{index_shape[d]})[0];
          x_shape[d] = size;
          index_shape[d] = size;
        }
        return {e.gather(e.expand(x, x_shape), axis, e.expand(index, index_shape))};
      },
      .samples = std::vector<Sample>{{{normal({3, 4}), offsets({5}, 12)}}} +
                 with({{{normal({3, 4}), offsets({1, 2}, 4)}}}, {{"dim", int64_t{1}}}),
  };
}

Op embedding() {
  return {
      .signature = "embedding(weight, indices)",
      .doc = R"(The rows of weight at the given indices, of any shape.

>>> lucid.embedding(lucid.tensor([[1., 2.], [3., 4.]]), lucid.tensor([1, 0]))
tensor([[3., 4.],
        [1., 2.]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_index_dtype(call, 1);
        if (call.rank(0) != 2)
          throw ValueError("embedding: weight must be 2-d, got {}", to_string(call.operand(0).type()));
        Dims shape = inputs[1].shape();
        shape.push_back(inputs[0].size(1));
        return {e.reshape(e.index_select(inputs[0], 0, e.reshape(inputs[1], Dims{-1})), shape)};
      },
      .samples = {{{normal({5, 4}), offsets({3, 2}, 5)}}, {{normal({5, 19}), offsets({}, 5)}}},
  };
}

Op one_hot() {
  return {
      .signature = "one_hot(x, num_classes: int)",
      .doc = R"(Ones at the given classes along a new last dimension, zeros elsewhere.

>>> lucid.one_hot(lucid.tensor([1, 0]), 3)
tensor([[0, 1, 0],
        [1, 0, 0]]))",
      .dtypes = Dtype::kI64,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const int64_t classes = call.integer("num_classes");
        if (classes <= 0) throw ValueError("one_hot: num_classes must be positive, got {}", classes);
        Dims shape = inputs[0].shape();
        shape.push_back(classes);
        checked_numel(call.name(), shape, sizeof(int64_t));
        const Value zeros = e.full(shape, 0, Dtype::kI64);
        return {e.scatter(zeros, -1, e.unsqueeze(inputs[0], -1), 1)};
      },
      .samples = with({{{offsets({3, 2}, 4)}}, {{offsets({}, 4)}}}, {{"num_classes", int64_t{4}}}),
  };
}

Op nonzero() {
  return {
      .signature = "nonzero(x)",
      .doc = R"(The indices of the elements of x that are not zero, a row for each, in row-major order.

>>> lucid.nonzero(lucid.tensor([[0, 1], [2, 0]]))
tensor([[0, 1],
        [1, 0]]))",
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            std::vector<int64_t> rows;
            int64_t at = 0;
            for_each_index(x.type.shape, [&](const Dims& index) {
              if (Scalar::load(x.type.dtype, element_of(x, at++)).to_double() != 0)
                rows.insert(rows.end(), index.begin(), index.end());
            });
            const int64_t rank = x.type.shape.rank();
            int64_t found = rank ? static_cast<int64_t>(rows.size()) / rank : 0;
            if (rank == 0 && x.size() && Scalar::load(x.type.dtype, x.data).to_double() != 0) found = 1;
            const HostArray out = call.make_output({Dtype::kI64, {found, rank}});
            std::copy(rows.begin(), rows.end(), out.as<int64_t>());
          },
      .samples = {{{mask({3, 4})}}, {{normal({19})}}, {{mask({})}}, {{normal({0, 3})}}},
  };
}

Op masked_select() {
  return {
      .signature = "masked_select(x, mask)",
      .doc = R"(The elements of x where the mask holds, in row-major order, as a vector.

>>> lucid.masked_select(lucid.tensor([1, 2, 3]), lucid.tensor([True, False, True]))
tensor([1, 3]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        if (!call.operand(1).is_value() || call.dtype(1) != Dtype::kBool)
          throw TypeError("masked_select: mask must be a bool tensor, got {}", to_string(call.operand(1).type()));
        const Dims shape = broadcast(call.name(), call.shape(0), call.shape(1));
        const Value x = e.reshape(e.expand(inputs[0], shape), Dims{-1});
        const Value found = e.nonzero(e.reshape(e.expand(inputs[1], shape), Dims{-1}));
        return {e.index_select(x, 0, e.reshape(found, Dims{-1}))};
      },
      .samples = {{{normal({3, 4}), mask({3, 4})}}, {{normal({3, 1}), mask({4})}}},
  };
}

}  // namespace

void add_index_ops(std::vector<Op>& ops) {
  for (auto make : {index_select, gather, scatter_add, scatter_set, scatter_amax, scatter_amin, scatter_mul, scatter,
                    scatter_reduce, index_add, index, index_put, take_along_dim, embedding, one_hot, nonzero,
                    masked_select})
    ops.push_back(make());
  ops.push_back(index_put_primitive("index_put_set", ScatterCombine::kReplace));
  ops.push_back(index_put_primitive("index_put_add", ScatterCombine::kAdd));
}

}  // namespace lucid
