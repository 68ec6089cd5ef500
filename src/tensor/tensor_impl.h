#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "base/atomic_ref.h"
#include "base/lock.h"
#include "base/pool.h"
#include "base/shape.h"
#include "ir/value.h"
#include "runtime/packed_forms.h"
#include "runtime/storage.h"

namespace lucid {

class Snapshot;
class SnapshotIndex;
struct AutogradMeta;

/// The address of a tensor's first element, and a reference that keeps its storage alive: a write by another thread may
/// replace the cell's storage at any moment.
struct PinnedMemory {
  Ref<Storage> storage;
  void* data = nullptr;
};

/// How many recordings of calls have begun in this process.
inline std::atomic<uint32_t>& recordings_begun() {
  static constinit std::atomic<uint32_t> count = 0;
  return count;
}

/// How deferred ops use a cell: see tensor/deferred_ops.h.
enum class DeferredUse : uint8_t { kNone, kReads, kWrites };

/// A buffer shared by handles. A write through any handle is visible through all of them. Values taken from it earlier
/// (saved for backward, exported to NumPy, recorded by a trace) are snapshots and never change: see tensor/snapshot.h.
///
/// Any thread may read and write. Concurrent writes are not ordered, but a reader sees only values that were written.
class Cell : public RefCounted, public Pooled<Cell> {
 public:
  explicit Cell(Ref<Storage> storage) : Cell(std::move(storage), next_stripe()) {}
  /// For the result of a deferred op, which has no memory until the op runs.
  explicit Cell(Device device) : device_(device), stripe_(next_stripe()) {}
  ~Cell() override;

  Device device() const { return device_; }
  /// The memory. Runs the deferred ops that write to it.
  Ref<Storage> storage() const {
    if (deferred_use() == DeferredUse::kWrites) [[unlikely]]
      run_deferred();
    return storage_.load();
  }
  /// The memory, or null if deferred ops write to it. For callers that must not give up the caller's lock.
  Ref<Storage> storage_now() const { return deferred_use() == DeferredUse::kWrites ? nullptr : storage_.load(); }
  /// Identity of the storage, for comparison; null for the result of an op that has not run. Dereference it only if no
  /// other thread can replace the storage meanwhile.
  const Storage* storage_address() const { return storage_.get(); }
  /// Whether another library owns the memory, and may change it without notice.
  bool is_borrowed() const { return is_borrowed_.load(std::memory_order_relaxed); }
  DeferredUse deferred_use() const { return deferred_use_.load(std::memory_order_acquire); }
  /// Runs the deferred ops, so that the caller may read and write the memory.
  void run_deferred() const;
  /// Write counter: anything derived from the contents can tell whether it is stale.
  uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  /// Packed copies of the contents, made by matrix products and dropped by the next write. Unused for borrowed memory,
  /// which its owner may write to.
  PackedForms& packed_forms() { return packed_forms_; }
  /// Identifies the recording that created this cell, by its number in the upper half, and the cell's index in it. If
  /// none did, the upper half is 0 and the lower one says how many recordings had begun. Set only by the thread that
  /// created the cell, right after creation.
  uint64_t trace_mark() const { return trace_mark_; }
  void set_trace_mark(uint64_t mark) { trace_mark_ = mark; }
  /// Replaces the contents by other memory of the same size, on the same device. Snapshots keep the old memory.
  void replace_storage(Ref<Storage> storage);
  bool has_snapshots() const { return snapshot_count_.load(std::memory_order_relaxed) != 0; }
  /// True if a single handle holds the only reference to the memory.
  bool is_exclusive() const;

  /// Must precede every write to the memory of `geometry`. Snapshots that the write would change are copied out first;
  /// or the cell moves to new memory and the snapshots keep the old.
  void before_write(const Geometry& geometry, Dtype dtype) {
    if (deferred_use() != DeferredUse::kNone) [[unlikely]]
      run_deferred_of_others();
    count_write();
    packed_forms_.drop();
    if (has_snapshots()) [[unlikely]]
      make_writable(geometry, dtype);
  }

