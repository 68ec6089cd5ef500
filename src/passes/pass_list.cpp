#include "passes/pass_list.h"

#include <chrono>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/split.h"

namespace lucid {
namespace {

constexpr std::string_view kTopic = "passes";

}  // namespace

double PassReport::microseconds() const {
  double total = 0;
  for (const PassRun& run : runs) total += run.microseconds;
  return total;
}

std::string to_text(const PassReport& report) {
  std::string text;
  for (const PassRun& run : report.runs)
    text += fmt::format("{:<24} {:>10.1f} us  {:>6} -> {:<6} {}{}\n", run.name, run.microseconds, run.nodes_before,
                        run.nodes_after, run.counted, run.changed ? "" : "  unchanged");
  return text;
}

std::string changed_lines(const std::string& before, const std::string& after) {
  const std::vector<std::string_view> old_lines = split(before, '\n');
  const std::vector<std::string_view> new_lines = split(after, '\n');
  const std::set<std::string_view> kept_from(old_lines.begin(), old_lines.end());
  const std::set<std::string_view> kept_to(new_lines.begin(), new_lines.end());
  std::string text;
  auto next = new_lines.begin();
  const auto add_new = [&] {
    for (; next != new_lines.end() && !kept_from.contains(*next); ++next) text += fmt::format("+ {}\n", *next);
  };
  for (const std::string_view line : old_lines) {
    if (!kept_to.contains(line)) {
      text += fmt::format("- {}\n", line);
      continue;
    }
    add_new();
    if (next != new_lines.end()) ++next;
  }
  add_new();
  return text;
}

PassRunner::PassRunner(const PassSubject& subject, PassNames disabled, bool verify)
    : subject_(subject), disabled_(std::move(disabled)), verifies_(verify), logs_(options().logs(kTopic)) {}

void PassRunner::run(std::string_view name, const std::function<bool()>& pass) {
  if (!disabled_.contains(name)) run(name, pass, logs_);
}

void PassRunner::run_required(std::string_view name, const std::function<bool()>& pass) { run(name, pass, false); }

void PassRunner::run(std::string_view name, const std::function<bool()>& pass, bool logs) {
  PassRun run{.name = std::string(name), .nodes_before = subject_.size()};
  const std::string before = logs ? subject_.text() : std::string();
  const auto start = std::chrono::steady_clock::now();
  run.changed = pass();
  run.microseconds = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  run.nodes_after = subject_.size();
  run.counted = subject_.counted();
  if (logs && run.changed)
    log(kTopic, fmt::format("{} on {}:\n{}", name, subject_.name(), changed_lines(before, subject_.text())));
  report_.runs.push_back(std::move(run));
  if (!verifies_ || !report_.runs.back().changed) return;
  try {
    subject_.verify();
  } catch (const InternalError& error) {
    throw InternalError("after {}: {}", name, error.what());
  }
}

}  // namespace lucid
