#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tensor/tensor_impl.h"

namespace lucid::jit {

/// The memory of a cell that another library owns.
struct ImportedCell {
  const Cell* cell = nullptr;
  /// Addresses of its memory; the same in all mappings of a file.
  uintptr_t begin = 0;
  uintptr_t end = 0;
  /// Its address in this process.
  uintptr_t address = 0;
  /// What the caller calls the cell: its index in a trace, or the index of a handle on it.
  size_t index = 0;
};

/// Appends the cell if its memory is imported and not empty.
void add_if_imported(const Cell& cell, size_t index, std::vector<ImportedCell>& cells);

/// Sorts the cells by address and returns the groups of different cells whose memory overlaps, directly or through
/// other members of the group. The memory of a group has no gaps. The spans refer to `cells`.
std::vector<std::span<const ImportedCell>> overlapping_groups(std::vector<ImportedCell>& cells);

}  // namespace lucid::jit
