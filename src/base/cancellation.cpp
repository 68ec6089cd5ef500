#include "base/cancellation.h"

#include <utility>

namespace lucid {
namespace {

constinit thread_local const std::atomic<bool>* t_flag = nullptr;

}  // namespace

CancellationScope::CancellationScope(const std::atomic<bool>& flag) : saved_(std::exchange(t_flag, &flag)) {}

CancellationScope::~CancellationScope() { t_flag = saved_; }

const std::atomic<bool>* cancellation_flag() { return t_flag; }

void check_cancelled(const std::atomic<bool>* flag) {
  if (flag && flag->load(std::memory_order_relaxed)) throw Cancelled();
}

}  // namespace lucid
