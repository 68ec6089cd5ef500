// Searching and counting: binary search, distinct elements, histograms. Computed on the host.

#include <cmath>
#include <numeric>

#include "ops/rules.h"
#include "ops/sort_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

Types infer_search(const Call& call) {
  const Dims& sequence = call.shape(0);
  const Dims& values = call.shape(1);
  bool fits = sequence.rank() == 1 || (sequence.rank() == values.rank() && values.rank() > 0);
  for (size_t d = 0; fits && sequence.rank() > 1 && d + 1 < values.size(); ++d) fits = sequence[d] == values[d];
  if (!fits)
    throw ValueError(
        "searchsorted: sorted_sequence must be a vector or match values in all dimensions but the last, got {} and {}",
        to_string(call.operand(0).type()), to_string(call.operand(1).type()));
  if (call.operand(1).is_value() && call.dtype(0) != call.dtype(1))
    throw TypeError("searchsorted: sorted_sequence {} and values {} must have the same dtype",
                    to_string(call.operand(0).type()), to_string(call.operand(1).type()));
  return {{Dtype::kI64, values}};
}

Op searchsorted() {
  return {
      .signature = "searchsorted(sorted_sequence, values, *, right: bool = False)",
      .doc = R"(Returns the i64 indices at which `values` would be inserted into `sorted_sequence` to keep its last
dimension sorted. An index is before equal elements, or after them if `right` is true. NaN sorts after
every number. `sorted_sequence` is a vector, or agrees with `values` in all dimensions except the last.
Raises TypeError if the dtypes differ.

>>> lucid.searchsorted(lucid.tensor([1, 3, 5]), lucid.tensor([3, 6]))
tensor([1, 3]))",
      .infer = infer_search,
      .host =
          [](HostCall& call) {
            const HostArray& sequence = call.in(0);
            const HostArray& values = call.in(1);
            const HostArray out = call.make_output(infer_search(call).front());
            const int64_t length = sequence.type.shape.back();
            const int64_t lines = length == 0 ? 1 : sequence.size() / length;
            const int64_t each = lines == 0 ? 0 : out.size() / lines;
            dispatch_all(sequence.type.dtype, [&]<typename T>() {
              for (int64_t i = 0; i < out.size(); ++i) {
                const int64_t start = length == 0 ? 0 : i / each * length;
                const T value = typed_element<T>(values, i);
                int64_t low = 0;
                int64_t high = length;
                while (low < high) {
                  const int64_t middle = low + (high - low) / 2;
                  const T held = typed_element<T>(sequence, start + middle);
                  const bool passes = call.flag("right") ? !sorts_before(value, held) : sorts_before(held, value);
                  (passes ? low : high) = passes ? middle + 1 : middle;
                }
                out.as<int64_t>()[i] = low;
              }
            });
          },
      .gradient = zero_gradient(),
      .samples = std::vector<Sample>{{{filled({0}, Fill::kNormal), normal({5})}}, {{normal({1}), normal({2, 3})}}} +
                 with({{{normal({2, 1}), normal({2, 3})}}}, {{"right", true}}),
  };
}

Op bucketize() {
  return {
      .signature = "bucketize(x, boundaries, *, right: bool = False)",
      .doc = R"(Returns the i64 index of the bucket that each element of `x` falls into. `boundaries` is a sorted
vector. Bucket i holds boundaries[i-1] < x <= boundaries[i], or boundaries[i-1] <= x < boundaries[i] if
`right` is true.

>>> lucid.bucketize(lucid.tensor([0, 3, 9]), lucid.tensor([1, 3, 5]))
tensor([0, 1, 3]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (call.rank(1) != 1)
          throw ValueError("bucketize: boundaries must be a vector, got {}", to_string(call.operand(1).type()));
        return {e.searchsorted(in[1], in[0], call.flag("right"))};
      },
      .gradient = zero_gradient(),
      .samples = {{{normal({2, 3}), normal({1})}}},
  };
}

