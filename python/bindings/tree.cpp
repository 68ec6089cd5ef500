#include "bindings/tree.h"

#include <optional>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/from_data.h"
#include "bindings/key_places.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

constexpr int kMaxDepth = 500;

class PythonObject : public Foreign {
 public:
  explicit PythonObject(nb::handle object) : object_(nb::borrow(object)) {}
  const nb::object& object() const { return object_.get(); }

  std::string kind() const override {
    const GilAcquire lock;
    return describe(object().ptr());
  }
  Tree convert() const override;
  Tree call(const std::vector<Tree>& arguments) const override {
    const GilAcquire lock;
    return to_tree(object()(*nb::tuple(from_tree(Tree(arguments)))));
  }

 private:
  SharedObject object_;
};

Tree foreign(nb::handle object) { return std::shared_ptr<const Foreign>(std::make_shared<const PythonObject>(object)); }

class Reader {
 public:
  /// Without `is_deep`, the items of lists and tuples, and dicts, pass through unchanged.
  Reader(std::string root, Unsupported unsupported, bool is_deep = true)
      : path_(std::move(root)), unsupported_(unsupported) {
    if (is_deep) yield_.emplace();
  }

  Tree read(nb::handle object) {
    PyObject* p = object.ptr();
    if (p == Py_None) return {};
    if (PyBool_Check(p)) return p == Py_True;
    if (TensorImpl* tensor = tensor_or_null(p)) return Tensor(tensor);
    if (PyUnicode_Check(p)) return text(p);
    if (PyDict_Check(p) && yield_) return dict(p);
    if (PyList_Check(p)) return items(p);
    if (PyTuple_Check(p)) return Tree::Tuple{items(p)};
    const ArgumentContext context{path_.c_str(), "a number"};
    if (const auto number = number_or_none(context, p)) {
      if (number->is_float()) return number->to_double();
      return number->kind() == Dtype::kBool ? Tree(number->to_int() != 0) : Tree(number->to_int());
    }
    if (unsupported_ == Unsupported::kKeep) {
      if (const auto dtype = dtype_in(p)) return *dtype;
      // Arrays have __index__ as well.
      if (PyIndex_Check(p) && !is_any_array(p)) return int64_t{to_int(context, p)};
      return foreign(object);
    }
    const bool is_array = PyObject_HasAttrString(p, "__array__") != 0;
    const bool is_module = PyObject_HasAttrString(p, "state_dict") != 0;
    throw TypeError("{} is {}; only dicts, lists, tuples, strings, numbers, None and tensors are supported{}", path_,
                    describe(p),
                    is_array    ? "; convert it with lucid.as_tensor()"
                    : is_module ? "; pass its state_dict()"
                                : "");
  }

 private:
  static std::string text(PyObject* p) {
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(p, &size);
    if (!data) throw nb::python_error();
    return {data, static_cast<size_t>(size)};
  }

  /// Extends the path while an item is read.
  template <typename F>
  Tree inside(const std::string& step, F read_item) {
    if (++level_ > kMaxDepth)
      throw ValueError("{}: nested more than {} deep; does it contain itself?", path_.substr(0, 200), kMaxDepth);
    const size_t length = path_.size();
    path_ += step;
    Tree tree = read_item();
    path_.resize(length);
    --level_;
    return tree;
  }

  Tree::List items(PyObject* p) {
    Tree::List list;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(p); ++i) {
      const nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(p, i));
      list.push_back(yield_ ? inside(fmt::format("[{}]", i), [&] { return read(item); }) : to_tree(item));
      if (yield_) yield_->tick();
    }
    return list;
  }

  Tree dict(PyObject* p) {
    std::vector<Tree::Item> items;
    // A copy, because other threads may change the dict meanwhile.
    const nb::object own = checked(PyDict_Copy(p));
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(own.ptr(), &position, &key, &value)) {
      Tree::Key name;
      if (PyUnicode_Check(key))
        name = text(key);
      else if (PyLong_Check(key) && !PyBool_Check(key))
        name = to_int({path_.c_str(), "a key"}, key);
      else
        throw TypeError("{} has {} as a key; keys must be strings or integers", path_, describe(key));
      Tree item = inside("[" + to_string(name) + "]", [&] { return read(value); });
      items.push_back({std::move(name), std::move(item)});
      yield_->tick();
    }
    return Tree::Dict(std::move(items));
  }

  std::string path_;
  Unsupported unsupported_;
  std::optional<GilYield> yield_;  // not set while items pass through unchanged
  int level_ = 0;
};

Tree PythonObject::convert() const {
  const GilAcquire lock;
  return Reader("an argument", Unsupported::kKeep, /*is_deep=*/false).read(object());
}

class Writer {
 public:
  explicit Writer(GilYield* yield) : yield_(yield) {}

  nb::object operator()(const Tree& tree) {
    return std::visit([&](const auto& value) { return convert(value); }, tree.value());
  }

 private:
  nb::object convert(std::monostate) { return nb::none(); }
  nb::object convert(bool value) { return nb::bool_(value); }
  nb::object convert(int64_t value) { return nb::int_(value); }
  nb::object convert(double value) { return nb::float_(value); }
  nb::object convert(Dtype value) { return nb::borrow(dtype_object(value)); }
  nb::object convert(const Tensor& value) { return to_object(ref_of(value)); }
  nb::object convert(const std::shared_ptr<const Foreign>& value) {
    return dynamic_cast<const PythonObject&>(*value).object();
  }
  nb::object convert(const std::string& text) {
    return checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
  }
  nb::object convert(const Tree::List& items) {
    nb::list result;
    for (const Tree& item : items) {
      result.append((*this)(item));
      if (yield_) yield_->tick();
    }
    return result;
  }
  nb::object convert(const Tree::Tuple& tuple) {
    nb::object result = checked(PyTuple_New(static_cast<Py_ssize_t>(tuple.items.size())));
    for (size_t i = 0; i < tuple.items.size(); ++i)
      PyTuple_SET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i), (*this)(tuple.items[i]).release().ptr());
    return result;
  }
  nb::object convert(const std::shared_ptr<Tree::Dict>& dict) {
    nb::dict result;
    std::optional<KeyPlaces> places;
    for (const auto& [key, value] : *dict) {
      const nb::object name = std::visit([&](const auto& part) { return convert(part); }, key);
      if (yield_ && std::holds_alternative<int64_t>(key)) {
        if (!places) places.emplace(false);
        places->add(nb::hash(name), false);
      }
      result[name] = (*this)(value);
      if (yield_) yield_->tick();
    }
    return result;
  }

  GilYield* yield_;
};

}  // namespace

Tree to_tree(const std::string& root, nb::handle object, Unsupported unsupported) {
  return Reader(root, unsupported).read(object);
}

Tree to_tree(nb::handle object) {
  if (object.is_none()) return {};
  if (TensorImpl* tensor = tensor_or_null(object.ptr())) return Tensor(tensor);
  return foreign(object);
}

nb::object from_tree(const Tree& tree, GilYield* yield) { return Writer(yield)(tree); }

}  // namespace lucid::python
