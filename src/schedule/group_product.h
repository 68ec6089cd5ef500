#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/kernel_writer.h"

/// Products on gpus by tiles in shared memory, in the order of matrix products. An operand may be computed in any way
/// from memory: a convolution is a product with the matrix of its windows, which is never stored.
namespace lucid::contraction {

/// Elements for each step of k and each row of a or column of b.
struct GroupOperand {
  /// Whether elements along k are adjacent in memory rather than elements across it, so that they are loaded together.
  bool is_along_k = false;
  /// The part of an address that does not depend on k, in any number of values. `across` is a row or column, or a
  /// vector of them.
  std::function<std::vector<loop::Value>(loop::Value batch, loop::Value across)> place;
  /// Loads a vector of elements. Either the place or the step of k is a vector.
  std::function<loop::Value(std::span<const loop::Value> place, loop::Value k)> load;
};

/// c[i, m, n] = sum over k of a[i, m, k] * b[i, k, n].
struct GroupProduct {
  Dtype dtype = Dtype::kF32;  // of the sums
  RegisterTile tile;
  SymInt batches = 1;
  SymInt m = 0;
  SymInt n = 0;
  SymInt k = 0;
  /// Whether the sum of each chain is stored on its own, as a result with chains() * batches matrices.
  bool by_chain = false;
  GroupOperand a;
  GroupOperand b;
  /// Stores the elements of c in the lanes of `mask`, from `column` on.
  std::function<void(loop::Value batch, loop::Value row, loop::Value column, loop::Value total, loop::Value mask)>
      store;

  SymInt chains() const { return by_chain ? ceil_div(k, kChain) : SymInt(1); }
};

/// Members of a group. Each accumulates a register tile.
inline constexpr int kMembers = 16;
/// Rows of the tile of a group.
inline int64_t group_rows(RegisterTile tile) { return int64_t{kMembers} * tile.rows; }

/// The end of the names of kernels, such as "_128x64_shared".
std::string name_of(RegisterTile tile);

/// The register tile of each member. Right for all sizes; chosen for those of the recorded call.
RegisterTile choose_group_tile(Dtype dtype, SymInt batches, SymInt m, SymInt n);
/// The number of groups that compute the product with this tile.
SymInt group_count(RegisterTile tile, SymInt batches, SymInt m, SymInt n);
/// The size of a gpu for which tiles are chosen: groups that run at the same time.
inline constexpr int64_t kConcurrentGroups = 64;

/// Ends a kernel, whose buffers and params the operands use.
KernelStep group_product_step(KernelWriter& writer, const GroupProduct& product);

}  // namespace lucid::contraction
