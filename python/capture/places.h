#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <vector>

#include "capture/values.h"

namespace lucid::python {

// The kinds of places that a call may read from, each with what was there. All own the objects that they name.
// holds() runs no code of users; difference() says what has changed since.

/// Entries of a dict: those of certain names, or all of them in their order.
struct DictGuard {
  enum class Style : uint8_t { kGlobal, kAttribute, kItem };

  PyObject* dict;
  PyObject* names;     // a frozenset; null means all entries
  PyObject* expected;  // a dict of our own; for all entries a tuple of keys and values in turn
  std::string place;
  Style style;
  /// As of the last look that found everything as it was.
  mutable uint64_t version;

  DictGuard(PyObject* dict, PyObject* names, std::string place, Style style);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const;
  template <typename Visit>
  void each(Visit visit) {
    visit(dict), visit(names), visit(expected);
  }

 private:
  bool holds_names() const;
  bool holds_all() const;
  /// Calls a function with each entry that has one of the names, its hash and its value, until it returns false.
  template <typename Function>
  bool for_each_named(Function function) const;
  Difference words(PyObject* key, PyObject* before, PyObject* now) const;
};

/// An object's class, and which dict holds its attributes.
struct InstanceGuard {
  PyObject* object;
  PyObject* type;
  PyObject* dict;   // null if it has none
  PyObject** slot;  // where the object refers to it
  std::string place;

  InstanceGuard(PyObject* object, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(object), visit(type), visit(dict);
  }
};

/// The name of a class, and the classes that it derives from.
struct ClassGuard {
  PyObject* type;
  PyObject* name;
  PyObject* order;
  std::string place;

  ClassGuard(PyObject* type, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(type), visit(name), visit(order);
  }
};

/// A closure's cell, or an attribute that lies in a slot of the object.
struct SlotGuard {
  PyObject* holder;
  Py_ssize_t offset;  // -1 for a cell
  PyObject* expected;
  std::string place;

  /// `member` is the descriptor of the slot, or null if the holder is a cell.
  SlotGuard(PyObject* holder, PyObject* member, std::string place);
  PyObject* now() const;
  bool holds() const { return same(expected, now()); }
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(holder), visit(expected);
  }
};

/// What a list, a deque or a set holds, in order; of an ordered dict, its keys.
struct SequenceGuard {
  PyObject* holder;
  PyObject* expected;  // a tuple
  std::string place;

  SequenceGuard(PyObject* holder, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(holder), visit(expected);
  }
};

/// What a function does and what its arguments are if they are not given.
struct FunctionGuard {
  PyObject* function;
  PyObject* name;
  PyObject* qualified_name;
  PyObject* code;
  PyObject* defaults;
  PyObject* keyword_defaults;  // the dict; its contents are a guard of their own
  std::string place;

  FunctionGuard(PyObject* function, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(function), visit(name), visit(qualified_name), visit(code), visit(defaults), visit(keyword_defaults);
  }
};

/// The bytes of an array.
struct BytesGuard {
  PyObject* holder;
  std::string expected;
  std::string place;

  BytesGuard(PyObject* holder, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(holder);
  }
};

/// What a C function without arguments returns: the number of classes registered with abstract ones.
struct CallGuard {
  PyObject* function;
  PyObject* expected;
  std::string place;

  CallGuard(PyObject* function, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(function), visit(expected);
  }
};

/// The dict of an object's attributes, made if the object has none yet; null if it cannot have one. Borrowed.
PyObject* attributes_of(PyObject* object);

}  // namespace lucid::python