Op unique_all() {
  return {
      .signature = "unique_all(x, dim: axis? = None) -> values, inverse, counts",
      .doc = R"(Returns the sorted distinct elements of `x`, or its distinct slices along `dim`, as `values`; the index
into `values` of each element or slice as `inverse`; and the number of occurrences of each as `counts`.
Every NaN is distinct.

>>> lucid.unique_all(lucid.tensor([3, 1, 3]))
lucid.return_types.unique_all(values=tensor([1, 3]), inverse=tensor([1, 0, 1]), counts=tensor([1, 2])))",
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            const Dims& shape = x.type.shape;
            const bool flat = call.is_none("dim");
            const int64_t axis = flat ? 0 : call.axis("dim");
            // A part is an element of the flattened tensor, or the slice at one index of the axis.
            const Lines lines = flat ? Lines(Dims{x.size()}, 0) : Lines(shape, axis);
            const auto place = [&](int64_t part, int64_t i) { return lines.start(i) + part * lines.stride; };
            std::vector<int64_t> order(static_cast<size_t>(lines.length));
            std::iota(order.begin(), order.end(), 0);
            std::vector<int64_t> inverse(order.size());
            std::vector<int64_t> firsts;
            std::vector<int64_t> counts;
            dispatch_all(x.type.dtype, [&]<typename T>() {
              const auto before = [&](int64_t a, int64_t b) {
                for (int64_t i = 0; i < lines.count; ++i) {
                  const T left = typed_element<T>(x, place(a, i));
                  const T right = typed_element<T>(x, place(b, i));
                  if (sorts_before(left, right)) return true;
                  if (sorts_before(right, left)) return false;
                }
                return a < b;  // so that the first of equal parts represents them
              };
              const auto same = [&](int64_t a, int64_t b) {
                for (int64_t i = 0; i < lines.count; ++i)
                  if (typed_element<T>(x, place(a, i)) != typed_element<T>(x, place(b, i))) return false;
                return true;
              };
              std::sort(order.begin(), order.end(), before);
              for (size_t i = 0; i < order.size(); ++i) {
                if (i == 0 || !same(order[i - 1], order[i])) {
                  firsts.push_back(order[i]);
                  counts.push_back(0);
                }
                ++counts.back();
                inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(firsts.size()) - 1;
              }
            });
            const auto found = static_cast<int64_t>(firsts.size());
            Dims result = shape;
            if (flat)
              result = Dims{found};
            else if (!result.empty())
              result[static_cast<size_t>(axis)] = found;
            const HostArray values = call.make_output({x.type.dtype, result});
            const Lines to(result, axis);
            for (int64_t part = 0; part < found; ++part)
              for (int64_t i = 0; i < lines.count; ++i)
                copy_element(x, place(firsts[static_cast<size_t>(part)], i), values, to.start(i) + part * to.stride);
            const HostArray which =
                call.make_output({Dtype::kI64, flat ? shape : Dims{static_cast<int64_t>(inverse.size())}});
            std::copy(inverse.begin(), inverse.end(), which.as<int64_t>());
            const HostArray times = call.make_output({Dtype::kI64, {found}});
            std::copy(counts.begin(), counts.end(), times.as<int64_t>());
          },
      .samples = std::vector<Sample>{{{normal({37})}}, {{normal({2, 3})}}, {{normal({0})}}, {{normal({})}}} +
                 with({{{mask({7, 2})}}}, {{"dim", int64_t{0}}}) + with({{{mask({2, 7})}}}, {{"dim", int64_t{-1}}}),
  };
}

