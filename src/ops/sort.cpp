// Sorting, top-k and medians. Computed on the host. NaN counts as larger than every number.

#include "ops/rules.h"
#include "ops/sort_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// The gradient of ops that select elements along a dimension and return their indices: it is added at those indices.
Gradient picked_gradient(bool removes_dim) {
  return {.rule = [removes_dim](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            const int64_t dim = call.axis("dim");
            Value grad = g[0];
            Value index = call.out(1);
            if (removes_dim && call.rank(0) > 0 && !call.flag("keepdim")) {
              grad = e.unsqueeze(grad, dim);
              index = e.unsqueeze(index, dim);
            }
            return {e.scatter_add(e.full(call.shape(0), 0, grad.dtype()), dim, index, grad)};
          },
          .saves_outputs = true};
}

/// Writes the first to.length elements of a line to line `line` of both results.
template <typename T>
void write_picked(const HostArray& x, const Lines& from, int64_t line, const std::vector<IndexedElement<T>>& elements,
                  const HostArray& values, const HostArray& indices, const Lines& to) {
  for (int64_t i = 0; i < to.length; ++i) {
    const int64_t index = elements[static_cast<size_t>(i)].index;
    const int64_t at = to.start(line) + i * to.stride;
    copy_element(x, from.start(line) + index * from.stride, values, at);
    indices.as<int64_t>()[at] = index;
  }
}

std::vector<Sample> sort_samples() {
  return std::vector<Sample>{{{distinct({37})}}, {{normal({3, 19})}}, {{normal({})}}, {{normal({0, 3})}}} +
         with({{{distinct({4, 3})}}, {{strided({4, 3}, {1, 4}, Fill::kDistinct)}}}, {{"dim", int64_t{0}}});
}

Op sort() {
  return {
      .signature = "sort(x, dim: axis = -1, descending: bool = False, stable: bool = False) -> values, indices",
      .doc = R"(Sorts `x` along `dim`, in ascending order unless `descending` is true. Returns the sorted elements as
`values` and their i64 indices in `x` as `indices`. The sort is always stable. NaN sorts as larger than
every number.

>>> lucid.sort(lucid.tensor([3, 1, 2]))
lucid.return_types.sort(values=tensor([1, 2, 3]), indices=tensor([1, 2, 0])))",
      .infer = [](const Call& call) -> Types {
        call.axis("dim");
        return {{call.dtype(0), call.shape(0)}, {Dtype::kI64, call.shape(0)}};
      },
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            const HostArray values = call.make_output(x.type);
            const HostArray indices = call.make_output({Dtype::kI64, x.type.shape});
            const Lines lines(x.type.shape, call.axis("dim"));
            dispatch_all(x.type.dtype, [&]<typename T>() {
              for_each_line<T>(x, lines, [&](int64_t line, std::vector<IndexedElement<T>>& elements) {
                std::sort(elements.begin(), elements.end(), sort_order<T>(call.flag("descending")));
                write_picked(x, lines, line, elements, values, indices, lines);
              });
            });
          },
      .gradient = picked_gradient(false),
      .samples = sort_samples() + with(sort_samples(), {{"descending", true}}),
  };
}

Op argsort() {
  return {
      .signature = "argsort(x, dim: axis = -1, descending: bool = False, stable: bool = False)",
      .doc = R"(Returns the i64 indices that sort `x` along `dim`, in ascending order unless `descending` is true. The
sort is always stable. NaN sorts as larger than every number.

>>> lucid.argsort(lucid.tensor([3, 1, 2]))
tensor([1, 2, 0]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {e.sort(in[0], call.integer("dim"), call.flag("descending"), true)[1]};
      },
      .gradient = zero_gradient(),
      .samples = sort_samples(),
  };
}

Op msort() {
  return {
      .signature = "msort(x)",
      .doc = R"(Sorts `x` along its first dimension in ascending order. NaN sorts as larger than every number.

>>> lucid.msort(lucid.tensor([3, 1, 2]))
tensor([1, 2, 3]))",
      .decompose = [](Emitter& e, const Call&, std::span<const Value> in) -> Values { return {e.sort(in[0], 0)[0]}; },
      .samples = {{{distinct({5, 3})}}, {{normal({})}}},
  };
}

