#pragma once

#include "base/ref_list.h"
#include "base/small_vector.h"
#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// A call on handles that no other thread can change, for work that gives up the caller's lock (see base/blocking.h).
class OwnCall {
 public:
  explicit OwnCall(const Call& call, std::span<TensorImpl* const> destinations = {})
      : op_(call.op()), attributes_(call.attributes()) {
    for (const Operand& operand : call.operands())
      operands_.push_back(operand.is_value() ? Operand(own(*tensor_of(operand))) : operand);
    for (const TensorImpl* destination : destinations) destinations_.push_back(own(*destination));
  }

  Call call() const { return {op_, {operands_.data(), operands_.size()}, attributes_}; }
  std::span<TensorImpl* const> destinations() const { return {destinations_.data(), destinations_.size()}; }
  void replace_operand(size_t i, const Value& value) {
    held_.push_back(TensorRef(tensor_of(value)));
    operands_[i] = Operand(value);
  }

 private:
  TensorImpl* own(const TensorImpl& tensor) {
    held_.push_back(alias_of(tensor));
    return held_.pointers().back();
  }

  const Op& op_;
  const Attributes& attributes_;
  SmallVector<Operand, 12> operands_;
  SmallVector<TensorImpl*, 6> destinations_;
  RefList<TensorImpl, 18> held_;
};

}  // namespace lucid
