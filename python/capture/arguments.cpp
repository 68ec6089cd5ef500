#include "capture/arguments.h"

#include <structmember.h>

#include <algorithm>

#include "base/error.h"
#include "base/small_vector.h"
#include "capture/places.h"

extern "C" {
int _PySet_NextEntry(PyObject*, Py_ssize_t*, PyObject**, Py_hash_t*);
}

namespace lucid::python {
namespace {

using Kind = ArgumentShape::Kind;

std::string text_of(PyObject* name) {
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  return text ? text : value_text(name);
}

/// One comparison of arguments with their shapes. The description of a difference is built only if `wants_difference`.
class Comparison {
 public:
  Comparison(const std::unordered_set<PyObject*>& known, bool wants_difference)
      : known_(known), wants_difference_(wants_difference) {}

  bool matches(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (shape.kind == Kind::kMissing) return !now || fail(place, "missing", value_text(now));
    if (!now) return fail(place, "present", "missing");
    switch (shape.kind) {
      case Kind::kAny:
      case Kind::kMissing:
        return true;
      case Kind::kValue:
        return same(shape.value.ptr(), now) || fail(place, value_text(shape.value.ptr()), value_text(now));
      case Kind::kSame: {
        PyObject* before = shape.is_weak ? PyWeakref_GET_OBJECT(shape.value.ptr()) : shape.value.ptr();
        return before == now || fail(place, "one object", "another " + std::string(Py_TYPE(now)->tp_name));
      }
      case Kind::kAgain:
        return seen_[shape.number] == now || fail(place, "the same object as another argument", "a different object");
      case Kind::kInstance:
        return matches_instance(shape, now, place);
      case Kind::kItems:
        return matches_items(shape, now, place);
      case Kind::kEntries:
        return matches_entries(shape, now, place);
    }
    return false;
  }

  std::optional<Difference> difference;

 private:
  bool fail(const std::string& place, std::string before, std::string now) {
    if (wants_difference_) difference = Difference{place, place, std::move(before), std::move(now)};
    return false;
  }
  std::string join(const std::string& place, const std::string& part) const {
    return wants_difference_ ? place + part : std::string();
  }
  bool has_type(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(now)) == shape.type.ptr()) return true;
    return fail(place + ".__class__", reinterpret_cast<PyTypeObject*>(shape.type.ptr())->tp_name,
                Py_TYPE(now)->tp_name);
  }

  /// Whether the call does not reach an object otherwise, as it did not in the recording: neither as state nor, if the
  /// shape has a number, through another argument.
  bool is_new(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (known_.contains(now)) return fail(place, "an object of its own", "one that the call knows already");
    if (shape.number == ArgumentShape::kNoNumber) return true;
    if (std::find(seen_.begin(), seen_.end(), now) != seen_.end())
      return fail(place, "an object of its own", "another argument");
    seen_.push_back(now);
    return true;
  }

