#include "bindings/numpy.h"

#include <algorithm>
#include <bit>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "bindings/dtype_object.h"
#include "bindings/gil.h"
#include "runtime/imported_memory.h"
#include "tensor/autograd_meta.h"
#include "tensor/borrowed.h"
#include "tensor/observer.h"
#include "tensor/snapshot.h"

namespace lucid::python {
namespace {

/// How far the owner of an array's memory is searched for.
constexpr int kMaxOwners = 64;

constexpr const char* kFormats[kDtypeCount] = {"?", "B", "b", "h", "i", "l", "e", nullptr, "f", "d"};

std::optional<Dtype> dtype_of_format(const char* format, Py_ssize_t itemsize) {
  std::string_view text = format ? format : "B";
  if (!text.empty() && (text[0] == '@' || text[0] == '=' || text[0] == '<')) text.remove_prefix(1);
  if (text.size() != 1) return std::nullopt;
  switch (text[0]) {
    case '?':
      return Dtype::kBool;
    case 'B':
      return Dtype::kU8;
    case 'b':
      return Dtype::kI8;
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      if (itemsize == 2) return Dtype::kI16;
      if (itemsize == 4) return Dtype::kI32;
      if (itemsize == 8) return Dtype::kI64;
      return std::nullopt;
    case 'e':
      return Dtype::kF16;
    case 'f':
      return Dtype::kF32;
    case 'd':
      return Dtype::kF64;
    default:
      return std::nullopt;
  }
}

bool is_of_numpy(PyTypeObject* type) { return std::string_view(type->tp_name).starts_with("numpy."); }

nb::object numpy_attribute(const char* name) {
  const nb::object numpy = checked(PyImport_ImportModule("numpy"));
  return checked(PyObject_GetAttrString(numpy.ptr(), name));
}

/// A buffer view that is released with its last reference, on any thread.
struct BufferOwner {
  Py_buffer view{};
  bool acquired = false;
  ~BufferOwner() {
    if (!acquired || !Py_IsInitialized()) return;
    const GilAcquire lock;
    PyBuffer_Release(&view);
  }
};

[[noreturn]] void fail_dtype(const ArgumentContext& context, PyObject* object, const char* format) {
  nb::object name = nb::steal(PyObject_GetAttrString(object, "dtype"));
  PyErr_Clear();
  if (!name.is_valid()) name = checked(PyUnicode_FromFormat("'%s'", format ? format : "B"));
  PyErr_Format(PyExc_TypeError,
               "%s: argument '%s' is an array of dtype %S, which Lucid does not support; convert it with astype()",
               context.function, context.argument, name.ptr());
  nb::detail::raise_python_error();
}

}  // namespace

NumpyScalar numpy_scalar_kind(PyObject* object) {
  if (!is_of_numpy(Py_TYPE(object))) return NumpyScalar::kNone;
  // The references to the classes are never released: NumPy is never unloaded.
  static PyObject* const booleans = numpy_attribute("bool_").release().ptr();
  static PyObject* const integers = numpy_attribute("integer").release().ptr();
  static PyObject* const floats = numpy_attribute("floating").release().ptr();
  if (PyObject_IsInstance(object, booleans) == 1) return NumpyScalar::kBool;
  if (PyObject_IsInstance(object, integers) == 1) return NumpyScalar::kInteger;
  if (PyObject_IsInstance(object, floats) == 1) return NumpyScalar::kFloat;
  return NumpyScalar::kNone;
}

std::optional<Dtype> numpy_dtype_in(const ArgumentContext& context, PyObject* object) {
  const bool is_scalar_type = PyType_Check(object) && is_of_numpy(reinterpret_cast<PyTypeObject*>(object));
  if (!is_scalar_type && !is_of_numpy(Py_TYPE(object))) return std::nullopt;
  const nb::object converter = numpy_attribute("dtype");
  const nb::object dtype = checked(PyObject_CallOneArg(converter.ptr(), object));
  const nb::object name = checked(PyObject_GetAttrString(dtype.ptr(), "name"));
  const char* text = PyUnicode_AsUTF8(name.ptr());
  if (!text) nb::detail::raise_python_error();
  if (const auto found = parse_dtype(text)) return found;
  throw TypeError("{}: argument '{}': Lucid does not support the NumPy dtype {}", context.function, context.argument,
                  text);
}

bool is_mapped(PyObject* array) {
  nb::object owner = nb::borrow(array);
  // Arrays are views of other arrays, and memory views of other objects.
  for (int depth = 0; depth < kMaxOwners && owner.is_valid() && !owner.is_none(); ++depth) {
    for (PyTypeObject* type = Py_TYPE(owner.ptr()); type; type = type->tp_base)
      if (std::string_view(type->tp_name) == "mmap.mmap") return true;
    if (PyMemoryView_Check(owner.ptr())) {
      owner = nb::borrow(PyMemoryView_GET_BASE(owner.ptr()));
    } else {
      static PyObject* const base = PyUnicode_InternFromString("base");
      owner = nb::steal(PyObject_GetAttr(owner.ptr(), base));
      PyErr_Clear();
    }
  }
  return false;
}

bool is_array(PyObject* object) {
  return PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object);
}