  /// Must follow a write during which other threads may have read: a packed copy made meanwhile may be half old.
  void after_write() {
    count_write();
    packed_forms_.drop_after_write();
  }

 private:
  friend class DeferredOps;
  friend class Snapshot;
  friend class SnapshotIndex;
  class Moves;

  Cell(Ref<Storage> storage, uint8_t stripe)
      : device_(storage->device()), is_borrowed_(storage->borrowed()), storage_(std::move(storage)), stripe_(stripe) {}
  static uint8_t next_stripe();
  /// Not an atomic increment: two concurrent writes may count once, but the counter still changes.
  void count_write() { writes_.store(writes() + 1, std::memory_order_relaxed); }
  void make_writable(const Geometry& geometry, Dtype dtype);
  /// Locks the snapshots of a cell that no deferred op writes to.
  std::unique_lock<Mutex> lock_after_deferred() const;
  /// A thread that defers ops will also defer the write, in order.
  void run_deferred_of_others() const;
  void link(Snapshot& snapshot);
  void unlink(Snapshot& snapshot);
  void leave_memory_to_snapshots(Ref<Storage> replacement, Moves& moves);

  const Device device_;
  std::atomic<bool> is_borrowed_ = false;
  AtomicRef<Storage> storage_;
  std::atomic<uint64_t> writes_ = 0;
  uint64_t trace_mark_ = recordings_begun().load(std::memory_order_relaxed);
  PackedForms packed_forms_;
  Snapshot* first_snapshot_ = nullptr;
  SnapshotIndex* index_ = nullptr;  // owned; only while there are many snapshots
  std::atomic<uint32_t> snapshot_count_ = 0;
  std::atomic<DeferredUse> deferred_use_ = DeferredUse::kNone;
  uint8_t stripe_;               // the lock that guards the snapshots
  uint32_t deferred_index_ = 0;  // among the cells that deferred ops use
};

/// How a view was created. Determines which operations may be recorded through it.
enum class ViewKind : uint8_t {
  kRecorded,       // with gradients enabled: its gradient node is connected to the handle it was created from
  kNoGrad,         // under no_grad: reports its root's requires_grad, but is a leaf and drops gradients
  kChildOfNoGrad,  // a view of a kNoGrad view: drops gradients too
};

/// A handle: the tensor that users hold. It refers to a cell and a strided view of it, and has a position in the
/// gradient graph if gradients are involved.
class TensorImpl : public ValueBase, public Pooled<TensorImpl> {
 public:
  TensorImpl(Dtype dtype, const Dims& sizes, const Dims& strides, SymInt offset, Ref<Cell> cell);
  ~TensorImpl() override;

  const Dims& sizes() const { return shape_; }
  const Dims& strides() const { return strides_; }
  SymInt offset() const { return offset_; }
  Geometry geometry() const { return {shape_, strides_, offset_}; }
  const Ref<Cell>& cell() const { return cell_; }
  SymInt numel() const { return numel_; }
  bool is_contiguous() const { return lucid::is_contiguous(shape_, strides_); }
  /// The address of the first element, with a reference that keeps it valid.
  PinnedMemory memory() const {
    PinnedMemory memory{cell_->storage()};
    memory.data = address_in(*memory.storage);
    return memory;
  }
  /// The same as it is now: its storage is null if deferred ops write to it.
  PinnedMemory memory_now() const {
    PinnedMemory memory{cell_->storage_now()};
    if (memory.storage) [[likely]]
      memory.data = address_in(*memory.storage);
    return memory;
  }
  /// The address of the first element. Only for comparison, or for a tensor that no other thread can see.
  void* data() const {
    if (cell_->deferred_use() == DeferredUse::kWrites) [[unlikely]]
      cell_->run_deferred();
    return address_in(*cell_->storage_address());
  }
  /// Announces a write to the handle's memory; see Cell::before_write.
  void before_write() { cell_->before_write({shape_, strides_, offset_}, dtype_); }

