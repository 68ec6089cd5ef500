#pragma once

#include <map>
#include <span>
#include <vector>

#include "schedule/group.h"
#include "schedule/kernel_writer.h"

namespace lucid {

/// How an operand's address moves along one dimension of the iteration space: the two cases that have instructions of
/// their own, and the rest.
enum class Step : uint8_t { kZero, kOne, kAny };

/// The fused pointwise and indexed nodes of one group, as an expression that kernels evaluate at points of an iteration
/// space. Dimensions through which every operand runs as if they were one are merged, so most kernels have one
/// dimension.
class ElementTree {
 public:
  /// The expressions for `values` over a space of shape `shape`. `extra` are further accesses (results to be stored),
  /// which take part in merging. `order` lists the dimensions from the outermost to the innermost loop; the first
  /// `outer` of them are not merged with the others. Indexed expressions keep every dimension where it is.
  ElementTree(const IRGraph& graph, const std::map<ValueId, Layout>& layouts, const Group& group,
              std::span<const ValueId> values, DimsView shape, std::span<const MemoryOperand> extra, DimsView order,
              size_t outer = 0);

  /// The expression that only reads `source`, over its own shape.
  ElementTree(const IRGraph& graph, const MemoryOperand& source, std::span<const MemoryOperand> extra, DimsView order,
              size_t outer = 0);

  /// The merged sizes, and how many of them came from the first `outer` dimensions.
  const Dims& sizes() const { return sizes_; }
  size_t outer_count() const { return outer_count_; }
  bool is_indexed() const { return indexed_; }

  /// What a unit of work is: anything; an index along the first merged dimension; of the only one, kLanes of them; a
  /// panel of kPanelColumns of the first of two.
  enum class Units : uint8_t { kUnknown, kFirstDimension, kVectors, kPanels };
  /// Declares the buffers. Must come before anything else is emitted into the writer.
  void declare(KernelWriter& writer, Units units = Units::kUnknown);
  /// Says of the operands that lie as the extra accesses do that they are used element by element.
  void declare_elements();
  /// Declares what a unit touches of the operands of indexed nodes, after everything was evaluated.
  void declare_indexed_units();

  /// One element, or kLanes neighbours along `lane_axis`.
  struct Point {
    std::vector<loop::Value> index;  // scalar i64 for each merged dimension; along lane_axis that of lane 0
    int64_t lane_axis = -1;          // -1: one element
    loop::Value mask;                // lanes that exist; empty for all
  };
  /// Computes what evaluate() and store() need of the address that does not change along lane_axis, so that a loop over
  /// lanes that follows finds it ready. Only the point's other indices are looked at.
  void hoist(const Point& point);
  /// Evaluates the first expression. The result has the compute dtype of the value.
  loop::Value evaluate(const Point& point) { return evaluate_all(point, 1).front(); }
  /// Evaluates the first `count` expressions, or all, each part that they share once.
  std::vector<loop::Value> evaluate_all(const Point& point, size_t count = SIZE_MAX);
  /// Fetches what the operands have `rows` further along the first dimension; whether it exists does not matter.
  void prefetch(const Point& point, int64_t rows);
  /// Stores to extra access number `which`, converting from the compute dtype.
  void store(size_t which, const Point& point, loop::Value value);
  /// How extra access `which`, or the operands before it, move along a merged dimension.
  Step extra_step(size_t which, size_t dimension) const { return step(operands_[extra_begin_ + which], dimension); }
  /// True when every operand read moves by 0 or 1 along the dimension.
  bool reads_adjacent(size_t dimension) const;

  /// A rough count of instructions for each element, for splitting work.
  double cost() const { return cost_; }

 private:
  struct Access {
    MemoryOperand memory;
    Dims strides;  // along each merged dimension
    loop::BufferRef buffer;
    std::vector<loop::Value> stride_values;  // run-time strides, made when first asked for
    bool follows = true;                     // of an indexed input: its first index is always that of the point
  };
  class NodeContext;

  static Step step(const Access& access, size_t dimension) {
    const int64_t stride = access.strides[dimension];
    return stride == 0 ? Step::kZero : stride == 1 ? Step::kOne : Step::kAny;
  }
  void add_extra(std::span<const MemoryOperand> extra, DimsView shape);
  void merge_dimensions(DimsView shape, DimsView order, size_t outer);
  UnitSpan unit_of(const Access& access) const;
  UnitSpan panel_of(const Access& access) const;
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
  /// Where each axis is among the dimensions, if indexed nodes ask for it.
  Dims positions_;
  bool indexed_ = false;
  bool has_checks_ = false;
  double cost_ = 0;
  std::vector<Access> operands_;  // reads, then the extra accesses
  size_t extra_begin_ = 0;
  std::map<ValueId, size_t> reads_;                            // leaf value -> access
  std::map<ValueId, Access> indexed_inputs_;                   // of indexed nodes: strides along the operand's own axes
  std::map<const IRNode*, std::vector<loop::Value>> numbers_;  // run-time numbers that indexed nodes asked for
  std::map<const IROperand*, loop::Value> constants_;
  KernelWriter* writer_ = nullptr;
  Units units_ = Units::kUnknown;
};

/// 0, 1, 2, ...: loops nested as the shape is written.
Dims natural_order(int64_t rank);

/// Writes the kernel that stores each value of a tree to its extra access, at every point of the space.
void write_elementwise(Schedule& schedule, ElementTree& tree, const std::string& name);

}  // namespace lucid
