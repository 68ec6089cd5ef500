#include "capture/arguments.h"

#include <structmember.h>

#include <algorithm>
#include <concepts>

#include "base/error.h"
#include "base/small_vector.h"
#include "bindings/tensor_object.h"
#include "capture/object_guards.h"

extern "C" {
int _PySet_NextEntry(PyObject*, Py_ssize_t*, PyObject**, Py_hash_t*);
}

namespace lucid::python {
namespace {

using Kind = ArgumentShape::Kind;

/// The memory of an object after its header.
std::string_view bytes_of(PyObject* object) {
  return {reinterpret_cast<const char*>(object) + sizeof(PyObject),
          static_cast<size_t>(Py_TYPE(object)->tp_basicsize) - sizeof(PyObject)};
}

/// One comparison of arguments with their shapes. The description of a difference is built only if `wants_difference`.
class Comparison {
 public:
  Comparison(const std::unordered_set<PyObject*>& known, Inputs& inputs, bool wants_difference)
      : known_(known), inputs_(inputs), wants_difference_(wants_difference) {}

  bool matches(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (shape.kind == Kind::kMissing) return !now || fail(source, "missing", now);
    if (!now) return fail(source, "present", "missing");
    switch (shape.kind) {
      case Kind::kAny:
      case Kind::kMissing:
        return true;
      case Kind::kValue:
        return same(shape.value.ptr(), now) || fail(source, shape.value.ptr(), now);
      case Kind::kSame: {
        PyObject* before = shape.is_weak ? PyWeakref_GET_OBJECT(shape.value.ptr()) : shape.value.ptr();
        return before == now ||
               fail(source, "one object", [&] { return std::string("another ") + Py_TYPE(now)->tp_name; });
      }
      case Kind::kAgain:
        return seen_[shape.number] == now || fail(source, "the same object as another argument", "a different object");
      case Kind::kInstance:
        return matches_instance(shape, now, source);
      case Kind::kItems:
        return matches_items(shape, now, source);
      case Kind::kEntries:
        return has_type(shape, now, source) && is_new(shape, now, source) && matches_entries(shape, now, source);
      case Kind::kTensor:
        return matches_tensor(shape, now, source);
      case Kind::kFunction:
        return matches_function(shape, now, source);
      case Kind::kBytes:
        return (has_type(shape, now, source) && bytes_of(now) == shape.bytes) || fail(source, "one number", "another");
    }
    return false;
  }

  std::optional<Difference> difference;

 private:
  /// `before` and `now` are texts, objects whose values are shown, or functions that return a text.
  template <typename Before, typename Now>
  bool fail(const std::string& source, const Before& before, const Now& now) {
    if (wants_difference_) difference = Difference{source, source, describe(before), describe(now)};
    return false;
  }
  static std::string describe(const std::string& text) { return text; }
  static std::string describe(PyObject* value) { return value_text(value); }
  template <std::invocable Text>
  static std::string describe(const Text& text) {
    return text();
  }
  /// The source of a part of an object, if a difference is wanted.
  std::string join(const std::string& source, const char* part) const {
    return wants_difference_ ? source + part : std::string();
  }
  std::string attribute_source(const std::string& source, PyObject* name) const {
    return wants_difference_ ? source + "." + name_text(name) : std::string();
  }
  std::string entry_source(const std::string& source, PyObject* key) const {
    return wants_difference_ ? source + "[" + value_text(key) + "]" : std::string();
  }
  std::string item_source(const std::string& source, Py_ssize_t index) const {
    return wants_difference_ ? source + "[" + std::to_string(index) + "]" : std::string();
  }
  bool has_type(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(now)) == shape.type.ptr()) return true;
    return fail(join(source, ".__class__"), reinterpret_cast<PyTypeObject*>(shape.type.ptr())->tp_name,
                Py_TYPE(now)->tp_name);
  }

  /// Whether the call does not reach an object otherwise, as it did not in the recording: neither as state nor, if the
  /// shape has a number, through another argument.
  bool is_new(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (known_.contains(now)) return fail(source, "an object of its own", "one that the call knows already");
    if (shape.number == ArgumentShape::kNoNumber) return true;
    if (std::find(seen_.begin(), seen_.end(), now) != seen_.end())
      return fail(source, "an object of its own", "another argument");
    seen_.push_back(now);
    return true;
  }

