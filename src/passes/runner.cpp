#include "passes/runner.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "passes/pipeline.h"
#include "passes/plan_parts.h"

namespace lucid {
namespace {

constexpr std::string_view kTopic = "passes";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

/// The names that are switched off. A misspelt one would switch nothing off, so it is refused.
std::set<std::string, std::less<>> disabled_names(const PassList& passes, const PassOptions& options,
                                                  const Options& process) {
  std::set<std::string, std::less<>> known;
  for (const auto& pass : passes) known.insert(pass->name());
  for (const auto& pass : standard_passes(Gradients::kDone)) known.insert(pass->name());
  known.insert(std::begin(kPlanParts), std::end(kPlanParts));
  std::set<std::string, std::less<>> disabled;
  const auto add = [&](std::string_view source, std::string_view name) {
    if (!known.contains(name))
      throw ValueError("{} names {}, which is no pass; passes are {}", source, name, fmt::join(known, ", "));
    disabled.emplace(name);
  };
  for (const std::string& name : options.disabled) add("PassOptions::disabled", name);
  for (const std::string_view name : split(process.disable_passes, ',')) add("LUCID_DISABLE_PASSES", name);
  return disabled;
}

void verify_after(const std::string& pass, const IRGraph& graph, const ConstantPool& constants) {
  try {
    verify(graph);
    verify_constants(graph, constants);
  } catch (const InternalError& error) {
    throw InternalError("after {}: {}", pass, error.what());
  }
}

}  // namespace

double PassReport::microseconds() const {
  double total = 0;
  for (const PassRun& run : runs) total += run.microseconds;
  return total;
}

std::string to_text(const PassReport& report) {
  std::string text;
  for (const PassRun& run : report.runs)
    text += fmt::format("{:<24} {:>10.1f} us  {:>6} -> {:<6} nodes{}\n", run.name, run.microseconds, run.nodes_before,
                        run.nodes_after, run.changed ? "" : "  unchanged");
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

PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassList& passes, const PassOptions& options) {
  const Options process = lucid::options();
  const auto disabled = disabled_names(passes, options, process);
  const bool logs = process.logs(kTopic);
  PassReport report;
  for (const auto& pass : passes) {
    PassRun run{.name = pass->name(), .nodes_before = graph.nodes.size()};
    if (disabled.contains(run.name)) continue;
    const std::string before = logs ? to_text(graph) : std::string();
    const auto start = std::chrono::steady_clock::now();
    run.changed = pass->run(graph, constants);
    run.microseconds = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    run.nodes_after = graph.nodes.size();
    if (logs && run.changed)
      log(kTopic, fmt::format("{} on {}:\n{}", run.name, graph.name, changed_lines(before, to_text(graph))));
    if (options.verify && run.changed) verify_after(run.name, graph, constants);
    report.runs.push_back(std::move(run));
  }
  return report;
}

PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassOptions& options) {
  return run_passes(graph, constants, standard_passes(Gradients::kDone), options);
}

}  // namespace lucid
