#pragma once

#include <map>

#include "jit/trace.h"
#include "jit/traced_sizes.h"

namespace lucid::jit {

/// An input of the plan of a call: a handle's elements, the whole memory of a cell, a constant, or a traced number as a
/// tensor without dimensions.
struct GraphInput {
  enum class Kind : uint8_t { kHandle, kMemory, kConstant, kNumber };
  Kind kind = Kind::kHandle;
  ValueId id = -1;
  /// kHandle: index of the handle, arguments first. kMemory: index of a handle whose memory begins with the cell's.
  size_t handle = 0;
  /// kConstant only.
  Ref<Storage> constant;
  /// kNumber only: which one, from 0, and its dtype.
  size_t number = 0;
  Dtype dtype = Dtype::kF64;
  Geometry geometry;

  bool has_handle() const { return kind == Kind::kHandle || kind == Kind::kMemory; }
};

/// A cell's memory after the call, as one contiguous value.
struct OutputCell {
  int32_t cell = -1;
  SymInt bytes = 0;
  Device device;
};

/// The purely functional graph of a call, and the bindings of its inputs and outputs to cells.
struct CallGraph {
  IRGraph graph;
  std::vector<GraphInput> inputs;
  /// In the order of the graph's outputs: first the cells of CallRecord::wanted, then the new contents of `written`.
  std::vector<OutputCell> outputs;
  /// The cells from outside that the call wrote, each as the index of a handle on it; in the order of the last outputs.
  std::vector<size_t> written;
  /// Why there is no graph; empty if there is one.
  std::string obstacle;
};

/// A recorded call as a function of tensors: what is exported to other formats, and what transformations take.
struct FunctionGraph {
  /// Its inputs are the arguments of the call, its outputs the results, each with its own shape. The updates are the
  /// new values of arguments and captured tensors that it wrote.
  IRGraph graph;
  /// The value of each handle: the arguments, then the captured tensors. Tensors that are one have one value.
  std::vector<ValueId> handles;
  std::vector<std::pair<ValueId, Ref<Storage>>> constants;
  /// Null if no size is traced.
  std::shared_ptr<TracedSizes> sizes;
  /// Why there is no graph; empty if there is one.
  std::string obstacle;
};

/// The properties of a handle of the recorded call that the graph depends on.
struct HandleRecord {
  Dtype dtype = Dtype::kF32;
  Device device;
  /// Index of its cell in the trace; -1 if the call did not use the cell.
  int32_t cell = -1;
  /// Relative to the cell of the trace.
  Geometry geometry;
  /// Where the memory of the handle's own cell begins in that of the trace. See TracingContext::shift_of().
  int64_t shift = 0;
  bool is_parameter = false;
  /// Its contents are new at each call.
  bool is_fresh = false;
  /// It is the state of a generator, which a run advances before the plan runs.
  bool is_advanced = false;
};

/// A tensor that the call returned: a view of a cell or, if it is on none that the call used, one of the handles.
struct ResultRecord {
  TracedView view;
  size_t handle = 0;
};

/// A cell that the call used.
struct CellRecord {
  bool is_outside = false;
  /// See TracedCell::constant.
  Ref<Storage> constant;
  Dtype dtype = Dtype::kF32;
  SymInt bytes = 0;
  Device device;
};

/// A finished recording, from which the graph is built. It holds no tensor, so any thread may use and destroy it while
/// the caller writes and frees the arguments of the call.
struct CallRecord {
  std::string name;
  std::shared_ptr<const std::vector<Event>> events;
  std::vector<CellRecord> cells;
  /// The handles through which a run finds the cells from outside: the call's arguments first, then its state.
  std::vector<HandleRecord> handles;
  size_t arguments = 0;
  std::vector<ResultRecord> results;
  /// The cells whose memory is needed after the call.
  std::vector<int32_t> wanted;
  /// What the last of these held, if the call read them. A run ends when it finds other contents.
  std::vector<std::string> expected;
  /// Null if no size is traced.
  std::shared_ptr<TracedSizes> sizes;
  /// Whether CallPlan::recorded is wanted.
  bool keeps_graph = false;
};

/// Builds the graph of a recording for a plan: each cell becomes a chain of values, one for each write.
CallGraph build_graph(const CallRecord& record);
/// The same as a function of tensors. The call may not write to part of the memory of a tensor from outside.
FunctionGraph build_function(const CallRecord& record);

}  // namespace lucid::jit
