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

namespace lucid {

class Emitter;
class HostCall;
struct Op;

/// An op applied to operands: what shape rules, lowerings and decompositions are given.
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

  // Attributes by parameter name. The typed readers throw InternalError for a wrong name or type: rules are ours.
  const Attribute& attribute(std::string_view name) const;
  bool is_none(std::string_view name) const { return std::holds_alternative<std::monostate>(attribute(name)); }
  bool flag(std::string_view name) const;
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  Dtype dtype_of(std::string_view name) const;
  const Dims& ints(std::string_view name) const;
  const std::string& text(std::string_view name) const;

 private:
  const Op& op_;
  std::span<const Operand> operands_;
  const Attributes& attributes_;
};

/// A call as its gradient rule sees it: what was saved of it, and the gradients of its results.
class GradientCall : public Call {
 public:
  GradientCall(const Call& call, Values inputs, Values outputs, std::vector<bool> needed)
      : Call(call), inputs_(std::move(inputs)), outputs_(std::move(outputs)), needed_(std::move(needed)) {}
  /// Input i; Gradient::saved_inputs must name it.
  const Value& in(size_t i) const;
  /// Result i; Gradient::saves_outputs must be set.
  const Value& out(size_t i = 0) const;
  /// Operand i for use in the rule: a number as it was given, or in(i).
  Operand argument(size_t i) const;
  /// Whether the gradient of operand i is wanted. Rules may return it all the same.
  bool needs(size_t i) const { return i < needed_.size() && needed_[i]; }

 private:
  Values inputs_;
  Values outputs_;
  std::vector<bool> needed_;
};

/// An operand whose value a gradient rule reads.
struct SavedInput {
  SavedInput(int index) : operand(index) {}
  /// Read only where the gradient of one of these operands is wanted; otherwise it need not be kept.
  SavedInput(int index, std::initializer_list<int> wanted_by) : operand(index), readers(0) {
    for (int reader : wanted_by) readers |= bit(static_cast<size_t>(reader));
  }
  /// The bit of an operand in a set of them; all from the 64th on share one.
  static uint64_t bit(size_t operand) { return uint64_t{1} << std::min(operand, size_t{63}); }
  /// Whether the rule reads it when the gradients of this set of operands are wanted.
  bool is_read(uint64_t wanted) const { return (readers & wanted) != 0; }
  int operand;
  uint64_t readers = ~uint64_t{0};
};

/// How an op is differentiated. The rule returns one gradient for each operand, empty where there is none; each must
/// have the operand's shape up to broadcasting: sums over stretched dimensions and casts to the operand's dtype are
/// added after it.
struct Gradient {
  std::function<Values(Emitter& e, const GradientCall& call, std::span<const Value> grads)> rule;
  /// The operands whose values the rule reads; ~i is result i, where saves_outputs would save more than it reads.
  std::vector<SavedInput> saved_inputs;
  bool saves_outputs = false;
  /// The slope is constant almost everywhere, and the rule does not say so in differentiable ops: a pass that creates a
  /// graph makes the gradient depend on the operands, with slope 0.
  bool has_flat_slope = false;
  /// Whether the rule reads result i.
  bool saves_output(size_t i) const {
    return saves_outputs || std::ranges::any_of(saved_inputs, [i](const SavedInput& saved) {
             return saved.operand == ~static_cast<int>(i);
           });
  }
  explicit operator bool() const { return static_cast<bool>(rule); }
};

/// Which dtype operands are brought to before a pointwise op computes, and what its result has.
enum class Promote : uint8_t {
  kNone,     // operands are taken as they are; the shape rule decides
  kSame,     // the common dtype in, the same out
  kFloat,    // the common dtype, integers and bools becoming the default float
  kCompare,  // the common dtype in, bool out
  kTail,     // as kSame over operands 1, 2, ...; operand 0 is a bool condition
};

