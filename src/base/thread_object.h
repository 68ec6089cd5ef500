#pragma once

#include <utility>

namespace lucid {

/// An object that each thread has for itself, from its first use until the thread ends. Destructors that run later at
/// the end of the thread may still use it: they get a new one, which is not freed. It is on the heap, because a Python
/// module may have only little thread-local storage.
template <typename T>
class ThreadObject {
 public:
  /// The object of this thread, or null if it has none yet.
  static T* find() { return t_object; }
  static T& get() { return t_object ? *t_object : make(); }

 private:
  struct Owner {
    bool is_needed = false;
    ~Owner() {
      t_ended = true;
      delete std::exchange(t_object, nullptr);
    }
  };

  static T& make() {
    T* const object = new T;
    // The first use of the owner registers its destructor.
    static thread_local Owner owner;
    if (!t_ended) owner.is_needed = true;
    return *(t_object = object);
  }

  static constinit inline thread_local T* t_object = nullptr;
  static constinit inline thread_local bool t_ended = false;
};

}  // namespace lucid