Types infer_topk(const Call& call) {
  const int64_t axis = call.axis("dim");
  const int64_t k = call.integer("k");
  Dims shape = call.shape(0);
  const int64_t size = shape.empty() ? SymInt(1) : shape[static_cast<size_t>(axis)];
  if (k < 0 || k > size)
    throw ValueError("topk: k is {}, but dimension {} of {} has {} elements", k, axis,
                     to_string(call.operand(0).type()), size);
  if (shape.empty() && k == 0) throw ValueError("topk: k must be 1 for a 0-d tensor");
  if (!shape.empty()) shape[static_cast<size_t>(axis)] = k;
  return {{call.dtype(0), shape}, {Dtype::kI64, shape}};
}

Op topk() {
  return {
      .signature = "topk(x, k: int, dim: axis = -1, largest: bool = True, sorted: bool = True) -> values, indices",
      .doc = R"(Returns the `k` largest elements of `x` along `dim`, or the smallest if `largest` is false, as `values`
and their i64 indices as `indices`. They are always sorted, best first; of equal elements the first ones
are chosen. NaN counts as larger than every number. Raises ValueError if `k` is negative or exceeds the
size of `dim`.

>>> lucid.topk(lucid.tensor([3, 1, 4, 1, 5]), 2)
lucid.return_types.topk(values=tensor([5, 4]), indices=tensor([4, 2])))",
      .infer = infer_topk,
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            const Types types = infer_topk(call);
            const HostArray values = call.make_output(types[0]);
            const HostArray indices = call.make_output(types[1]);
            const int64_t axis = call.axis("dim");
            const Lines from(x.type.shape, axis);
            const Lines to(types[0].shape, axis);
            if (to.length == 0) return;
            dispatch_all(x.type.dtype, [&]<typename T>() {
              for_each_line<T>(x, from, [&](int64_t line, std::vector<IndexedElement<T>>& elements) {
                const auto order = sort_order<T>(call.flag("largest"));
                const auto end = elements.begin() + to.length;
                if (end != elements.end()) std::nth_element(elements.begin(), end - 1, elements.end(), order);
                std::sort(elements.begin(), end, order);
                write_picked(x, from, line, elements, values, indices, to);
              });
            });
          },
      .gradient = picked_gradient(false),
      .samples = with({{{distinct({37})}}, {{distinct({3, 19})}}}, {{"k", int64_t{5}}}) +
                 with({{{distinct({4, 3})}}}, {{"k", int64_t{4}}, {"dim", int64_t{0}}, {"largest", false}}) +
                 with({{{normal({})}}}, {{"k", int64_t{1}}}) + with({{{distinct({2, 3})}}}, {{"k", int64_t{0}}}),
  };
}

/// The result types of ops that select one element from each line.
Types infer_one(const Call& call) {
  const int64_t axis = call.axis("dim");
  if (call.rank(0) > 0 && call.shape(0)[static_cast<size_t>(axis)] == 0)
    throw ValueError("{}: dimension {} of {} has no elements", call.name(), axis, to_string(call.operand(0).type()));
  const Dims shape = call.rank(0) == 0 ? Dims() : reduced_shape(call.shape(0), Dims{axis}, call.flag("keepdim"));
  return {{call.dtype(0), shape}, {Dtype::kI64, shape}};
}

/// Selects from each line the element at position rank(call, elements) in sorted order.
template <typename F>
auto pick_one(F rank) {
  return [rank](HostCall& call) {
    const HostArray& x = call.in(0);
    const Types types = infer_one(call);
    const HostArray values = call.make_output(types[0]);
    const HostArray indices = call.make_output(types[1]);
    const Lines lines(x.type.shape, call.axis("dim"));
    dispatch_all(x.type.dtype, [&]<typename T>() {
      for_each_line<T>(x, lines, [&](int64_t line, std::vector<IndexedElement<T>>& elements) {
        const auto selected = elements.begin() + rank(call, elements);
        std::nth_element(elements.begin(), selected, elements.end(), sort_order<T>(false));
        copy_element(x, lines.start(line) + selected->index * lines.stride, values, line);
        indices.as<int64_t>()[line] = selected->index;
      });
    });
  };
}

