#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <variant>

#include "base/dtype.h"
#include "lucid/sym_int.h"

namespace lucid {

class Call;

namespace loop {
class Builder;
class Value;
}  // namespace loop

/// out[i] = body(in0[i], in1[i], ...), with inputs broadcast to the output's shape. The body receives values in the
/// compute dtype of each input and returns one in the compute dtype of the output. The schedule loads, converts and
/// stores.
struct PointwiseLowering {
  std::function<loop::Value(loop::Builder&, std::span<const loop::Value> inputs, const Call& call)> body;
  /// Optional. Returns a kBool that is true if an element must report error 1 of Op::errors; lanes beyond the end are
  /// ignored. May return an empty value if these dtypes need no check.
  std::function<loop::Value(loop::Builder&, std::span<const loop::Value> inputs, const Call& call)> fails = {};
};

/// The interface of an indexed lowering to one output element, or to kLanes neighbours along some axis.
class ElementContext {
 public:
  virtual ~ElementContext() = default;
  virtual loop::Builder& builder() = 0;
  /// The element's index along an axis of the output: an i64, scalar or vector.
  virtual loop::Value index(int64_t axis) = 0;
  /// A run-time i64. Calls that differ only in these numbers share a kernel.
  virtual loop::Value number(SymInt value) = 0;
  /// The size of an axis of an input, at run time.
  virtual loop::Value input_size(int input, int64_t axis) = 0;
  /// Loads an element of input `input` in its compute dtype; `index` has one entry for each axis. Where `valid` (kBool,
  /// may be empty) is false, the index need not be in range, no memory is read and the result is 0.
  virtual loop::Value load(int input, std::span<const loop::Value> index, loop::Value valid) = 0;
  /// Reports error `code` (1, 2, ... into Op::errors) if the condition is true. Lanes beyond the end are ignored.
  virtual void fail_if(loop::Value condition, int64_t code) = 0;
};

/// out[i] = body(i), which may load inputs at any index: concatenation, gathers, padding, ranges, random ops.
struct IndexedLowering {
  std::function<loop::Value(ElementContext& element, const Call& call)> body;
};

enum class Combine : uint8_t { kSum, kProd, kMax, kMin, kAny, kAll, kArgMax, kArgMin };

/// Reduces input 0 over the axes of attribute "dim" (all axes if None), in the canonical order of
/// docs/decisions/0002-canonical-orders.md. If attribute "keepdim" is true, these axes remain with size 1. The
/// accumulator has the compute dtype of the output. Max and min propagate NaN. Argmax and argmin return the first index
/// of the extremum; NaN takes precedence over any number.
struct ReduceLowering {
  Combine combine = Combine::kSum;
  /// Applied to each element, in the accumulator's dtype, before combining. Optional.
  std::function<loop::Value(loop::Builder&, loop::Value element)> map;
  /// Applied to the accumulated value and the count of reduced elements, an i64. Optional.
  std::function<loop::Value(loop::Builder&, loop::Value total, loop::Value count)> finish;
};

/// Cumulative combination along attribute "dim", as one chain from the first element to the last.
struct ScanLowering {
  Combine combine = Combine::kSum;
};

enum class ScatterCombine : uint8_t { kReplace, kAdd, kMul, kMax, kMin };

/// Starts from input 0 and combines elements of input `source` into it, in ascending order of the source's row-major
/// index. `target` returns the index in the output along each axis for a source element; the context provides the
/// element's index along each source axis.
struct ScatterLowering {
  ScatterCombine combine = ScatterCombine::kReplace;
  int source = 2;
  std::function<std::vector<loop::Value>(ElementContext& source, const Call& call)> target;
};

/// The batched matrix product in0[b, m, k] @ in1[b, k, n] in the canonical order of
/// docs/decisions/0002-canonical-orders.md.
struct ContractionLowering {};

/// Attention of queries in0 [n, h, l, e] to keys in1 [n, h, s, e] and values in2 [n, h, s, d], with an optional mask
/// in3, in the order of docs/decisions/0005-attention.md. Reads attributes "causal" and "scale".
struct AttentionLowering {};

/// A convolution of in0 and in1 with an optional bias in2. If `by_weight`, the gradient with respect to the weight,
/// computed from in0 and the gradient in1 of the result. ops/convolution_rules.h defines the sizes and
/// docs/decisions/0006-convolution.md the order.
struct ConvolutionLowering {
  bool by_weight = false;
};

/// The inputs concatenated along attribute "dim".
struct ConcatLowering {};

/// The contiguous memory of in0, with in1 in place of the elements that attributes "stride" and "offset" select.
struct RegionLowering {};

using Lowering =
    std::variant<std::monostate, PointwiseLowering, IndexedLowering, ReduceLowering, ScanLowering, ScatterLowering,
                 ContractionLowering, ConcatLowering, RegionLowering, AttentionLowering, ConvolutionLowering>;

}  // namespace lucid
