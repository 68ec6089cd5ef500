#include "tensor/snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "base/error.h"
#include "base/lock.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

/// From this many snapshots on, a cell uses an index to find the snapshots that a write overlaps.
constexpr uint32_t kIndexFrom = 32;

// A snapshot that moves to another cell keeps its lock: both cells use the same stripe.
Mutex& lock_of(uint8_t stripe) { return mutex_of(LockRank::kCell, size_t{stripe}); }

std::pair<int64_t, int64_t> byte_range(const Geometry& geometry, Dtype dtype) {
  const auto [first, last] = element_range(geometry);
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  return {first * bytes, last * bytes};
}

/// Layout of a copy of a region: the same strides if the region is dense, otherwise contiguous. Repeated elements stay
/// repeated. On a gpu, where the host cannot copy element by element, always the same strides.
Geometry geometry_of_copy(const Geometry& geometry, Device device) {
  Geometry copy{geometry.sizes, geometry.strides, 0};
  if (device.is_gpu() || is_dense(geometry.sizes, geometry.strides)) return copy;
  int64_t next = 1;
  for (size_t i = copy.sizes.size(); i-- > 0;) {
    if (copy.strides[i] == 0 && copy.sizes[i] > 1) continue;
    copy.strides[i] = next;
    next *= std::max<int64_t>(copy.sizes[i], 1);
  }
  return copy;
}

}  // namespace

Cell::~Cell() { delete index_; }

uint8_t Cell::next_stripe() {
  static constinit thread_local uint8_t next = 0;
  return static_cast<uint8_t>(next++ % kLockStripes);
}

void Cell::link(Snapshot& snapshot) {
  snapshot.previous_ = nullptr;
  snapshot.next_ = first_snapshot_;
  if (first_snapshot_) first_snapshot_->previous_ = &snapshot;
  first_snapshot_ = &snapshot;
  const uint32_t count = snapshot_count_.load(std::memory_order_relaxed) + 1;
  snapshot_count_.store(count, std::memory_order_relaxed);
  try {
    if (index_) {
      index_->insert(snapshot);
    } else if (count >= kIndexFrom) {
      index_ = new SnapshotIndex;
      for (Snapshot* s = first_snapshot_; s; s = s->next_) index_->insert(*s);
    }
  } catch (const std::bad_alloc&) {
    // The list still has all snapshots.
    delete std::exchange(index_, nullptr);
  }
}