Op bincount() {
  return {
      .signature = "bincount(x, weights? = None, minlength: int = 0)",
      .doc = R"(Counts the occurrences of each value in `x`, a vector of nonnegative integers. Element i of the result
is the number of times that i occurs, as i64, or the sum of the `weights` at those positions, as f32 for
f32 weights and f64 otherwise. The result has at least `minlength` elements. Raises ValueError if an
element is negative.

>>> lucid.bincount(lucid.tensor([1, 1, 3]))
tensor([0, 2, 0, 1]))",
      .dtypes = kIntegers,
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            if (x.type.shape.rank() != 1) throw ValueError("bincount: expected a vector, got {}", to_string(x.type));
            const bool weighted = call.has(1);
            if (weighted && call.in(1).type.shape != x.type.shape)
              throw ValueError("bincount: x {} and weights {} must have the same shape", to_string(x.type),
                               to_string(call.in(1).type));
            int64_t length = call.integer("minlength");
            if (length < 0) throw ValueError("bincount: minlength must not be negative, got {}", length);
            std::vector<int64_t> bins;
            for (int64_t i = 0; i < x.size(); ++i) {
              const int64_t bin = Scalar::load(x.type.dtype, element_of(x, i)).to_int();
              if (bin < 0) throw ValueError("bincount: element {} is negative: {}", i, bin);
              bins.push_back(bin);
              length = std::max(length, bin + 1);
            }
            const Dtype of_weights = weighted && call.in(1).type.dtype == Dtype::kF32 ? Dtype::kF32 : Dtype::kF64;
            const HostArray out = call.make_output({weighted ? of_weights : Dtype::kI64, {length}});
            dispatch_all(out.type.dtype, [&]<typename T>() {
              T* counts = out.as<T>();
              std::fill_n(counts, length, T(0));
              for (size_t i = 0; i < bins.size(); ++i) {
                T& count = counts[bins[i]];
                const auto at = static_cast<int64_t>(i);
                count = static_cast<T>(count + (weighted ? typed_element<T>(call.in(1), at) : T(1)));
              }
            });
          },
      .samples = std::vector<Sample>{{{filled({37}, Fill::kPositive), absent()}},
                                     {{filled({5}, Fill::kPositive), {.shape = {5}, .dtype = Dtype::kF32}}}} +
                 with({{{filled({0}, Fill::kPositive), absent()}}}, {{"minlength", int64_t{3}}}),
  };
}

Op histc() {
  return {
      .signature = "histc(x, bins: int = 100, min: float = 0.0, max: float = 0.0)",
      .doc = R"(Counts the elements of `x` in `bins` intervals of equal width between `min` and `max`. If `min` equals
`max`, the minimum and maximum of `x` are used. The last interval includes its upper bound. Elements
outside the range and NaN are not counted. The result has the dtype of `x`, which must be
floating-point.

>>> lucid.histc(lucid.tensor([1., 2., 1.]), 4, 0, 3)
tensor([0., 2., 1., 0.]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const int64_t bins = call.integer("bins");
        if (bins <= 0) throw ValueError("histc: bins must be positive, got {}", bins);
        if (!(call.real("min") <= call.real("max")))
          throw ValueError("histc: max {} must not be below min {}", call.real("max"), call.real("min"));
        return {{call.dtype(0), {bins}}};
      },
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            const int64_t bins = call.integer("bins");
            const HostArray out = call.make_output({x.type.dtype, {bins}});
            dispatch<Domain::kFloats>(x.type.dtype, [&]<typename T>() {
              auto low = static_cast<T>(call.real("min"));
              auto high = static_cast<T>(call.real("max"));
              if (low == high && x.size() > 0) {
                low = high = typed_element<T>(x, 0);
                for (int64_t i = 1; i < x.size(); ++i) {
                  low = std::min(low, typed_element<T>(x, i));
                  high = std::max(high, typed_element<T>(x, i));
                }
              }
              if (low == high) {
                low -= 1;
                high += 1;
              }
              if (!std::isfinite(low) || !std::isfinite(high))
                throw ValueError("histc: the range from {} to {} is not finite", low, high);
              std::vector<T> counts(static_cast<size_t>(bins));
              for (int64_t i = 0; i < x.size(); ++i) {
                const T value = typed_element<T>(x, i);
                if (!(value >= low && value <= high)) continue;
                const auto bin = static_cast<int64_t>((value - low) / (high - low) * static_cast<T>(bins));
                counts[static_cast<size_t>(std::min(bin, bins - 1))] += 1;
              }
              for (int64_t i = 0; i < bins; ++i) write_element(out, i, counts[static_cast<size_t>(i)]);
            });
          },
      .gradient = zero_gradient(),
      .samples = with({{{normal({37})}}}, {{"bins", int64_t{5}}}) +
                 with({{{normal({3, 4})}}}, {{"bins", int64_t{4}}, {"min", -1.0}, {"max", 1.0}}) +
                 with({{{normal({0})}}}, {{"bins", int64_t{2}}}),
  };
}

}  // namespace

void add_search_ops(std::vector<Op>& ops) {
  for (auto make : {searchsorted, bucketize, unique_all, bincount, histc}) ops.push_back(make());
}

}  // namespace lucid
