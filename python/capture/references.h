#pragma once

#include <Python.h>

#include <cstdint>

#include "tensor/tensor_impl.h"

namespace lucid::python {

/// Called with every reference that a plan owns.
class ReferenceVisitor {
 public:
  enum class Role : uint8_t {
    kCompared,  // the plan matches only as long as a program can reach the object, or an equal number or string
    kPart,      // belongs to the plan, and refers to other objects
    kOther,
  };

  ReferenceVisitor() = default;
  ReferenceVisitor(const ReferenceVisitor&) = delete;
  ReferenceVisitor& operator=(const ReferenceVisitor&) = delete;
  virtual ~ReferenceVisitor() = default;

  /// `object` may be null.
  virtual void object(PyObject* object, Role role = Role::kCompared) = 0;
  /// A tensor that is compared by identity; may be null.
  virtual void tensor(TensorImpl* tensor) = 0;
  /// Another object that is compared by identity, at an address, and how many references to it there are.
  virtual void shared(const void* address, size_t use_count) = 0;
};

}  // namespace lucid::python
