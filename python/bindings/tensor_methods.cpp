#include "bindings/tensor_methods.h"

#include <cstring>
#include <utility>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/from_data.h"
#include "bindings/traced_size.h"
#include "bindings/tracing.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/inplace.h"
#include "tensor/item.h"
#include "tensor/transfer.h"

namespace lucid::python {
namespace {

// Reading.

PyObject* item_method(PyObject* self, PyObject*) {
  return guarded([&] { return read_number(tensor_in(self)).release().ptr(); });
}

PyObject* tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    on_read(tensor_in(self), ValuesRead::kAll);
    return to_list(tensor_in(self));
  });
}

PyObject* numel_method(PyObject* self, PyObject*) {
  return guarded([&] { return from_dim(tensor_in(self).numel()); });
}
PyObject* dim_method(PyObject* self, PyObject*) { return PyLong_FromSize_t(tensor_in(self).sizes().size()); }
PyObject* element_size(PyObject* self, PyObject*) { return PyLong_FromSize_t(size_of(tensor_in(self).dtype())); }
PyObject* storage_offset(PyObject* self, PyObject*) {
  return guarded([&] {
    on_inspection(tensor_in(self), "reads storage_offset of a tensor");
    return PyLong_FromLongLong(tensor_in(self).offset());
  });
}
PyObject* data_ptr(PyObject* self, PyObject*) {
  on_escape(tensor_in(self), "asks for the address of a tensor");
  return PyLong_FromVoidPtr(tensor_in(self).data());
}
PyObject* is_contiguous_method(PyObject* self, PyObject*) { return PyBool_FromLong(tensor_in(self).is_contiguous()); }
PyObject* is_floating_point(PyObject* self, PyObject*) { return PyBool_FromLong(is_float(tensor_in(self).dtype())); }

/// Returns all of `values`, or the value of one dimension if it is given.
PyObject* all_or_one(const char* name, const TensorImpl& tensor, DimsView values, PyObject* const* arguments,
                     Py_ssize_t count, PyObject* keyword_names) {
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  if (count + keywords > 1) throw TypeError("{}: takes one argument, 'dim'", name);
  if (keywords == 1) {
    const char* keyword = PyUnicode_AsUTF8(PyTuple_GET_ITEM(keyword_names, 0));
    if (std::string_view(keyword) != "dim" && std::string_view(keyword) != "axis")
      throw TypeError("{}: got an unexpected keyword argument '{}'", name, keyword);
  }
  if (count + keywords == 0 || arguments[0] == Py_None) return from_ints(values);
  const int64_t axis = to_int({name, "dim"}, arguments[0]);
  if (values.empty()) throw IndexError("{}: a 0-d tensor has no dimension {}", name, axis);
  return from_dim(values[static_cast<size_t>(normalize_axis(name, axis, tensor.sizes().rank()))]);
}

PyObject* size_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] {
    const TensorImpl& tensor = tensor_in(self);
    return all_or_one("size", tensor, tensor.sizes(), arguments, count, keyword_names);
  });
}

PyObject* stride_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] {
    const TensorImpl& tensor = tensor_in(self);
    return all_or_one("stride", tensor, tensor.strides(), arguments, count, keyword_names);
  });
}

// Converting.

template <Dtype kDtype>
PyObject* convert_to(PyObject* self, PyObject*) {
  return guarded([&] { return to_python(eager().to(Operand(&tensor_in(self)), kDtype)); });
}

PyObject* type_as(PyObject* self, PyObject* other) {
  return guarded([&] {
    const TensorImpl& like = expect_tensor("type_as", other);
    const TensorRef moved = to_device(TensorRef(&tensor_in(self)), like.device());
    return to_python(eager().to(Operand(moved.get()), like.dtype()));
  });
}

/// to(dtype), to(device), to(device, dtype), to(tensor), each by position or keyword, with copy=False.
PyObject* to_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] {
    std::optional<Dtype> dtype;
    std::optional<Device> device;
    bool copy = false;
    const auto take_both = [&](const TensorImpl& other) {
      dtype = other.dtype();
      device = other.device();
    };
    const auto take = [&](PyObject* argument) {
      if (const TensorImpl* tensor = tensor_or_null(argument))
        take_both(*tensor);
      else if (device_in(argument) || (PyUnicode_Check(argument) && !parse_dtype(PyUnicode_AsUTF8(argument))))
        device = to_device_or_none("to", argument);
      else
        dtype = to_dtype({"to", "dtype"}, argument);
    };
    for (Py_ssize_t i = 0; i < count; ++i)
      if (arguments[i] != Py_None) take(arguments[i]);
    const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
    for (Py_ssize_t k = 0; k < keywords; ++k) {
      const std::string_view name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(keyword_names, k));
      PyObject* value = arguments[count + k];
      if (name == "dtype")
        dtype = to_optional_dtype({"to", "dtype"}, value);
      else if (name == "device")
        device = to_device_or_none("to", value);
      else if (name == "other")
        take_both(expect_tensor("to", value));
      else if (name == "copy")
        copy = to_bool({"to", "copy"}, value);
      else if (name != "non_blocking")
        throw TypeError("to: got an unexpected keyword argument '{}'", name);
    }
    TensorImpl& tensor = tensor_in(self);
    TensorRef result(tensor_of(eager().to(Operand(&tensor), dtype.value_or(tensor.dtype()))));
    result = to_device(result, device.value_or(tensor.device()));
    if (copy && result.get() == &tensor) return to_python(eager().clone(Operand(&tensor)));
    return to_python(std::move(result));
  });
}