  bool matches_instance(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (!has_type(shape, now, source)) return false;
    PyObject* const keys = shape.keys.ptr();
    PyObject* const dict = attributes_of(now);
    if (!dict && PyTuple_GET_SIZE(keys) > 0)
      return fail(source, "an object with attributes", "an object without attributes");
    // Numbers and texts first: they take least time, and differ most often.
    const auto match_attributes = [&](bool values) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i) {
        const ArgumentShape& part = shape.parts[static_cast<size_t>(i)];
        PyObject* const key = PyTuple_GET_ITEM(keys, i);
        if ((part.kind == Kind::kValue) == values &&
            !matches(part, find_name(dict, key), attribute_source(source, key)))
          return false;
      }
      return true;
    };
    if (!match_attributes(true) || !is_new(shape, now, source) || !match_attributes(false)) return false;
    auto part = static_cast<size_t>(PyTuple_GET_SIZE(keys));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.members.ptr()); ++i) {
      const PyMemberDef* member =
          reinterpret_cast<PyMemberDescrObject*>(PyTuple_GET_ITEM(shape.members.ptr(), i))->d_member;
      PyObject* value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(now) + member->offset);
      if (!matches(shape.parts[part++], value, join(join(source, "."), member->name))) return false;
    }
    // There are far more names than attributes.
    if (dict && !has_only(shape, dict, source)) return false;
    return !shape.has_entries || matches_entries(shape.parts[part], now, source);
  }

  bool matches_tensor(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    TensorImpl* const tensor = shape.tensor.match(now);
    if (!tensor) return fail(source, [&] { return shape.tensor.text(); }, [&] { return InputType::text_of(now); });
    inputs_.push_back(TensorRef(tensor));
    return true;
  }

  /// Whether the object has no guarded attribute that it did not have when the call was recorded.
  bool has_only(const ArgumentShape& shape, PyObject* dict, const std::string& source) {
    PyObject* keys = shape.keys.ptr();
    const auto had = [&](PyObject* name) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i)
        if (equal_constants(PyTuple_GET_ITEM(keys, i), name)) return true;
      return false;
    };
    PyObject* name = nullptr;
    if (shape.names.is_none()) {
      PyObject* value = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &value);)
        if (!had(name)) return fail(attribute_source(source, name), "missing", value);
      return true;
    }
    Py_hash_t hash = 0;
    for (Py_ssize_t at = 0; _PySet_NextEntry(shape.names.ptr(), &at, &name, &hash);)
      if (PyObject* value = find_name(dict, name); value && !had(name))
        return fail(attribute_source(source, name), "missing", value);
    return true;
  }

  bool matches_function(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (!PyFunction_Check(now)) return fail(source, "a function", now);
    const auto& function = *reinterpret_cast<PyFunctionObject*>(now);
    const bool is_same = function.func_code == shape.type.ptr() && function.func_globals == shape.names.ptr() &&
                         equal_constants(PyTuple_GET_ITEM(shape.keys.ptr(), 0), function.func_name) &&
                         equal_constants(PyTuple_GET_ITEM(shape.keys.ptr(), 1), function.func_qualname) &&
                         (!function.func_dict || PyDict_GET_SIZE(function.func_dict) == 0);
    const Py_ssize_t cells = function.func_closure ? PyTuple_GET_SIZE(function.func_closure) : 0;
    constexpr size_t kDefaults = 2;
    if (!is_same || kDefaults + static_cast<size_t>(cells) != shape.parts.size())
      return fail(source, "one function", "another");
    const auto or_none = [](PyObject* object) { return object ? object : Py_None; };
    if (!is_new(shape, now, source)) return false;
    if (!matches(shape.parts[0], or_none(function.func_defaults), join(source, ".__defaults__"))) return false;
    if (!matches(shape.parts[1], or_none(function.func_kwdefaults), join(source, ".__kwdefaults__"))) return false;
    for (Py_ssize_t i = 0; i < cells; ++i) {
      PyObject* const contents = PyCell_GET(PyTuple_GET_ITEM(function.func_closure, i));
      if (!matches(shape.parts[kDefaults + static_cast<size_t>(i)], contents, join(source, "'s closure"))) return false;
    }
    return true;
  }

  bool matches_partial(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    size_t part = 0;
    for (const char* name : {"func", "args", "keywords"}) {
      // Held by the partial too: its attributes cannot be replaced.
      const nb::object item = nb::steal(PyObject_GetAttrString(now, name));
      if (!item.is_valid()) PyErr_Clear();
      if (!matches(shape.parts[part++], item.ptr(), join(join(source, "."), name))) return false;
    }
    return !has_attribute_dict(now) || fail(source, "no attributes", "attributes");
  }

  bool matches_items(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (!has_type(shape, now, source) || !is_new(shape, now, source)) return false;
    if (shape.is_partial) return matches_partial(shape, now, source);
    const Py_ssize_t size = PyList_Check(now)     ? PyList_GET_SIZE(now)
                            : PyAnySet_Check(now) ? PySet_GET_SIZE(now)
                            : PyTuple_Check(now)  ? PyTuple_GET_SIZE(now)
                                                  : -1;
    if (size != static_cast<Py_ssize_t>(shape.parts.size()))
      return fail(source, std::to_string(shape.parts.size()) + " items", std::to_string(size));
    PyObject* item = nullptr;
    Py_hash_t hash = 0;
    Py_ssize_t at = 0;
    for (Py_ssize_t i = 0; i < size; ++i) {
      if (PyAnySet_Check(now))
        _PySet_NextEntry(now, &at, &item, &hash);
      else
        item = PyList_Check(now) ? PyList_GET_ITEM(now, i) : PyTuple_GET_ITEM(now, i);
      if (!matches(shape.parts[static_cast<size_t>(i)], item, item_source(source, i))) return false;
    }
    return true;
  }

  bool matches_entries(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    if (PyDict_GET_SIZE(now) != static_cast<Py_ssize_t>(shape.parts.size()))
      return fail(source, std::to_string(shape.parts.size()) + " entries", std::to_string(PyDict_GET_SIZE(now)));
    PyObject *key = nullptr, *value = nullptr;
    size_t part = 0;
    if (PyODict_Check(now)) return matches_in_order(shape, now, source);
    for (Py_ssize_t at = 0; PyDict_Next(now, &at, &key, &value); ++part)
      if (!matches_entry(shape, part, key, value, source)) return false;
    return true;
  }

  bool matches_entry(const ArgumentShape& shape, size_t part, PyObject* key, PyObject* value,
                     const std::string& source) {
    PyObject* before = PyTuple_GET_ITEM(shape.keys.ptr(), static_cast<Py_ssize_t>(part));
    if (!same(before, key)) return fail(source, [&] { return "the key " + value_text(before); }, key);
    return matches(shape.parts[part], value, entry_source(source, key));
  }

  /// An OrderedDict has an order of its own.
  bool matches_in_order(const ArgumentShape& shape, PyObject* now, const std::string& source) {
    // Looking up a constant runs no code of users.
    PyObject* key = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(now, &at, &key, nullptr);)
      if (!is_constant(key)) return fail(source, "a constant as key", key);
    const nb::object keys = nb::steal(PyODict_Type.tp_iter(now));
    for (size_t part = 0; keys.is_valid() && part < shape.parts.size(); ++part) {
      const nb::object next = nb::steal(PyIter_Next(keys.ptr()));
      if (!next.is_valid()) break;
      if (!matches_entry(shape, part, next.ptr(), PyDict_GetItemWithError(now, next.ptr()), source)) return false;
      if (part + 1 == shape.parts.size()) return true;
    }
    PyErr_Clear();
    return shape.parts.empty();
  }

  const std::unordered_set<PyObject*>& known_;
  Inputs& inputs_;
  bool wants_difference_;
  SmallVector<PyObject*, 8> seen_;
};

