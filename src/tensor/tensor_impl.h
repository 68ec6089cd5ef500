#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/atomic_ref.h"
#include "base/pool.h"
#include "base/shape.h"
#include "ir/value.h"
#include "runtime/packed_forms.h"
#include "runtime/storage.h"

namespace lucid {

class Snapshot;
class SnapshotIndex;
struct AutogradMeta;

/// The address of a tensor's first element, and the memory that it lies in, which this keeps alive: a write by another
/// thread may give the cell other memory at any moment.
struct PinnedMemory {
  Ref<Storage> storage;
  void* data = nullptr;
};

/// A buffer that handles share. Writing through any of them is seen by all. What was taken from it before (saved for
/// backward, handed to NumPy, recorded by a trace) is a snapshot and never changes: see tensor/snapshot.h.
///
/// Any thread may read and write: concurrent writes are not ordered, but a reader finds only what some write stored.
class Cell : public RefCounted, public Pooled<Cell> {
 public:
  explicit Cell(Ref<Storage> storage) : storage_(std::move(storage)), stripe_(next_stripe()) {}
  ~Cell() override;

  Ref<Storage> storage() const { return storage_.load(); }
  /// Which storage it is, for comparing. The caller knows that nobody replaces it meanwhile, or does not touch it.
  const Storage* storage_address() const { return storage_.get(); }
  /// Counts writes, so that anything derived from the contents knows when it is stale.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  /// What products made of the contents; dropped by the next write. Not for borrowed memory, which others write to.
  PackedForms& packed_forms() { return packed_forms_; }
  /// For whoever records a trace: which of its cells this is. Only the thread that made the cell sets it, at once.
  uint64_t trace_mark() const { return trace_mark_; }
  void set_trace_mark(uint64_t mark) { trace_mark_ = mark; }
  /// The contents become those of other memory of the same size; snapshots keep the old.
  void replace_storage(Ref<Storage> storage);
  bool has_snapshots() const { return snapshot_count_.load(std::memory_order_relaxed) != 0; }
  /// Whether one handle is all that knows the memory.
  bool is_exclusive() const;

  /// Must precede every write to the memory in `geometry`: snapshots that it would change are copied out first, or the
  /// cell moves to new memory and leaves the old to them.
  void before_write(const Geometry& geometry, Dtype dtype) {
    count_write();
    packed_forms_.drop();
    if (has_snapshots()) [[unlikely]]
      make_writable(geometry, dtype);
  }

  /// Must follow a write during which other threads may have read: what they packed may be half old and half new.
  void after_write() {
    count_write();
    packed_forms_.drop_after_write();
  }

 private:
  friend class Snapshot;
  friend class SnapshotIndex;
  class Moves;

  Cell(Ref<Storage> storage, uint8_t stripe) : storage_(std::move(storage)), stripe_(stripe) {}
  static uint8_t next_stripe();
  /// Two writers at once may count as one: the count has changed all the same.
  void count_write() { writes_.store(writes() + 1, std::memory_order_relaxed); }
  void make_writable(const Geometry& geometry, Dtype dtype);
  void link(Snapshot& snapshot);
  void unlink(Snapshot& snapshot);
  void leave_memory_to_snapshots(Ref<Storage> replacement, Moves& moves);

  AtomicRef<Storage> storage_;
  std::atomic<uint64_t> writes_ = 0;
  uint64_t trace_mark_ = 0;
  PackedForms packed_forms_;
  Snapshot* first_snapshot_ = nullptr;
  SnapshotIndex* index_ = nullptr;  // owned; only while there are many snapshots
  std::atomic<uint32_t> snapshot_count_ = 0;
  uint8_t stripe_;  // the lock that guards the snapshots
};

/// How a view came about, which decides what may be recorded through it.
enum class ViewKind : uint8_t {
  kRecorded,       // with gradients enabled: its gradient node chains off the handle it was made from
  kNoGrad,         // under no_grad: reports its root's requires_grad, but is a leaf and drops gradients
  kChildOfNoGrad,  // of such a view: drops gradients too
};

/// A handle: what users hold. A cell, a strided view into it, and, when gradients are involved, its place in the graph.
class TensorImpl : public ValueBase, public Pooled<TensorImpl> {
 public:
  TensorImpl(Dtype dtype, const Dims& sizes, const Dims& strides, int64_t offset, Ref<Cell> cell);
  ~TensorImpl() override;

