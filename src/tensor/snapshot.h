#pragma once

#include <map>
#include <vector>

#include "tensor/tensor_impl.h"

namespace lucid {

/// What a handle's memory held when the snapshot was taken, for as long as the snapshot lives. It costs nothing until
/// somebody writes to that memory: then it is copied out, once. If its pointer left us (pinned), the cell moves
/// instead. Memory that came from outside is copied at once, because it may change behind our back.
///
/// Snapshots do not move in memory: the cell keeps a list of them. Any thread may drop one or ask for its tensor, while
/// others write to the cell.
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

  /// Keeps the memory where it is from now on, and gives its address: for NumPy, DLPack and running plans.
  const void* pin();
  bool pinned() const { return pinned_; }

  Dtype dtype() const { return dtype_; }
  /// Once it is pinned: until then a write may give it other memory.
  const Geometry& geometry() const { return geometry_; }
  /// A new root on what was taken; null after drop().
  TensorRef tensor() const;

 private:
  friend class Cell;
  friend class SnapshotIndex;

  /// Gives it memory of its own. With the cell's lock.
  void copy_out(Cell::Moves& moves);
  void set_range();

  Ref<Cell> cell_;
  Geometry geometry_;
  // The bytes of the cell that it may cover.
  int64_t begin_ = 0;
  int64_t end_ = 0;
  Snapshot* previous_ = nullptr;
  Snapshot* next_ = nullptr;
  Dtype dtype_ = Dtype::kF32;
  bool pinned_ = false;
  uint8_t stripe_ = 0;
  std::atomic<bool> is_taken_ = false;
};

/// Finds the snapshots that a write hits, for cells that have many: sorted by where they begin.
class SnapshotIndex {
 public:
  void insert(Snapshot& snapshot);
  void erase(Snapshot& snapshot);
  void find(int64_t begin, int64_t end, std::vector<Snapshot*>& hits) const;

 private:
  std::multimap<int64_t, Snapshot*> by_begin_;
  int64_t longest_ = 0;
};

/// Copies elements between strided arrays of one shape that do not overlap.
void copy_strided(DimsView sizes, size_t element_bytes, const void* source, DimsView source_strides, void* destination,
                  DimsView destination_strides);

}  // namespace lucid
