#include "tensor/dlpack.h"

#include <memory>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/gil.h"
#include "bindings/interop.h"
#include "bindings/numpy.h"
#include "bindings/pure.h"
#include "runtime/imported_memory.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/snapshot.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// The memory that a consumer holds: the tensor's values at the time of the export.
template <typename Managed>
struct Export {
  Managed managed{};
  Snapshot snapshot;
  TensorRef copy;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

template <typename Managed>
void delete_export(Managed* self) {
  delete static_cast<Export<Managed>*>(self->context);
}

template <typename Managed>
Export<Managed>* make_export(const TensorImpl& shared, bool copied) {
  on_escape(shared, "hands a tensor to another library");
  const TensorRef own = alias_of(shared);
  const TensorImpl& tensor = *own;
  auto result = std::make_unique<Export<Managed>>();
  dlpack::Tensor& out = result->managed.tensor;
  if (copied) {
    result->copy = copy_of(tensor, contiguous_strides(tensor.sizes()));
    out.data = result->copy->data();
  } else {
    result->snapshot.take(tensor);
    out.data = const_cast<void*>(result->snapshot.pin());
  }
  const Geometry geometry = copied ? result->copy->geometry() : result->snapshot.geometry();
  result->sizes.assign(geometry.sizes.begin(), geometry.sizes.end());
  result->strides.assign(geometry.strides.begin(), geometry.strides.end());
  out.device = {dlpack::kCpu, 0};
  out.rank = static_cast<int32_t>(result->sizes.size());
  out.dtype = dlpack::data_type_of(tensor.dtype());
  out.shape = result->sizes.data();
  out.strides = result->strides.data();
  result->managed.context = result.get();
  result->managed.deleter = delete_export<Managed>;
  return result.release();
}

template <typename Managed>
void release_capsule(PyObject* capsule, const char* name) {
  // The consumer renames a capsule when it takes ownership.
  if (!PyCapsule_IsValid(capsule, name)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

/// Consumers that support DLPack 1.0 get the tensor's memory, marked read-only. Older ones might write to it, so they
/// get a copy.
nb::object to_dlpack(nb::handle self, nb::handle stream, nb::handle max_version, nb::handle device, nb::handle copy) {
  const TensorImpl& tensor = expect_tensor("__dlpack__", self.ptr());
  if (requires_grad(tensor)) throw RuntimeError("__dlpack__: the tensor requires grad; use detach() first");
  if (tensor.device().is_gpu()) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__: the tensor is in the memory of a gpu; use cpu() first");
    nb::detail::raise_python_error();
  }
  if (!stream.is_none()) throw ValueError("__dlpack__: the CPU has no streams");
  if (!device.is_none()) {
    const Dims wanted = to_ints({"__dlpack__", "dl_device"}, device.ptr());
    if (wanted != Dims{dlpack::kCpu, 0}) throw ValueError("__dlpack__: the only device is the CPU, (1, 0)");
  }
  const bool versioned = !max_version.is_none() && !to_ints({"__dlpack__", "max_version"}, max_version.ptr()).empty() &&
                         to_ints({"__dlpack__", "max_version"}, max_version.ptr())[0] >= 1;
  const bool wants_copy = !copy.is_none() && to_bool({"__dlpack__", "copy"}, copy.ptr());
  const bool forbids_copy = !copy.is_none() && !wants_copy;
  if (!versioned) {
    if (forbids_copy) throw ValueError("__dlpack__: a consumer older than DLPack 1.0 can only be given a copy");
    auto* managed = &make_export<dlpack::ManagedTensor>(tensor, true)->managed;
    return checked(PyCapsule_New(managed, dlpack::kName, [](PyObject* capsule) {
      release_capsule<dlpack::ManagedTensor>(capsule, dlpack::kName);
    }));
  }
  auto* managed = &make_export<dlpack::VersionedTensor>(tensor, wants_copy)->managed;
  managed->version = {1, 0};
  managed->flags = wants_copy ? dlpack::kCopied : dlpack::kReadOnly;
  return checked(PyCapsule_New(managed, dlpack::kVersionedName, [](PyObject* capsule) {
    release_capsule<dlpack::VersionedTensor>(capsule, dlpack::kVersionedName);
  }));
}

template <typename Managed>
std::function<void()> releaser(Managed* managed) {
  return [managed] {
    if (!managed->deleter || !Py_IsInitialized()) return;
    const GilAcquire lock;
    managed->deleter(managed);
  };
}

nb::object request_capsule(nb::handle producer) {
  if (PyCapsule_CheckExact(producer.ptr())) return nb::borrow(producer);
  if (!nb::hasattr(producer, "__dlpack__"))
    throw TypeError("from_dlpack: expected an object with __dlpack__, not {}", describe(producer.ptr()));
  try {
    return producer.attr("__dlpack__")("max_version"_a = nb::make_tuple(1, 0));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return producer.attr("__dlpack__")();
}

TensorRef import(nb::handle producer, const dlpack::Tensor& tensor, bool read_only, std::function<void()> release) {
  std::optional<SharedMappingScope> scope;
  if (tensor.data && !read_only && is_mapped(producer.ptr()))
    scope.emplace(static_cast<const char*>(tensor.data) + tensor.byte_offset);
  return dlpack::import_tensor(tensor, read_only, std::move(release));
}

}  // namespace

TensorRef tensor_from_dlpack(nb::handle producer) {
  const nb::object capsule = request_capsule(producer);
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::kVersionedName)) {
    auto* managed = static_cast<dlpack::VersionedTensor*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kVersionedName));
    if (managed->version.major != 1)
      throw ValueError("from_dlpack: the data has DLPack version {}; only version 1 is supported",
                       managed->version.major);
    check_status(PyCapsule_SetName(capsule.ptr(), dlpack::kUsedVersionedName));
    return import(producer, managed->tensor, (managed->flags & dlpack::kReadOnly) != 0, releaser(managed));
  }
  if (PyCapsule_IsValid(capsule.ptr(), dlpack::kName)) {
    auto* managed = static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kName));
    check_status(PyCapsule_SetName(capsule.ptr(), dlpack::kUsedName));
    return import(producer, managed->tensor, false, releaser(managed));
  }
  throw ValueError("from_dlpack: the capsule holds no DLPack tensor; a capsule can be used only once");
}

void bind_dlpack(nb::module_& module) {
  module.def("to_dlpack", to_dlpack, "tensor"_a, "stream"_a = nb::none(), "max_version"_a = nb::none(),
             "dl_device"_a = nb::none(), "copy"_a = nb::none());
  def_pure(
      module, "from_dlpack", [](nb::handle data) { return to_object(tensor_from_dlpack(data)); }, "data"_a.none(),
      "Creates a tensor that shares the memory of an object with __dlpack__. Read-only memory is copied.");
}

}  // namespace lucid::python
