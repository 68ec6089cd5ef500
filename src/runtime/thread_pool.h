#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lucid {

/// A non-owning reference to a callable that takes a range. Two words; never allocates.
class RangeFunction {
 public:
  template <typename Body>
  explicit RangeFunction(const Body& body)
      : object_(std::addressof(body)),
        call_([](const void* object, int64_t begin, int64_t end) { (*static_cast<const Body*>(object))(begin, end); }) {
  }
  void operator()(int64_t begin, int64_t end) const { call_(object_, begin, end); }

 private:
  const void* object_;
  void (*call_)(const void* object, int64_t begin, int64_t end);
};

/// How many threads a parallel region may use, including the caller's. Initially LUCID_NUM_THREADS, or else the number
/// of CPUs of the process (limited by its affinity and the quota of its control groups).
int num_threads();
/// Throws ValueError unless 1 <= threads <= kMaxThreads. More threads than CPUs work, but slowly.
void set_thread_count(int threads);

namespace thread_pool_detail {

/// 0 until num_threads() is first called.
extern std::atomic<int> g_num_threads;
void run(int64_t count, int64_t grain, RangeFunction body);

}  // namespace thread_pool_detail

/// Calls body(begin, end) on ranges that together cover [0, count), each once, and returns when all are done.
///
/// Ranges hold at least `grain` elements. The whole range runs on the calling thread if it has at most `grain`
/// elements, if there is one thread, inside another region, or while another thread is using the pool. The division
/// into ranges depends on the number of threads: a body must compute the same result for any division. Workers run with
/// the caller's floating-point control word. If bodies throw, the caller gets the exception of the lowest range; ranges
/// after it may not have run.
template <typename Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  if (count <= grain || thread_pool_detail::g_num_threads.load(std::memory_order_relaxed) == 1) {
    body(int64_t{0}, count);
  } else {
    thread_pool_detail::run(count, grain, RangeFunction(body));
  }
}

}  // namespace lucid
