#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ir/lowering.h"
#include "ir/op_traits.h"
#include "ir/sample.h"
#include "ir/schema.h"
#include "ir/value.h"
#include "ir/value_bounds.h"

namespace lucid {

class Emitter;
class HostCall;
struct Op;

/// An op applied to operands. Passed to shape rules, lowerings and decompositions.
class Call {
 public:
  Call(const Op& op, std::span<const Operand> operands, const Attributes& attributes)
      : op_(op), operands_(operands), attributes_(attributes) {}

  const Op& op() const { return op_; }
  /// The op's name, for messages.
  const std::string& name() const;
  std::span<const Operand> operands() const { return operands_; }
  const Attributes& attributes() const { return attributes_; }

  size_t count() const { return operands_.size(); }
  const Operand& operand(size_t i) const { return operands_[i]; }
  bool has(size_t i) const { return i < operands_.size() && operands_[i].present(); }
  Dtype dtype(size_t i) const { return operands_[i].dtype(); }
  const Dims& shape(size_t i) const { return operands_[i].shape(); }
  int64_t rank(size_t i) const { return operands_[i].rank(); }

  // Attributes by parameter name. The typed accessors throw InternalError for a wrong name or type, because rules are
  // internal code.
  const Attribute& attribute(std::string_view name) const;
  bool is_none(std::string_view name) const { return std::holds_alternative<std::monostate>(attribute(name)); }
  bool flag(std::string_view name) const;
  SymInt integer(std::string_view name) const;
  double real(std::string_view name) const;
  Dtype dtype_of(std::string_view name) const;
  const Dims& ints(std::string_view name) const;
  const std::string& text(std::string_view name) const;

  // Parameters of the kinds axis and axes, counted from 0. They name dimensions of operand 0, or of a tensor of `rank`
  // dimensions; 0-d tensors count as vectors. Throw IndexError if an axis is out of range.
  int64_t axis(std::string_view name) const { return axis(name, rank(0)); }
  int64_t axis(std::string_view name, int64_t rank) const;
  /// Ascending; none if the parameter is None. Throws ValueError if one is named more than once.
  Dims axes(std::string_view name) const { return axes(name, rank(0)); }
  Dims axes(std::string_view name, int64_t rank) const;
  /// In the order given.
  Dims ordered_axes(std::string_view name) const;

 private:
  const Op& op_;
  std::span<const Operand> operands_;
  const Attributes& attributes_;
};

/// A call with the inputs and results saved for its gradient rule.
class GradientCall : public Call {
 public:
  GradientCall(const Call& call, Values inputs, Values outputs, std::vector<bool> needed)
      : Call(call), inputs_(std::move(inputs)), outputs_(std::move(outputs)), needed_(std::move(needed)) {}
  /// Input i, which must be in Gradient::saved_inputs.
  const Value& in(size_t i) const;
  /// Result i; Gradient::saves_outputs must be set.
  const Value& out(size_t i = 0) const;
  /// Operand i for use in the rule: the number that was passed, or in(i).
  Operand argument(size_t i) const;
  /// Whether the gradient of operand i is needed. Rules may return it even if it is not.
  bool needs(size_t i) const { return i < needed_.size() && needed_[i]; }

 private:
  Values inputs_;
  Values outputs_;
  std::vector<bool> needed_;
};

/// An operand whose value a gradient rule reads.
struct SavedInput {
  SavedInput(int index) : operand(index) {}
  /// Read only if the gradient of one of these operands is needed; otherwise it need not be saved.
  SavedInput(int index, std::initializer_list<int> needed_by) : operand(index), readers(0) {
    for (int reader : needed_by) readers |= bit(static_cast<size_t>(reader));
  }
  /// The bit of an operand in a bit set; operands from index 63 on share one.
  static uint64_t bit(size_t operand) { return uint64_t{1} << std::min(operand, size_t{63}); }
  /// Whether the rule reads it if the gradients of this set of operands are needed.
  bool is_read(uint64_t needed) const { return (readers & needed) != 0; }
  int operand;
  uint64_t readers = ~uint64_t{0};
};

/// How an op is differentiated. The rule returns one gradient for each operand, empty if there is none. Each must have
/// the operand's shape up to broadcasting: the caller sums over broadcast dimensions and casts to the operand's dtype.
struct Gradient {
  std::function<Values(Emitter& e, const GradientCall& call, std::span<const Value> grads)> rule;
  /// The operands whose values the rule reads. ~i denotes result i, for rules that do not read all results.
  std::vector<SavedInput> saved_inputs;
  bool saves_outputs = false;
  /// The slope is constant almost everywhere, but the rule does not express that in differentiable ops. If backward
  /// creates a graph, the gradient is made to depend on the operands, with slope 0.
  bool has_flat_slope = false;
  /// Whether the rule reads result i.
  bool saves_output(size_t i) const {
    return saves_outputs || std::ranges::any_of(saved_inputs, [i](const SavedInput& saved) {
             return saved.operand == ~static_cast<int>(i);
           });
  }
  explicit operator bool() const { return static_cast<bool>(rule); }
};

/// The dtype that operands are converted to before a pointwise op computes, and the dtype of its result.
enum class Promote : uint8_t {
  kNone,     // no conversion; the shape rule decides
  kSame,     // operands and result have the common dtype
  kFloat,    // like kSame, but integers and bools become the default float
  kCompare,  // operands have the common dtype, the result is bool
  kTail,     // like kSame for operands 1, 2, ...; operand 0 is a bool condition
};

/// One entry of the op table: everything the system knows about an op.
struct Op {
  /// Name, parameters and results; see Schema.
  std::string signature;
  /// One paragraph, then, after a blank line, an example in doctest form.
  std::string doc;
  /// Where its name is visible.
  Names names;
  /// Exact identities, applied by passes.
  Algebra algebra;
  /// The accepted dtypes of operand 0 (after promotion, for promoting ops).
  DtypeSet dtypes = kAllDtypes;
  Promote promote = Promote::kNone;
  /// Dtypes and shapes of the results. Optional for promoting ops, where broadcasting and promotion determine them, and
  /// for composites, where the decomposition does. Absent for host ops whose result sizes depend on data.
  std::function<std::vector<TensorType>(const Call&)> infer;

