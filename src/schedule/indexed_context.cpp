#include "schedule/indexed_context.h"

#include <optional>
#include <utility>

namespace lucid {

using loop::Code;

namespace {

/// A vector index that is base + step * lane.
struct Affine {
  loop::Value base;
  int64_t step = 0;
};

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
      return Affine{subtract ? left->base - right->base : left->base + right->base,
                    subtract ? left->step - right->step : left->step + right->step};
    }
    default:
      return std::nullopt;
  }
}

}  // namespace

loop::Value ElementTree::NodeContext::index(int64_t axis) {
  const int64_t position = tree_.positions_[static_cast<size_t>(axis)];
  const loop::Value start = point_.index[static_cast<size_t>(position)];
  if (position != point_.lane_axis) return start;
  loop::Builder& b = builder();
  return b.splat(start) + b.iota();
}

loop::Value ElementTree::NodeContext::number(int64_t value) {
  // A node asks for the same numbers in the same order at every point, so each is declared once.
  std::vector<loop::Value>& numbers = tree_.numbers_[&node_];
  if (numbers_asked_ == numbers.size()) numbers.push_back(tree_.writer_->number(value));
  return numbers[numbers_asked_++];
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
  access.follows =
      access.follows && !index.empty() && !tree_.positions_.empty() && index[0].id() == this->index(0).id();
  // The address as base + step * lane when every index is so; then neighbours may lie side by side.
  loop::Value scalar_part = b.index(0);
  loop::Value vector_part;
  bool adjacent = false;
  for (size_t d = 0; d < access.strides.size(); ++d) {
    const Step stride_step = ElementTree::step(access, d);
    if (stride_step == Step::kZero) continue;
    auto scaled = [&](loop::Value v) { return stride_step == Step::kOne ? v : v * access.stride_values[d]; };
    const auto form = affine(b, index[d]);
    if (form && form->step == 0) {
      scalar_part = scalar_part + scaled(form->base);
    } else if (form && form->step == 1 && stride_step == Step::kOne && !vector_part && !adjacent) {
      adjacent = true;
      scalar_part = scalar_part + form->base;
    } else {
      if (std::exchange(adjacent, false)) vector_part = b.iota();
      vector_part = vector_part ? vector_part + scaled(index[d]) : scaled(index[d]);
    }
  }
  const bool any_lane = adjacent || vector_part;
  loop::Value mask = valid;
  if (point_.mask) mask = !mask ? point_.mask : (mask.is_vector() ? mask : b.splat(mask)) & point_.mask;
  loop::Value value;
  if (any_lane) {
    if (mask && !mask.is_vector()) mask = b.splat(mask);
    value = adjacent ? b.load_vector(access.buffer, scalar_part, mask)
                     : b.gather(access.buffer, vector_part + scalar_part, mask);
  } else if (!valid) {
    value = b.load(access.buffer, scalar_part);
  } else if (valid.is_vector()) {
    value = b.gather(access.buffer, b.splat(scalar_part), mask);
  } else {
    // A single element under a condition: read element 0's place of a one-lane gather, so that no branch is needed.
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
