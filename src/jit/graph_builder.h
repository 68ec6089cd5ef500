#pragma once

#include <map>

#include "jit/trace.h"

namespace lucid::jit {

/// What the graph of a call reads when it runs, in the order of the plan's inputs.
struct GraphInput {
  enum class Kind : uint8_t { kHandle, kMemory, kConstant };
  Kind kind = Kind::kHandle;
  ValueId id = -1;
  /// kHandle: which of the call's handles, arguments first. kMemory: the handle whose whole memory it is.
  size_t handle = 0;
  /// kConstant.
  Ref<Storage> constant;
  Geometry geometry;
};

/// A cell's memory after the call, as one contiguous value.
struct KeptCell {
  int32_t cell = -1;
  size_t bytes = 0;
};

/// The graph of a call, purely functional, and how it is connected to the world.
struct CallGraph {
  IRGraph graph;
  std::vector<GraphInput> inputs;
  /// In the order of the graph's outputs: first what the caller asked for, then the new contents of `written`.
  std::vector<KeptCell> kept;
  /// Cells from outside that the call wrote, each by a handle on it; in the order of the last outputs.
  std::vector<size_t> written;
  /// Why there is none; empty if there is.
  std::string obstacle;
};

/// A handle of the recorded call, as far as its graph depends on it.
struct HandleRecord {
  /// The recorded cell that it is on; -1 if the call did not touch that.
  int32_t cell = -1;
  Geometry geometry;
  bool is_parameter = false;
  /// It has other contents at each call.
  bool is_fresh = false;
};

/// A cell that the call touched.
struct CellRecord {
  bool is_outside = false;
  /// As TracedCell's.
  Ref<Storage> constant;
  Dtype dtype = Dtype::kF32;
  size_t bytes = 0;
};

/// What the graph of a call is made from. It holds no tensor, so that any thread may use it and drop it, while the
/// caller writes and frees what the call was given.
struct CallRecord {
  std::string name;
  std::shared_ptr<const std::vector<Event>> events;
  std::vector<CellRecord> cells;
  /// Through these cells from outside are found again when the graph runs: the call's arguments first, then its state.
  std::vector<HandleRecord> handles;
  size_t arguments = 0;
  /// The cells whose memory the caller needs afterwards.
  std::vector<int32_t> wanted;
};

/// Makes a graph of a recording: cells become chains of values, one for each write.
CallGraph build_graph(const CallRecord& record);

}  // namespace lucid::jit
