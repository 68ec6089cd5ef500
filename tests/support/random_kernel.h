#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "loop/builder.h"
#include "loop/codes.h"

namespace lucid::loop {

/// Number of elements that each argument of a random kernel must have.
inline constexpr int64_t kRandomKernelElements = 256;
/// The largest `end` a random kernel may be called with.
inline constexpr int64_t kRandomKernelItems = 200;

/// Creates kernels that use every code on every type it accepts, and whose results are fully defined. Arguments 0 to 9
/// are inputs, one for each Dtype in order; arguments 10 to 19 are outputs in the same order; param 0 may be any
/// number. Work items are elements of the outputs; ranges begin at multiples of kLanes. The sign and payload of a NaN
/// never affect an integer or a bool.
class RandomKernel {
 public:
  explicit RandomKernel(uint32_t seed) : random_(seed), b_("random") {}

  Kernel make(int length) {
    for (int d = 0; d < 2 * kDtypeCount; ++d) arguments_.push_back(b_.argument(static_cast<Dtype>(d % kDtypeCount)));
    for (int d = 0; d < kDtypeCount; ++d) scratch_.push_back(b_.scratch(static_cast<Dtype>(d), 2 * kLanes));
    std::vector<uint64_t> bits;
    for (int k = 0; k < 256; ++k) bits.push_back(random_() & 0xffffff);
    table_ = b_.table(Dtype::kF32, std::move(bits));
    param_ = b_.param();
    b_.for_loop(b_.begin(), b_.end(), kLanes, [&](Value i) {
      i_ = i;
      mask_ = b_.lanes_below(b_.end() - i);
      values_.push_back(i);
      values_.push_back(mask_);
      values_.push_back(param_);
      grow(length, 0);
      for (size_t d = 0; d < kDtypeCount; ++d) {
        b_.store(arguments_[kDtypeCount + d], i, pick(static_cast<Dtype>(d), true), mask_ & pick(Dtype::kBool, true));
      }
    });
    return b_.finish();
  }

