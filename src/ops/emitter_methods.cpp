// Generated from the op table by tools/generate; do not edit.

#include <limits>

#include "ir/emitter.h"
#include "ops/table.h"

namespace lucid {
namespace {

template <typename T>
Attribute attribute_of(const T& value) {
  return value;
}

template <typename T>
Attribute attribute_of(const std::optional<T>& value) {
  return value ? Attribute(*value) : Attribute();
}

constexpr std::string_view kSignatures[] = {
    R"(abs(x))",          R"(add(x, y))",
    R"(ceil(x))",         R"(div(x, y))",
    R"(floor(x))",        R"(floor_divide(x, y))",
    R"(fmod(x, y))",      R"(full(size: ints, fill_value, *, dtype: dtype? = None))",
    R"(mul(x, y))",       R"(neg(x))",
    R"(remainder(x, y))", R"(round(x))",
    R"(sign(x))",         R"(square(x))",
    R"(sub(x, y))",       R"(to(x, dtype: dtype))",
    R"(trunc(x))",
};

}  // namespace

std::span<const std::string_view> generated_signatures() { return kSignatures; }

Value Emitter::abs(Operand x) {
  static const Op& this_op = op_table().at("abs");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::add(Operand x, Operand y) {
  static const Op& this_op = op_table().at("add");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::ceil(Operand x) {
  static const Op& this_op = op_table().at("ceil");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::div(Operand x, Operand y) {
  static const Op& this_op = op_table().at("div");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::floor(Operand x) {
  static const Op& this_op = op_table().at("floor");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::floor_divide(Operand x, Operand y) {
  static const Op& this_op = op_table().at("floor_divide");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::fmod(Operand x, Operand y) {
  static const Op& this_op = op_table().at("fmod");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::full(const Dims& size, Operand fill_value, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("full");
  const Operand these[] = {fill_value};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::mul(Operand x, Operand y) {
  static const Op& this_op = op_table().at("mul");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::neg(Operand x) {
  static const Op& this_op = op_table().at("neg");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::remainder(Operand x, Operand y) {
  static const Op& this_op = op_table().at("remainder");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::round(Operand x) {
  static const Op& this_op = op_table().at("round");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::sign(Operand x) {
  static const Op& this_op = op_table().at("sign");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::square(Operand x) {
  static const Op& this_op = op_table().at("square");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::sub(Operand x, Operand y) {
  static const Op& this_op = op_table().at("sub");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::to(Operand x, Dtype dtype) {
  static const Op& this_op = op_table().at("to");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dtype)});
}

Value Emitter::trunc(Operand x) {
  static const Op& this_op = op_table().at("trunc");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

}  // namespace lucid
