#pragma once

#include <map>
#include <vector>

#include "tensor/tensor_impl.h"

namespace lucid {

/// The value of a handle at the time the snapshot was taken, available for as long as the snapshot lives. It costs
/// nothing until the memory is written: then the value is copied out, once. If the snapshot is pinned (its pointer was
/// exported), the cell moves to new memory instead. Borrowed memory is copied at once, because its owner may change it
/// without notice.
///
/// Snapshots cannot be moved: the cell keeps a list of them. Any thread may drop a snapshot or call tensor() while
/// other threads write to the cell.
class Snapshot {
 public:
  Snapshot() = default;
  explicit Snapshot(const TensorImpl& tensor) { take(tensor); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot() { drop(); }

  void take(const TensorImpl& tensor);
  void drop();
  bool empty() const { return !is_taken_.load(std::memory_order_acquire); }

  /// Fixes the memory at its current address, which is returned. For NumPy, DLPack and running plans.
  const void* pin();
  bool pinned() const { return pinned_; }

  Dtype dtype() const { return dtype_; }
  /// Stable only once the snapshot is pinned: until then a write may move it to other memory.
  const Geometry& geometry() const { return geometry_; }
  /// A new root with the saved value; null after drop().
  TensorRef tensor() const;

 private:
  friend class Cell;
  friend class SnapshotIndex;

  /// Moves the value to memory of its own. The caller holds the cell's lock.
  void copy_out(Cell::Moves& moves);
  void set_range();

  Ref<Cell> cell_;
  Geometry geometry_;
  // The range of bytes of the cell that it covers.
  int64_t begin_ = 0;
  int64_t end_ = 0;
  Snapshot* previous_ = nullptr;
  Snapshot* next_ = nullptr;
  Dtype dtype_ = Dtype::kF32;
  bool pinned_ = false;
  uint8_t stripe_ = 0;
  std::atomic<bool> is_taken_ = false;
};

/// Finds the snapshots that overlap a write, in cells with many snapshots. Sorted by first byte.
class SnapshotIndex {
 public:
  void insert(Snapshot& snapshot);
  void erase(Snapshot& snapshot);
  void find(int64_t begin, int64_t end, std::vector<Snapshot*>& hits) const;

 private:
  std::multimap<int64_t, Snapshot*> by_begin_;
  int64_t longest_ = 0;
};

/// Copies elements between strided arrays of the same shape. The arrays must not overlap.
void copy_strided(DimsView sizes, size_t element_bytes, const void* source, DimsView source_strides, void* destination,
                  DimsView destination_strides);

}  // namespace lucid
