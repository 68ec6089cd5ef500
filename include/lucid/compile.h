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
  /// Plans in the cache, each branch counted.
  size_t entries = 0;
  /// Calls that no plan served, but whose ops all ran in plans.
  int64_t piecewise_calls = 0;
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
  bool empty() const { return !add_; }

 private:
  std::function<void(CallArguments&)> add_;
};

/// Options of compile().
struct CompileOptions {
  /// Maximum number of plans in the cache; the oldest is evicted first. Plans for the branches of one call on values of
  /// tensors count as one.
  size_t max_cache_entries = 8;
  /// Whether calls wait for plans that are being compiled; otherwise they run eagerly meanwhile. The environment
  /// variable LUCID_COMPILE_WAIT=1 makes all calls wait.
  bool wait = false;
  /// Compares every n-th call that runs a plan with the function, bit for bit, and throws RuntimeError if they differ.
  /// 0 compares none; kNone is the value of the environment variable LUCID_VERIFY.
  std::optional<int64_t> verify = kNone;
  /// Evaluated at each call: a plan serves calls for which it returns the same values.
  Dependencies depends_on = {};
  /// Which dimensions of tensors are symbolic, so that one plan serves all their sizes. kNone: those whose sizes have
  /// differed between calls. true: all, from the second size on. false: none.
  std::optional<bool> dynamic = kNone;
};

namespace jit {
class CppTable;
}

/// The plan cache of a compiled function, used by Compiled. Any number of threads may call it concurrently.
class CompiledCalls {
 public:
  /// Calls the function with the traced arguments, or with those of the call if null.
  using Function = std::function<std::vector<Tensor>(const TracedArguments*)>;

  explicit CompiledCalls(const CompileOptions& options);
  /// Runs the plan for these arguments, or `function`, which must use the same arguments.
  std::vector<Tensor> call(CallArguments arguments, const Function& function) const;
  CompileInfo info() const;
  std::string explain() const;
  /// Throws RuntimeError if no plan serves the call.
  std::string graph(CallArguments arguments) const;
  std::string plan(CallArguments arguments, bool timed) const;
  void clear() const;

 private:
  std::shared_ptr<jit::CppTable> table_;
};

