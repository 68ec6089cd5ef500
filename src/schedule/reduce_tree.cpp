#include "schedule/reduce_tree.h"

#include <limits>

#include "base/error.h"

namespace lucid {

using loop::Code;
using loop::kLanes;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool is_arg(Combine combine) { return combine == Combine::kArgMax || combine == Combine::kArgMin; }
bool takes_largest(Combine combine) { return combine == Combine::kMax || combine == Combine::kArgMax; }

loop::Value extreme(loop::Builder& b, Dtype dtype, bool largest) {
  if (is_float(dtype)) return b.constant(dtype, largest ? kInfinity : -kInfinity);
  if (is_bool(dtype)) return b.constant(dtype, static_cast<int64_t>(largest));
  if (dtype == Dtype::kU8) return b.constant(dtype, static_cast<int64_t>(largest ? 255 : 0));
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  const int64_t smallest = std::numeric_limits<int64_t>::min() >> (64 - bits);
  return b.constant(dtype, largest ? ~smallest : smallest);
}

// The number of trailing ones of c: the exponent of its lowest zero bit, read from that bit's value as a double.
loop::Value trailing_ones(loop::Builder& b, loop::Value c) {
  const loop::Value lowest_zero = ~c & (c + b.index(1));
  const loop::Value bits = b.bitcast(b.convert(lowest_zero, Dtype::kF64), Dtype::kI64);
  return b.binary(Code::kShr, bits, b.index(52)) - b.index(1023);
}

}  // namespace

std::vector<Dtype> Reducer::dtypes() const {
  return is_arg(combine_) ? std::vector<Dtype>{element_, Dtype::kI64} : std::vector<Dtype>{element_};
}

ReduceState Reducer::identity() const {
  loop::Builder& b = builder_;
  switch (combine_) {
    case Combine::kSum:
      return {b.splat(b.constant(element_, 0))};
    case Combine::kProd:
      return {b.splat(b.constant(element_, 1))};
    case Combine::kAny:
      return {b.splat(b.constant(Dtype::kBool, 0))};
    case Combine::kAll:
      return {b.splat(b.constant(Dtype::kBool, 1))};
    case Combine::kMax:
    case Combine::kMin:
      return {b.splat(extreme(b, element_, combine_ == Combine::kMin))};
    case Combine::kArgMax:
    case Combine::kArgMin:
      return {b.splat(extreme(b, element_, combine_ == Combine::kArgMin)),
              b.splat(b.index(std::numeric_limits<int64_t>::max()))};
  }
  LUCID_CHECK(false, "unknown reduction");
}

ReduceState Reducer::best(const ReduceState& left, const ReduceState& right) const {
  loop::Builder& b = builder_;
  const loop::Value x = left[0];
  const loop::Value y = right[0];
  // NaN beats every number, and the earlier of two equal elements wins. Bools have no ordering instructions.
  const auto less = [&](loop::Value a, loop::Value c) { return is_bool(element_) ? ~a & c : a < c; };
  loop::Value takes_right = takes_largest(combine_) ? less(x, y) : less(y, x);
  if (!is_arg(combine_)) {
    // The inner select is one instruction and keeps a NaN on the left.
    const loop::Value best = b.select(takes_right, y, x);
    return {is_float(element_) ? b.select(y != y, y, best) : best};
  }
  loop::Value tie = x == y;
  if (is_float(element_)) {
    const loop::Value x_nan = x != x;
    const loop::Value y_nan = y != y;
    takes_right = takes_right | (y_nan & ~x_nan);
    tie = tie | (x_nan & y_nan);
  }
  takes_right = takes_right | (tie & (right[1] < left[1]));
  return {b.select(takes_right, y, x), b.select(takes_right, right[1], left[1])};
}

ReduceState Reducer::combine(const ReduceState& left, const ReduceState& right) const {
  switch (combine_) {
    case Combine::kSum:
      return {left[0] + right[0]};
    case Combine::kProd:
      return {left[0] * right[0]};
    case Combine::kAny:
      return {left[0] | right[0]};
    case Combine::kAll:
      return {left[0] & right[0]};
    default:
      return best(left, right);
  }
}

ReduceState Reducer::select(loop::Value mask, const ReduceState& next, const ReduceState& previous) const {
  if (!mask) return next;
  ReduceState result;
  for (size_t k = 0; k < next.size(); ++k) result.push_back(builder_.select(mask, next[k], previous[k]));
  return result;
}