Kind kind_of(const std::string& name) {
  static constexpr std::pair<const char*, Kind> kKinds[] = {
      {"any", Kind::kAny},     {"missing", Kind::kMissing},   {"value", Kind::kValue},
      {"same", Kind::kSame},   {"instance", Kind::kInstance}, {"again", Kind::kAgain},
      {"items", Kind::kItems}, {"entries", Kind::kEntries},   {"tensor", Kind::kTensor},
      {"bytes", Kind::kBytes}, {"function", Kind::kFunction}, {"partial", Kind::kItems}};
  for (const auto& [known, kind] : kKinds)
    if (name == known) return kind;
  throw ValueError("guards: unknown kind '{}' in the description of an argument", name);
}

}  // namespace

PyObject* PassedArguments::named(PyObject* name) const {
  for (Py_ssize_t i = 0; keyword_names && i < PyTuple_GET_SIZE(keyword_names); ++i)
    if (equal_constants(PyTuple_GET_ITEM(keyword_names, i), name)) return values[count + i];
  return nullptr;
}

ArgumentShape to_shape(nb::handle description) {
  const auto tuple = nb::cast<nb::tuple>(description);
  ArgumentShape shape;
  shape.kind = kind_of(nb::cast<const char*>(tuple[0]));
  const auto add_parts = [&](nb::handle parts) {
    for (nb::handle part : parts) shape.parts.push_back(to_shape(part));
  };
  switch (shape.kind) {
    case Kind::kAny:
    case Kind::kMissing:
      break;
    case Kind::kValue:
      shape.value = tuple[1];
      break;
    case Kind::kSame: {
      const nb::object object = tuple[1];
      shape.value = nb::steal(PyWeakref_NewRef(object.ptr(), nullptr));
      shape.is_weak = shape.value.is_valid();
      if (!shape.is_weak) {
        PyErr_Clear();
        shape.value = object;
      }
      break;
    }
    case Kind::kInstance:
      shape.number = nb::cast<size_t>(tuple[1]);
      shape.type = tuple[2];
      shape.names = tuple[3];
      shape.keys = nb::cast<nb::tuple>(tuple[4]);
      add_parts(tuple[5]);
      shape.members = nb::cast<nb::tuple>(tuple[6]);
      add_parts(tuple[7]);
      shape.has_entries = !tuple[8].is_none();
      if (shape.has_entries) shape.parts.push_back(to_shape(tuple[8]));
      break;
    case Kind::kFunction:
      shape.number = nb::cast<size_t>(tuple[1]);
      shape.type = tuple[2];
      shape.names = tuple[3];
      shape.keys = nb::cast<nb::tuple>(tuple[4]);
      add_parts(tuple[5]);
      break;
    case Kind::kTensor:
      shape.tensor =
          InputType(expect_tensor("argument", nb::object(tuple[1]).ptr()), Py_TYPE(nb::object(tuple[1]).ptr()));
      break;
    case Kind::kBytes:
      shape.type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(nb::object(tuple[1]).ptr())));
      shape.bytes = bytes_of(nb::object(tuple[1]).ptr());
      break;
    case Kind::kAgain:
      shape.number = nb::cast<size_t>(tuple[1]);
      break;
    case Kind::kItems:
      if (!tuple[1].is_none()) shape.number = nb::cast<size_t>(tuple[1]);
      shape.type = tuple[2];
      add_parts(tuple[3]);
      shape.is_partial = std::string_view(nb::cast<const char*>(tuple[0])) == "partial";
      break;
    case Kind::kEntries:
      if (!tuple[1].is_none()) shape.number = nb::cast<size_t>(tuple[1]);
      shape.type = tuple[2];
      shape.keys = nb::cast<nb::tuple>(tuple[3]);
      add_parts(tuple[4]);
      break;
  }
  return shape;
}