/// How the result of a compiled function is made from tensors.
template <typename Result>
struct ResultOf {
  static_assert(std::is_base_of_v<Tensor, Result>,
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

/// The parameter types of a function; empty if its call operator is overloaded or a template.
template <typename F>
struct ParametersOf {
  using Types = std::tuple<>;
};
template <typename F>
  requires requires { &F::operator(); }
struct ParametersOf<F> : ParametersOf<decltype(&F::operator())> {};
template <typename Result, bool is_noexcept, typename... All>
struct ParametersOf<Result (*)(All...) noexcept(is_noexcept)> {
  using Types = std::tuple<std::remove_cvref_t<All>...>;
};
template <typename F, typename Result, bool is_noexcept, typename... All>
struct ParametersOf<Result (F::*)(All...) const noexcept(is_noexcept)> : ParametersOf<Result (*)(All...)> {};

/// Converts an argument to its parameter's type where that matters: to a Number or SymInt, so that it may vary, and
/// from a class derived from Tensor, such as that of x[0], to a plain Tensor.
template <typename F, size_t i, typename T>
decltype(auto) as_parameter(const T& argument) {
  using Types = typename ParametersOf<F>::Types;
  if constexpr (i < std::tuple_size_v<Types>) {
    using Parameter = std::tuple_element_t<i, Types>;
    if constexpr ((std::same_as<Parameter, Number> || std::same_as<Parameter, SymInt>) && !std::same_as<T, Parameter>)
      return Parameter(argument);
    else if constexpr (std::same_as<Parameter, Tensor> && std::is_base_of_v<Tensor, T>)
      return static_cast<const Tensor&>(argument);
    else
      return (argument);
  } else {
    return (argument);
  }
}

/// Calls a compiled function whose parameter types are known, so that its arguments may be in braces: `f(x, {y, z})`.
template <typename Self, typename Parameters>
struct TypedCall {
  void operator()(TypedCall) const = delete;
};
template <typename Self, typename First, typename... Rest>
struct TypedCall<Self, std::tuple<First, Rest...>> {
  auto operator()(const First& first, const Rest&... rest) const {
    return static_cast<const Self&>(*this).call(first, rest...);
  }
};

/// A compiled function, as returned by compile(). Copies share their plans. Any number of threads may call it
/// concurrently, provided that the function itself allows that.
template <typename F>
class Compiled : public TypedCall<Compiled<F>, typename ParametersOf<F>::Types> {
 public:
  Compiled(F function, const CompileOptions& options) : function_(std::move(function)), calls_(options) {}

  using TypedCall<Compiled, typename ParametersOf<F>::Types>::operator();
  /// Calls the function; see CallArguments for what it may take.
  template <typename... Arguments>
  auto operator()(const Arguments&... arguments) const {
    return with_parameters([this](const auto&... each) { return this->call(each...); }, arguments...);
  }

  /// Counts of cache hits, misses and compilations.
  CompileInfo cache_info() const { return calls_.info(); }
  /// A readable report: the plans, and why calls ran eagerly.
  std::string explain() const { return calls_.explain(); }
  /// The optimized graph of a call with these arguments, as text. Throws RuntimeError if no plan serves the call.
  template <typename... Arguments>
  std::string graph(const Arguments&... arguments) const {
    return calls_.graph(key_with(arguments...));
  }
  /// The steps of its plan, as text.
  template <typename... Arguments>
  std::string plan(const Arguments&... arguments) const {
    return calls_.plan(key_with(arguments...), /*timed=*/false);
  }
  /// The same with the time of each step. The plan runs once, without side effects, to measure it.
  template <typename... Arguments>
  std::string timed_plan(const Arguments&... arguments) const {
    return calls_.plan(key_with(arguments...), /*timed=*/true);
  }
  /// Drops all plans. The next call is recorded again.
  void invalidate_cache() const { calls_.clear(); }

 private:
  friend TypedCall<Compiled, typename ParametersOf<F>::Types>;
  /// Calls a function with the arguments as parameters.
  template <typename Function, typename... Arguments>
  static auto with_parameters(const Function& function, const Arguments&... arguments) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return function(as_parameter<F, i>(arguments)...);
    }(std::index_sequence_for<Arguments...>());
  }
  template <typename... Arguments>
  auto call(const Arguments&... arguments) const {
    using Result = std::invoke_result_t<const F&, const Arguments&...>;
    const auto function = [&](const TracedArguments* traced) {
      if (!traced) return tensors_of<Result>(arguments...);
      TracedArguments::Reader reader(*traced);
      // Braces, because their order is fixed.
      const std::tuple<const Arguments&...> passed{reader.next(arguments)...};
      return std::apply([&](const Arguments&... each) { return tensors_of<Result>(each...); }, passed);
    };
    std::vector<Tensor> results = calls_.call(key_of(arguments...), function);
    if constexpr (!std::is_void_v<Result>) return ResultOf<Result>::from(std::move(results));
  }
  template <typename... Arguments>
  static CallArguments key_of(const Arguments&... arguments) {
    CallArguments all;
    (all.add_argument(arguments), ...);
    return all;
  }
  template <typename... Arguments>
  static CallArguments key_with(const Arguments&... arguments) {
    return with_parameters([](const auto&... each) { return key_of(each...); }, arguments...);
  }
  template <typename Result, typename... Arguments>
  std::vector<Tensor> tensors_of(const Arguments&... arguments) const {
    if constexpr (std::is_void_v<Result>) {
      function_(arguments...);
      return {};
    } else {
      return ResultOf<Result>::tensors(function_(arguments...));
    }
  }

  F function_;
  CompiledCalls calls_;
};

/// Compiles a function: `const auto fast = lucid::compile([&](const Tensor& x) { return x.exp() * w; });`
///
/// The first call with given dtypes and shapes runs eagerly and is recorded. A background thread compiles the recording
/// to a plan, and later calls run it once it is ready. Their results are bitwise equal to those of the function. A plan
/// serves calls whose tensors have the same dtypes, shapes, strides and requires_grad, and whose other arguments are
/// equal. Arguments of type Number and SymInt may vary, and so may sizes of tensors that have differed between calls,
/// as long as the function does not depend on their values. Sizes may vary only if the function has no side effects.
///
/// Other tensors and generators that the function uses are captured by handle. Each call reads and writes their current
/// values, so update them in place: assigning another tensor to a captured variable has no effect on a plan. A function
/// that keeps a tensor which it creates, for example in a captured variable, runs eagerly. Modules and optimizers that
/// the function uses are guarded, so they may change. Any other value that it reads must stay
/// constant or be returned by CompileOptions::depends_on. Other side effects, such as output, happen only in calls that
/// run eagerly. A function that branches on values of tensors has a plan for each branch. What other threads do during
/// a call is not recorded: the function must not start threads that write to tensors or read their values. A call that
/// uses a tensor that another thread made runs eagerly.
template <typename F>
Compiled<std::decay_t<F>> compile(F&& function, const CompileOptions& options = {}) {
  return {std::forward<F>(function), options};
}

/// Waits until the plans of all calls recorded so far are compiled.
void wait_for_compiles();

}  // namespace lucid
#pragma GCC visibility pop
