#include "tensor/snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "base/error.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

/// From this many snapshots on, a cell finds those that a write hits by an index instead of looking at each.
constexpr uint32_t kIndexFrom = 32;

class SpinLock {
 public:
  void lock() {
    while (locked_.exchange(true, std::memory_order_acquire))
      while (locked_.load(std::memory_order_relaxed)) __builtin_ia32_pause();
  }
  void unlock() { locked_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> locked_ = false;
};

// A snapshot that is moved to another cell stays with its lock, because the cells share it.
constexpr size_t kStripes = 64;
struct alignas(64) PaddedLock {
  SpinLock lock;
};
std::array<PaddedLock, kStripes> g_locks;

SpinLock& lock_of(uint8_t stripe) { return g_locks[stripe].lock; }

std::pair<int64_t, int64_t> byte_range(const Geometry& geometry, Dtype dtype) {
  const auto [first, last] = element_range(geometry);
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  return {first * bytes, last * bytes};
}

/// Strides for a copy of a region: as they were when the region is dense, otherwise contiguous. Repeated elements stay
/// repeated.
Geometry geometry_of_copy(const Geometry& geometry) {
  Geometry copy{geometry.sizes, geometry.strides, 0};
  if (is_dense(geometry.sizes, geometry.strides)) return copy;
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
  return static_cast<uint8_t>(next++ % kStripes);
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
    // The list has them all.
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

void Cell::make_writable(const Geometry& geometry, Dtype dtype) {
  const auto [begin, end] = byte_range(geometry, dtype);
  // Released after the lock: a cell that loses its last snapshot dies with it.
  std::vector<Ref<Cell>> dropped;
  const std::scoped_lock guard(lock_of(stripe_));
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
  if (pinned || bytes > storage_->bytes()) {
    Ref<Storage> copy = Storage::allocate(storage_->bytes());
    std::memcpy(copy->data(), storage_->data(), storage_->bytes());
    return leave_memory_to_snapshots(std::move(copy));
  }
  for (Snapshot* s : hits) {
    dropped.push_back(s->cell_);
    s->copy_out(/*is_linked=*/true);
  }
}

void Cell::replace_storage(Ref<Storage> storage) {
  ++writes_;
  packed_forms_.drop();
  if (!has_snapshots()) return set_storage(std::move(storage));
  const std::scoped_lock guard(lock_of(stripe_));
  leave_memory_to_snapshots(std::move(storage));
}

void Cell::leave_memory_to_snapshots(Ref<Storage> replacement) {
  auto old = Ref<Cell>::adopt(new Cell(storage_, stripe_));
  if (EagerObserver* observer = eager_observer()) [[unlikely]] {
    for (Snapshot* s = first_snapshot_; s; s = s->next_)
      observer->moved(TensorImpl(s->dtype_, s->geometry_.sizes, s->geometry_.strides, s->geometry_.offset, s->cell_),
                      TensorImpl(s->dtype_, s->geometry_.sizes, s->geometry_.strides, s->geometry_.offset, old));
  }
  // Nothing below throws.
  storage_ = std::move(replacement);
  while (Snapshot* s = first_snapshot_) {
    unlink(*s);
    // The handle that is being written keeps this cell alive, so this is not its last reference.
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
  if (cell_->storage()->borrowed()) {
    try {
      return copy_out(/*is_linked=*/false);
    } catch (...) {
      cell_.reset();  // empty, as drop() left it
      throw;
    }
  }
  set_range();
  const std::scoped_lock guard(lock_of(stripe_));
  cell_->link(*this);
}

void Snapshot::drop() {
  if (!cell_) return;
  Ref<Cell> last;
  {
    const std::scoped_lock guard(lock_of(stripe_));
    cell_->unlink(*this);
    last = std::move(cell_);
  }
  pinned_ = false;
}

void Snapshot::copy_out(bool is_linked) {
  Geometry copy = geometry_of_copy(geometry_);
  const size_t element = size_of(dtype_);
  const auto elements = static_cast<size_t>(element_range(copy).second);
  Ref<Storage> storage = Storage::allocate(elements * element);
  const char* source =
      static_cast<const char*>(cell_->storage()->data()) + geometry_.offset * static_cast<int64_t>(element);
  if (copy.strides == geometry_.strides && is_dense(geometry_.sizes, geometry_.strides)) {
    std::memcpy(storage->data(), source, elements * element);
  } else {
    // Repeated elements are copied once.
    Dims sizes = geometry_.sizes;
    for (size_t i = 0; i < sizes.size(); ++i)
      if (sizes[i] > 1 && geometry_.strides[i] == 0) sizes[i] = 1;
    copy_strided(sizes, element, source, geometry_.strides, storage->data(), copy.strides);
  }
  auto own = Ref<Cell>::adopt(new Cell(std::move(storage), stripe_));
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->moved(TensorImpl(dtype_, geometry_.sizes, geometry_.strides, geometry_.offset, cell_),
                    TensorImpl(dtype_, copy.sizes, copy.strides, copy.offset, own));
  // Nothing below throws.
  if (is_linked) cell_->unlink(*this);
  geometry_ = std::move(copy);
  set_range();
  cell_ = std::move(own);
  cell_->link(*this);
}

const void* Snapshot::pin() {
  const std::scoped_lock guard(lock_of(stripe_));
  pinned_ = true;
  return static_cast<const char*>(cell_->storage()->data()) + geometry_.offset * static_cast<int64_t>(size_of(dtype_));
}

TensorRef Snapshot::tensor() const {
  const std::scoped_lock guard(lock_of(stripe_));
  return make_ref<TensorImpl>(dtype_, geometry_.sizes, geometry_.strides, geometry_.offset, cell_);
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
  // The innermost dimensions that both sides walk without gaps are copied as one block.
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
