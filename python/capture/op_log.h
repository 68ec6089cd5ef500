#pragma once

#include <unordered_map>
#include <vector>

#include "bindings/errors.h"
#include "tensor/compute.h"
#include "tensor/tensor_impl.h"

namespace lucid::python {

/// Logs every op that this thread computes between start() and stop(). Tests use it to compare two calls of a function.
class OpLog : public EagerObserver {
 public:
  OpLog() = default;
  OpLog(const OpLog&) = delete;
  OpLog& operator=(const OpLog&) = delete;
  ~OpLog() override { stop(); }

  void start();
  void stop();
  /// A list of (op, operands, attributes). An operand is the number of an earlier result, a tensor that comes from
  /// outside, the text of a number, or None.
  nb::list entries() const;

  void computed(const Call& call, const Values& results) override;
  void viewed(const Call& call, const TensorImpl& result) override;
  void written(const Call& call, std::span<TensorImpl* const> destinations) override;
  void moved(const TensorImpl& source, const TensorImpl& copy) override;

 private:
  struct Given {
    int64_t result = -1;
    TensorRef tensor;
    std::string number;
  };
  struct Entry {
    std::string op;
    std::vector<Given> operands;
    std::vector<std::string> attributes;
  };
  Given given(TensorImpl* tensor);
  Entry& add(const Call& call, const char* kind);
  void make(const TensorImpl* tensor, bool is_view);

  std::vector<Entry> entries_;
  // Kept alive, so that no other tensor gets the same address.
  std::vector<TensorRef> made_;
  std::unordered_map<const TensorImpl*, int64_t> numbers_;
  std::unordered_map<const void*, int64_t> addresses_;
  /// Maps copies of tensors from outside to their originals; made_ holds the copies.
  std::unordered_map<const void*, TensorRef> copied_;
  EagerObserver* before_ = nullptr;
  bool running_ = false;
};

void bind_op_log(nb::module_& module);

}  // namespace lucid::python
