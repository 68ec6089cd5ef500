#pragma once

#include <string>
#include <vector>

#include "passes/pass.h"
#include "passes/pass_list.h"

namespace lucid {

struct PassOptions {
  /// Names of passes to leave out, beside those that LUCID_DISABLE_PASSES names.
  std::vector<std::string> disabled;
  /// Whether the graph is verified after each pass. It takes about as long as the passes, far less than generating
  /// code.
  bool verify = true;
};

/// Runs passes over a graph one after another: the standard ones (pipeline.h), or any others. With LUCID_LOG=passes,
/// logs the lines that each one took away and put in. Throws ValueError for a disabled name that no pass has, and
/// InternalError naming the pass that left a graph which does not verify.
PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassList& passes, const PassOptions& options = {});

/// The same with the standard passes for a graph through which no gradient is still to be taken.
PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassOptions& options = {});

}  // namespace lucid
