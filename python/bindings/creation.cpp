#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/from_data.h"
#include "bindings/interop.h"
#include "bindings/numpy.h"
#include "bindings/pure.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/print.h"
#include "tensor/transfer.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

nb::object finish(TensorRef tensor, bool wants_grad) {
  if (wants_grad) set_requires_grad(*tensor, true);
  return to_object(std::move(tensor));
}

/// The tensor made of `data`, on the device that the caller asked for. Without one, tensors stay where they are, and
/// other data goes to the current device.
TensorRef moved(TensorRef tensor, nb::handle data, std::optional<Device> device) {
  const GradModeScope no_grad(false);
  if (!device && tensor_or_null(data.ptr())) return tensor;
  return to_device(tensor, device.value_or(current_device()));
}

nb::object make_tensor_from(nb::handle data, nb::handle dtype, nb::handle device, bool wants_grad) {
  const std::optional<Device> wanted = to_device_or_none("tensor", device.ptr());
  TensorRef tensor =
      tensor_from_data({"tensor", "data"}, data.ptr(), to_optional_dtype({"tensor", "dtype"}, dtype.ptr()));
  return finish(moved(std::move(tensor), data, wanted), wants_grad);
}

/// Returns the data itself if it is a tensor of the dtype, a tensor that shares its memory if it is an array of that
/// dtype, and a copy otherwise.
nb::object as_tensor(nb::handle data, nb::handle dtype, nb::handle device) {
  const ArgumentContext context{"as_tensor", "data"};
  const std::optional<Device> place = to_device_or_none("as_tensor", device.ptr());
  const std::optional<Dtype> wanted = to_optional_dtype({"as_tensor", "dtype"}, dtype.ptr());
  if (TensorImpl* tensor = tensor_or_null(data.ptr())) {
    const bool is_there = !place || *place == tensor->device();
    if ((!wanted || *wanted == tensor->dtype()) && is_there) return nb::borrow(data);
    const Value converted = eager().to(Operand(tensor), wanted.value_or(tensor->dtype()));
    return to_object(to_device(TensorRef(tensor_of(converted)), place.value_or(tensor->device())));
  }
  if (TensorRef tensor = tensor_from_array(context, data.ptr(), Sharing::kIfPossible)) {
    if (wanted && *wanted != tensor->dtype()) tensor = TensorRef(tensor_of(eager().to(Operand(tensor.get()), *wanted)));
    return to_object(moved(std::move(tensor), data, place));
  }
  return to_object(moved(tensor_from_data(context, data.ptr(), wanted), data, place));
}

/// The tensor of an array of another library, sharing its memory if possible; None for other objects.
nb::object from_array(nb::handle object) {
  TensorRef tensor = tensor_from_array({"tensor", "data"}, object.ptr(), Sharing::kIfPossible);
  return tensor ? to_object(std::move(tensor)) : nb::none();
}

nb::object from_numpy(nb::handle array) {
  const ArgumentContext context{"from_numpy", "array"};
  if (!is_array(array.ptr()) || tensor_or_null(array.ptr())) context.fail("an array", array.ptr());
  return to_object(tensor_from_buffer(context, array.ptr(), Sharing::kIfPossible));
}

nb::object rebuild_tensor(nb::handle type, const nb::bytes& data, nb::handle shape, nb::handle dtype, bool wants_grad,
                          nb::handle device) {
  const Dims sizes = to_ints({"unpickle", "shape"}, shape.ptr());
  const Dtype stored = to_dtype({"unpickle", "dtype"}, dtype.ptr());
  const int64_t elements = checked_numel("unpickle", sizes, size_of(stored));
  if (data.size() != static_cast<size_t>(elements) * size_of(stored))
    throw ValueError("unpickle: {} bytes are not the data of {}", data.size(), to_string(TensorType{stored, sizes}));
  const bool is_class = PyType_Check(type.ptr());
  auto* wanted = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!is_class || !PyType_IsSubtype(wanted, tensor_type)) throw TypeError("unpickle: expected a subclass of Tensor");
  TensorRef tensor = make_tensor(stored, sizes);
  std::memcpy(tensor->data(), data.c_str(), data.size());
  tensor = to_device(tensor, to_device_or_none("unpickle", device.ptr()).value_or(kCpuDevice));
  if (wants_grad) set_requires_grad(*tensor, true);
  return nb::steal(new_object(wanted, std::move(tensor)));
}

std::string tensor_text(nb::handle tensor, const std::string& name, int precision, double threshold, int64_t edge_items,
                        int64_t line_width, std::optional<bool> scientific) {
  // Thresholds may be infinite.
  const auto most = static_cast<int64_t>(std::min(threshold, 0x1p62));
  return text_of(expect_tensor("repr", tensor.ptr()), name, {precision, most, edge_items, line_width, scientific});
}

}  // namespace

void bind_creation(nb::module_& module) {
  def_pure(module, "tensor", make_tensor_from, "data"_a.none(), "dtype"_a = nb::none(), "device"_a = nb::none(),
           "requires_grad"_a = false,
           "Creates a tensor with a copy of the data: a number, nested lists of numbers, an array or a tensor. Without "
           "a dtype, floats become the default float dtype, ints int64 and bools bool; arrays and tensors keep their "
           "dtype.\n\n"
           ">>> lucid.tensor([[1, 2], [3, 4]])\ntensor([[1, 2],\n        [3, 4]])");
  def_pure(module, "as_tensor", as_tensor, "data"_a.none(), "dtype"_a = nb::none(), "device"_a = nb::none(),
           "Converts data to a tensor, without a copy if it is a tensor or an array of the requested dtype.\n\n"
           ">>> lucid.as_tensor([1.0, 2.0])\ntensor([1., 2.])");
  def_pure(module, "from_array", from_array, "object"_a.none());
  module.def("describe", [](nb::handle object) { return describe(object.ptr()); }, "object"_a.none());
  def_pure(module, "from_numpy", from_numpy, "array"_a.none(),
           "Creates a tensor that shares the memory of a NumPy array: writes to one are visible in the other. Arrays "
           "that are read-only or have a layout that tensors do not support are copied.");
  def_pure(module, "tensor_text", tensor_text, "tensor"_a, "name"_a, "precision"_a, "threshold"_a, "edgeitems"_a,
           "linewidth"_a, "sci_mode"_a.none(), "The text of repr() of a tensor.");
  module.def("rebuild_tensor", rebuild_tensor, "type"_a, "data"_a, "shape"_a, "dtype"_a, "requires_grad"_a,
             "device"_a = nb::none());
}

}  // namespace lucid::python
