#pragma once

#include <string>
#include <vector>

#include "passes/pass.h"

namespace lucid {

struct PassOptions {
  /// Names of passes to leave out, beside those that LUCID_DISABLE_PASSES names.
  std::vector<std::string> disabled;
  /// Whether the graph is verified after each pass. It takes about as long as the passes, far less than generating
  /// code.
  bool verify = true;
};

/// What one pass did.
struct PassRun {
  std::string name;
  double microseconds = 0;
  size_t nodes_before = 0;
  size_t nodes_after = 0;
  bool changed = false;
};

/// What each pass did that ran, in order.
struct PassReport {
  std::vector<PassRun> runs;
  double microseconds() const;
};

/// A table of the runs, a line each.
std::string to_text(const PassReport& report);

/// Runs passes over a graph one after another: the standard ones (pipeline.h), or any others. With LUCID_LOG=passes,
/// logs the lines that each one took away and put in. Throws ValueError for a disabled name that no pass has, and
/// InternalError naming the pass that left a graph which does not verify.
PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassList& passes, const PassOptions& options = {});

/// The same with the standard passes for a graph through which no gradient is still to be taken.
PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassOptions& options = {});

/// How one text differs from another, as the log shows it: lines gone after "- ", lines come after "+ ". Lines in both
/// must stand in the same order, as nodes do, and be different from each other.
std::string changed_lines(const std::string& before, const std::string& after);

}  // namespace lucid