  bool matches_instance(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (!has_type(shape, now, place) || !is_new(shape, now, place)) return false;
    size_t part = 0;
    PyObject* keys = shape.keys.ptr();
    if (PyObject* dict = attributes_of(now)) {
      if (!has_only(shape, dict, place)) return false;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i) {
        PyObject* key = PyTuple_GET_ITEM(keys, i);
        if (!matches(shape.parts[part++], find_name(dict, key), join(place, "." + text_of(key)))) return false;
      }
    } else if (PyTuple_GET_SIZE(keys) > 0) {
      return fail(place, "an object with attributes", "an object without attributes");
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.members.ptr()); ++i) {
      const PyMemberDef* member =
          reinterpret_cast<PyMemberDescrObject*>(PyTuple_GET_ITEM(shape.members.ptr(), i))->d_member;
      PyObject* value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(now) + member->offset);
      if (!matches(shape.parts[part++], value, join(place, std::string(".") + member->name))) return false;
    }
    return true;
  }

  /// Whether the object has no guarded attribute that it did not have when the call was recorded.
  bool has_only(const ArgumentShape& shape, PyObject* dict, const std::string& place) {
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
        if (!had(name)) return fail(place + "." + text_of(name), "missing", value_text(value));
      return true;
    }
    Py_hash_t hash = 0;
    for (Py_ssize_t at = 0; _PySet_NextEntry(shape.names.ptr(), &at, &name, &hash);)
      if (PyObject* value = find_name(dict, name); value && !had(name))
        return fail(place + "." + text_of(name), "missing", value_text(value));
    return true;
  }

  bool matches_items(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (!has_type(shape, now, place) || !is_new(shape, now, place)) return false;
    const bool is_list = PyList_Check(now);
    if (!is_list && !PyTuple_Check(now)) return fail(place, "items", value_text(now));
    const Py_ssize_t size = is_list ? PyList_GET_SIZE(now) : PyTuple_GET_SIZE(now);
    if (size != static_cast<Py_ssize_t>(shape.parts.size()))
      return fail(place, std::to_string(shape.parts.size()) + " items", std::to_string(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* item = is_list ? PyList_GET_ITEM(now, i) : PyTuple_GET_ITEM(now, i);
      if (!matches(shape.parts[static_cast<size_t>(i)], item, join(place, "[" + std::to_string(i) + "]"))) return false;
    }
    return true;
  }

  bool matches_entries(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (!has_type(shape, now, place) || !is_new(shape, now, place)) return false;
    if (PyDict_GET_SIZE(now) != static_cast<Py_ssize_t>(shape.parts.size()))
      return fail(place, std::to_string(shape.parts.size()) + " entries", std::to_string(PyDict_GET_SIZE(now)));
    PyObject *key = nullptr, *value = nullptr;
    size_t part = 0;
    for (Py_ssize_t at = 0; PyDict_Next(now, &at, &key, &value); ++part) {
      PyObject* before = PyTuple_GET_ITEM(shape.keys.ptr(), static_cast<Py_ssize_t>(part));
      if (!same(before, key)) return fail(place, "the key " + value_text(before), value_text(key));
      if (!matches(shape.parts[part], value, join(place, "[" + value_text(key) + "]"))) return false;
    }
    return true;
  }

  const std::unordered_set<PyObject*>& known_;
  bool wants_difference_;
  SmallVector<PyObject*, 8> seen_;
};

Kind kind_of(const std::string& name) {
  static constexpr std::pair<const char*, Kind> kKinds[] = {
      {"any", Kind::kAny},           {"missing", Kind::kMissing}, {"value", Kind::kValue}, {"same", Kind::kSame},
      {"instance", Kind::kInstance}, {"again", Kind::kAgain},     {"items", Kind::kItems}, {"entries", Kind::kEntries}};
  for (const auto& [known, kind] : kKinds)
    if (name == known) return kind;
  throw ValueError("guards: unknown kind '{}' in the description of an argument", name);
}

}  // namespace

PyObject* CallArguments::named(PyObject* name) const {
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
      break;
    case Kind::kAgain:
      shape.number = nb::cast<size_t>(tuple[1]);
      break;
    case Kind::kItems:
      if (!tuple[1].is_none()) shape.number = nb::cast<size_t>(tuple[1]);
      shape.type = tuple[2];
      add_parts(tuple[3]);
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

PyObject* argument_at(const CallArguments& arguments, const nb::object& where) {
  return PyLong_Check(where.ptr()) ? arguments.at(PyLong_AsSsize_t(where.ptr())) : arguments.named(where.ptr());
}

}  // namespace

bool ArgumentGuards::hold(const CallArguments& arguments, const std::unordered_set<PyObject*>& known) const {
  Comparison comparison(known, false);
  return std::all_of(guards_.begin(), guards_.end(), [&](const Guard& guard) {
    return comparison.matches(guard.shape, argument_at(arguments, guard.where), {});
  });
}

std::optional<Difference> ArgumentGuards::difference(const CallArguments& arguments,
                                                     const std::unordered_set<PyObject*>& known) const {
  Comparison comparison(known, true);
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
