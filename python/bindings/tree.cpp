#include "bindings/tree.h"

#include <optional>

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/key_places.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

constexpr int kMaxDepth = 500;

struct PythonForeign : Foreign {
  explicit PythonForeign(nb::object held) : object(std::move(held)) {}
  SharedObject object;
};

class Reader {
 public:
  Reader(std::string root, Unsupported unsupported) : path_(std::move(root)), unsupported_(unsupported) {}

  Tree read(nb::handle object) {
    PyObject* p = object.ptr();
    if (p == Py_None) return {};
    if (PyBool_Check(p)) return p == Py_True;
    if (TensorImpl* tensor = tensor_or_null(p)) return Tensor(tensor);
    if (PyUnicode_Check(p)) return text(p);
    if (PyDict_Check(p)) return dict(p);
    if (PyList_Check(p)) return items(p);
    if (PyTuple_Check(p)) return Tree::Tuple{items(p)};
    const ArgumentContext context{path_.c_str(), "a number"};
    if (const auto number = number_or_none(context, p)) {
      if (number->is_float()) return number->to_double();
      return number->kind() == Dtype::kBool ? Tree(number->to_int() != 0) : Tree(number->to_int());
    }
    if (unsupported_ == Unsupported::kKeep) return std::shared_ptr<Foreign>(new PythonForeign(nb::borrow(object)));
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
      list.push_back(inside(fmt::format("[{}]", i), [&] { return read(item); }));
      yield_.tick();
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
      yield_.tick();
    }
    return Tree::Dict(std::move(items));
  }

  std::string path_;
  Unsupported unsupported_;
  GilYield yield_;
  int level_ = 0;
};

class Writer {
 public:
  explicit Writer(GilYield* yield) : yield_(yield) {}

  nb::object operator()(const Tree& tree) {
    if (const auto* value = tree.get_if<bool>()) return nb::bool_(*value);
    if (const auto* value = tree.get_if<int64_t>()) return nb::int_(*value);
    if (const auto* value = tree.get_if<double>()) return nb::float_(*value);
    if (const auto* value = tree.get_if<std::string>()) return text(*value);
    if (const auto* value = tree.get_if<Tensor>()) return to_object(ref_of(*value));
    if (const auto* value = tree.get_if<Tree::List>()) return list(*value);
    if (const auto* value = tree.get_if<Tree::Tuple>()) return nb::tuple(list(value->items));
    if (const auto* dict = tree.dict_or_null()) {
      nb::dict result;
      std::optional<KeyPlaces> places;
      for (const auto& [key, value] : *dict) {
        const nb::object name = key_object(key);
        if (yield_ && std::holds_alternative<int64_t>(key)) {
          if (!places) places.emplace(false);
          places->add(nb::hash(name), false);
        }
        result[name] = (*this)(value);
        if (yield_) yield_->tick();
      }
      return result;
    }
    if (const auto* value = tree.get_if<std::shared_ptr<Foreign>>())
      return dynamic_cast<PythonForeign&>(**value).object.get();
    return nb::none();
  }

 private:
  static nb::object text(const std::string& text) {
    return checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "strict"));
  }

  static nb::object key_object(const Tree::Key& key) {
    if (const auto* number = std::get_if<int64_t>(&key)) return nb::int_(*number);
    return text(std::get<std::string>(key));
  }

  nb::list list(const Tree::List& items) {
    nb::list result;
    for (const Tree& item : items) {
      result.append((*this)(item));
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

nb::object from_tree(const Tree& tree, GilYield* yield) { return Writer(yield)(tree); }

}  // namespace lucid::python