PyObject* moved_to(PyObject* self, Device device) {
  return guarded([&] {
    TensorImpl& tensor = tensor_in(self);
    return tensor.device() == device ? Py_NewRef(self) : to_python(to_device(TensorRef(&tensor), device));
  });
}

PyObject* cpu(PyObject* self, PyObject*) { return moved_to(self, kCpuDevice); }

/// gpu(), gpu(1) and gpu("gpu:1").
PyObject* gpu(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    if (count > 1) throw TypeError("gpu: takes one argument, 'device'");
    const bool has_index = count == 1 && PyLong_Check(arguments[0]);
    const nb::object name =
        has_index ? checked(PyUnicode_FromFormat("gpu:%S", arguments[0])) : checked(PyUnicode_FromString("gpu"));
    PyObject* const wanted = count == 1 && !has_index ? arguments[0] : name.ptr();
    const std::optional<Device> device = to_device_or_none("gpu", wanted);
    if (!device || !device->is_gpu()) throw ValueError("gpu: expected a gpu; use cpu() to move a tensor to the CPU");
    return moved_to(self, *device);
  });
}

PyObject* view_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&] {
    const ArgumentContext context{"view", "shape"};
    const bool single = count == 1 && !PyLong_Check(arguments[0]);
    return to_python(
        view_of(tensor_in(self), single ? to_ints(context, arguments[0]) : to_ints(context, arguments, count)));
  });
}

// Writing.

/// The argument of a method that takes one, by position or by name. PyTorch's `non_blocking` has no effect.
PyObject* only_argument(const ArgumentContext& context, PyObject* const* arguments, Py_ssize_t count,
                        PyObject* keyword_names) {
  PyObject* found = count > 0 ? arguments[0] : nullptr;
  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    const std::string_view name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(keyword_names, k));
    if (name == "non_blocking") continue;
    if (name != context.argument)
      throw TypeError("{}: got an unexpected keyword argument '{}'", context.function, name);
    if (std::exchange(found, arguments[count + k]))
      throw TypeError("{}: got several values for argument '{}'", context.function, name);
  }
  if (!found) throw TypeError("{}: missing argument '{}'", context.function, context.argument);
  const Py_ssize_t most = std::string_view(context.function) == "copy_" ? 2 : 1;
  if (count > most)
    throw TypeError("{}: takes {} argument{}, {} were given", context.function, most, most == 1 ? "" : "s", count);
  return found;
}

PyObject* fill_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] {
    const ArgumentContext context{"fill_", "value"};
    Held held;
    fill_(tensor_in(self), expect_operand(context, only_argument(context, arguments, count, keyword_names), held));
    return Py_NewRef(self);
  });
}

PyObject* zero_method(PyObject* self, PyObject*) {
  return guarded([&] {
    zero_(tensor_in(self));
    return Py_NewRef(self);
  });
}

PyObject* copy_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] {
    const ArgumentContext context{"copy_", "source"};
    Held held;
    copy_(tensor_in(self), expect_operand(context, only_argument(context, arguments, count, keyword_names), held));
    return Py_NewRef(self);
  });
}

// Gradients.

PyObject* detach_method(PyObject* self, PyObject*) {
  return guarded([&] { return to_python(detach(tensor_in(self))); });
}

PyObject* detach_in_place(PyObject* self, PyObject*) {
  return guarded([&] {
    TensorImpl& tensor = tensor_in(self);
    if (tensor.is_view()) throw RuntimeError("detach_: a view cannot be detached in place; use detach()");
    if (!is_leaf(tensor)) rebase(tensor, {});
    set_requires_grad(tensor, false);
    return Py_NewRef(self);
  });
}

PyObject* requires_grad_method(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names) {
  return guarded([&] {
    const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
    if (count + keywords > 1) throw TypeError("requires_grad_: takes one argument");
    const bool wanted = count + keywords == 0 || to_bool({"requires_grad_", "requires_grad"}, arguments[0]);
    set_requires_grad(tensor_in(self), wanted);
    return Py_NewRef(self);
  });
}

