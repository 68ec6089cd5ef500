#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid {

/// Statistics of a compiled function.
struct CompileInfo {
  /// Calls that ran a plan.
  int64_t hits = 0;
  /// Calls for which no plan matched.
  int64_t misses = 0;
  /// Plans compiled.
  int64_t compiles = 0;
  /// Calls that ran eagerly because they cannot be compiled.
  int64_t eager_calls = 0;
  /// Plans in the cache.
  size_t entries = 0;
};

namespace jit {
class PlanTable;
}

/// The plan cache of a compiled function, used by Compiled. Any number of threads may call it concurrently.
class CompiledCalls {
 public:
  using Function = std::function<std::vector<Tensor>()>;

  CompiledCalls(size_t max_plans, bool waits);
  /// Runs the plan for arguments of these types, or `function`, which must use the same arguments.
  std::vector<Tensor> call(const std::vector<Tensor>& arguments, const Function& function) const;
  CompileInfo info() const;
  std::string explain() const;
  void clear() const;

 private:
  std::shared_ptr<jit::PlanTable> table_;
};

/// A compiled function, as returned by compile(). Copies share their plans. Any number of threads may call it
/// concurrently, provided that the function itself allows that.
template <typename F>
class Compiled {
 public:
  Compiled(F function, size_t max_entries, bool waits) : function_(std::move(function)), calls_(max_entries, waits) {}

  /// Calls the function. Arguments are tensors, or a single vector of tensors.
  template <typename... Arguments>
  auto operator()(const Arguments&... arguments) const {
    using Result = std::invoke_result_t<const F&, const Arguments&...>;
    static_assert(std::is_same_v<Result, Tensor> || std::is_same_v<Result, std::vector<Tensor>>,
                  "a compiled function returns a Tensor or a std::vector<Tensor>");
    const auto function = [&]() -> std::vector<Tensor> {
      if constexpr (std::is_same_v<Result, Tensor>)
        return {function_(arguments...)};
      else
        return function_(arguments...);
    };
    std::vector<Tensor> results = calls_.call(tensors_of(arguments...), function);
    if constexpr (std::is_same_v<Result, Tensor>)
      return std::move(results.front());
    else
      return results;
  }

  /// Counts of cache hits, misses and compilations.
  CompileInfo info() const { return calls_.info(); }
  /// A readable report: the plans, and why calls ran eagerly.
  std::string explain() const { return calls_.explain(); }
  /// Drops all plans. The next call is recorded again.
  void invalidate_cache() const { calls_.clear(); }

 private:
  static const std::vector<Tensor>& tensors_of(const std::vector<Tensor>& arguments) { return arguments; }
  static void tensors_of(std::vector<Tensor>&&) = delete;
  template <std::same_as<Tensor>... Tensors>
  static std::vector<Tensor> tensors_of(const Tensors&... arguments) {
    return {arguments...};
  }

  F function_;
  CompiledCalls calls_;
};

/// Compiles a function of tensors:
/// `const auto fast = lucid::compile([&](const Tensor& x) { return exp(x) * w; });`
///
/// Plans are keyed by the dtypes, shapes, strides and requires_grad of the arguments. The first call with a new key
/// runs eagerly and is recorded; another thread compiles a plan from the recording. Later calls run the plan once it is
/// there. Until then they run eagerly, or wait for it if `wait` is set or the environment variable LUCID_COMPILE_WAIT
/// is 1. Their results are bitwise equal to those of the function.
///
/// Other tensors that the function uses are captured by handle. Each call reads and writes their current values, so
/// update them in place; a different handle is not noticed. Everything else that the function reads, and its side
/// effects other than on tensors, are assumed to be the same for every call: call invalidate_cache() after a change.
/// Functions that read elements of tensors run eagerly, and explain() reports it.
///
/// The cache holds at most `max_cache_entries` plans. The oldest is evicted first.
template <typename F>
Compiled<std::decay_t<F>> compile(F&& function, size_t max_cache_entries = 8, bool wait = false) {
  return {std::forward<F>(function), max_cache_entries, wait};
}

/// Waits until the plans of all calls recorded so far are compiled.
void wait_for_compiles();

}  // namespace lucid
#pragma GCC visibility pop
