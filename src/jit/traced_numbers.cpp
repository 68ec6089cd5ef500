#include "jit/traced_numbers.h"

#include <algorithm>
#include <cstring>

namespace lucid::jit {
namespace {

bool is_same(const TracedView& a, const TracedView& b) {
  return a.cell == b.cell && a.version == b.version && a.dtype == b.dtype && a.geometry == b.geometry;
}

bool is_same(const std::optional<TracedView>& a, const std::optional<TracedView>& b) {
  return a.has_value() == b.has_value() && (!a || is_same(*a, *b));
}

bool has_same_number(const std::optional<Scalar>& a, const std::optional<Scalar>& b) {
  return a.has_value() == b.has_value() && (!a || (a->kind() == b->kind() && a->bits() == b->bits()));
}

bool is_same(const TracedOperand& a, const TracedOperand& b) {
  return is_same(a.view, b.view) && has_same_number(a.number, b.number);
}

bool is_same(const Event& a, const Event& b) {
  constexpr auto same = [](const auto& x, const auto& y) { return is_same(x, y); };
  return a.kind == b.kind && a.op == b.op && a.attributes == b.attributes &&
         std::ranges::equal(a.operands, b.operands, same) && std::ranges::equal(a.results, b.results, same);
}

bool is_same(const Ref<Storage>& a, const Ref<Storage>& b) {
  if (!a || !b) return !a && !b;
  return a->bytes() == b->bytes() && std::memcmp(a->data(), b->data(), a->bytes()) == 0;
}

bool is_same(const TracedCell& a, const TracedCell& b) {
  return a.outside == b.outside && a.dtype == b.dtype && a.bytes == b.bytes && a.device == b.device &&
         a.version == b.version && is_same(a.constant, b.constant);
}

bool is_same(const Trace& a, const Trace& b) {
  constexpr auto same = [](const auto& x, const auto& y) { return is_same(x, y); };
  return a.guards == b.guards && std::ranges::equal(a.cells, b.cells, same) &&
         std::ranges::equal(*a.events, *b.events, same);
}

}  // namespace

bool may_run_twice(const TracingContext& context) {
  const Trace& trace = context.trace();
  return trace.obstacle.empty() && !trace.sets_up && context.gradient_uses().empty() && context.rebased().empty() &&
         context.hooks_that_ran().empty() && context.hashed().empty() &&
         std::ranges::none_of(*trace.events, [](const Event& event) { return event.op && event.op->has_effects(); }) &&
         std::ranges::none_of(trace.cells, [](const TracedCell& cell) { return cell.outside && cell.version > 0; });
}

std::vector<uint32_t> renumber_operands(TracingContext& context, const std::function<bool(uint32_t)>& varies) {
  std::vector<uint32_t> numbers;
  for (Event& event : *context.trace().events) {
    for (TracedOperand& operand : event.operands) {
      const uint32_t number = operand.number ? operand.number->traced() : 0;
      if (number == 0) continue;
      if (!varies(number)) {
        operand.number = operand.number->with_trace(0);
        continue;
      }
      auto found = std::ranges::find(numbers, number);
      if (found == numbers.end()) found = numbers.insert(numbers.end(), number);
      operand.number = operand.number->with_trace(static_cast<uint32_t>(found - numbers.begin()) + 1);
    }
  }
  return numbers;
}

std::optional<std::vector<uint32_t>> number_operands(TracingContext& context, std::span<const TensorRef> results,
                                                     TracingContext& traced, std::span<const TensorRef> traced_results,
                                                     std::span<const uint32_t> read) {
  if (!may_run_twice(traced)) return std::nullopt;
  const auto same_view = [&](const TensorRef& a, const TensorRef& b) {
    return is_same(context.current_view(*a), traced.current_view(*b));
  };
  if (!std::ranges::equal(results, traced_results, same_view)) return std::nullopt;
  if (!is_same(context.trace(), traced.trace())) return std::nullopt;
  return renumber_operands(traced, [&](uint32_t number) { return std::ranges::find(read, number) == read.end(); });
}

}  // namespace lucid::jit