ReduceState Reducer::fold(const ReduceState& state) const {
  ReduceState folded = state;
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    ReduceState rotated;
    for (loop::Value value : folded) rotated.push_back(builder_.rotate(value, distance));
    folded = combine(folded, rotated);
  }
  for (loop::Value& value : folded) value = builder_.extract(value, 0);
  return folded;
}

CarryStack::CarryStack(loop::Builder& builder, const Reducer& reducer, int levels, int width)
    : builder_(builder), reducer_(reducer), width_(width) {
  for (Dtype dtype : reducer.dtypes())
    buffers_.push_back(builder.scratch(dtype, static_cast<int64_t>(levels) * width * kLanes));
}

std::vector<ReduceState> CarryStack::slot(loop::Value level) {
  std::vector<ReduceState> states(static_cast<size_t>(width_));
  const loop::Value start = level * builder_.index(width_ * kLanes);
  for (int w = 0; w < width_; ++w)
    for (loop::BufferRef buffer : buffers_)
      states[static_cast<size_t>(w)].push_back(builder_.load_vector(buffer, start + builder_.index(w * kLanes)));
  return states;
}

void CarryStack::store(loop::Value level, std::span<const ReduceState> states) {
  const loop::Value start = level * builder_.index(width_ * kLanes);
  for (int w = 0; w < width_; ++w)
    for (size_t k = 0; k < buffers_.size(); ++k)
      builder_.store(buffers_[k], start + builder_.index(w * kLanes), states[static_cast<size_t>(w)][k]);
}

void CarryStack::push(std::span<const ReduceState> states, loop::Value count, int level) {
  loop::Builder& b = builder_;
  const loop::Value top = trailing_ones(b, count) + b.index(level);
  std::vector<loop::Value> flat;
  for (const ReduceState& state : states) flat.insert(flat.end(), state.begin(), state.end());
  const size_t parts = buffers_.size();
  auto unflatten = [&](std::span<const loop::Value> values) {
    std::vector<ReduceState> result;
    for (size_t i = 0; i < values.size(); i += parts)
      result.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                          values.begin() + static_cast<std::ptrdiff_t>(i + parts));
    return result;
  };
  const auto carried =
      b.for_loop(b.index(level), top, 1, flat, [&](loop::Value l, std::span<const loop::Value> current) {
        const std::vector<ReduceState> stored = slot(l);
        const std::vector<ReduceState> pushed = unflatten(current);
        std::vector<loop::Value> next;
        for (size_t w = 0; w < pushed.size(); ++w) {
          const ReduceState sum = reducer_.combine(stored[w], pushed[w]);
          next.insert(next.end(), sum.begin(), sum.end());
        }
        return next;
      });
  store(top, unflatten(carried));
}

std::vector<ReduceState> CarryStack::finish(loop::Value count, loop::Value levels, std::span<const ReduceState> first,
                                            loop::Value has_first) {
  loop::Builder& b = builder_;
  std::vector<loop::Value> initial;
  for (int w = 0; w < width_; ++w) {
    const ReduceState state = first.empty() ? reducer_.identity() : first[static_cast<size_t>(w)];
    initial.insert(initial.end(), state.begin(), state.end());
  }
  // Whether any slot has been combined yet, as 0 or 1.
  initial.push_back(first.empty() ? b.index(0) : b.convert(has_first, Dtype::kI64));
  const size_t parts = buffers_.size();
  const auto carried =
      b.for_loop(b.index(0), levels, 1, initial, [&](loop::Value l, std::span<const loop::Value> current) {
        const loop::Value bit = b.binary(Code::kShr, count, l) & b.index(1);
        const loop::Value used = bit != b.index(0);
        const loop::Value taken = current.back() != b.index(0);
        const std::vector<ReduceState> stored = slot(l);
        std::vector<loop::Value> next;
        for (size_t w = 0; w < stored.size(); ++w) {
          const ReduceState so_far(current.begin() + static_cast<std::ptrdiff_t>(w * parts),
                                   current.begin() + static_cast<std::ptrdiff_t>((w + 1) * parts));
          const ReduceState both = reducer_.combine(stored[w], so_far);
          for (size_t k = 0; k < parts; ++k)
            next.push_back(b.select(used, b.select(taken, both[k], stored[w][k]), so_far[k]));
        }
        next.push_back(current.back() | bit);
        return next;
      });
  std::vector<ReduceState> result;
  for (size_t w = 0; w < static_cast<size_t>(width_); ++w)
    result.emplace_back(carried.begin() + static_cast<std::ptrdiff_t>(w * parts),
                        carried.begin() + static_cast<std::ptrdiff_t>((w + 1) * parts));
  return result;
}

}  // namespace lucid
