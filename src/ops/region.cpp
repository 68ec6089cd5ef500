// Parts of a tensor given by strides. Every kind of view can be expressed as one.

#include "ops/region.h"

#include <algorithm>

#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// The part of operand 0 with these sizes and attributes "stride" and "offset", in elements of the contiguous operand.
/// Throws ValueError unless the part is inside the operand.
Geometry part_of(const Call& call, const Dims& sizes) {
  const Dims& strides = call.ints("stride");
  const SymInt offset = call.integer("offset");
  if (strides.size() != sizes.size())
    throw ValueError("{}: got {} strides for {} dimensions", call.name(), strides.size(), sizes.size());
  const SymInt elements = numel(call.shape(0));
  bool inside = offset >= 0 && offset <= elements;
  SymInt last = offset;
  bool empty = false;
  for (size_t d = 0; inside && d < sizes.size(); ++d) {
    inside = sizes[d] >= 0 && strides[d] >= 0;
    empty |= sizes[d] == 0;
  }
  for (size_t d = 0; inside && !empty && d < sizes.size(); ++d) {
    // Compare before multiplying to avoid overflow.
    inside = sizes[d] == 1 || strides[d] <= (elements - 1 - last) / (sizes[d] - 1);
    if (inside) last += (sizes[d] - 1) * strides[d];
  }
  if (!inside || (!empty && last >= elements))
    throw ValueError("{}: size {}, stride {} and offset {} reach outside the {} elements of {}", call.name(),
                     to_string(DimsView(sizes)), to_string(DimsView(strides)), offset, elements,
                     to_string(call.operand(0).type()));
  return {sizes, strides, offset};
}

int64_t element_position(const Geometry& part, const Dims& index) {
  int64_t at = part.offset;
  for (size_t d = 0; d < index.size(); ++d) at += index[d] * part.strides[d];
  return at;
}

/// The gradient of an operand of this shape from the gradient g of a part of it: zeros outside the part. The gradients
/// of an element that occurs in the part repeatedly are summed.
Value part_gradient(Emitter& e, const Geometry& part, const Dims& shape, const Value& g) {
  if (!may_overlap(part)) return e.set_strided_part(e.full(shape, 0, g.dtype()), g, part.strides, part.offset);
  const SymInt elements = numel(shape);
  const Value positions = e.strided_part(e.arange(0, elements, 1, Dtype::kI64), part.sizes, part.strides, part.offset);
  const Value flat = e.full(Dims{elements}, 0, g.dtype());
  return e.reshape(e.scatter_add(flat, 0, e.reshape(positions, {-1}), e.reshape(g, {-1})), shape);
}

Op strided_part() {
  return {
      .signature = "strided_part(x, size: ints, stride: ints, offset: int = 0)",
      .doc = R"(Returns the part of `x` with the given `size`, `stride` and `offset`, counted in elements as if `x` were
contiguous. The result is a view if `x` is contiguous. Parts may overlap themselves. Raises ValueError
if the part is not inside `x`.

>>> lucid.strided_part(lucid.arange(6), [2, 2], [1, 3])
tensor([[0, 3],
        [1, 4]]))",
      .infer = [](const Call& call) -> Types { return {{call.dtype(0), part_of(call, call.ints("size")).sizes}}; },
      .view = [](const Call& call, const Geometry& operand) -> std::optional<Geometry> {
        Geometry part = part_of(call, call.ints("size"));
        if (!is_contiguous(operand.sizes, operand.strides)) return std::nullopt;
        part.offset += operand.offset;
        return part;
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {part_gradient(e, part_of(call, call.ints("size")), call.shape(0), g[0])};
      }},
      .samples = with({{{normal({4, 3})}}}, {{"size", Dims{2, 3}}, {"stride", Dims{1, 4}}, {"offset", int64_t{1}}}) +
                 with({{{strided({4, 3}, {1, 4})}}}, {{"size", Dims{5}}, {"stride", Dims{2}}}) +
                 with({{{normal({3})}}}, {{"size", Dims{}}, {"stride", Dims{}}, {"offset", int64_t{2}}}) +
                 with({{{normal({6})}}}, {{"size", Dims{3, 2}}, {"stride", Dims{1, 2}}}) +
                 with({{{normal({3})}}}, {{"size", Dims{2, 0}}, {"stride", Dims{1, 1}}}),
  };
}

Op set_strided_part() {
  return {
      .signature = "set_strided_part(x, part, stride: ints, offset: int = 0)",
      .doc = R"(Returns `x` with the part given by the shape of `part`, `stride` and `offset`, as in strided_part,
replaced by `part`. Raises TypeError if the dtypes differ, and ValueError if the part overlaps itself or
is not inside `x`.

>>> lucid.set_strided_part(lucid.zeros(5), lucid.tensor([1.0, 2.0]), [3], offset=1)
tensor([0., 1., 0., 0., 2.]))",
      .infer = [](const Call& call) -> Types {
        if (!call.operand(0).is_value() || !call.operand(1).is_value())
          throw TypeError("set_strided_part: x and part must be tensors");
        if (call.dtype(0) != call.dtype(1))
          throw TypeError("set_strided_part: x is {} and part is {}; they must have the same dtype",
                          to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        const Geometry part = part_of(call, call.shape(1));
        if (may_overlap(part))
          throw ValueError("set_strided_part: with strides {}, elements of a part of shape {} may overlap",
                           to_string(DimsView(part.strides)), to_string(DimsView(part.sizes)));
        return {{call.dtype(0), call.shape(0)}};
      },
      .lowering = RegionLowering{},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(call.in(0).type);
            std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
            const Geometry part = part_of(call, call.shape(1));
            int64_t at = 0;
            for_each_index(part.sizes, [&](const Dims& index) {
              copy_element(call.in(1), at++, out, element_position(part, index));
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const Dims& stride = call.ints("stride");
        const SymInt offset = call.integer("offset");
        const Dims& size = call.shape(1);
        return {e.set_strided_part(g[0], e.full(size, 0, g[0].dtype()), stride, offset),
                e.strided_part(g[0], size, stride, offset)};
      }},
      .samples = with({{{normal({4, 3}), normal({2, 3})}}}, {{"stride", Dims{1, 4}}, {"offset", int64_t{1}}}) +
                 with({{{strided({4, 3}, {1, 4}), normal({5})}}}, {{"stride", Dims{2}}}) +
                 with({{{normal({3}), normal({})}}}, {{"stride", Dims{}}, {"offset", int64_t{2}}}) +
                 with({{{normal({3}), normal({2, 0})}}}, {{"stride", Dims{1, 1}}}),
  };
}

}  // namespace

bool may_overlap(const Geometry& part) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t d = 0; d < part.sizes.size(); ++d) {
    if (part.sizes[d] == 0) return false;
    if (part.sizes[d] > 1) steps.emplace_back(part.strides[d], part.sizes[d] - 1);
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 0;
  for (const auto& [stride, count] : steps) {
    if (stride <= reach) return true;
    reach += stride * count;
  }
  return false;
}

void add_region_ops(std::vector<Op>& ops) {
  ops.push_back(strided_part());
  ops.push_back(set_strided_part());
}

}  // namespace lucid
