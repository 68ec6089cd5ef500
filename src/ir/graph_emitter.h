#pragma once

#include "ir/emitter.h"
#include "ir/graph.h"

namespace lucid {

/// Appends nodes to a graph.
class GraphEmitter : public Emitter {
 public:
  explicit GraphEmitter(IRGraph& graph) : graph_(graph) {}
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override;
  Value value(ValueId id) const;
  static ValueId id_of(const Value& value) { return static_cast<GraphValue*>(value.get())->id(); }

 private:
  IRGraph& graph_;
};

}  // namespace lucid
