#include "schedule/indexed_context.h"

#include <optional>
#include <utility>

namespace lucid {

using loop::Code;

namespace {

/// A vector index of the form base + step * lane or, if `twice`, base + lane / 2.
struct Affine {
  loop::Value base;
  int64_t step = 0;
  bool twice = false;
};

/// The value of all lanes, if it is a constant.
std::optional<int64_t> constant_of(loop::Builder& b, loop::Value value) {
  const loop::Instruction& definition = b.definition(value);
  if (definition.code == Code::kSplat) return constant_of(b, b.value(definition.operands[0]));
  return definition.code == Code::kConst ? std::optional(definition.integer) : std::nullopt;
}

std::optional<Affine> affine(loop::Builder& b, loop::Value value) {
  if (!value.is_vector()) return Affine{value, 0};
  const loop::Instruction& definition = b.definition(value);
  switch (definition.code) {
    case Code::kSplat:
      return Affine{b.value(definition.operands[0]), 0};
    case Code::kIota:
      return Affine{b.index(0), 1};
    case Code::kAdd:
    case Code::kSub: {
      const bool subtract = definition.code == Code::kSub;
      const auto left_id = definition.operands[0];
      const auto right_id = definition.operands[1];
      const auto left = affine(b, b.value(left_id));
      const auto right = affine(b, b.value(right_id));
      if (!left || !right) return std::nullopt;
      const bool twice = left->twice || right->twice;
      if (twice && (left->step != 0 || right->step != 0 || (left->twice && right->twice) || (subtract && right->twice)))
        return std::nullopt;
      return Affine{subtract ? left->base - right->base : left->base + right->base,
                    subtract ? left->step - right->step : left->step + right->step, twice};
    }
    case Code::kMul: {
      const auto factor = constant_of(b, b.value(definition.operands[1]));
      const auto left = affine(b, b.value(definition.operands[0]));
      if (!left || !factor || left->twice) return std::nullopt;
      return Affine{left->base * b.index(*factor), left->step * *factor};
    }
    case Code::kShr: {
      const auto shift = constant_of(b, b.value(definition.operands[1]));
      const auto left = affine(b, b.value(definition.operands[0]));
      if (!left || left->step != 1 || shift != 1 || !b.is_even(left->base)) return std::nullopt;
      return Affine{b.binary(Code::kShr, left->base, b.index(1)), 0, true};
    }
    default:
      return std::nullopt;
  }
}

bool has_load(const Affine& lanes) { return lanes.twice || lanes.step == 1 || lanes.step == 2; }

loop::Value load_lanes(loop::Builder& b, loop::BufferRef buffer, loop::Value first, const Affine& lanes,
                       loop::Value mask) {
  if (lanes.twice) return b.load_twice(buffer, first, mask);
  return lanes.step == 2 ? b.load_alternate(buffer, first, mask) : b.load_vector(buffer, first, mask);
}

}  // namespace

loop::Value ElementTree::NodeContext::index(int64_t axis) {
  const int64_t position = tree_.positions_[static_cast<size_t>(axis)];
  const loop::Value start = point_.index[static_cast<size_t>(position)];
  if (position != point_.lane_axis) return start;
  loop::Builder& b = builder();
  return b.splat(start) + b.iota();
}

loop::Value ElementTree::NodeContext::number(SymInt value) {
  // A node requests the same numbers in the same order at every point, so each is declared once.
  std::vector<loop::Value>& numbers = tree_.numbers_[&node_];
  if (next_number_ == numbers.size()) numbers.push_back(tree_.writer_->param(value));
  return numbers[next_number_++];
}

loop::Value ElementTree::NodeContext::input_size(int input, int64_t axis) {
  const ValueId id = node_.inputs[static_cast<size_t>(input)].id;
  return number(tree_.graph_.type(id).shape[static_cast<size_t>(axis)]);
}

loop::Value ElementTree::NodeContext::load(int input, std::span<const loop::Value> index, loop::Value valid) {
  loop::Builder& b = builder();
  const IROperand& operand = node_.inputs[static_cast<size_t>(input)];
  if (operand.number) {
    const Dtype dtype = operand.number->kind();
    return is_float(dtype) ? b.constant(dtype, operand.number->to_double())
                           : b.constant(dtype, operand.number->to_int());
  }
  Access& access = tree_.indexed_inputs_.at(operand.id);
  access.follows_point =
      access.follows_point && !index.empty() && !tree_.positions_.empty() && index[0].id() == this->index(0).id();
  // The address is a scalar plus, if a single dimension varies from lane to lane in a way that has a load instruction,
  // that dimension. Otherwise it is a vector.
  loop::Value scalar_part = b.index(0);
  loop::Value vector_part;
  std::optional<Affine> lanes;
  loop::Value lanes_index;
  for (size_t d = 0; d < access.strides.size(); ++d) {
    const Stride stride = ElementTree::stride_of(access, d);
    if (stride == Stride::kZero) continue;
    auto scaled = [&](loop::Value v) { return stride == Stride::kOne ? v : v * access.stride_values[d]; };
    const auto form = affine(b, index[d]);
    if (form && form->step == 0 && !form->twice) {
      scalar_part = scalar_part + scaled(form->base);
    } else if (form && has_load(*form) && stride == Stride::kOne && !vector_part && !lanes) {
      lanes = form;
      lanes_index = index[d];
    } else {
      if (std::exchange(lanes, std::nullopt)) vector_part = lanes_index;
      vector_part = vector_part ? vector_part + scaled(index[d]) : scaled(index[d]);
    }
  }
  const bool any_lane = lanes || vector_part;
  loop::Value mask = valid;
  if (point_.mask) mask = !mask ? point_.mask : (mask.is_vector() ? mask : b.splat(mask)) & point_.mask;
  loop::Value value;
  if (any_lane) {
    if (mask && !mask.is_vector()) mask = b.splat(mask);
    value = lanes ? load_lanes(b, access.buffer, scalar_part + lanes->base, *lanes, mask)
                  : b.gather(access.buffer, vector_part + scalar_part, mask);
  } else if (!valid) {
    value = b.load(access.buffer, scalar_part);
  } else if (valid.is_vector()) {
    value = b.gather(access.buffer, b.splat(scalar_part), mask);
  } else {
    // A conditional scalar load: a gather with one active lane needs no branch.
    value = b.extract(b.gather(access.buffer, b.splat(scalar_part), b.splat(valid) & b.lanes_below(b.index(1))), 0);
  }
  return b.convert(value, compute_dtype(access.memory.dtype));
}

void ElementTree::NodeContext::fail_if(loop::Value condition, int64_t code) {
  loop::Builder& b = builder();
  if (condition.is_vector()) condition = b.any(point_.mask ? condition & point_.mask : condition);
  b.if_then(condition, [&] { b.store(tree_.writer_->error(), b.index(0), b.index(code)); });
}

}  // namespace lucid