TensorRef tensor_from_buffer(const ArgumentContext& context, PyObject* object, Sharing sharing) {
  auto owner = std::make_shared<BufferOwner>();
  Py_buffer& view = owner->view;
  if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    fail_dtype(context, object, "unknown");
  }
  owner->acquired = true;
  const std::optional<Dtype> dtype = dtype_of_format(view.format, view.itemsize);
  if (!dtype) {
    // NumPy converts arrays of the other byte order.
    const std::string_view format = view.format ? view.format : "";
    if (format.starts_with(">") && dtype_of_format(view.format + 1, view.itemsize)) {
      const nb::object own =
          nb::borrow(object).attr("astype")(nb::borrow(object).attr("dtype").attr("newbyteorder")("="));
      return tensor_from_buffer(context, own.ptr(), Sharing::kNever);
    }
    fail_dtype(context, object, view.format);
  }
  const auto element = static_cast<int64_t>(size_of(*dtype));
  BorrowedMemory memory{.data = view.buf, .dtype = *dtype, .sizes = {}, .strides = {}};
  bool fits = sharing == Sharing::kIfPossible && !view.readonly && view.len > 0 && is_aligned(memory);
  for (int i = 0; i < view.ndim; ++i) {
    const Py_ssize_t stride = view.strides[i];
    fits &= view.shape[i] <= 1 || (stride >= 0 && stride % element == 0);
    memory.sizes.push_back(view.shape[i]);
    memory.strides.push_back(stride / element);
  }
  checked_numel(context.function, memory.sizes, size_of(*dtype));
  if (fits) {
    check_borrowed(context.function, memory);
    std::optional<SharedMappingScope> scope;
    if (is_mapped(object)) scope.emplace(memory.data);
    return borrow_tensor(memory, [owner]() mutable { owner.reset(); });
  }
  TensorRef copy = make_tensor(*dtype, memory.sizes);
  check_status(PyBuffer_ToContiguous(copy->data(), &view, view.len, 'C'));
  return copy;
}

namespace {

/// The memory that a buffer's consumer holds: the tensor's values at the time of the export.
struct Export {
  Snapshot snapshot;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

int fill_view(PyObject* self, Py_buffer* view, int flags) {
  TensorImpl& tensor = tensor_in(self);
  const char* format = kFormats[static_cast<int>(tensor.dtype())];
  const auto refuse = [&](const std::string& why) {
    view->obj = nullptr;
    PyErr_SetString(PyExc_BufferError, why.c_str());
    return -1;
  };
  if (tensor.device().is_gpu()) return refuse("the tensor is in the memory of a gpu; use cpu() first");
  if (!format) return refuse("NumPy has no bfloat16; convert with float() first");
  if (requires_grad(tensor)) return refuse("the tensor requires grad; use detach() first");
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE)
    return refuse("the exported memory of a tensor is read-only; write through the tensor");
  const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!strided && !tensor.is_contiguous()) return refuse("the tensor is not contiguous; use contiguous() first");
  const auto wants_order = [&](int order) { return (flags & order) == order; };
  if (wants_order(PyBUF_C_CONTIGUOUS) && !tensor.is_contiguous())
    return refuse("the tensor is not contiguous; use contiguous() first");
  if (wants_order(PyBUF_F_CONTIGUOUS) && tensor.sizes().rank() > 1)
    return refuse("the tensor is not laid out in column-major order");
  auto hold = std::make_unique<Export>();
  on_escape(tensor, "hands a tensor to NumPy");
  hold->snapshot.take(tensor);
  const auto element = static_cast<Py_ssize_t>(size_of(tensor.dtype()));
  view->buf = const_cast<void*>(hold->snapshot.pin());
  const Geometry& geometry = hold->snapshot.geometry();
  for (int64_t size : geometry.sizes) hold->shape.push_back(size);
  for (int64_t stride : geometry.strides) hold->strides.push_back(stride * element);
  view->obj = Py_NewRef(self);
  view->len = tensor.numel() * element;
  view->itemsize = element;
  view->readonly = 1;
  view->ndim = static_cast<int>(hold->shape.size());
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? hold->shape.data() : nullptr;
  view->strides = strided ? hold->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = hold.release();
  return 0;
}

}  // namespace

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded([&] { return fill_view(self, view, flags); });
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Export*>(view->internal); }

}  // namespace lucid::python