  /// Only the operands' types matter: the result never requires grad.
  bool ignores_values = false;
  /// The result is contiguous. Without it, the strides of pointwise results follow those of the operands.
  bool contiguous_result = false;
  /// Only host ops may have effects, and no composite may contain an op that has.
  Effects effects = Effects::kNone;

  // How it computes: exactly one of the following four.
  Lowering lowering;
  /// `inputs` holds the operands that are values, already converted to operand_dtype(). argument() in ops/rules.h
  /// returns numbers too.
  std::function<Values(Emitter& e, const Call& call, std::span<const Value> inputs)> decompose;
  /// The geometry through which the result views the operand's memory. Empty if these strides do not allow a view; then
  /// a contiguous copy is viewed.
  std::function<std::optional<Geometry>(const Call& call, const Geometry& operand)> view;
  /// Computes on the host: sorting, linear algebra, results whose size depends on data.
  std::function<void(HostCall&)> host;

  /// Reference implementation of a lowered op, in plain C++ on contiguous arrays.
  std::function<void(HostCall&)> reference;
  /// Optional for composites: without it, the decomposition is differentiated.
  Gradient gradient;
  /// Messages of checks in kernels (ElementContext::fail_if), and the exception class that they raise.
  std::vector<std::string> errors;
  ErrorClass error_class = ErrorClass::kIndex;
  /// The values that operands may have, for messages. A composite without it reports the positions in the operands of
  /// its parts. The shapes of the operands are valid.
  std::function<std::vector<ValueBounds>(const Call&)> bounds;
  /// Operands 0 and 1 should have one shape: the user is warned of calls that broadcast them. For composites.
  bool warns_of_broadcast = false;
  /// Inputs that every test of the table runs.
  std::vector<Sample> samples;
  /// Maximum error of math functions in ULP, relative to a correctly rounded result; 0 means bitwise equality.
  double ulp = 0;
  /// Cost of an element, in simple operations. 0 selects a default: kFunctionCost if `ulp` is set, otherwise
  /// kSimpleCost.
  double cost = 0;

  // Filled in by the table.
  Schema schema;
  uint16_t id = 0;

  const std::string& name() const { return schema.name; }
  bool is_pointwise() const { return std::holds_alternative<PointwiseLowering>(lowering); }
  bool is_lowered() const { return !std::holds_alternative<std::monostate>(lowering); }
  bool has_effects() const { return effects != Effects::kNone; }
  /// Whether rematerializing an element costs more than reading it from memory.
  bool is_costly() const { return cost > kSimpleCost; }

  /// Whether users call it by name.
  bool is_public() const { return names.audience == Audience::kUsers; }
  /// Whether it is a random op: its first parameter is the state of a generator.
  bool is_random() const;
  /// By default true if the first parameter is a required tensor, except for random ops and factories.
  bool has_method() const;
  /// By default true for elementwise methods.
  bool has_in_place_method() const;
  /// Whether Python's function and methods also take `alpha`, as in PyTorch.
  bool takes_alpha() const;
};

/// The op table. Built once from the list in ops/table.cpp and immutable afterwards.
class OpTable {
 public:
  explicit OpTable(std::vector<Op> ops);
  /// Throws InternalError for an unknown name.
  const Op& at(std::string_view name) const;
  const Op* find(std::string_view name) const;
  const Op& at(uint16_t id) const { return ops_[id]; }
  std::span<const Op> ops() const { return ops_; }

 private:
  std::vector<Op> ops_;
  std::vector<uint16_t> by_name_;  // sorted by name
};

/// The only instance; defined in ops/op_table.cpp.
const OpTable& op_table();

/// Checks the operands of a call and returns its result types, from the op's own rule, broadcasting with promotion, or
/// its decomposition.
std::vector<TensorType> infer_types(const Call& call);

/// The device that a call computes on: the attribute `device` if the op has one, otherwise the device of its operands.
/// Numbers, tensors without dimensions on the CPU and states of generators can be used on any device. Calls that have
/// no other operands and create tensors compute on current_device(). Throws ValueError if operands are on different
/// devices.
Device device_of(const Call& call);

/// The result type by broadcasting with promotion, as infer_types computes it for promoting ops. For rules that add
/// checks.
std::vector<TensorType> infer_pointwise(const Call& call);

/// The dtype that operand i is converted to before the op computes; its own dtype if the op does not promote.
Dtype operand_dtype(const Call& call, size_t i);

}  // namespace lucid
