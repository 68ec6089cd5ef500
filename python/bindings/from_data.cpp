#include "bindings/from_data.h"

#include <algorithm>

#include "base/error.h"
#include "bindings/interop.h"
#include "bindings/numpy.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/item.h"

namespace lucid::python {
namespace {

enum class Category { kBool, kInteger, kFloat };

/// Whether an object is of a type of Python's own that is no array, so that it need not be asked for attributes.
bool is_plain(PyObject* object) {
  return PyList_Check(object) || PyTuple_Check(object) || PyDict_Check(object) || PyFloat_Check(object) ||
         PyLong_Check(object) || is_text(object) || object == Py_None;
}

bool has_dlpack(PyObject* object) {
  // Of the type: some objects claim to have every attribute.
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__dlpack__");
}

bool has_array_method(PyObject* object) {
  return PyObject_HasAttrString(object, "__array__") || PyObject_HasAttrString(object, "__array_interface__");
}

}  // namespace

bool is_any_array(PyObject* object) {
  if (is_plain(object) || tensor_or_null(object) || numpy_scalar_kind(object) != NumpyScalar::kNone) return false;
  return is_array(object) || has_dlpack(object) || has_array_method(object);
}

namespace {

bool is_sequence(PyObject* object) {
  if (is_plain(object)) return PyList_Check(object) || PyTuple_Check(object);
  return PySequence_Check(object) && !tensor_or_null(object) && !is_array(object) && !is_any_array(object);
}

/// Whether an element is a tensor or an array, so that the list is a list of tensors.
bool is_tensor_like(PyObject* object) { return tensor_or_null(object) || is_any_array(object); }

/// Nested lists of numbers. Read twice: once for the shape and category, once for the values.
class NestedList {
 public:
  NestedList(const ArgumentContext& context, PyObject* data) : context_(context), data_(data) { find_shape(); }

  bool holds_tensors() const { return holds_tensors_; }
  const Dims& shape() const { return shape_; }

  Dtype natural_dtype() {
    category_ = numel(shape_) == 0 ? Category::kFloat : Category::kBool;
    walk(data_, 0, [this](PyObject* leaf) { category_ = std::max(category_, category_of(leaf)); });
    return category_ == Category::kFloat     ? default_float()
           : category_ == Category::kInteger ? Dtype::kI64
                                             : Dtype::kBool;
  }

  TensorRef read(Dtype dtype) {
    checked_numel(context_.function, shape_, size_of(dtype));
    TensorRef tensor = make_tensor(dtype, shape_);
    char* out = static_cast<char*>(tensor->data());
    const size_t element = size_of(dtype);
    walk(data_, 0, [&](PyObject* leaf) {
      if (dtype == Dtype::kF32 && PyFloat_CheckExact(leaf))
        *reinterpret_cast<float*>(out) = static_cast<float>(PyFloat_AS_DOUBLE(leaf));
      else
        store(leaf, dtype, out);
      out += element;
    });
    return tensor;
  }

 private:
  /// Determines the shape by descending into the first element of each list.
  void find_shape() {
    nb::object level = nb::borrow(data_);
    while (is_sequence(level.ptr())) {
      const Py_ssize_t size = PySequence_Size(level.ptr());
      if (size < 0) nb::detail::raise_python_error();
      shape_.push_back(size);
      if (shape_.rank() > kMaxRank)
        throw ValueError("{}: the lists are nested more than {} deep; does one contain itself?", context_.function,
                         kMaxRank);
      if (size == 0) return;
      level = checked(PySequence_GetItem(level.ptr(), 0));
    }
    holds_tensors_ = is_tensor_like(level.ptr());
  }

  template <typename Visit>
  void walk(PyObject* node, size_t depth, const Visit& visit) {
    if (depth == shape_.size()) {
      if (is_sequence(node)) fail_ragged(node, "a number");
      if ((++leaves_ & 0xfffff) == 0) check_status(PyErr_CheckSignals());
      return visit(node);
    }
    if (!is_sequence(node)) fail_ragged(node, "a list");
    const nb::object items = checked(PySequence_Fast(node, "a sequence"));
    path_.push_back(0);
    for (Py_ssize_t i = 0; i < shape_[depth]; ++i) {
      // Reading an element may run arbitrary code, so the size is checked each time, and the item is held.
      if (PySequence_Fast_GET_SIZE(items.ptr()) != shape_[depth])
        fail_length(PySequence_Fast_GET_SIZE(items.ptr()), depth);
      path_.back() = i;
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i));
      walk(item.ptr(), depth + 1, visit);
    }
    if (PySequence_Fast_GET_SIZE(items.ptr()) != shape_[depth])
      fail_length(PySequence_Fast_GET_SIZE(items.ptr()), depth);
    path_.pop_back();
  }

  Category category_of(PyObject* leaf) {
    if (PyFloat_CheckExact(leaf)) return Category::kFloat;
    const Scalar value = number(leaf);
    return value.is_float() ? Category::kFloat : value.kind() == Dtype::kBool ? Category::kBool : Category::kInteger;
  }

  Scalar number(PyObject* leaf) {
    if (const TensorImpl* tensor = tensor_or_null(leaf)) return item(*tensor);
    if (const std::optional<Scalar> value = number_or_none(context_, leaf)) return *value;
    throw TypeError("{}: the element at {} is {}; expected a number", context_.function, position(), describe(leaf));
  }

