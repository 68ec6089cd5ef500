#include "capture/arguments.h"

#include <structmember.h>

#include <algorithm>

#include "base/error.h"
#include "base/small_vector.h"
#include "capture/places.h"

extern "C" {
PyObject* _PyDict_GetItem_KnownHash(PyObject*, PyObject*, Py_hash_t);
int _PySet_NextEntry(PyObject*, Py_ssize_t*, PyObject**, Py_hash_t*);
}

namespace lucid::python {
namespace {

using Kind = ArgumentShape::Kind;

PyObject* find(PyObject* dict, PyObject* key) {
  PyObject* found = _PyDict_GetItem_KnownHash(dict, key, PyObject_Hash(key));
  if (!found) PyErr_Clear();
  return found;
}

std::string text_of(PyObject* name) {
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  return text ? text : words_of(name);
}

/// One comparison of arguments with their shapes. Words are made only if they are asked for.
class Comparison {
 public:
  Comparison(const std::unordered_set<PyObject*>& known, bool wants_words) : known_(known), wants_words_(wants_words) {}

  bool matches(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (shape.kind == Kind::kMissing) return !now || fail(place, "missing", words_of(now));
    if (!now) return fail(place, "there", "missing");
    switch (shape.kind) {
      case Kind::kAny:
      case Kind::kMissing:
        return true;
      case Kind::kValue:
        return same(shape.value.ptr(), now) || fail(place, words_of(shape.value.ptr()), words_of(now));
      case Kind::kSame: {
        PyObject* before = shape.is_weak ? PyWeakref_GET_OBJECT(shape.value.ptr()) : shape.value.ptr();
        return before == now || fail(place, "one object", "another " + std::string(Py_TYPE(now)->tp_name));
      }
      case Kind::kAgain:
        return seen_[shape.number] == now || fail(place, "an object that another argument is, too", "another");
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
    if (wants_words_) difference = Difference{place, place, std::move(before), std::move(now)};
    return false;
  }
  std::string join(const std::string& place, const std::string& part) const {
    return wants_words_ ? place + part : std::string();
  }
  bool has_type(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(now)) == shape.type.ptr()) return true;
    return fail(place + ".__class__", reinterpret_cast<PyTypeObject*>(shape.type.ptr())->tp_name,
                Py_TYPE(now)->tp_name);
  }

  bool matches_instance(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (!has_type(shape, now, place)) return false;
    if (known_.contains(now) || std::find(seen_.begin(), seen_.end(), now) != seen_.end())
      return fail(place, "an object of its own", "one that the call knows already");
    seen_.push_back(now);
    size_t part = 0;
    PyObject* keys = shape.keys.ptr();
    if (PyObject* dict = attributes_of(now)) {
      if (!has_only(shape, dict, place)) return false;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i) {
        PyObject* key = PyTuple_GET_ITEM(keys, i);
        if (!matches(shape.parts[part++], find(dict, key), join(place, "." + text_of(key)))) return false;
      }
    } else if (PyTuple_GET_SIZE(keys) > 0) {
      return fail(place, "an object with attributes", "one without");
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(shape.members.ptr()); ++i) {
      const PyMemberDef* member =
          reinterpret_cast<PyMemberDescrObject*>(PyTuple_GET_ITEM(shape.members.ptr(), i))->d_member;
      PyObject* value = *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(now) + member->offset);
      if (!matches(shape.parts[part++], value, join(place, std::string(".") + member->name))) return false;
    }
    return true;
  }

  /// Whether the object has no attribute that matters besides those that it had.
  bool has_only(const ArgumentShape& shape, PyObject* dict, const std::string& place) {
    PyObject* keys = shape.keys.ptr();
    const auto had = [&](PyObject* name) {
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(keys); ++i)
        if (same(PyTuple_GET_ITEM(keys, i), name)) return true;
      return false;
    };
    PyObject* name = nullptr;
    if (shape.names.is_none()) {
      PyObject* value = nullptr;
      for (Py_ssize_t at = 0; PyDict_Next(dict, &at, &name, &value);)
        if (!had(name)) return fail(place + "." + text_of(name), "missing", words_of(value));
      return true;
    }
    Py_hash_t hash = 0;
    for (Py_ssize_t at = 0; _PySet_NextEntry(shape.names.ptr(), &at, &name, &hash);)
      if (PyObject* value = _PyDict_GetItem_KnownHash(dict, name, hash); value && !had(name))
        return fail(place + "." + text_of(name), "missing", words_of(value));
    return true;
  }

  bool matches_items(const ArgumentShape& shape, PyObject* now, const std::string& place) {
    if (!has_type(shape, now, place)) return false;
    const bool is_list = PyList_Check(now);
    if (!is_list && !PyTuple_Check(now)) return fail(place, "items", words_of(now));
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
    if (!has_type(shape, now, place)) return false;
    if (PyDict_GET_SIZE(now) != static_cast<Py_ssize_t>(shape.parts.size()))
      return fail(place, std::to_string(shape.parts.size()) + " entries", std::to_string(PyDict_GET_SIZE(now)));
    PyObject *key = nullptr, *value = nullptr;
    size_t part = 0;
    for (Py_ssize_t at = 0; PyDict_Next(now, &at, &key, &value); ++part) {
      PyObject* before = PyTuple_GET_ITEM(shape.keys.ptr(), static_cast<Py_ssize_t>(part));
      if (!same(before, key)) return fail(place, "the key " + words_of(before), words_of(key));
      if (!matches(shape.parts[part], value, join(place, "[" + words_of(key) + "]"))) return false;
    }
    return true;
  }

  const std::unordered_set<PyObject*>& known_;
  bool wants_words_;
  SmallVector<PyObject*, 8> seen_;
};

Kind kind_of(const std::string& name) {
  static constexpr std::pair<const char*, Kind> kKinds[] = {
      {"any", Kind::kAny},           {"missing", Kind::kMissing}, {"value", Kind::kValue}, {"same", Kind::kSame},
      {"instance", Kind::kInstance}, {"again", Kind::kAgain},     {"items", Kind::kItems}, {"entries", Kind::kEntries}};
  for (const auto& [known, kind] : kKinds)
    if (name == known) return kind;
  throw ValueError("an argument's description begins with '{}'", name);
}

}  // namespace

PyObject* CallArguments::named(PyObject* name) const {
  for (Py_ssize_t i = 0; keyword_names && i < PyTuple_GET_SIZE(keyword_names); ++i)
    if (same(PyTuple_GET_ITEM(keyword_names, i), name)) return values[count + i];
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
      shape.type = tuple[1];
      add_parts(tuple[2]);
      break;
    case Kind::kEntries:
      shape.type = tuple[1];
      shape.keys = nb::cast<nb::tuple>(tuple[2]);
      add_parts(tuple[3]);
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
