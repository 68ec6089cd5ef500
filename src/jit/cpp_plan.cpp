#include "jit/cpp_plan.h"

#include <algorithm>
#include <mutex>

#include "base/options.h"

namespace lucid::jit {

CppTable::CppTable(const CompileOptions& options)
    : plans_(PlanTable::make("function", options.max_cache_entries, options.wait,
                             options.verify.value_or(lucid::options().verify), options.dynamic)),
      depends_on_(options.depends_on) {}

bool CppTable::add_keeping(const CallKey& key) {
  const std::span<const int64_t> numbers = key.numbers();
  const std::lock_guard lock(mutex());
  if (keeping_.size() >= kMaxRemembered) keeping_.clear();
  return keeping_.emplace(key.structure(), std::vector<int64_t>(numbers.begin(), numbers.end())).second;
}

// ---- Compiled functions inside others.

namespace {

/// What depends_on of a function returned when it was called inside a recorded call.
class NestedValues : public Dependency {
 public:
  explicit NestedValues(const std::shared_ptr<CppTable>& table) : table_(table) { table->depends_on().add_to(values_); }

  bool holds() const override {
    const std::shared_ptr<CppTable> table = table_.lock();
    if (!table) return false;
    CallArguments now;
    table->depends_on().add_to(now);
    const auto impl = [](const Tensor& tensor) { return tensor.impl(); };
    return now.values() == values_.values() && std::ranges::equal(now.tensors(), values_.tensors(), {}, impl, impl);
  }
  bool is_gone() const override { return table_.expired(); }
  std::string name() const override { return "what a compiled function depends on"; }

 private:
  const std::weak_ptr<CppTable> table_;
  CallArguments values_;
};

}  // namespace

void on_nested_call(const std::shared_ptr<CppTable>& table) {
  if (!table->depends_on().empty()) on_dependency(table.get(), [&] { return std::make_shared<NestedValues>(table); });
}

const Dependency* CppPlan::changed() const {
  for (const auto& dependency : dependencies_)
    if (!dependency->holds()) return dependency.get();
  return nullptr;
}

bool CppPlan::may_serve(std::span<TensorImpl* const> tensors) const {
  if (!is_ambiguous() || std::ranges::equal(tensors, recorded_)) return true;
  std::vector<TensorRef> gone;  // destroyed after the lock is released
  const std::lock_guard lock(mutex());
  bool is_ambiguous = false, serves = true;
  for (size_t i = 0; i < ambiguous_.size(); ++i) {
    // The function cannot use a tensor that nobody else refers to.
    if (ambiguous_[i] && ambiguous_[i]->use_count() == 1) gone.push_back(std::exchange(ambiguous_[i], nullptr));
    is_ambiguous |= static_cast<bool>(ambiguous_[i]);
    serves &= !ambiguous_[i] || ambiguous_[i].get() == tensors[i];
  }
  is_ambiguous_.store(is_ambiguous, std::memory_order_release);
  return serves;
}

void CppPlan::guard_arguments(std::span<TensorImpl* const> recorded, std::vector<TensorRef> arguments) {
  const std::lock_guard lock(mutex());
  recorded_.assign(recorded.begin(), recorded.end());
  ambiguous_ = std::move(arguments);
  is_ambiguous_ = true;
}

std::vector<TensorRef> CppPlan::ambiguous_arguments() const {
  const std::lock_guard lock(mutex());
  return ambiguous_;
}

void CppPlan::rule_out(std::span<const TensorRef> arguments, std::span<const TensorRef> captured) const {
  std::vector<TensorRef> gone;  // destroyed after the lock is released
  const std::lock_guard lock(mutex());
  for (TensorRef& argument : ambiguous_) {
    const auto is_same = [&](const TensorRef& other) { return other == argument; };
    if (argument && std::ranges::none_of(arguments, is_same) && std::ranges::none_of(captured, is_same))
      gone.push_back(std::exchange(argument, nullptr));
  }
}

bool CppPlan::find_numbers(std::span<const Number> arguments, std::vector<Scalar>& numbers) const {
  if (!numbers_.trace) return true;
  std::optional<std::vector<Scalar>> found = numbers_.trace->evaluate(arguments, numbers_.given);
  if (!found) return false;
  numbers = std::move(*found);
  return true;
}

void CppPlan::ran() const {
  for (const auto& dependency : dependencies_) dependency->ran();
}

}  // namespace lucid::jit
