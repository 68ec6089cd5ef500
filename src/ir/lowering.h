#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include "base/dtype.h"

namespace lucid {

class Call;

namespace loop {
class Builder;
class Value;
}  // namespace loop

/// out[i] = body(in0[i], in1[i], ...), inputs broadcast to the output's shape. Values arrive in the compute dtype of
/// the input and leave in the compute dtype of the output; the schedule loads, converts and stores.
struct PointwiseLowering {
  std::function<loop::Value(loop::Builder&, std::span<const loop::Value> inputs, const Call& call)> body;
  /// Optional: a kBool that reports error 1 of Op::errors where it holds for an element that exists. May return nothing
  /// when these dtypes need no check.
  std::function<loop::Value(loop::Builder&, std::span<const loop::Value> inputs, const Call& call)> fails = {};
};

/// One output element, or kLanes neighbours along some axis, as an indexed lowering sees it.
class ElementContext {
 public:
  virtual ~ElementContext() = default;
  virtual loop::Builder& builder() = 0;
  /// The element's index along an axis of the output: an i64, scalar or vector.
  virtual loop::Value index(int64_t axis) = 0;
  /// A run-time i64: kernels are shared between calls that differ only in such numbers.
  virtual loop::Value number(int64_t value) = 0;
  /// The size of an axis of an input, at run time.
  virtual loop::Value input_size(int input, int64_t axis) = 0;
  /// Input number `input` at an index with one entry for each of its axes, in the compute dtype. Where `valid` (kBool,
  /// may be empty) is false the index need not be in range, no memory is read and the result is 0.
  virtual loop::Value load(int input, std::span<const loop::Value> index, loop::Value valid) = 0;
  /// Reports error `code` (1, 2, ... into Op::errors) when the condition holds for an element that exists.
  virtual void fail_if(loop::Value condition, int64_t code) = 0;
};

/// out[i] = body(i), which may load inputs at any index: concatenation, gathers, padding, ranges, random draws.
struct IndexedLowering {
  std::function<loop::Value(ElementContext& element, const Call& call)> body;
};

enum class Combine : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kArgMax, kArgMin };

/// Reduces input 0 over the axes of attribute "dim" (all of them when None), keeping them with size 1 if attribute
/// "keepdim" says so, in the canonical order of loop/README.md. The accumulator has the compute dtype of the output.
/// Max and min propagate NaN; argmax and argmin give the first index of the best, NaN being better than any number.
struct ReduceLowering {
  Combine combine = Combine::kSum;
  /// Applied to each element, in the accumulator's dtype, before combining. Optional.
  std::function<loop::Value(loop::Builder&, loop::Value element)> map;
  /// Applied to the accumulated value with the number of reduced elements, an i64. Optional.
  std::function<loop::Value(loop::Builder&, loop::Value total, loop::Value count)> finish;
};

/// Running combination along attribute "dim", one chain from the first element to the last.
struct ScanLowering {
  Combine combine = Combine::kSum;
};

enum class ScatterCombine : uint8_t { kReplace, kAdd, kMul, kMax, kMin };

/// Starts from input 0 and combines elements of input `source` into it, in ascending order of the source's row-major
/// index. `target` gives, for a source element (its index along each source axis is asked from the context), the index
/// in the output along each axis.
struct ScatterLowering {
  ScatterCombine combine = ScatterCombine::kReplace;
  int source = 2;
  std::function<std::vector<loop::Value>(ElementContext& source, const Call& call)> target;
};

/// The batched matrix product in0[b, m, k] @ in1[b, k, n] in the canonical order of loop/README.md.
struct ContractionLowering {};

/// Attention of queries in0 [n, h, l, e] to keys in1 [n, h, s, e] and values in2 [n, h, s, d], with the mask in3 if
/// there is one, in the order of docs/decisions/0005-attention.md. Attributes "causal" and "scale" belong to it.
struct AttentionLowering {};

/// A convolution of in0 and in1 with an optional bias in2, or its gradient by the weight from in0 and the gradient in1
/// of its result; sizes by ops/convolution_rules.h, order by docs/decisions/0006-convolution.md.
struct ConvolutionLowering {
  bool by_weight = false;
};

/// The inputs one after another along attribute "dim".
struct ConcatLowering {};

/// in0, as it lies in memory when it is contiguous, with in1 in place of the elements that attributes "stride" and
/// "offset" name.
struct RegionLowering {};

using Lowering =
    std::variant<std::monostate, PointwiseLowering, IndexedLowering, ReduceLowering, ScanLowering, ScatterLowering,
                 ContractionLowering, ConcatLowering, RegionLowering, AttentionLowering, ConvolutionLowering>;

}  // namespace lucid
