#include "jit/overlapping_cells.h"

#include <algorithm>

#include "runtime/imported_memory.h"

namespace lucid::jit {

void add_if_imported(const Cell& cell, size_t index, std::vector<ImportedCell>& cells) {
  const Ref<Storage> storage = cell.storage();
  if (!storage->borrowed() || storage->bytes() == 0) return;
  const uintptr_t begin = identity_of(storage->data());
  cells.push_back({&cell, begin, begin + storage->bytes(), reinterpret_cast<uintptr_t>(storage->data()), index});
}

std::vector<std::span<const ImportedCell>> overlapping_groups(std::vector<ImportedCell>& cells) {
  std::ranges::sort(cells, [](const ImportedCell& a, const ImportedCell& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.index < b.index;
  });
  std::vector<std::span<const ImportedCell>> groups;
  for (size_t first = 0; first < cells.size();) {
    uintptr_t end = cells[first].end;
    size_t last = first + 1;
    bool differ = false;
    for (; last < cells.size() && cells[last].begin < end; ++last) {
      end = std::max(end, cells[last].end);
      differ |= cells[last].cell != cells[first].cell;
    }
    if (differ) groups.emplace_back(cells.data() + first, last - first);
    first = last;
  }
  return groups;
}

}  // namespace lucid::jit
