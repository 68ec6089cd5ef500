#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/scalar.h"

// The parts of an op's entry other than its implementation: where its name is visible, its identities, and its cost.
namespace lucid {

class Call;

/// Python's operators; comparisons last, in the order of Py_LT, Py_LE and so on.
enum class Operator : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kRemainder,
  kPower,
  kMatrixMultiply,
  kAnd,
  kOr,
  kXor,
  kLeftShift,
  kRightShift,
  kNegative,
  kAbsolute,
  kInvert,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
};
inline constexpr size_t kOperatorCount = static_cast<size_t>(Operator::kGreaterEqual) + 1;

/// The callers that use an op by name.
enum class Audience : uint8_t {
  kUsers,       // lucid.add and lucid.nn.functional.add
  kOps,         // composites that contain it
  kOptimizers,  // the classes of lucid.optim
};

/// Where the name of an op is visible. An entry states only what differs from the defaults, which Op::has_method() and
/// Op::has_in_place_method() derive.
struct Names {
  Audience audience = Audience::kUsers;
  /// Tensor.add.
  std::optional<bool> method = {};
  /// Tensor.add_.
  std::optional<bool> in_place = {};
  /// The operator that computes it, if there is one.
  std::optional<Operator> python_operator = {};
  /// It creates tensors for users: the function also takes `device` and `requires_grad`.
  bool is_factory = false;
  /// The function of lucid.nn.functional also takes `inplace`.
  bool takes_inplace = false;
};

/// Whether an op on one tensor returns the tensor's elements in order, converted to the result's dtype. Eager calls
/// return the operand itself if no copy is needed.
enum class Copies : uint8_t {
  kNever,
  kAlways,
  kUnlessContiguous,
  kUnlessOfDtype,  // unless it has the dtype of the attribute `dtype`
};

/// Exact identities of an op. They hold for every bit of every number, including NaN, -0.0 and subnormal numbers,
/// unless a field says otherwise. ExactIdentityPass applies them.
struct Algebra {
  Copies copies = Copies::kNever;
  /// f(f(x)) is x.
  bool is_involution = false;
  /// f(f(x)) is f(x); for two operands, f(x, x) is x.
  bool is_idempotent = false;

  /// f(x, number) is x for integers and bools; so is f(number, x) if `either_side`. Not for floats, whose arithmetic
  /// flushes subnormal numbers.
  struct Neutral {
    int number = 0;
    bool either_side = true;
  };
  std::optional<Neutral> neutral = {};

  /// Each element is copied from one of two operands, selected by a condition, without arithmetic. The fields are
  /// positions of operands, or -1 for a choice that is not an operand of the result's shape.
  struct Choice {
    int condition = 0;
    int if_true = -1;
    int if_false = -1;
  };
  std::optional<Choice> choice = {};

  /// The number that all elements of the result are equal to. Empty if the call does not determine it.
  std::function<std::optional<Scalar>(const Call& call)> fill = {};
};

/// Side effects of an op. A call of an op with effects is never removed, merged with another or folded.
enum class Effects : uint8_t {
  kNone,
  /// Compiled calls have the effect too. Calls of all such ops keep their order. A call whose plan fails runs again, so
  /// the op must raise all its errors while it infers types, and its host function none.
  kOrdered,
  /// Compiled calls cannot have the effect, so they run eagerly.
  kExternal,
};

/// The cost of computing one element, in simple operations on a vector lane. kFunctionCost represents math functions
/// and any sequence of tens of operations.
inline constexpr double kSimpleCost = 1;
inline constexpr double kFunctionCost = 20;

}  // namespace lucid
