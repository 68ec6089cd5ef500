// TracingContext: memory of other libraries, of which two cells may share a part.

#include <algorithm>

#include "jit/overlapping_cells.h"
#include "jit/tracing_context.h"
#include "runtime/imported_memory.h"

namespace lucid::jit {

int64_t TracingContext::shift_of(const Cell& cell) const {
  if (shifts_.empty()) return 0;
  const auto found = shifts_.find(&cell);
  return found == shifts_.end() ? 0 : found->second;
}

void TracingContext::join_overlapping_cells() {
  if (!imports_may_overlap()) return;
  record([&] {
    std::vector<ImportedCell> cells;
    for (size_t i = 0; i < trace_.cells.size(); ++i)
      if (trace_.cells[i].outside) add_if_imported(*trace_.cells[i].outside, i, cells);
    for (const std::span<const ImportedCell> group : overlapping_groups(cells)) {
      const bool is_written = std::ranges::any_of(
          group, [&](const ImportedCell& member) { return trace_.cells[member.index].version > 0; });
      if (is_written) join(group);
    }
  });
}

void TracingContext::join(std::span<const ImportedCell> group) {
  const ImportedCell& first = group.front();
  TracedCell& joined = trace_.cells[first.index];
  const size_t element = size_of(joined.dtype);
  std::unordered_map<int32_t, int64_t> shifts;
  int32_t writes = 0;
  uintptr_t end = first.end;
  for (const ImportedCell& member : group) {
    const TracedCell& cell = trace_.cells[member.index];
    if (cell.dtype != joined.dtype || (member.begin - first.begin) % element != 0)
      return give_up("writes to imported memory that is also used as another dtype");
    if (member.begin - first.begin != member.address - first.address)
      return give_up("writes to a file that is mapped at several addresses");
    shifts[static_cast<int32_t>(member.index)] = static_cast<int64_t>((member.begin - first.begin) / element);
    writes += cell.version;
    end = std::max(end, member.end);
  }
  joined.bytes = end - first.begin;
  joined.version = writes;
  for (const ImportedCell& member : group) {
    outside_[member.cell] = static_cast<int32_t>(first.index);
    shifts_[member.cell] = shifts[static_cast<int32_t>(member.index)];
  }
  writes = 0;
  const auto move = [&](TracedView& view) {
    const auto shift = shifts.find(view.cell);
    if (shift == shifts.end()) return false;
    view.cell = static_cast<int32_t>(first.index);
    view.geometry.offset += shift->second;
    return true;
  };
  for (Event& event : *trace_.events) {
    for (TracedOperand& operand : event.operands)
      if (operand.view && move(*operand.view)) operand.view->version = writes;
    for (TracedView& result : event.results)
      if (move(result)) result.version = event.kind == Event::Kind::kWritten ? ++writes : writes;
  }
}

}  // namespace lucid::jit
