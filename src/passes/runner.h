#pragma once

#include <string>
#include <vector>

#include "passes/pass.h"
#include "passes/pass_list.h"

namespace lucid {

struct PassOptions {
  /// Names of passes to skip, in addition to LUCID_DISABLE_PASSES.
  std::vector<std::string> disabled;
  /// Whether the graph is verified after each pass. This takes about as long as the passes, and far less than code
  /// generation.
  bool verify = true;
};

/// Runs passes over a graph in order: the standard ones (pipeline.h) or any others. With LUCID_LOG=passes, logs the
/// lines that each pass removed and added. Throws ValueError for an unknown disabled name, and InternalError naming the
/// pass if the graph does not verify after it.
PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassList& passes, const PassOptions& options = {});

/// The same with the standard passes.
PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassOptions& options = {});

}  // namespace lucid
