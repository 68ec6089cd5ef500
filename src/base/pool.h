#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

// The address sanitizer must see every object's memory given back.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LUCID_POOLS_OBJECTS false
#endif
#endif
#ifndef LUCID_POOLS_OBJECTS
#define LUCID_POOLS_OBJECTS true
#endif

namespace lucid {

/// Gives a class an operator new that reuses the memory of objects that the same thread destroyed: for small objects
/// made and dropped by every op. Derived classes of another size use the heap.
template <typename T>
class Pooled {
 public:
  static void* operator new(size_t bytes) {
    if (bytes != sizeof(T)) [[unlikely]]
      return ::operator new(bytes);
    FreeList& list = free_list();
    if (Block* block = list.first) {
      ++list.live;
      list.first = block->next;
      --list.count;
      return block;
    }
    void* const memory = ::operator new(bytes);
    ++list.live;
    return memory;
  }

  static void operator delete(void* memory, size_t bytes) {
    if (bytes != sizeof(T)) [[unlikely]]
      return ::operator delete(memory);
    FreeList& list = free_list();
    --list.live;
    if (!LUCID_POOLS_OBJECTS) return ::operator delete(memory);
    if (list.count >= list.capacity) [[unlikely]] {
      if (list.capacity != 0 || !list.open()) return ::operator delete(memory);
    }
    list.first = new (memory) Block{list.first};
    ++list.count;
  }

  /// Objects that this thread made and did not destroy. For leak tests.
  static int64_t live() { return free_list().live; }

 private:
  struct Block {
    Block* next;
  };

  static constexpr int kCapacity = 1024;

  // No destructor of its own, so that objects may still be destroyed while the thread's other locals are; then capacity
  // is 0 again and memory goes straight back to the heap.
  struct FreeList {
    Block* first;
    int64_t live;
    int count;
    int capacity;
    bool closed;

    bool open() {
      if (closed) return false;
      static thread_local Closer closer;
      (void)closer;
      capacity = kCapacity;
      return true;
    }
  };

  struct Closer {
    Closer() = default;
    ~Closer() {
      FreeList& list = free_list();
      list.closed = true;
      list.capacity = 0;
      list.count = 0;
      while (Block* block = list.first) {
        list.first = block->next;
        ::operator delete(block);
      }
    }
  };

  static FreeList& free_list() {
    static constinit thread_local FreeList list{};
    return list;
  }
};

}  // namespace lucid
