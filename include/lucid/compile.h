#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "lucid/call_arguments.h"
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

/// Values that a compiled function reads and that the library cannot see: `[&] { return std::tuple(mode, k); }`.
class Dependencies {
 public:
  Dependencies() = default;
  template <typename F>
    requires std::invocable<const F&>
  Dependencies(F values)  // NOLINT
      : add_([values = std::move(values)](CallArguments& arguments) { arguments.add(values()); }) {}
  void add_to(CallArguments& arguments) const {
    if (add_) add_(arguments);
  }

 private:
  std::function<void(CallArguments&)> add_;
};

/// Options of compile().
struct CompileOptions {
  /// The cache holds at most this many plans. The oldest is evicted first.
  size_t max_cache_entries = 8;
  /// Whether calls wait for plans that are being compiled; otherwise they run eagerly meanwhile. The environment
  /// variable LUCID_COMPILE_WAIT=1 makes all calls wait.
  bool wait = false;
  /// Compares every n-th call that runs a plan with the function, bit for bit, and throws RuntimeError if they differ.
  /// 0 compares none; kNone is the value of the environment variable LUCID_VERIFY.
  std::optional<int64_t> verify = kNone;
  /// Evaluated at each call: a plan serves calls for which it returns the same values.
  Dependencies depends_on = {};
};

namespace jit {
class PlanTable;
}

/// The plan cache of a compiled function, used by Compiled. Any number of threads may call it concurrently.
class CompiledCalls {
 public:
  using Function = std::function<std::vector<Tensor>()>;

  explicit CompiledCalls(const CompileOptions& options);
  /// Runs the plan for these arguments, or `function`, which must use the same arguments.
  std::vector<Tensor> call(const CallArguments& arguments, const Function& function) const;
  CompileInfo info() const;
  std::string explain() const;
  /// Throws RuntimeError if no plan serves the call.
  std::string graph(const CallArguments& arguments) const;
  std::string plan(const CallArguments& arguments, bool timed) const;
  void clear() const;

 private:
  std::shared_ptr<jit::PlanTable> table_;
};

/// How the result of a compiled function is made from tensors.
template <typename Result>
struct ResultOf {
  static_assert(std::is_same_v<Result, Tensor>,
                "a compiled function returns nothing, a Tensor, a std::vector<Tensor>, or a tuple or pair of tensors");
  static std::vector<Tensor> tensors(const Tensor& result) { return {result}; }
  static Tensor from(std::vector<Tensor> results) { return std::move(results.front()); }
};
template <>
struct ResultOf<std::vector<Tensor>> {
  static std::vector<Tensor> tensors(std::vector<Tensor> results) { return results; }
  static std::vector<Tensor> from(std::vector<Tensor> results) { return results; }
};
template <typename... Tensors>
  requires(std::same_as<Tensors, Tensor> && ...)
struct ResultOf<std::tuple<Tensors...>> {
  static std::vector<Tensor> tensors(const std::tuple<Tensors...>& results) {
    return std::apply([](const auto&... each) { return std::vector<Tensor>{each...}; }, results);
  }
  static std::tuple<Tensors...> from(const std::vector<Tensor>& results) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return std::tuple<Tensors...>(results[i]...);
    }(std::index_sequence_for<Tensors...>());
  }
};
template <>
struct ResultOf<std::pair<Tensor, Tensor>> {
  static std::vector<Tensor> tensors(const std::pair<Tensor, Tensor>& both) { return {both.first, both.second}; }
  static std::pair<Tensor, Tensor> from(const std::vector<Tensor>& results) { return {results[0], results[1]}; }
};

/// A compiled function, as returned by compile(). Copies share their plans. Any number of threads may call it
/// concurrently, provided that the function itself allows that.
template <typename F>
class Compiled {
 public:
  Compiled(F function, const CompileOptions& options)
      : function_(std::move(function)), depends_on_(options.depends_on), calls_(options) {}

  /// Calls the function; see CallArguments for what it may take.
  template <typename... Arguments>
  auto operator()(const Arguments&... arguments) const {
    using Result = std::invoke_result_t<const F&, const Arguments&...>;
    if constexpr (std::is_void_v<Result>) {
      calls_.call(key_of(arguments...), [&]() -> std::vector<Tensor> {
        function_(arguments...);
        return {};
      });
    } else {
      return ResultOf<Result>::from(
          calls_.call(key_of(arguments...), [&] { return ResultOf<Result>::tensors(function_(arguments...)); }));
    }
  }

  /// Counts of cache hits, misses and compilations.
  CompileInfo cache_info() const { return calls_.info(); }
  /// A readable report: the plans, and why calls ran eagerly.
  std::string explain() const { return calls_.explain(); }
  /// The optimized graph of a call with these arguments, as text. Throws RuntimeError if no plan serves the call.
  template <typename... Arguments>
  std::string graph(const Arguments&... arguments) const {
    return calls_.graph(key_of(arguments...));
  }
  /// The steps of its plan, as text.
  template <typename... Arguments>
  std::string plan(const Arguments&... arguments) const {
    return calls_.plan(key_of(arguments...), /*timed=*/false);
  }
  /// The same with the time of each step, for which the plan runs once, without any effect.
  template <typename... Arguments>
  std::string timed_plan(const Arguments&... arguments) const {
    return calls_.plan(key_of(arguments...), /*timed=*/true);
  }
  /// Drops all plans. The next call is recorded again.
  void invalidate_cache() const { calls_.clear(); }

 private:
  template <typename... Arguments>
  CallArguments key_of(const Arguments&... arguments) const {
    CallArguments all;
    (all.add(arguments), ...);
    depends_on_.add_to(all);
    return all;
  }

  F function_;
  Dependencies depends_on_;
  CompiledCalls calls_;
};

/// Compiles a function: `const auto fast = lucid::compile([&](const Tensor& x) { return x.exp() * w; });`
///
/// The first call of a kind runs eagerly and is recorded; another thread compiles a plan from the recording. Later
/// calls of the kind run the plan once it is there. Their results are bitwise equal to those of the function. A plan
/// serves calls whose tensors have the same dtypes, shapes, strides and requires_grad, and whose other arguments are
/// equal.
///
/// Other tensors that the function uses are captured by handle. Each call reads and writes their current values, so
/// update them in place; a different handle is not noticed. Modules that it calls and optimizers whose steps it takes
/// may change: a plan serves calls for which they are as recorded. What else the function reads must be named by
/// CompileOptions::depends_on or stay the same, and its side effects other than on these are those of the recorded call
/// only. Functions that read elements of tensors have a plan for each way that they take.
template <typename F>
Compiled<std::decay_t<F>> compile(F&& function, const CompileOptions& options = {}) {
  return {std::forward<F>(function), options};
}

/// Waits until the plans of all calls recorded so far are compiled.
void wait_for_compiles();

}  // namespace lucid
#pragma GCC visibility pop
