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

/// What a compiled function has done so far.
struct CompileInfo {
  int64_t hits = 0;
  /// Calls that no plan fitted.
  int64_t misses = 0;
  int64_t compiles = 0;
  /// Calls that ran eagerly because no plan can be made of them.
  int64_t eager_calls = 0;
  size_t entries = 0;
};

namespace jit {
class PlanTable;
}

/// The calls of a compiled function. Any number of threads may call at once.
class CompiledCalls {
 public:
  using Function = std::function<std::vector<Tensor>()>;

  explicit CompiledCalls(size_t max_plans);
  /// Runs the plan for arguments of these types, or `function`, which uses the same arguments.
  std::vector<Tensor> call(const std::vector<Tensor>& arguments, const Function& function) const;
  CompileInfo info() const;
  std::string explain() const;
  void clear() const;

 private:
  std::shared_ptr<jit::PlanTable> table_;
};

/// A function that `compile` was called with. Copies share their plans.
template <typename F>
class Compiled {
 public:
  Compiled(F function, size_t max_entries) : function_(std::move(function)), calls_(max_entries) {}

  /// Calls a function of tensors, or of one vector of tensors.
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

  /// How often plans were made and used.
  CompileInfo info() const { return calls_.info(); }
  /// The same in words, with the reasons why calls ran eagerly.
  std::string explain() const { return calls_.explain(); }
  /// Forgets all plans; the next call is recorded again.
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

/// Makes a function of tensors fast: `const auto fast = lucid::compile([&](const Tensor& x) { return exp(x) * w; });`
///
/// The first call with arguments of some dtypes, shapes, strides and requires_grad runs as ever while it is recorded; a
/// plan is made of it on another thread. Later calls wait for that plan if need be and run it, with the same results,
/// bit for bit. Other tensors that the function uses are read and written as they are at each call, but must be the
/// same handles: update them in place. What else it depends on, and whatever it does besides computing with tensors, is
/// taken to be the same at each call: after a change call invalidate_cache(). Functions that look at elements run as
/// they are written, and explain() says so.
///
/// At most `max_cache_entries` plans are kept; the oldest leaves first.
template <typename F>
Compiled<std::decay_t<F>> compile(F&& function, size_t max_cache_entries = 8) {
  return {std::forward<F>(function), max_cache_entries};
}

/// Waits until the plans of all calls so far have been made.
void wait_for_compiles();

}  // namespace lucid
#pragma GCC visibility pop