void Cell::unlink(Snapshot& snapshot) {
  (snapshot.previous_ ? snapshot.previous_->next_ : first_snapshot_) = snapshot.next_;
  if (snapshot.next_) snapshot.next_->previous_ = snapshot.previous_;
  snapshot_count_.store(snapshot_count_.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  if (!index_) return;
  index_->erase(snapshot);
  if (!first_snapshot_) delete std::exchange(index_, nullptr);
}

bool Cell::is_exclusive() const {
  // Deferred ops hold one reference.
  const uint32_t references = deferred_use() == DeferredUse::kNone ? 1 : 2;
  if (use_count() != references || has_snapshots()) return false;
  // No other thread can replace the storage of a cell with a single handle.
  const Storage* const storage = storage_.get();
  return !storage || (storage->use_count() == 1 && !storage->borrowed());
}

/// Snapshots that were moved to other memory while the cell's lock was held. The observer is notified, and the cells
/// that they leave are destroyed, after the lock is released: both may run arbitrary code.
class Cell::Moves {
 public:
  Moves() = default;
  Moves(const Moves&) = delete;
  Moves& operator=(const Moves&) = delete;
  ~Moves() = default;

  /// Called before the snapshot moves, with its new geometry and cell.
  void add(Snapshot& snapshot, const Geometry& geometry, const Ref<Cell>& cell) {
    if (eager_observer()) [[unlikely]]
      moves_.push_back(
          {handle(snapshot.dtype_, snapshot.geometry_, snapshot.cell_), handle(snapshot.dtype_, geometry, cell)});
    left_.push_back(snapshot.cell_);
  }
  void report() const {
    if (EagerObserver* observer = eager_observer()) [[unlikely]]
      for (const auto& [source, copy] : moves_) observer->moved(*source, *copy);
  }

 private:
  static TensorRef handle(Dtype dtype, const Geometry& g, const Ref<Cell>& cell) {
    return make_ref<TensorImpl>(dtype, g.sizes, g.strides, g.offset, cell);
  }

  std::vector<std::pair<TensorRef, TensorRef>> moves_;
  std::vector<Ref<Cell>> left_;
};

std::unique_lock<Mutex> Cell::lock_after_deferred() const {
  for (;;) {
    if (deferred_use() == DeferredUse::kWrites) [[unlikely]]
      run_deferred();
    std::unique_lock lock(lock_of(stripe_));
    if (deferred_use() != DeferredUse::kWrites) return lock;
  }
}

void Cell::make_writable(const Geometry& geometry, Dtype dtype) {
  const auto [begin, end] = byte_range(geometry, dtype);
  Moves moves;
  {
    const std::unique_lock guard = lock_after_deferred();
    std::vector<Snapshot*> hits;
    if (index_) {
      index_->find(begin, end, hits);
    } else {
      for (Snapshot* s = first_snapshot_; s; s = s->next_)
        if (s->begin_ < end && begin < s->end_) hits.push_back(s);
    }
    if (hits.empty()) return;
    size_t bytes = 0;
    bool pinned = false;
    for (const Snapshot* s : hits) {
      bytes += static_cast<size_t>(numel(s->geometry_.sizes)) * size_of(s->dtype_);
      pinned |= s->pinned_;
    }
    const Ref<Storage> storage = storage_.load();
    if (pinned || bytes > storage->bytes()) {
      leave_memory_to_snapshots(storage->copy(), moves);
    } else {
      for (Snapshot* s : hits) s->copy_out(moves);
    }
  }
  moves.report();
}

void Cell::replace_storage(Ref<Storage> storage) {
  if (deferred_use() != DeferredUse::kNone) [[unlikely]]
    run_deferred();
  count_write();
  packed_forms_.drop();
  is_borrowed_.store(storage->borrowed(), std::memory_order_relaxed);
  Moves moves;
  {
    // Lock even if there are no snapshots: one may be taken and pinned meanwhile, and must keep its memory.
    const std::lock_guard guard(lock_of(stripe_));
    if (first_snapshot_)
      leave_memory_to_snapshots(std::move(storage), moves);
    else
      storage = storage_.exchange(std::move(storage));
  }
  moves.report();
}

void Cell::leave_memory_to_snapshots(Ref<Storage> replacement, Moves& moves) {
  auto old = Ref<Cell>::adopt(new Cell(storage_.load(), stripe_));
  for (Snapshot* s = first_snapshot_; s; s = s->next_) moves.add(*s, s->geometry_, old);
  // Nothing below throws.
  is_borrowed_.store(replacement->borrowed(), std::memory_order_relaxed);
  storage_.store(std::move(replacement));
  while (Snapshot* s = first_snapshot_) {
    unlink(*s);
    s->cell_ = old;
    old->link(*s);
  }
}

void Snapshot::set_range() { std::tie(begin_, end_) = byte_range(geometry_, dtype_); }

void Snapshot::take(const TensorImpl& tensor) {
  drop();
  dtype_ = tensor.dtype();
  geometry_ = tensor.geometry();
  cell_ = tensor.cell();
  stripe_ = cell_->stripe_;
  Cell::Moves moves;
  try {
    const std::lock_guard guard(lock_of(stripe_));
    set_range();
    cell_->link(*this);
    if (cell_->is_borrowed()) copy_out(moves);
  } catch (...) {
    is_taken_.store(true, std::memory_order_relaxed);
    drop();
    throw;
  }
  is_taken_.store(true, std::memory_order_release);
  moves.report();
}

void Snapshot::drop() {
  if (!is_taken_.exchange(false, std::memory_order_acq_rel)) return;
  Ref<Cell> last;  // destroyed after the lock is released
  const std::lock_guard guard(lock_of(stripe_));
  cell_->unlink(*this);
  last = std::move(cell_);
  pinned_ = false;
}

void Snapshot::copy_out(Cell::Moves& moves) {
  Geometry copy = geometry_of_copy(geometry_, cell_->device());
  const size_t element = size_of(dtype_);
  const auto elements = static_cast<size_t>(element_range(copy).second);
  const Ref<Storage> from = cell_->storage_.load();
  Ref<Storage> storage = Storage::allocate(elements * element, from->device());
  const char* source = static_cast<const char*>(from->data()) + geometry_.offset * static_cast<int64_t>(element);
  if (from->device().is_gpu() || (copy.strides == geometry_.strides && is_dense(geometry_.sizes, geometry_.strides))) {
    copy_bytes(from->device(), storage->data(), source, elements * element);
  } else {
    // Repeated elements are copied once.
    Dims sizes = geometry_.sizes;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] > 1 && geometry_.strides[i] == 0) sizes[i] = 1;
    copy_strided(sizes, element, source, geometry_.strides, storage->data(), copy.strides);
  }
  auto own = Ref<Cell>::adopt(new Cell(std::move(storage), stripe_));
  moves.add(*this, copy, own);
  // Nothing below throws.
  cell_->unlink(*this);
  geometry_ = std::move(copy);
  set_range();
  cell_ = std::move(own);
  cell_->link(*this);
}