int ArgumentShape::traverse(visitproc visit, void* arg) const {
  Py_VISIT(value.ptr());
  Py_VISIT(type.ptr());
  Py_VISIT(names.ptr());
  Py_VISIT(keys.ptr());
  Py_VISIT(members.ptr());
  for (const ArgumentShape& part : parts)
    if (const int status = part.traverse(visit, arg)) return status;
  return 0;
}

void ArgumentGuards::add(nb::handle where, const std::string& name, nb::handle description) {
  guards_.push_back({nb::borrow(where), name, to_shape(description)});
}

namespace {

PyObject* argument_at(const PassedArguments& arguments, const nb::object& where) {
  return PyLong_Check(where.ptr()) ? arguments.at(PyLong_AsSsize_t(where.ptr())) : arguments.named(where.ptr());
}

}  // namespace

bool ArgumentGuards::hold(const PassedArguments& arguments, const std::unordered_set<PyObject*>& known,
                          Inputs& inputs) const {
  Comparison comparison(known, inputs, false);
  return std::all_of(guards_.begin(), guards_.end(), [&](const Guard& guard) {
    return comparison.matches(guard.shape, argument_at(arguments, guard.where), {});
  });
}

std::optional<Difference> ArgumentGuards::difference(const PassedArguments& arguments,
                                                     const std::unordered_set<PyObject*>& known) const {
  Inputs inputs;
  Comparison comparison(known, inputs, true);
  for (const Guard& guard : guards_)
    if (!comparison.matches(guard.shape, argument_at(arguments, guard.where), guard.name)) return comparison.difference;
  return std::nullopt;
}

int ArgumentGuards::traverse(visitproc visit, void* arg) const {
  for (const Guard& guard : guards_)
    if (const int status = guard.shape.traverse(visit, arg)) return status;
  return 0;
}

}  // namespace lucid::python