Op kthvalue() {
  return {
      .signature = "kthvalue(x, k: int, dim: axis = -1, keepdim: bool = False) -> values, indices",
      .doc = R"(Returns the `k`-th smallest element of `x` along `dim`, counted from 1, as `values` and its i64 index as
`indices`. `keepdim` keeps the reduced dimension with size 1. NaN counts as larger than every number.
Raises ValueError if `k` is below 1 or exceeds the size of `dim`.

>>> lucid.kthvalue(lucid.tensor([3, 1, 2]), 2)
lucid.return_types.kthvalue(values=tensor(2), indices=tensor(2)))",
      .infer = [](const Call& call) -> Types {
        const Types types = infer_one(call);
        const int64_t size = call.rank(0) == 0 ? SymInt(1) : call.shape(0)[static_cast<size_t>(call.axis("dim"))];
        const int64_t k = call.integer("k");
        if (k < 1 || k > size)
          throw ValueError("kthvalue: k is {}, but dimension {} of {} has {} elements", k, call.axis("dim"),
                           to_string(call.operand(0).type()), size);
        return types;
      },
      .host = pick_one([](const Call& call, const auto&) { return call.integer("k") - 1; }),
      .gradient = picked_gradient(true),
      .samples = with({{{distinct({37})}}, {{distinct({3, 19})}}}, {{"k", int64_t{5}}}) +
                 with({{{distinct({4, 3})}}}, {{"k", int64_t{4}}, {"dim", int64_t{0}}, {"keepdim", true}}) +
                 with({{{normal({})}}}, {{"k", int64_t{1}}}),
  };
}

/// The position in sorted order of the lower median, or of the first NaN if there is one.
template <typename T>
int64_t median_rank(const std::vector<IndexedElement<T>>& elements) {
  const auto count = static_cast<int64_t>(elements.size());
  const auto nans = std::count_if(elements.begin(), elements.end(),
                                  [](const IndexedElement<T>& element) { return element.value != element.value; });
  return nans ? count - nans : (count - 1) / 2;
}

Op median_dim() {
  return {
      .signature = "median_dim(x, dim: axis, keepdim: bool = False) -> values, indices",
      .doc = R"(Returns the medians of `x` along `dim` as `values` and their i64 indices as `indices`. The median of an
even number of elements is the lower of the two middle ones. NaN is propagated. `keepdim` keeps the
reduced dimension with size 1. Raises ValueError if there are no elements to reduce.

>>> lucid.median_dim(lucid.tensor([[3, 1, 2]]), 1)
lucid.return_types.median_dim(values=tensor([2]), indices=tensor([2])))",
      .infer = infer_one,
      .host = pick_one([](const Call&, const auto& elements) { return median_rank(elements); }),
      .gradient = picked_gradient(true),
      .samples = with({{{distinct({3, 19})}}, {{distinct({3, 4})}}}, {{"dim", int64_t{1}}}) +
                 with({{{distinct({4, 3})}}}, {{"dim", int64_t{0}}, {"keepdim", true}}) +
                 with({{{normal({})}}}, {{"dim", int64_t{0}}}),
  };
}

Op median() {
  return {
      .signature = "median(x)",
      .doc = R"(Returns the median of all elements of `x`. The median of an even number of elements is the lower of the
two middle ones. NaN is propagated. Raises ValueError if `x` has no elements.

>>> lucid.median(lucid.tensor([3, 1, 2, 4]))
tensor(2))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (numel(call.shape(0)) == 0)
          throw ValueError("median: {} has no elements", to_string(call.operand(0).type()));
        return {e.median_dim(e.reshape(in[0], Dims{-1}), 0)[0]};
      },
      .samples = {{{distinct({37})}}, {{distinct({3, 4})}}, {{normal({})}}},
  };
}

}  // namespace

void add_sort_ops(std::vector<Op>& ops) {
  for (auto make : {sort, argsort, msort, topk, kthvalue, median_dim, median}) ops.push_back(make());
}

}  // namespace lucid
