#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/op.h"

namespace lucid {

/// A contiguous array in host memory.
struct HostArray {
  TensorType type;
  void* data = nullptr;

  int64_t size() const { return numel(type.shape); }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

/// A call whose operands are contiguous arrays in memory. Passed to reference implementations and host ops. Numbers
/// arrive as 0-d arrays of the dtype that they were promoted to.
class HostCall : public Call {
 public:
  using Allocate = std::function<HostArray(const TensorType&)>;
  HostCall(const Call& call, std::span<const HostArray> inputs, Allocate allocate)
      : Call(call), inputs_(inputs), allocate_(std::move(allocate)) {}

  const HostArray& in(size_t i) const { return inputs_[i]; }
  /// Allocates the next result, uninitialized. Results must be allocated in order.
  HostArray& make_output(const TensorType& type) {
    outputs_.push_back(allocate_(type));
    return outputs_.back();
  }
  const std::vector<HostArray>& outputs() const { return outputs_; }

 private:
  std::span<const HostArray> inputs_;
  Allocate allocate_;
  std::vector<HostArray> outputs_;
};

}  // namespace lucid
