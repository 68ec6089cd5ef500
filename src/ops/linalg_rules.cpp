#include "ops/linalg_rules.h"

#include <cmath>

#include "ops/rules.h"

namespace lucid {
namespace {

const std::string& parameter_name(const Call& call, size_t i) {
  size_t operand = 0;
  for (const Parameter& parameter : call.op().schema.parameters)
    if (!is_attribute(parameter.kind) && operand++ == i) return parameter.name;
  return call.name();
}

/// All rows of x form one product with y, which has no batch dimensions.
Value product_with_matrix(Emitter& e, const Value& x, const Value& y) {
  Dims shape = x.shape();
  const SymInt k = shape.back();
  shape.pop_back();
  const SymInt rows = numel(shape);
  const SymInt columns = y.rank() == 2 ? y.size(1) : SymInt(1);
  const Value result = e.bmm(e.reshape(x, {1, rows, k}), e.reshape(y, {1, k, columns}));
  if (y.rank() == 2) shape.push_back(columns);
  return e.reshape(result, shape);
}

}  // namespace

void check_product_dtypes(const Call& call, size_t i, size_t j) {
  for (const size_t operand : {i, j})
    if (!call.operand(operand).is_value())
      throw TypeError("{}: {} must be a tensor", call.name(), parameter_name(call, operand));
  if (call.dtype(i) != call.dtype(j))
    throw TypeError("{}: {} {} and {} {} must have the same dtype; convert one of them with .to()", call.name(),
                    parameter_name(call, i), type_of(call, i), parameter_name(call, j), type_of(call, j));
}

void check_inner(const Call& call, size_t left, size_t right) {
  const Dims& x = call.shape(left);
  const Dims& y = call.shape(right);
  const SymInt x_inner = x.back();
  const SymInt y_inner = y.size() == 1 ? y[0] : y[y.size() - 2];
  if (x_inner != y_inner)
    throw ValueError("{}: inner dimensions differ: lhs {} has {}, rhs {} has {}", call.name(), type_of(call, left),
                     x_inner, type_of(call, right), y_inner);
}

void check_ranks(const Call& call, std::initializer_list<std::pair<size_t, int64_t>> ranks) {
  for (const auto& [operand, rank] : ranks)
    if (!call.operand(operand).is_value() || call.rank(operand) != rank)
      throw ValueError("{}: {} must have {} {}, got {}", call.name(), parameter_name(call, operand), rank,
                       rank == 1 ? "dimension" : "dimensions", type_of(call, operand));
}

Value product(Emitter& e, std::string_view op, const Value& x, const Value& y) {
  if (y.rank() <= 2) return product_with_matrix(e, x, y);
  const Value left = x.rank() == 1 ? e.unsqueeze(x, 0) : x;
  const Dims left_batch(left.shape().begin(), left.shape().end() - 2);
  const Dims right_batch(y.shape().begin(), y.shape().end() - 2);
  const Dims batch = broadcast(op, left_batch, right_batch);
  const SymInt rows = left.size(left.rank() - 2);
  const SymInt inner = left.size(left.rank() - 1);
  const SymInt columns = y.size(y.rank() - 1);
  // An operand without batch becomes a view with stride 0 along the batch, not a copy.
  const auto flattened = [&](const Value& value, SymInt height, SymInt width) {
    if (value.rank() == 2) return e.expand(value, {numel(batch), height, width});
    Dims wide = batch;
    wide.push_back(height);
    wide.push_back(width);
    return e.reshape(e.expand(value, wide), {numel(batch), height, width});
  };
  const Value result = e.bmm(flattened(left, rows, inner), flattened(y, inner, columns));
  Dims shape = batch;
  if (x.rank() > 1) shape.push_back(rows);
  shape.push_back(columns);
  return e.reshape(result, shape);
}

Value scaled(Emitter& e, const Call& call, const Value& x, std::string_view attribute) {
  const double factor = call.real(attribute);
  if (factor == 1) return x;
  if (is_float(x.dtype())) return e.mul(x, factor);
  if (factor != std::trunc(factor))
    throw TypeError("{}: {} must be an integer for tensors of {}, got {}", call.name(), attribute, name_of(x.dtype()),
                    factor);
  return e.mul(x, Scalar(factor).to_int());
}

}  // namespace lucid