  /// Null until gradients are involved.
  AutogradMeta* autograd() const { return autograd_.get(); }
  AutogradMeta& ensure_autograd();
  /// Gives the handle the gradient state of another one on the same memory, which it stands for: they have one from now
  /// on.
  void share_autograd(const TensorImpl& other);
  /// Gives a tensor that only this thread can see a geometry with the same numbers, some of them traced.
  void trace_sizes(const Geometry& geometry);
  /// Rebinds the handle to other memory (`p.data = y`); old views keep the old cell. The caller holds its lock
  /// (Python's GIL), as all readers of the handle do, except alias_of().
  void rebind(Dtype dtype, const Dims& sizes, const Dims& strides, SymInt offset, Ref<Cell> cell);

  /// The handle that this one is a view of, which is not a view itself; null for roots. A root is an autograd identity:
  /// a recorded in-place operation through any view gives the root, and with it all its views, a new gradient node.
  const Ref<TensorImpl>& root() const { return root_; }
  bool is_view() const { return static_cast<bool>(root_); }
  ViewKind view_kind() const { return view_kind_; }
  void set_view_of(Ref<TensorImpl> root, ViewKind kind);
  /// Turns a view of an intermediate result that nothing else refers to into a root: results of ops are not views.
  void become_root();
  /// For a root: how many times its position in the graph changed. For a view: the root's version when the view's node
  /// was created. A thread that reads this version also sees that node.
  uint32_t graph_version() const { return graph_version_.load(std::memory_order_acquire); }
  void set_graph_version(uint32_t version) { graph_version_.store(version, std::memory_order_release); }

  /// Whether it is a parameter of a module. Python wraps parameters as Parameter, whichever code wraps them first.
  bool is_parameter() const { return is_parameter_; }
  void set_parameter() { is_parameter_ = true; }

  /// The Python object that wraps this handle while one is alive, so that identity survives the round trip.
  void* python_object = nullptr;

 private:
  void* address_in(const Storage& storage) const {
    return static_cast<char*>(storage.data()) + offset_.unguarded() * static_cast<int64_t>(size_of(dtype_));
  }

  Dims strides_;
  SymInt offset_ = 0;
  SymInt numel_ = 0;
  Ref<Cell> cell_;
  Ref<AutogradMeta> autograd_;
  Ref<TensorImpl> root_;
  std::atomic<uint32_t> graph_version_ = 0;
  ViewKind view_kind_ = ViewKind::kRecorded;
  bool is_parameter_ = false;
};

using TensorRef = Ref<TensorImpl>;

/// How often other threads have rebound handles. Work that gives up the caller's lock between looking at handles and
/// using their memory compares this: if it has changed, the handles may have.
uint64_t rebinds_by_other_threads();

/// A new root with its own uninitialized memory.
TensorRef make_tensor(Dtype dtype, const Dims& sizes, const Dims& strides, Device device = kCpuDevice);
TensorRef make_tensor(Dtype dtype, const Dims& sizes);
/// A new root on the same memory, as `detach()` returns. Code that may give up the caller's lock (see base/blocking.h)
/// uses one in place of a handle that other threads can reach: they may give that another shape or other memory. It is
/// made under a lock of its own, so that threads without the caller's lock, such as those of backward passes, may make
/// one too.
TensorRef alias_of(const TensorImpl& tensor);
/// A new root on part of the memory of `tensor`'s cell. The geometry is absolute.
TensorRef alias_of(const TensorImpl& tensor, const Geometry& geometry);
/// True when nothing else can see the memory: the cell has a single handle, that handle has a single reference, and
/// there are no snapshots. Pass `references` if the caller holds several references.
bool is_exclusive(const TensorImpl& tensor, uint32_t references = 1);
inline bool is_exclusive(const TensorRef& tensor) { return is_exclusive(*tensor); }

inline TensorImpl* tensor_of(const Value& value) { return static_cast<TensorImpl*>(value.get()); }
inline const TensorImpl* tensor_of(const Operand& operand) { return static_cast<const TensorImpl*>(operand.value()); }
/// The caller's handle behind an operand. Operands are const because op rules must not modify them.
inline TensorImpl& handle_of(const Operand& operand) { return const_cast<TensorImpl&>(*tensor_of(operand)); }
inline Value value_of(const Operand& operand) { return Value(Ref<ValueBase>(&handle_of(operand))); }

}  // namespace lucid
