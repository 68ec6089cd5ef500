// What a plan table says about its plans.

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "base/options.h"
#include "jit/plan_table.h"
#include "runtime/gpu_plan.h"

namespace lucid::jit {
namespace {

constexpr size_t kMaxEvents = 32;
/// How many kernels and conditions of a plan explain() lists.
constexpr size_t kMaxListed = 24;

/// 1234567 as "1,234,567".
std::string with_commas(size_t number) {
  std::string digits = std::to_string(number);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

void append_list(std::string& text, std::string_view word, const std::vector<std::string>& items) {
  for (size_t i = 0; i < std::min(items.size(), kMaxListed); ++i) text += fmt::format("\n    {}{}", word, items[i]);
  if (items.size() > kMaxListed) text += fmt::format("\n    and {} more", items.size() - kMaxListed);
}

void append_plan(std::string& text, const TablePlan& plan, size_t number) {
  const Program& program = *plan.program;
  text += fmt::format("\n  plan {}: {} nodes, {} kernels, {} bytes of memory while it runs, {} guards, {} hits", number,
                      program.graph().nodes.size(), program.plan().kernel_count(),
                      with_commas(program.plan().arena_bytes), plan.guards, plan.hits());
  if (const GpuPlan* gpu = program.plan().gpu())
    text += fmt::format("\n    runs on {}: {}", to_string(program.plan().device), gpu->to_text());
  if (program.reads_values())
    text += fmt::format("\n    serves calls that read the same values of tensors ({} reads)",
                        program.recorded().branch.size());
  for (const std::string& argument : plan.varying) text += fmt::format("\n    {} may vary", argument);
  for (const std::string& source : plan.sources) text += "\n    uses " + source;
  if (const PlanFamily* family = program.family()) {
    const PlanFamily::Counts counts = family->count();
    text += fmt::format("\n    has been used for {} sizes, with {} lists of kernels", counts.plans, counts.templates);
    append_list(text, "serves sizes with ", family->trace().conditions());
  }
  append_list(text, "runs ", program.plan().kernel_names());
  append_list(text, "then calls ", plan.replayed);
  for (const BackwardPlanInfo& backward : program.recorded().outcome->gradients().backward_plans())
    text += "\n    " + to_text(backward);
}

}  // namespace

std::string PlanTable::explain() {
  const PlanCounters counted = counters();
  const std::vector<Ref<TablePlan>> made = plans();
  std::string text =
      fmt::format("{}: {} of at most {} plans\n  {} hits, {} misses, {} compiles, {} eager calls", name_, filled(),
                  max_plans_, counted.hits, counted.misses, counted.compiles, counted.eager_calls);
  if (counted.piecewise_calls > 0) text += fmt::format(", {} calls in pieces", counted.piecewise_calls);
  for (size_t i = 0; i < made.size(); ++i) append_plan(text, *made[i], i + 1);
  const std::lock_guard lock(mutex());
  for (const std::string& event : events_) text += "\n  " + event;
  return text;
}

std::string PlanTable::explain_call(const CallKey& key, const TablePlan* found, const std::string& difference) {
  const std::vector<Ref<TablePlan>> made = plans();
  for (size_t i = 0; i < made.size(); ++i)
    if (made[i].get() == found) return fmt::format("runs plan {}", i + 1);
  if (const std::string why = reason(key); !why.empty()) return "runs eagerly: " + why;
  if (!newest(key)) return "would be recorded: there is no plan for arguments of these types";
  return "would be recorded again: " + difference;
}

void PlanTable::log_sampling(const std::string& difference) {
  log_event(fmt::format("records only some of the calls that no plan matches, because few plans are used again: {}",
                        difference));
}

void PlanTable::log_event(const std::string& text) {
  const std::lock_guard lock(mutex());
  add_event(text);
}

void PlanTable::log_eager_call(const std::string& reason) {
  const std::lock_guard lock(mutex());
  ++counters_.eager_calls;
  add_event("runs eagerly: " + reason);
}

void PlanTable::add_event(const std::string& text) {
  if (options().logs(kLogTopic)) log(kLogTopic, name_ + ": " + text);
  if (std::ranges::find(events_, text) != events_.end()) return;
  if (events_.size() == kMaxEvents) events_.erase(events_.begin());
  events_.push_back(text);
}

}  // namespace lucid::jit
