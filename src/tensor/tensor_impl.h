#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/shape.h"
#include "ir/value.h"
#include "runtime/storage.h"

namespace lucid {

class Snapshots;
struct AutogradMeta;

/// A buffer that handles share. Writing through any of them is seen by all. What was taken from it before (saved for
/// backward, handed to NumPy, recorded by a trace) is a snapshot and never changes: see tensor/snapshot.h.
class Cell : public RefCounted {
 public:
  explicit Cell(Ref<Storage> storage) : storage_(std::move(storage)) {}
  ~Cell() override;

  const Ref<Storage>& storage() const { return storage_; }
  void set_storage(Ref<Storage> storage) { storage_ = std::move(storage); }
  /// Counts writes, so that anything derived from the contents (a packed weight) knows when it is stale.
  uint64_t writes() const { return writes_; }
  void count_write() { ++writes_; }
  std::unique_ptr<Snapshots>& snapshots() { return snapshots_; }

 private:
  Ref<Storage> storage_;
  uint64_t writes_ = 0;
  std::unique_ptr<Snapshots> snapshots_;
};

/// A handle: what users hold. A cell, a strided view into it, and, when gradients are involved, its place in the graph.
class TensorImpl : public ValueBase {
 public:
  TensorImpl(Dtype dtype, Dims sizes, Dims strides, int64_t offset, Ref<Cell> cell);
  ~TensorImpl() override;

  const Dims& sizes() const { return shape_; }
  const Dims& strides() const { return strides_; }
  int64_t offset() const { return offset_; }
  Geometry geometry() const { return {shape_, strides_, offset_}; }
  const Ref<Cell>& cell() const { return cell_; }
  int64_t numel() const { return numel_; }
  bool is_contiguous() const { return lucid::is_contiguous(shape_, strides_); }
  /// The address of the first element.
  void* data() const {
    return static_cast<char*>(cell_->storage()->data()) + offset_ * static_cast<int64_t>(size_of(dtype_));
  }
  /// Null until gradients are involved.
  AutogradMeta* autograd() const { return autograd_.get(); }
  AutogradMeta& ensure_autograd();
  /// Rebinds the handle to other memory (`p.data = y`); old views keep the old cell.
  void rebind(Dtype dtype, Dims sizes, Dims strides, int64_t offset, Ref<Cell> cell);

  /// The Python object that wraps this handle while one is alive, so that identity survives the round trip.
  void* python_object = nullptr;

 private:
  Dims strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  Ref<Cell> cell_;
  std::unique_ptr<AutogradMeta> autograd_;
};

using TensorRef = Ref<TensorImpl>;

/// A new root with memory of its own, uninitialised.
TensorRef make_tensor(Dtype dtype, Dims sizes, Dims strides);
TensorRef make_tensor(Dtype dtype, Dims sizes);

inline TensorImpl* tensor_of(const Value& value) { return static_cast<TensorImpl*>(value.get()); }
inline const TensorImpl* tensor_of(const Operand& operand) {
  return static_cast<const TensorImpl*>(operand.value());
}

}  // namespace lucid
