#include "base/background.h"

#include <utility>

namespace lucid {
namespace {

constinit thread_local const std::atomic<bool>* t_is_awaited = nullptr;

}  // namespace

BackgroundScope::BackgroundScope(const std::atomic<bool>& is_awaited)
    : saved_(std::exchange(t_is_awaited, &is_awaited)) {}

BackgroundScope::~BackgroundScope() { t_is_awaited = saved_; }

bool is_in_background() { return t_is_awaited && !t_is_awaited->load(std::memory_order_relaxed); }

}  // namespace lucid