const void* Snapshot::pin() {
  for (;;) {
    Ref<Cell> cell;
    {
      const std::lock_guard guard(lock_of(stripe_));
      if (cell_->deferred_use() != DeferredUse::kWrites) {
        pinned_ = true;
        const auto* memory = static_cast<const char*>(cell_->storage_.load()->data());
        return memory + geometry_.offset * static_cast<int64_t>(size_of(dtype_));
      }
      cell = cell_;
    }
    cell->run_deferred();
  }
}

TensorRef Snapshot::tensor() const {
  TensorRef tensor;
  {
    const std::lock_guard guard(lock_of(stripe_));
    if (!cell_) return nullptr;
    tensor = make_ref<TensorImpl>(dtype_, geometry_.sizes, geometry_.strides, geometry_.offset, cell_);
  }
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->made_handle(*tensor, nullptr);
  return tensor;
}

void SnapshotIndex::insert(Snapshot& snapshot) {
  by_begin_.emplace(snapshot.begin_, &snapshot);
  longest_ = std::max(longest_, snapshot.end_ - snapshot.begin_);
}

void SnapshotIndex::erase(Snapshot& snapshot) {
  auto [first, last] = by_begin_.equal_range(snapshot.begin_);
  const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == &snapshot; });
  LUCID_CHECK(found != last, "a snapshot is missing from its cell's index");
  by_begin_.erase(found);
}

void SnapshotIndex::find(int64_t begin, int64_t end, std::vector<Snapshot*>& hits) const {
  for (auto it = by_begin_.upper_bound(begin - longest_); it != by_begin_.end() && it->first < end; ++it)
    if (begin < it->second->end_) hits.push_back(it->second);
}

void copy_strided(DimsView sizes, size_t element_bytes, const void* source, DimsView source_strides, void* destination,
                  DimsView destination_strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return;
  const auto element = static_cast<int64_t>(element_bytes);
  // The innermost dimensions that are contiguous on both sides are copied as one block.
  size_t rank = sizes.size();
  int64_t block = 1;
  while (rank > 0 &&
         (sizes[rank - 1] == 1 || (source_strides[rank - 1] == block && destination_strides[rank - 1] == block)))
    block *= sizes[--rank];
  std::array<int64_t, kMaxRank> index{};
  const char* from = static_cast<const char*>(source);
  char* to = static_cast<char*>(destination);
  const auto bytes = static_cast<size_t>(block * element);
  while (true) {
    std::memcpy(to, from, bytes);
    size_t d = rank;
    while (d-- > 0) {
      from += source_strides[d] * element;
      to += destination_strides[d] * element;
      if (++index[d] < sizes[d]) break;
      from -= source_strides[d] * element * sizes[d];
      to -= destination_strides[d] * element * sizes[d];
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

}  // namespace lucid
