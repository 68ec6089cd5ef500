#pragma once

#include <map>
#include <span>
#include <vector>

#include "schedule/group.h"
#include "schedule/kernel_writer.h"

namespace lucid {

/// The stride of an operand along one dimension of the iteration space. Strides 0 and 1 have dedicated instructions.
enum class Stride : uint8_t { kZero, kOne, kAny };

/// The fused pointwise and indexed nodes of one group, as expressions that kernels evaluate at points of an iteration
/// space. Dimensions that are contiguous in every operand are merged, so most kernels have one dimension.
class ElementTree {
 public:
  /// The expressions for `values` over a space of shape `shape`. `extra` are further accesses (results to be stored),
  /// which take part in merging. `order` lists the dimensions from the outermost to the innermost loop; the first
  /// `outer` of them are not merged with the others. If a node is indexed, no dimensions are merged.
  ElementTree(const IRGraph& graph, const std::map<ValueId, Layout>& layouts, const Group& group,
              std::span<const ValueId> values, DimsView shape, std::span<const MemoryOperand> extra, DimsView order,
              size_t outer = 0);

  /// The expression that reads `source` over its own shape.
  ElementTree(const IRGraph& graph, const MemoryOperand& source, std::span<const MemoryOperand> extra, DimsView order,
              size_t outer = 0);

  /// The merged sizes, and the number of them that came from the first `outer` dimensions.
  const Dims& sizes() const { return sizes_; }
  size_t outer_count() const { return outer_count_; }
  bool is_indexed() const { return indexed_; }

  /// What a tile is: unknown; one index along the first merged dimension; kLanes indices along the only dimension; a
  /// panel of kPanelColumns indices along the first of two dimensions.
  enum class Tiling : uint8_t { kUnknown, kFirstDimension, kVectors, kPanels };
  /// Declares the buffers. Must be called before anything else is emitted into the writer.
  void declare(KernelWriter& writer, Tiling tiling = Tiling::kUnknown);
  /// Declares that operands with the same strides as an extra access are used element by element.
  void declare_elements();
  /// Declares the tiles of the operands of indexed nodes. Must be called after everything was evaluated.
  void declare_indexed_tiles();

  /// One element, or kLanes adjacent elements along `lane_axis`.
  struct Point {
    std::vector<loop::Value> index;  // scalar i64 for each merged dimension; lane 0's index along lane_axis
    int64_t lane_axis = -1;          // -1: one element
    loop::Value mask;                // lanes that exist; empty for all
  };
  /// Computes the parts of the addresses that are constant along lane_axis, so that a following loop over lanes reuses
  /// them. Reads only the point's other indices.
  void hoist(const Point& point);
  /// Evaluates the first expression. The result has the value's compute dtype.
  loop::Value evaluate(const Point& point) { return evaluate_all(point, 1).front(); }
  /// Evaluates the first `count` expressions, by default all. Shared subexpressions are evaluated once.
  std::vector<loop::Value> evaluate_all(const Point& point, size_t count = SIZE_MAX);
  /// Prefetches the operands `rows` further along the first dimension, which may be out of bounds.
  void prefetch(const Point& point, int64_t rows);
  /// Stores to extra access `which`, converting from the compute dtype.
  void store(size_t which, const Point& point, loop::Value value);
  /// The stride of extra access `which` along a merged dimension.
  Stride extra_stride(size_t which, size_t dimension) const {
    return stride_of(operands_[extra_begin_ + which], dimension);
  }
  /// True if every operand that is read has stride 0 or 1 along the dimension.
  bool reads_adjacent(size_t dimension) const;

  /// A rough count of instructions per element, for splitting work.
  double cost() const { return cost_; }

 private:
  struct Access {
    MemoryOperand memory;
    Dims strides;  // along each merged dimension
    loop::BufferRef buffer;
    std::vector<loop::Value> stride_values;  // run-time values, for strides other than 0 and 1
    bool follows_point = true;               // for indexed inputs: the first index is always the point's
  };
  class NodeContext;

  static Stride stride_of(const Access& access, size_t dimension) {
    const SymInt stride = access.strides[dimension];
    return stride == 0 ? Stride::kZero : stride == 1 ? Stride::kOne : Stride::kAny;
  }
  void add_extra(std::span<const MemoryOperand> extra, DimsView shape);
  void merge_dimensions(DimsView shape, DimsView order, size_t outer);
  TileSpan tile_of(const Access& access) const;
  TileSpan panel_of(const Access& access) const;
  loop::Value base_address(Access& access, const Point& point);
  loop::Value load(Access& access, const Point& point);
  loop::Value evaluate_node(size_t node, const Point& point, std::map<ValueId, loop::Value>& known);
  loop::Value operand(const IROperand& operand, Dtype wanted, const Point& point,
                      std::map<ValueId, loop::Value>& known);

  const IRGraph& graph_;
  std::map<ValueId, size_t> producers_;  // nodes of the group, by the value they compute
  std::vector<ValueId> values_;
  Dims sizes_;
  size_t outer_count_ = 0;
  /// The merged dimension of each axis, if there are indexed nodes.
  Dims positions_;
  bool indexed_ = false;
  bool has_checks_ = false;
  double cost_ = 0;
  std::vector<Access> operands_;  // reads, then the extra accesses
  size_t extra_begin_ = 0;
  std::map<ValueId, size_t> reads_;           // leaf value -> access
  std::map<ValueId, Access> indexed_inputs_;  // for indexed nodes: strides along the operand's own axes
  std::map<const IRNode*, std::vector<loop::Value>> numbers_;  // run-time numbers of indexed nodes
  std::map<const IROperand*, loop::Value> constants_;
  KernelWriter* writer_ = nullptr;
  Tiling tiling_ = Tiling::kUnknown;
};

/// Writes the kernel that stores each value of a tree to its extra access at every point of the space.
void write_elementwise(Schedule& schedule, ElementTree& tree, const std::string& name);

}  // namespace lucid