 private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<uint32_t>(bound)); }
  Dtype any_dtype(DtypeSet set) {
    Dtype dtype;
    do dtype = static_cast<Dtype>(below(kDtypeCount));
    while (!set.contains(dtype));
    return dtype;
  }

  /// A value in scope of the type, or a new constant.
  Value pick(Dtype dtype, bool vector) {
    std::vector<Value> fitting;
    for (Value value : values_) {
      if (value.type() == Type{dtype, vector}) fitting.push_back(value);
    }
    if (!fitting.empty() && below(8)) return fitting[static_cast<size_t>(below(static_cast<int>(fitting.size())))];
    static constexpr double kInteresting[] = {0.0, -0.0, 1.0, -1.5, 0.1, 3e38, -1e-40, 65504.0, 1e19};
    const Value scalar = b_.constant(dtype, kInteresting[below(9)]);
    return vector ? b_.splat(scalar) : scalar;
  }

  Value without_nan(Value x) { return is_float(x.dtype()) ? b_.select(x == x, x, b_.like(x, 1.0)) : x; }

  Value binary() {
    static constexpr Code kCodes[] = {Code::kAdd, Code::kSub, Code::kMul,        Code::kDiv,      Code::kRem,
                                      Code::kMin, Code::kMax, Code::kAnd,        Code::kOr,       Code::kXor,
                                      Code::kShl, Code::kShr, Code::kShrLogical, Code::kCopySign, Code::kEq,
                                      Code::kNe,  Code::kLt,  Code::kLe,         Code::kGt,       Code::kGe};
    const Code code = kCodes[below(std::size(kCodes))];
    const Dtype dtype = any_dtype(info_of(code).dtypes);
    const Value x = pick(dtype, below(2)), y = pick(dtype, below(2));
    if (code == Code::kCopySign) return b_.binary(code, x, without_nan(y));
    if (code == Code::kShl || code == Code::kShr || code == Code::kShrLogical) {
      return b_.binary(code, x, y & b_.constant(dtype, static_cast<int64_t>(8 * size_of(dtype) - 1)));
    }
    if ((code == Code::kDiv || code == Code::kRem) && is_integer(dtype)) {
      Value divisor = b_.select(y == b_.constant(dtype, 0), b_.constant(dtype, 3), y);
      if (dtype != Dtype::kU8) divisor = b_.select(y == b_.constant(dtype, -1), b_.constant(dtype, 5), divisor);
      return b_.binary(code, x, divisor);
    }
    return b_.binary(code, x, y);
  }

  Value unary() {
    static constexpr Code kCodes[] = {Code::kNeg,   Code::kAbs,  Code::kNot,   Code::kSqrt,
                                      Code::kFloor, Code::kCeil, Code::kTrunc, Code::kRound};
    const Code code = kCodes[below(std::size(kCodes))];
    return b_.unary(code, pick(any_dtype(info_of(code).dtypes), below(2)));
  }

  Value bitcast() {
    static constexpr std::pair<Dtype, Dtype> kPairs[] = {{Dtype::kF32, Dtype::kI32}, {Dtype::kF64, Dtype::kI64},
                                                         {Dtype::kI32, Dtype::kF32}, {Dtype::kI64, Dtype::kF64},
                                                         {Dtype::kU8, Dtype::kI8},   {Dtype::kI8, Dtype::kU8}};
    const auto [from, to] = kPairs[below(6)];
    return b_.bitcast(without_nan(pick(from, below(2))), to);
  }

  Value small_indices() { return b_.convert(pick(Dtype::kU8, true), Dtype::kI64); }

  Value any_mask() { return below(3) ? below(2) ? mask_ : pick(Dtype::kBool, true) : Value(); }

  Value load() {
    const auto dtype = static_cast<size_t>(below(kDtypeCount));
    switch (below(8)) {
      case 0:
        return b_.load(arguments_[dtype], b_.convert(pick(Dtype::kU8, false), Dtype::kI64));
      case 1:
        return b_.load_vector(arguments_[dtype], i_);
      case 2:
        return b_.gather(arguments_[dtype], small_indices(), below(2) ? pick(Dtype::kBool, true) : Value());
      case 3:
        return b_.gather(table_, small_indices());
      case 4: {
        const Value value = pick(static_cast<Dtype>(dtype), true);
        b_.store(scratch_[dtype], b_.index(0), value);
        b_.store(scratch_[dtype], b_.index(kLanes), value);
        return b_.load_vector(scratch_[dtype], b_.index(below(kLanes + 1)));
      }
      case 5:
        return b_.load_alternate(arguments_[dtype], i_ + b_.index(below(2)), any_mask());
      case 6:
        return b_.load_twice(arguments_[dtype], i_, any_mask());
      default:
        return b_.load_vector(arguments_[dtype], i_, below(2) ? mask_ : pick(Dtype::kBool, true));
    }
  }

  void store() {
    const auto dtype = static_cast<size_t>(below(kDtypeCount));
    const BufferRef output = arguments_[kDtypeCount + dtype];
    const Value value = pick(static_cast<Dtype>(dtype), true);
    switch (below(4)) {
      case 0:
        b_.scatter(output, i_ + b_.rotate(b_.iota(), below(kLanes)), value, inside());
        return;
      case 1:
        b_.store(output, i_, pick(static_cast<Dtype>(dtype), false));
        return;
      default:
        b_.store(output, i_, value, mask_ & pick(Dtype::kBool, true));
        return;
      case 3:
        b_.store(output, i_, value, mask_);
    }
  }

  /// For scatters: a mask with which no rotation of the indices exceeds the end.
  Value inside() { return b_.splat(b_.end() - i_ >= b_.index(kLanes)); }

  Value lanes() {
    const Dtype dtype = any_dtype(kAllDtypes);
    switch (below(5)) {
      case 0:
        return b_.splat(pick(dtype, false));
      case 1:
        return b_.extract(pick(dtype, true), below(kLanes));
      case 2:
        return b_.rotate(pick(dtype, true), below(kLanes));
      case 3:
        return b_.any(pick(Dtype::kBool, true));
      default:
        return b_.iota(any_dtype(info_of(Code::kIota).dtypes));
    }
  }

  void loop(int length, int depth) {
    std::vector<Value> initial;
    for (int k = below(4); k > 0; --k) initial.push_back(pick(any_dtype(kAllDtypes), below(2)));
    const auto results = b_.for_loop(b_.index(0), b_.index(below(4)), 1 + below(2), initial,
                                     [&](Value i, std::span<const Value> carried) {
                                       const size_t scope = values_.size();
                                       values_.push_back(i);
                                       values_.insert(values_.end(), carried.begin(), carried.end());
                                       grow(length, depth + 1);
                                       std::vector<Value> next;
                                       for (Value value : carried)
                                         next.push_back(pick(value.dtype(), value.is_vector()));
                                       values_.resize(scope);
                                       return next;
                                     });
    values_.insert(values_.end(), results.begin(), results.end());
  }

  void branch(int length, int depth) {
    auto arm = [&] {
      const size_t scope = values_.size();
      grow(length, depth + 1);
      values_.resize(scope);
    };
    const Value condition = pick(Dtype::kBool, false);
    if (below(2)) {
      b_.if_then(condition, arm, arm);
    } else {
      b_.if_then(condition, arm);
    }
  }

  void grow(int length, int depth) {
    for (int n = 0; n < length; ++n) {
      switch (below(12)) {
        case 0:
        case 1:
        case 2:
          values_.push_back(binary());
          break;
        case 3:
          values_.push_back(unary());
          break;
        case 4: {
          const Dtype dtype = below(2) ? Dtype::kF32 : Dtype::kF64;
          values_.push_back(b_.fma(pick(dtype, below(2)), pick(dtype, below(2)), pick(dtype, below(2))));
          break;
        }
        case 5: {
          const Dtype dtype = any_dtype(kAllDtypes);
          values_.push_back(b_.select(pick(Dtype::kBool, below(2)), pick(dtype, below(2)), pick(dtype, below(2))));
          break;
        }
        case 6:
          values_.push_back(b_.convert(pick(any_dtype(kAllDtypes), below(2)), any_dtype(kAllDtypes)));
          break;
        case 7:
          values_.push_back(bitcast());
          break;
        case 8:
          values_.push_back(lanes());
          break;
        case 9:
          values_.push_back(load());
          break;
        case 10:
          store();
          if (below(4) == 0) b_.prefetch(arguments_[0], i_);
          break;
        default:
          if (depth < 3 && below(2)) {
            loop(length / 2, depth);
          } else if (depth < 3) {
            branch(length / 2, depth);
          }
      }
    }
  }

  std::mt19937 random_;
  Builder b_;
  std::vector<BufferRef> arguments_;
  std::vector<BufferRef> scratch_;
  BufferRef table_;
  Value param_, i_, mask_;
  std::vector<Value> values_;
};

inline Kernel random_kernel(uint32_t seed, int length = 24) { return RandomKernel(seed).make(length); }

}  // namespace lucid::loop