/// One entry of the op table: everything the system knows about an op.
struct Op {
  /// Name, parameters and results; see Schema.
  std::string signature;
  /// One sentence, then, after a blank line, an example in doctest form.
  std::string doc;
  /// Where its name is visible.
  Names names;
  /// Exact identities, which passes apply.
  Algebra algebra;
  /// The dtypes of operand 0 that it accepts (after promotion, for promoting ops).
  DtypeSet dtypes = kAllDtypes;
  Promote promote = Promote::kNone;
  /// Dtypes and shapes of the results. Ops with a promotion need none: broadcasting and promotion say it. Composites
  /// may leave it out: then their decomposition says it. Host ops whose results' sizes depend on data have none.
  std::function<std::vector<TensorType>(const Call&)> infer;

  /// Only the operands' types matter: the result never requires grad.
  bool ignores_values = false;
  /// The result is contiguous although the op is pointwise; otherwise such results follow their operands' strides.
  bool contiguous_result = false;
  /// Does more than compute its results from its operands. A call of it is never removed, merged with another, folded
  /// or replayed by a compiled call. Only host ops may have effects, and no op may be made of one that has.
  bool has_effects = false;

  // How it computes: exactly one of the four.
  Lowering lowering;
  /// `inputs` has a value for each operand that is one, already converted to operand_dtype(); argument() in ops/rules.h
  /// gives numbers too.
  std::function<Values(Emitter& e, const Call& call, std::span<const Value> inputs)> decompose;
  /// Reads the operand's memory through another geometry. Nothing when these strides cannot be viewed so: then a
  /// contiguous copy is viewed.
  std::function<std::optional<Geometry>(const Call& call, const Geometry& operand)> view;
  /// Computes on the host: sorting, linear algebra, results whose size depends on data.
  std::function<void(HostCall&)> host;

  /// What lowered ops mean, in plain C++ on contiguous arrays.
  std::function<void(HostCall&)> reference;
  /// Composites may have none: then their decomposition is differentiated.
  Gradient gradient;
  /// Messages of checks made by kernels (ElementContext::fail_if), and the class they raise.
  std::vector<std::string> errors;
  ErrorClass error_class = ErrorClass::kIndex;
  /// Inputs that every test of the table runs.
  std::vector<Sample> samples;
  /// The bound in ULP that math functions keep against a correctly rounded result; 0 means bitwise.
  double ulp = 0;
  /// What an element costs, in simple operations. 0 stands for a default that the table fills in: kFunctionCost where
  /// there is a bound in ULP, kSimpleCost elsewhere.
  double cost = 0;

  // Filled in by the table.
  Schema schema;
  uint16_t id = 0;

  const std::string& name() const { return schema.name; }
  bool is_pointwise() const { return std::holds_alternative<PointwiseLowering>(lowering); }
  bool is_lowered() const { return !std::holds_alternative<std::monostate>(lowering); }
  /// Whether computing an element again costs more than reading it from memory.
  bool is_costly() const { return cost > kSimpleCost; }

  /// Whether users call it by name.
  bool is_public() const { return names.audience == Audience::kUsers; }
  /// Whether it draws random numbers: its first parameter is the state of a generator.
  bool is_random() const;
  /// By default true where the first parameter is a tensor that must be given, for ops that neither draw nor make
  /// tensors to start from.
  bool has_method() const;
  /// By default true for methods that compute each element from those at its place.
  bool has_in_place_method() const;
};

/// The op table. Assembled once from the list in ops/table.cpp; immutable afterwards.
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

/// The one table; defined in ops/op_table.cpp.
const OpTable& op_table();

/// The result types of a call, checking its operands: the op's own rule, broadcasting with promotion, or its
/// decomposition.
std::vector<TensorType> infer_types(const Call& call);

/// Broadcasting with promotion: what infer_types does for promoting ops. For rules that add checks to it.
std::vector<TensorType> infer_pointwise(const Call& call);

/// The dtype that operand i is converted to before the op computes; its own when the op does not promote.
Dtype operand_dtype(const Call& call, size_t i);

}  // namespace lucid
