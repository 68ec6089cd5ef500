#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/ref.h"
#include "base/scalar.h"
#include "base/shape.h"

namespace lucid {

/// The operands and results of ops: a tensor in eager mode, a graph value during graph building. Rules see only its
/// type.
class ValueBase : public RefCounted {
 public:
  ValueBase(Dtype dtype, const Dims& shape, Device device) : dtype_(dtype), device_(device), shape_(shape) {}
  Dtype dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }
  Device device() const { return device_; }
  TensorType type() const { return {dtype_, shape_, device_}; }

 protected:
  Dtype dtype_;
  Device device_;
  Dims shape_;
};

/// A counted reference to a value, as used by rules. Empty if an optional operand is absent or a gradient is zero.
class Value {
 public:
  Value() = default;
  Value(Ref<ValueBase> value) : ref_(std::move(value)) {}  // NOLINT
  template <typename T>
    requires std::is_base_of_v<ValueBase, T>
  Value(Ref<T> value) : ref_(std::move(value)) {}  // NOLINT
  explicit operator bool() const { return static_cast<bool>(ref_); }
  ValueBase* get() const { return ref_.get(); }
  Dtype dtype() const { return ref_->dtype(); }
  const Dims& shape() const { return ref_->shape(); }
  Device device() const { return ref_->device(); }
  int64_t rank() const { return ref_->shape().rank(); }
  SymInt size(int64_t axis) const { return ref_->shape()[static_cast<size_t>(axis)]; }
  TensorType type() const { return ref_->type(); }
  const Ref<ValueBase>& ref() const { return ref_; }
  bool operator==(const Value&) const = default;

 private:
  Ref<ValueBase> ref_;
};

using Values = std::vector<Value>;

/// An argument in a tensor position: a value, a plain number, or nothing. Borrows the value, which must outlive the
/// call.
class Operand {
 public:
  Operand() = default;
  Operand(const Value& value) : value_(value.get()) {}                  // NOLINT
  Operand(const ValueBase* value) : value_(value) {}                    // NOLINT
  Operand(const Scalar& scalar) : scalar_(scalar), is_scalar_(true) {}  // NOLINT
  Operand(bool scalar) : Operand(Scalar(scalar)) {}                     // NOLINT
  Operand(int scalar) : Operand(Scalar(scalar)) {}                      // NOLINT
  Operand(int64_t scalar) : Operand(Scalar(scalar)) {}                  // NOLINT
  Operand(double scalar) : Operand(Scalar(scalar)) {}                   // NOLINT
  Operand(SymInt scalar) : Operand(Scalar(scalar)) {}                   // NOLINT

  bool present() const { return value_ != nullptr || is_scalar_; }
  bool is_scalar() const { return is_scalar_; }
  bool is_value() const { return value_ != nullptr; }
  const Scalar& scalar() const { return scalar_; }
  const ValueBase* value() const { return value_; }
  /// The dtype of the value, or the category of the number (kBool, kI64, kF64).
  Dtype dtype() const { return is_scalar_ ? scalar_.kind() : value_->dtype(); }
  const Dims& shape() const { return is_scalar_ ? no_dims() : value_->shape(); }
  int64_t rank() const { return shape().rank(); }
  /// The device of the value. Numbers have none, and count as on the CPU.
  Device device() const { return value_ ? value_->device() : kCpuDevice; }
  TensorType type() const { return {dtype(), shape(), device()}; }
  /// The rank of the operand in type promotion.
  Rank promotion_rank() const {
    return is_scalar_ ? Rank::kNumber : value_->shape().empty() ? Rank::kZeroDim : Rank::kTensor;
  }

 private:
  static const Dims& no_dims() {
    static const Dims& dims = *new Dims;  // never destroyed: used until the process ends
    return dims;
  }

  const ValueBase* value_ = nullptr;
  Scalar scalar_;
  bool is_scalar_ = false;
};

}  // namespace lucid