PyObject* retain_grad_method(PyObject* self, PyObject*) {
  return guarded([&] {
    retain_grad(tensor_in(self));
    return Py_NewRef(Py_None);
  });
}

// Copying.

TensorRef plain_copy(const TensorImpl& tensor) {
  const GradModeScope no_grad(false);
  const bool keeps_layout = is_dense(tensor.sizes(), tensor.strides());
  return copy_of(tensor, keeps_layout ? tensor.strides() : contiguous_strides(tensor.sizes()));
}

/// The attributes of an instance of a subclass; empty for plain tensors.
nb::object attributes_of(PyObject* self) {
  nb::object attributes = nb::steal(PyObject_GetAttrString(self, "__dict__"));
  if (!attributes.is_valid()) PyErr_Clear();
  return attributes;
}

PyObject* deep_copy(PyObject* self, PyObject* memo) {
  return guarded([&]() -> PyObject* {
    TensorImpl& tensor = tensor_in(self);
    if (requires_grad(tensor) && !is_leaf(tensor))
      throw RuntimeError("deepcopy: only leaves can be copied deeply; detach() or clone() the tensor");
    TensorRef copy = plain_copy(tensor);
    if (requires_grad(tensor)) set_requires_grad(*copy, true);
    if (const TensorRef grad = gradient(tensor)) set_gradient(*copy, plain_copy(*grad));
    nb::object result = nb::steal(new_object(Py_TYPE(self), std::move(copy)));
    if (PyDict_Check(memo)) {
      const nb::object key = checked(PyLong_FromVoidPtr(self));
      check_status(PyDict_SetItem(memo, key.ptr(), result.ptr()));
    }
    if (const nb::object attributes = attributes_of(self); attributes.is_valid()) {
      const nb::object module = checked(PyImport_ImportModule("copy"));
      const nb::object copied = checked(PyObject_CallMethod(module.ptr(), "deepcopy", "OO", attributes.ptr(), memo));
      check_status(PyDict_Update(attributes_of(result.ptr()).ptr(), copied.ptr()));
    }
    return result.release().ptr();
  });
}

/// `copy.copy(x)`: another handle on the same memory, at the same position in the gradient graph.
PyObject* shallow_copy(PyObject* self, PyObject*) {
  return guarded([&] {
    TensorImpl& tensor = tensor_in(self);
    if (requires_grad(tensor) && !is_leaf(tensor)) return to_python(eager().reshape(Operand(&tensor), tensor.sizes()));
    TensorRef alias = alias_of(tensor);
    if (requires_grad(tensor)) set_requires_grad(*alias, true);
    return to_python(std::move(alias));
  });
}

/// (rebuild_tensor, (class, bytes, shape, dtype, requires_grad, device), attributes).
PyObject* reduce_method(PyObject* self, PyObject*) {
  return guarded([&] {
    const GradModeScope no_grad(false);
    TensorImpl& tensor = tensor_in(self);
    on_escape(tensor, "pickles a tensor");
    const TensorRef dense = contiguous(alias_of(tensor));
    const auto bytes = static_cast<Py_ssize_t>(size_of(dense->dtype())) * dense->numel();
    const HostView view(*dense);
    const nb::object data = checked(PyBytes_FromStringAndSize(static_cast<const char*>(view.data()), bytes));
    const nb::object shape = checked(from_ints(dense->sizes()));
    const nb::object module = checked(PyImport_ImportModule("lucid._tensor"));
    const nb::object rebuild = checked(PyObject_GetAttrString(module.ptr(), "rebuild_tensor"));
    const nb::object attributes = attributes_of(self);
    return Py_BuildValue("O(OOOOOO)O", rebuild.ptr(), Py_TYPE(self), data.ptr(), shape.ptr(),
                         dtype_object(dense->dtype()), requires_grad(tensor) ? Py_True : Py_False,
                         device_object(dense->device()), attributes.is_valid() ? attributes.ptr() : Py_None);
  });
}

}  // namespace

