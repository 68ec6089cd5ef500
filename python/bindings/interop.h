#pragma once

#include "base/memory_stats.h"
#include "bindings/errors.h"
#include "tensor/tensor_impl.h"

namespace lucid::python {

/// Conversions between tensors and Python data, arrays and DLPack.
void bind_creation(nb::module_& module);
void bind_dlpack(nb::module_& module);
/// A tensor on the memory of an object with __dlpack__, or with a copy of it if it is read-only.
TensorRef tensor_from_dlpack(nb::handle producer);
/// Statistics as a dict.
nb::dict to_dict(const MemoryStats& stats);
/// Dtype defaults, threads, floating-point mode, memory.
void bind_settings(nb::module_& module);
void bind_gpu(nb::module_& module);
/// Lets inspect.signature() read the signatures of bound functions. Called after they are bound.
void bind_signatures(nb::module_& module);

}  // namespace lucid::python
