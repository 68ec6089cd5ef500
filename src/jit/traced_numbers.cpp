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

bool is_same(const TracedOperand& a, const TracedOperand& b) { return is_same(a.view, b.view) && a.number == b.number; }

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
  return a.outside == b.outside && a.dtype == b.dtype && a.bytes == b.bytes && a.version == b.version &&
         is_same(a.constant, b.constant);
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
         std::ranges::none_of(trace.cells, [](const TracedCell& cell) { return cell.outside && cell.version > 0; });
}

std::optional<std::vector<uint32_t>> adopt_numbers(TracingContext& context, std::span<const TensorRef> results,
                                                   TracingContext& other, std::span<const TensorRef> other_results,
                                                   std::span<const uint32_t> read) {
  if (!may_run_twice(other)) return std::nullopt;
  const auto same_view = [&](const TensorRef& a, const TensorRef& b) {
    return is_same(context.current_view(*a), other.current_view(*b));
  };
  if (!std::ranges::equal(results, other_results, same_view)) return std::nullopt;
  if (!is_same(context.trace(), other.trace())) return std::nullopt;
  std::vector<uint32_t> numbers;
  for (size_t i = 0; i < other.trace().events->size(); ++i) {
    const Event& traced = (*other.trace().events)[i];
    Event& event = (*context.trace().events)[i];
    for (size_t k = 0; k < traced.operands.size(); ++k) {
      const uint32_t number = traced.operands[k].number ? traced.operands[k].number->traced() : 0;
      if (number == 0 || std::ranges::find(read, number) != read.end()) continue;
      auto found = std::ranges::find(numbers, number);
      if (found == numbers.end()) found = numbers.insert(numbers.end(), number);
      Scalar& operand = *event.operands[k].number;
      operand = operand.with_trace(static_cast<uint32_t>(found - numbers.begin()) + 1);
    }
  }
  return numbers;
}

}  // namespace lucid::jit
