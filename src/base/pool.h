#pragma once

#include <cstddef>
#include <cstdint>
#include <new>

// The address sanitizer must see every object's memory freed.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LUCID_POOLS_OBJECTS false
#endif
#endif
#ifndef LUCID_POOLS_OBJECTS
#define LUCID_POOLS_OBJECTS true
#endif

namespace lucid {

/// Provides an operator new that reuses the memory of objects that the same thread destroyed. For small objects that
/// every op creates and destroys. Derived classes of another size use the heap.
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

  /// Number of objects that this thread created minus those that it destroyed. For leak tests.
  static int64_t live() { return free_list().live; }

 private:
  struct Block {
    Block* next;
  };

  static constexpr int kCapacity = 1024;

  // Trivially destructible, so that objects may still be destroyed during the destruction of the thread's other locals.
  // By then the capacity is 0 again, and memory is returned to the heap directly.
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
