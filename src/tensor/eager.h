#pragma once

#include <span>

#include "ir/emitter.h"

namespace lucid {

/// Executes ops immediately, on tensors. Results of view ops share their operand's memory. Ops on tensors that require
/// grad are recorded if gradients are enabled.
class EagerEmitter : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override;

  /// Executes a composite by executing its parts, so that each part is recorded, or is a view.
  Values decompose(const Call& call);

 private:
  /// Executes the call with 0-d tensors in place of numbers for operands that must be tensors.
  Values emit_with_tensors(const Call& call);
  Value emit_view(const Call& call);
  Values record(const Call& call);
};

EagerEmitter& eager();

}  // namespace lucid
