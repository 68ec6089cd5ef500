// Evenly spaced numbers, and the indices of triangles.

#include <cmath>

#include "ops/rules.h"

namespace lucid {
namespace {

Scalar number_of(const Call& call, size_t i, const char* name) {
  if (call.operand(i).is_scalar()) return call.operand(i).scalar();
  throw TypeError("{}: {} must be a number, got {}; use .item()", call.name(), name, to_string(call.operand(i).type()));
}

/// The arguments of arange, and the length of its result.
struct Progression {
  Scalar start = 0;
  Scalar end;
  Scalar step = 1;
  bool is_real = false;
  SymInt length = 0;
};

/// An integer, which may be a traced size.
SymInt dim_of(const Scalar& number) { return number.is_size() ? number.size() : SymInt(number.to_int()); }

bool is_small(const Scalar& number) {
  return number.is_size() || (!number.is_float() && std::abs(number.to_double()) < 0x1p31);
}

void check_direction(const Scalar& start, const Scalar& end, const Scalar& step, bool leads_away) {
  if (leads_away)
    throw ValueError("arange: steps of {} do not lead from {} to {}", step.to_double(), start.to_double(),
                     end.to_double());
}

/// Sets the length if traced sizes are involved, without reading them.
bool set_traced_length(Progression& p) {
  if (!p.start.is_size() && !p.end.is_size() && !p.step.is_size()) return false;
  if (!is_small(p.start) || !is_small(p.end) || !is_small(p.step)) return false;
  const SymInt distance = dim_of(p.end) - dim_of(p.start), step = dim_of(p.step);
  if (step == 0) return false;
  check_direction(p.start, p.end, p.step, step > 0 ? distance < 0 : distance > 0);
  p.length = step == 1 ? distance : distance / step + (distance % step != 0);
  return true;
}

Progression progression(const Call& call) {
  Progression p;
  p.end = number_of(call, 0, "start");
  if (call.has(1)) {
    p.start = p.end;
    p.end = number_of(call, 1, "end");
  }
  if (call.has(2)) p.step = number_of(call, 2, "step");
  p.is_real = p.start.is_float() || p.end.is_float() || p.step.is_float();
  if (set_traced_length(p)) return p;
  const double start = p.start.to_double();
  const double end = p.end.to_double();
  const double step = p.step.to_double();
  if (!std::isfinite(start) || !std::isfinite(end) || !std::isfinite(step))
    throw ValueError("arange: start, end and step must be finite, got {}, {} and {}", start, end, step);
  if (step == 0) throw ValueError("arange: step must not be 0");
  check_direction(p.start, p.end, p.step, step > 0 ? end < start : end > start);
  const double length = std::ceil((end - start) / step);
  constexpr double kMaxLength = 0x1p60;
  if (!(length < kMaxLength)) throw ValueError("arange: {} elements are too many", length);
  p.length = static_cast<int64_t>(length);
  if (!p.is_real) {
    // Compute the length exactly, because a double may not be exact. The difference may need 65 bits.
    const __int128 distance = static_cast<__int128>(p.end.to_int()) - p.start.to_int();
    const int64_t size = p.step.to_int();
    const int64_t more = distance % size != 0;
    p.length = static_cast<int64_t>(distance / size) + more;
  }
  return p;
}

Op arange() {
  return {
      .signature = "arange(start, end? = None, step? = None, *, dtype: dtype? = None)",
      .doc = R"(Returns the numbers from `start` up to but not including `end`, in steps of `step`. With one argument,
returns the numbers from 0 up to it. The default dtype is i64 if all arguments are integers and the
default float dtype otherwise. Floats are computed as start + i * step in f64. Raises ValueError if
`step` is 0 or leads away from `end`.

>>> lucid.arange(2, 10, 3)
tensor([2, 5, 8]))",
      .names = {.is_factory = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value>) -> Values {
        const Progression p = progression(call);
        const Dtype natural = p.is_real ? default_float() : Dtype::kI64;
        const Dtype dtype = call.is_none("dtype") ? natural : call.dtype_of("dtype");
        checked_numel(call.name(), Dims{p.length}, size_of(dtype));
        Value numbers = e.iota(Dims{p.length});
        if (p.is_real) numbers = e.cast(numbers, Dtype::kF64);
        if (p.step.is_size() || p.step.to_double() != 1) numbers = e.mul(numbers, p.step);
        if (p.start.is_size() || p.start.to_double() != 0) numbers = e.add(numbers, p.start);
        return {e.cast(numbers, dtype)};
      },
      .samples = std::vector<Sample>{{{number(19), absent(), absent()}},
                                     {{number(2), number(10), number(3)}},
                                     {{number(5), number(-5), number(-2)}},
                                     {{number(0.0), number(1), number(0.1)}},
                                     {{number(3), number(3), absent()}}} +
                 with({{{number(5), absent(), absent()}}}, {{"dtype", Dtype::kF32}}),
  };
}

/// f64 numbers from start to end, both included, computed from both ends so that both are exact.
Value even_steps(Emitter& e, const Call& call) {
  const double start = call.real("start");
  const double end = call.real("end");
  const int64_t steps = call.integer("steps");
  if (steps < 0) throw ValueError("{}: steps must not be negative, got {}", call.name(), steps);
  checked_numel(call.name(), Dims{steps}, sizeof(double));
  if (steps <= 1) return e.full(Dims{steps}, start, Dtype::kF64);
  const double step = (end - start) / static_cast<double>(steps - 1);
  const Value i = e.iota(Dims{steps});
  const Value from_start = e.add(e.mul(e.cast(i, Dtype::kF64), step), start);
  const Value from_end = e.sub(end, e.mul(e.cast(e.sub(steps - 1, i), Dtype::kF64), step));
  return e.where(e.lt(i, steps / 2), from_start, from_end);
}

Dtype range_dtype(const Call& call) { return call.is_none("dtype") ? default_float() : call.dtype_of("dtype"); }

std::vector<Sample> range_samples() {
  return with({Sample{}}, {{"start", -1.0}, {"end", 2.0}, {"steps", int64_t{19}}}) +
         with({Sample{}}, {{"start", 0.0}, {"end", 4.0}, {"steps", int64_t{5}}, {"dtype", Dtype::kI64}}) +
         with({Sample{}}, {{"start", 3.0}, {"end", 4.0}, {"steps", int64_t{1}}, {"dtype", Dtype::kF64}}) +
         with({Sample{}}, {{"start", 3.0}, {"end", 4.0}, {"steps", int64_t{0}}});
}

Op linspace() {
  return {
      .signature = "linspace(start: float, end: float, steps: int, *, dtype: dtype? = None)",
      .doc = R"(Returns `steps` evenly spaced numbers from `start` to `end`, both included and exact. They are computed
in f64. The result has the default float dtype unless `dtype` is given. Raises ValueError if `steps` is
negative.

>>> lucid.linspace(0, 1, 5)
tensor([0.0000, 0.2500, 0.5000, 0.7500, 1.0000]))",
      .names = {.is_factory = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value>) -> Values {
        return {e.cast(even_steps(e, call), range_dtype(call))};
      },
      .samples = range_samples(),
  };
}

