#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace lucid {

/// A reference to something that can be called with a range; two words, never owns, never allocates.
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

/// How many threads a parallel region may use, the caller's among them. At first LUCID_NUM_THREADS, or else as many as
/// the process has CPUs (its affinity and its control groups' quota count).
int num_threads();
/// Throws ValueError unless 1 <= threads <= kMaxThreads. More than there are CPUs works, slowly.
void set_num_threads(int threads);

namespace thread_pool_detail {

/// 0 until the number is first asked for.
extern std::atomic<int> g_num_threads;
void run(int64_t count, int64_t grain, RangeFunction body);

}  // namespace thread_pool_detail

/// Calls body(begin, end) on ranges that together cover [0, count), each once, and returns when all are done.
///
/// Ranges hold at least `grain` elements, so up to that many run on the spot, as does everything when there is one
/// thread, inside another region, or while another thread is using the pool. How the ranges are cut depends on the
/// number of threads: a body must give the same result for any cut. Workers run with the caller's floating-point
/// control word. If bodies throw, the exception from the lowest range reaches the caller; ranges after it may not have
/// run.
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