  void store(PyObject* leaf, Dtype dtype, void* out) {
    const Scalar value = number(leaf);
    check_fits(context_, value, dtype);
    value.store(dtype, out);
  }

  std::string position() const {
    if (path_.empty()) return "the top";
    std::string text;
    for (Py_ssize_t i : path_) text += "[" + std::to_string(i) + "]";
    return text;
  }

  [[noreturn]] void fail_length(Py_ssize_t size, size_t depth) {
    path_.resize(depth);
    throw ValueError("{}: the lists have different lengths: the one at {} has {} elements, others there have {}",
                     context_.function, position(), size, shape_[depth]);
  }

  [[noreturn]] void fail_ragged(PyObject* node, const char* expected) {
    throw ValueError("{}: the lists have different depths: the element at {} is {} where others have {}",
                     context_.function, position(), describe(node), expected);
  }

  ArgumentContext context_;
  PyObject* data_;
  Dims shape_;
  Category category_ = Category::kBool;
  bool holds_tensors_ = false;
  uint64_t leaves_ = 0;
  std::vector<Py_ssize_t> path_;
};

TensorRef converted(const TensorRef& tensor, std::optional<Dtype> dtype) {
  if (!dtype || *dtype == tensor->dtype()) return tensor;
  return TensorRef(tensor_of(eager().cast(Value(tensor), *dtype)));
}

TensorRef stack_elements(const ArgumentContext& context, PyObject* data) {
  const nb::object items = checked(PySequence_Tuple(data));
  Values parts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
    TensorRef part = tensor_from_data(context, PyTuple_GET_ITEM(items.ptr(), i), std::nullopt);
    if (i > 0 && part->sizes() != parts.front().shape())
      throw ValueError("{}: the element at [{}] has shape {}, the first has {}", context.function, i,
                       to_string(DimsView(part->sizes())), to_string(DimsView(parts.front().shape())));
    parts.emplace_back(std::move(part));
  }
  return TensorRef(tensor_of(eager().stack(parts)));
}

/// Reads elements directly from memory, so that printing and tolist() need no kernel.
PyObject* list_of(const TensorImpl& tensor, size_t depth, const char* element) {
  if (depth == tensor.sizes().size()) return from_scalar(Scalar::load(tensor.dtype(), element));
  const int64_t step = tensor.strides()[depth] * static_cast<int64_t>(size_of(tensor.dtype()));
  nb::object list = checked(PyList_New(tensor.sizes()[depth]));
  for (int64_t i = 0; i < tensor.sizes()[depth]; ++i)
    PyList_SET_ITEM(list.ptr(), i, checked(list_of(tensor, depth + 1, element + i * step)).release().ptr());
  return list.release().ptr();
}

}  // namespace

void check_fits(const ArgumentContext& context, const Scalar& value, Dtype dtype) {
  if (!is_integer(dtype) || value.is_float() || dtype == Dtype::kI64) return;
  const int bits = static_cast<int>(size_of(dtype)) * 8;
  const int64_t low = dtype == Dtype::kU8 ? 0 : -(int64_t{1} << (bits - 1));
  const int64_t high = dtype == Dtype::kU8 ? 255 : (int64_t{1} << (bits - 1)) - 1;
  if (const int64_t number = value.to_int(); number < low || number > high)
    raise_overflow("%s: the number %lld does not fit in %s", context.function, static_cast<long long>(number),
                   std::string(name_of(dtype)).c_str());
}

TensorRef tensor_from_array(const ArgumentContext& context, PyObject* object, Sharing sharing) {
  if (!is_any_array(object)) return nullptr;
  if (is_array(object)) return tensor_from_buffer(context, object, sharing);
  if (has_dlpack(object)) {
    const TensorRef shared = tensor_from_dlpack(object);
    return sharing == Sharing::kNever ? copy_of(*shared, contiguous_strides(shared->sizes())) : shared;
  }
  const nb::object numpy = checked(PyImport_ImportModule("numpy"));
  const nb::object array = checked(PyObject_CallMethod(numpy.ptr(), "asarray", "O", object));
  return tensor_from_buffer(context, array.ptr(), sharing);
}

TensorRef tensor_from_data(const ArgumentContext& context, PyObject* data, std::optional<Dtype> dtype) {
  const GradModeScope no_grad(false);
  if (TensorImpl* tensor = tensor_or_null(data)) {
    const TensorRef own = alias_of(*tensor);
    const TensorRef dense =
        make_tensor(dtype.value_or(own->dtype()), own->sizes(), contiguous_strides(own->sizes()), own->device());
    copy_into(*own, *dense);
    return dense;
  }
  if (const std::optional<Scalar> number = number_or_none(context, data)) {
    const Dtype stored = dtype ? *dtype : number->is_float() ? default_float() : number->kind();
    check_fits(context, *number, stored);
    return tensor_from(*number, stored);
  }
  if (const TensorRef array = tensor_from_array(context, data, Sharing::kNever)) return converted(array, dtype);
  if (is_sequence(data)) {
    NestedList list(context, data);
    if (list.holds_tensors()) return converted(stack_elements(context, data), dtype);
    return list.read(dtype ? *dtype : list.natural_dtype());
  }
  context.fail("a number, a list of numbers, an array or a tensor", data);
}

PyObject* to_list(const TensorImpl& tensor) {
  // Creating lists may run the garbage collector, and with it any Python code.
  const TensorRef own = alias_of(tensor);
  const HostView view(*own);
  return list_of(*own, 0, static_cast<const char*>(view.data()));
}

}  // namespace lucid::python