PyMethodDef* tensor_methods() {
  constexpr int kKeywords = METH_FASTCALL | METH_KEYWORDS;
  static PyMethodDef methods[] = {
      {"item", method(item_method), METH_NOARGS,
       "item($self)\n--\n\nThe value of a tensor with one element, as a Python number."},
      {"tolist", method(tolist), METH_NOARGS, "tolist($self)\n--\n\nThe elements as Python numbers in nested lists."},
      {"numel", method(numel_method), METH_NOARGS, "numel($self)\n--\n\nThe number of elements."},
      {"nelement", method(numel_method), METH_NOARGS, "nelement($self)\n--\n\nThe number of elements."},
      {"dim", method(dim_method), METH_NOARGS, "dim($self)\n--\n\nThe number of dimensions."},
      {"ndimension", method(dim_method), METH_NOARGS, "ndimension($self)\n--\n\nThe number of dimensions."},
      {"element_size", method(element_size), METH_NOARGS,
       "element_size($self)\n--\n\nThe size of an element in bytes."},
      {"storage_offset", method(storage_offset), METH_NOARGS,
       "storage_offset($self)\n--\n\nThe offset of the first element, in elements."},
      {"data_ptr", method(data_ptr), METH_NOARGS, "data_ptr($self)\n--\n\nThe address of the first element."},
      {"is_contiguous", method(is_contiguous_method), METH_NOARGS,
       "is_contiguous($self)\n--\n\nWhether the elements are stored contiguously in row-major order."},
      {"is_floating_point", method(is_floating_point), METH_NOARGS,
       "is_floating_point($self)\n--\n\nWhether the elements are floats."},
      {"size", method(size_method), kKeywords, "size($self, dim=None)\n--\n\nThe shape, or the size of one dimension."},
      {"stride", method(stride_method), kKeywords,
       "stride($self, dim=None)\n--\n\nThe strides in elements, or the stride of one dimension."},
      {"float", method(convert_to<Dtype::kF32>), METH_NOARGS, "float($self)\n--\n\nThe tensor as float32."},
      {"double", method(convert_to<Dtype::kF64>), METH_NOARGS, "double($self)\n--\n\nThe tensor as float64."},
      {"half", method(convert_to<Dtype::kF16>), METH_NOARGS, "half($self)\n--\n\nThe tensor as float16."},
      {"bfloat16", method(convert_to<Dtype::kBF16>), METH_NOARGS, "bfloat16($self)\n--\n\nThe tensor as bfloat16."},
      {"long", method(convert_to<Dtype::kI64>), METH_NOARGS, "long($self)\n--\n\nThe tensor as int64."},
      {"int", method(convert_to<Dtype::kI32>), METH_NOARGS, "int($self)\n--\n\nThe tensor as int32."},
      {"short", method(convert_to<Dtype::kI16>), METH_NOARGS, "short($self)\n--\n\nThe tensor as int16."},
      {"char", method(convert_to<Dtype::kI8>), METH_NOARGS, "char($self)\n--\n\nThe tensor as int8."},
      {"byte", method(convert_to<Dtype::kU8>), METH_NOARGS, "byte($self)\n--\n\nThe tensor as uint8."},
      {"bool", method(convert_to<Dtype::kBool>), METH_NOARGS,
       "bool($self)\n--\n\nThe tensor as bools: whether each element is not zero."},
      {"type_as", method(type_as), METH_O,
       "type_as($self, other, /)\n--\n\nThe tensor with the dtype of another tensor, on its device."},
      {"to", method(to_method), kKeywords,
       "to($self, *args, dtype=None, device=None, other=None, copy=False, non_blocking=False)\n--\n\nConverts the "
       "tensor to a dtype or device. Returns the tensor itself if nothing changes."},
      {"cpu", method(cpu), METH_NOARGS,
       "cpu($self)\n--\n\nThe tensor on the CPU: itself if it is there, otherwise a copy."},
      {"gpu", method(gpu), METH_FASTCALL,
       "gpu($self, device='gpu', /)\n--\n\nThe tensor on a gpu: itself if it is there, otherwise a copy."},
      {"view", method(view_method), METH_FASTCALL, "view($self, *shape)\n--\n\nThe same memory with another shape."},
      {"fill_", method(fill_method), kKeywords, "fill_($self, value)\n--\n\nSets every element to a number."},
      {"zero_", method(zero_method), METH_NOARGS, "zero_($self)\n--\n\nSets every element to 0."},
      {"copy_", method(copy_method), kKeywords,
       "copy_($self, source, non_blocking=False)\n--\n\nCopies another tensor's elements, broadcast and converted."},
      {"detach", method(detach_method), METH_NOARGS,
       "detach($self)\n--\n\nA tensor that shares the memory but not the gradient graph."},
      {"detach_", method(detach_in_place), METH_NOARGS,
       "detach_($self)\n--\n\nRemoves the tensor from the gradient graph."},
      {"requires_grad_", method(requires_grad_method), kKeywords,
       "requires_grad_($self, requires_grad=True)\n--\n\nSets whether operations on the tensor are recorded for "
       "gradients."},
      {"retain_grad", method(retain_grad_method), METH_NOARGS,
       "retain_grad($self)\n--\n\nStores the gradient of a non-leaf tensor in grad."},
      {"__deepcopy__", method(deep_copy), METH_O, "__deepcopy__($self, memo, /)\n--\n\n"},
      {"__copy__", method(shallow_copy), METH_NOARGS, "__copy__($self)\n--\n\n"},
      {"__reduce_ex__", method(reduce_method), METH_O, "__reduce_ex__($self, protocol, /)\n--\n\n"},
      {}};
  return methods;
}

}  // namespace lucid::python