  const Dims& sizes() const { return shape_; }
  const Dims& strides() const { return strides_; }
  int64_t offset() const { return offset_; }
  Geometry geometry() const { return {shape_, strides_, offset_}; }
  const Ref<Cell>& cell() const { return cell_; }
  int64_t numel() const { return numel_; }
  bool is_contiguous() const { return lucid::is_contiguous(shape_, strides_); }
  /// The first element, and what keeps it where it is.
  PinnedMemory memory() const {
    PinnedMemory memory{cell_->storage()};
    memory.data = address_in(*memory.storage);
    return memory;
  }
  /// The address of the first element, for a tensor that only the caller knows, and for comparing.
  void* data() const { return address_in(*cell_->storage_address()); }
  /// Announces a write to the handle's memory; see Cell::before_write.
  void before_write() { cell_->before_write({shape_, strides_, offset_}, dtype_); }

  /// Null until gradients are involved.
  AutogradMeta* autograd() const { return autograd_.get(); }
  AutogradMeta& ensure_autograd();
  /// Rebinds the handle to other memory (`p.data = y`); old views keep the old cell.
  void rebind(Dtype dtype, const Dims& sizes, const Dims& strides, int64_t offset, Ref<Cell> cell);

  /// The handle that this one is a view of, itself no view; null for roots. A root is an autograd identity: a recorded
  /// in-place operation through any of its views gives it, and through it all of them, a new gradient node.
  const Ref<TensorImpl>& root() const { return root_; }
  bool is_view() const { return static_cast<bool>(root_); }
  ViewKind view_kind() const { return view_kind_; }
  void set_view_of(Ref<TensorImpl> root, ViewKind kind);
  /// Of a view of something that nobody else has seen, an op's intermediate result: a result is no view.
  void become_root();
  /// Of a root: how often it got another place in the graph. Of a view: its root's number when its node was made; who
  /// sees that number sees the node.
  uint32_t graph_version() const { return graph_version_.load(std::memory_order_acquire); }
  void set_graph_version(uint32_t version) { graph_version_.store(version, std::memory_order_release); }

  /// Whether a module learns it. Such a tensor is a Parameter in Python, whoever asks for it first.
  bool is_parameter() const { return is_parameter_; }
  void set_parameter() { is_parameter_ = true; }

  /// The Python object that wraps this handle while one is alive, so that identity survives the round trip.
  void* python_object = nullptr;

 private:
  void* address_in(const Storage& storage) const {
    return static_cast<char*>(storage.data()) + offset_ * static_cast<int64_t>(size_of(dtype_));
  }

  Dims strides_;
  int64_t offset_ = 0;
  int64_t numel_ = 0;
  Ref<Cell> cell_;
  std::unique_ptr<AutogradMeta> autograd_;
  Ref<TensorImpl> root_;
  std::atomic<uint32_t> graph_version_ = 0;
  ViewKind view_kind_ = ViewKind::kRecorded;
  bool is_parameter_ = false;
};

using TensorRef = Ref<TensorImpl>;

/// A new root with memory of its own, uninitialised.
TensorRef make_tensor(Dtype dtype, const Dims& sizes, const Dims& strides);
TensorRef make_tensor(Dtype dtype, const Dims& sizes);
/// A new root on the same memory: what `detach()` gives.
TensorRef alias_of(const TensorImpl& tensor);
/// A new root on part of the memory of `tensor`'s cell. The geometry is absolute.
TensorRef alias_of(const TensorImpl& tensor, const Geometry& geometry);
/// True when nobody else can see the memory: the one reference to the only handle of the cell, without snapshots. Or
/// all the references, if the caller holds several.
bool is_exclusive(const TensorImpl& tensor, uint32_t references = 1);
inline bool is_exclusive(const TensorRef& tensor) { return is_exclusive(*tensor); }

inline TensorImpl* tensor_of(const Value& value) { return static_cast<TensorImpl*>(value.get()); }
inline const TensorImpl* tensor_of(const Operand& operand) { return static_cast<const TensorImpl*>(operand.value()); }
/// The handle behind an operand, as the caller holds it. Operands are const because rules must not touch them.
inline TensorImpl& handle_of(const Operand& operand) { return const_cast<TensorImpl&>(*tensor_of(operand)); }
inline Value value_of(const Operand& operand) { return Value(Ref<ValueBase>(&handle_of(operand))); }

}  // namespace lucid