Op logspace() {
  return {
      .signature = "logspace(start: float, end: float, steps: int, base: float = 10.0, *, dtype: dtype? = None)",
      .doc = R"(Returns `base` raised to `steps` evenly spaced exponents from `start` to `end`, both included. They are
computed in f64. The result has the default float dtype unless `dtype` is given. Raises ValueError if
`steps` is negative.

>>> lucid.logspace(0, 3, 4, base=2)
tensor([1., 2., 4., 8.]))",
      .names = {.is_factory = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value>) -> Values {
        const Value base = e.full(Dims{}, call.real("base"), Dtype::kF64);
        return {e.cast(e.pow(base, even_steps(e, call)), range_dtype(call))};
      },
      .samples = range_samples(),
  };
}

/// tril_indices and triu_indices: rows and columns of a triangle, in row-major order.
Op triangle_indices(Op op, bool lower) {
  const auto columns_of = [lower](const Call& call, int64_t row) -> std::pair<int64_t, int64_t> {
    const int64_t columns = call.integer("col");
    // Clamp far diagonals, which select everything or nothing, to avoid overflow.
    const int64_t far = call.integer("row") + columns + 1;
    const int64_t diagonal = row + std::clamp<int64_t>(call.integer("offset"), -far, far);
    if (lower) return {0, std::clamp<int64_t>(diagonal + 1, 0, columns)};
    return {std::clamp<int64_t>(diagonal, 0, columns), columns};
  };
  // The rows with at least one element: the first rows have none if the diagonal is low, the last if it is high.
  const auto rows_of = [lower](const Call& call) -> std::pair<int64_t, int64_t> {
    const int64_t rows = call.integer("row");
    const int64_t columns = call.integer("col");
    if (columns == 0) return {0, 0};
    const int64_t offset = std::clamp<int64_t>(call.integer("offset"), -rows, columns);
    if (lower) return {std::clamp<int64_t>(-offset, 0, rows), rows};
    return {0, std::clamp<int64_t>(columns - offset, 0, rows)};
  };
  op.infer = [columns_of, rows_of, lower](const Call& call) -> std::vector<TensorType> {
    const int64_t rows = call.integer("row");
    const int64_t columns = call.integer("col");
    checked_numel(call.name(), Dims{rows, columns, 2}, sizeof(int64_t));
    const auto [begin, end] = rows_of(call);
    // Between the empty and the full rows, each row has one element more or fewer than the row before.
    const auto [first, last] = begin < end ? columns_of(call, lower ? begin : end - 1) : std::pair<int64_t, int64_t>();
    const int64_t shortest = last - first;
    const int64_t ramp = std::min(end - begin, columns - shortest);
    const int64_t count = shortest * ramp + ramp * (ramp - 1) / 2 + (end - begin - ramp) * columns;
    return {{Dtype::kI64, {2, count}}};
  };
  op.host = [columns_of, rows_of](HostCall& call) {
    const HostArray out = call.make_output(infer_types(call).front());
    const int64_t count = out.type.shape[1];
    int64_t at = 0;
    const auto [begin, end] = rows_of(call);
    for (int64_t row = begin; row < end; ++row) {
      const auto [first, last] = columns_of(call, row);
      for (int64_t column = first; column < last; ++column, ++at) {
        out.as<int64_t>()[at] = row;
        out.as<int64_t>()[count + at] = column;
      }
    }
  };
  op.samples = with({Sample{}}, {{"row", int64_t{3}}, {"col", int64_t{4}}}) +
               with({Sample{}}, {{"row", int64_t{4}}, {"col", int64_t{2}}, {"offset", int64_t{1}}}) +
               with({Sample{}}, {{"row", int64_t{2}}, {"col", int64_t{3}}, {"offset", int64_t{-5}}});
  return op;
}

Op tril_indices() {
  return triangle_indices({.signature = "tril_indices(row: int, col: int, offset: int = 0)",
                           .doc = R"(Returns the row and column indices of the lower triangle of a `row` by `col`
matrix, in row-major order, as an i64 tensor with two rows. The triangle includes
the diagonal `offset`: 0 is the main diagonal, and positive offsets are above it.

>>> lucid.tril_indices(2, 2)
tensor([[0, 1, 1],
        [0, 0, 1]]))"},
                          true);
}

Op triu_indices() {
  return triangle_indices({.signature = "triu_indices(row: int, col: int, offset: int = 0)",
                           .doc = R"(Returns the row and column indices of the upper triangle of a `row` by `col`
matrix, in row-major order, as an i64 tensor with two rows. The triangle includes
the diagonal `offset`: 0 is the main diagonal, and positive offsets are above it.

>>> lucid.triu_indices(2, 2)
tensor([[0, 0, 1],
        [0, 1, 1]]))"},
                          false);
}

}  // namespace

void add_range_ops(std::vector<Op>& ops) {
  for (auto make : {arange, linspace, logspace, tril_indices, triu_indices}) ops.push_back(make());
}

}  // namespace lucid
