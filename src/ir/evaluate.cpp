#include "ir/evaluate.h"

#include <algorithm>
#include <bit>

namespace lucid {

bool is_traced(DimsView dims) { return std::ranges::any_of(dims, &SymInt::is_traced); }

bool is_traced(const Geometry& geometry) {
  return is_traced(geometry.sizes) || is_traced(geometry.strides) || geometry.offset.is_traced();
}

bool is_traced(const Attributes& attributes) {
  return std::ranges::any_of(attributes, [](const Attribute& attribute) {
    if (const auto* dim = std::get_if<SymInt>(&attribute)) return dim->is_traced();
    const auto* dims = std::get_if<Dims>(&attribute);
    return dims && is_traced(*dims);
  });
}

bool is_traced(const Call& call) {
  return is_traced(call.attributes()) || std::ranges::any_of(call.operands(), [](const Operand& operand) {
           return operand.is_scalar() ? operand.scalar().is_size() : operand.is_value() && is_traced(operand.shape());
         });
}

bool is_same(DimsView a, DimsView b) {
  constexpr auto bits = [](SymInt dim) { return std::bit_cast<int64_t>(dim); };
  return std::ranges::equal(a, b, {}, bits, bits);
}

bool is_same(const Geometry& a, const Geometry& b) {
  return is_same(a.sizes, b.sizes) && is_same(a.strides, b.strides) && is_same({&a.offset, 1}, {&b.offset, 1});
}

Dims SizeReplacer::operator()(const Dims& dims) const {
  Dims result = dims;
  for (SymInt& dim : result) dim = (*this)(dim);
  return result;
}

Geometry SizeReplacer::operator()(const Geometry& geometry) const {
  return {(*this)(geometry.sizes), (*this)(geometry.strides), (*this)(geometry.offset)};
}

Attributes SizeReplacer::operator()(const Attributes& attributes) const {
  Attributes result = attributes;
  for (Attribute& attribute : result) {
    if (auto* dim = std::get_if<SymInt>(&attribute))
      *dim = (*this)(*dim);
    else if (auto* dims = std::get_if<Dims>(&attribute))
      *dims = (*this)(*dims);
  }
  return result;
}

IRGraph SizeReplacer::operator()(const IRGraph& graph) const {
  IRGraph result = graph;
  if (kind_ == Kind::kPlain) result.sizes = {};
  for (auto& [id, value] : result.values) value.type.shape = (*this)(value.type.shape);
  for (IRNode& node : result.nodes) {
    node.attributes = (*this)(node.attributes);
    for (IROperand& input : node.inputs)
      if (input.number && input.number->is_size()) input.number = Scalar((*this)(input.number->size()));
  }
  return result;
}

}  // namespace lucid
