#include "runtime/packed_forms.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/lock.h"
#include "runtime/allocator.h"

namespace lucid {
namespace {

constexpr uint64_t kKept = uint64_t{1} << 63;
constexpr uint64_t kNeverKept = uint64_t{1} << 62;
constexpr uint64_t kMarks = 62;

uint64_t mark_of(const PackedForms::Maker& maker) {
  uint64_t hash = hash_span(maker.params, reinterpret_cast<uintptr_t>(maker.code.get()));
  hash = hash_combine(hash, reinterpret_cast<uintptr_t>(maker.source));
  return uint64_t{1} << hash % kMarks;
}

}  // namespace

/// All cached forms, most recently used first.
class FormStore {
 public:
  static FormStore& get() {
    static FormStore& store = *new FormStore;  // never destroyed: outlives buffers that are freed at exit
    return store;
  }

  Ref<Storage> find(const PackedForms& owner, const PackedForms::Maker& maker) {
    const std::lock_guard lock(mutex_);
    const auto entry = entry_of(owner, maker);
    if (entry == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, entry);
    return entry->form;
  }

  void insert(PackedForms& owner, const PackedForms::Maker& maker, uint32_t changes, const Ref<Storage>& form) {
    std::list<Entry> dropped;  // freed after the lock is released
    std::list<Entry> added;
    added.push_back({&owner, maker.code, {maker.params.begin(), maker.params.end()}, maker.source, form});
    const std::lock_guard lock(mutex_);
    const uint64_t marks = owner.marks_.load(std::memory_order_relaxed);
    if (owner.changes_.load(std::memory_order_relaxed) != changes) return;
    if (marks & kNeverKept || form->bytes() > limit_) return;
    // Another thread has added it.
    if (entry_of(owner, maker) != entries_.end()) return;
    while (bytes_ + form->bytes() > limit_) take(std::prev(entries_.end()), dropped);
    by_owner_.emplace(&owner, added.begin());
    bytes_ += added.front().form->bytes();
    entries_.splice(entries_.begin(), added);
    owner.marks_.fetch_or(kKept, std::memory_order_relaxed);
  }

  void forget(PackedForms& owner) {
    std::list<Entry> dropped;
    const std::lock_guard lock(mutex_);
    owner.changes_.fetch_add(1, std::memory_order_relaxed);
    owner.marks_.fetch_and(kNeverKept, std::memory_order_relaxed);
    for (auto found = by_owner_.find(&owner); found != by_owner_.end(); found = by_owner_.find(&owner))
      take(found->second, dropped);
  }

  size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

  size_t exchange_limit(size_t limit) {
    const std::lock_guard lock(mutex_);
    return std::exchange(limit_, limit);
  }

 private:
  struct Entry {
    const PackedForms* owner;
    Ref<LoadedCode> code;
    std::vector<int64_t> params;
    const void* source;
    Ref<Storage> form;
  };
  using Entries = std::list<Entry>;

  Entries::iterator entry_of(const PackedForms& owner, const PackedForms::Maker& maker) {
    const auto [first, last] = by_owner_.equal_range(&owner);
    for (auto it = first; it != last; ++it) {
      const Entry& entry = *it->second;
      if (entry.code == maker.code && entry.source == maker.source && std::ranges::equal(entry.params, maker.params))
        return it->second;
    }
    return entries_.end();
  }

  void take(Entries::iterator entry, Entries& dropped) {
    const auto [first, last] = by_owner_.equal_range(entry->owner);
    by_owner_.erase(std::find_if(first, last, [&](const auto& item) { return item.second == entry; }));
    bytes_ -= entry->form->bytes();
    dropped.splice(dropped.end(), entries_, entry);
  }

  Mutex& mutex_ = mutex_of(LockRank::kPackedForms);
  Entries entries_;
  std::unordered_multimap<const PackedForms*, Entries::iterator> by_owner_;
  size_t bytes_ = 0;
  size_t limit_ = cache_limit();
};

namespace {

/// Created while there is one thread: if another thread constructed it during a fork, the child would wait forever.
[[gnu::constructor]] void make_store() { FormStore::get(); }

}  // namespace

PackedForms::Answer PackedForms::ask(const Maker& maker) {
  const uint32_t changes = changes_.load(std::memory_order_relaxed);
  const uint64_t mark = mark_of(maker);
  const uint64_t before = marks_.fetch_or(mark, std::memory_order_seq_cst);
  if (!(before & mark) || before & kNeverKept) return {};
  Ref<Storage> form = before & kKept ? FormStore::get().find(*this, maker) : nullptr;
  const bool missing = !form;
  return {std::move(form), missing, changes};
}

void PackedForms::keep(const Maker& maker, const Answer& answer, const Ref<Storage>& form) {
  try {
    FormStore::get().insert(*this, maker, answer.changes, form);
  } catch (const std::bad_alloc&) {
    // It is computed again at the next request.
  }
}

void PackedForms::forget() { FormStore::get().forget(*this); }

void PackedForms::stop_keeping() {
  drop();
  marks_.fetch_or(kNeverKept, std::memory_order_relaxed);
}

size_t packed_form_bytes() { return FormStore::get().bytes(); }

PackedFormLimitScope::PackedFormLimitScope(size_t bytes) : saved_(FormStore::get().exchange_limit(bytes)) {}
PackedFormLimitScope::~PackedFormLimitScope() { FormStore::get().exchange_limit(saved_); }

}  // namespace lucid
