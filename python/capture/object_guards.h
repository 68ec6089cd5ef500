#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "capture/stores.h"
#include "capture/values.h"

namespace lucid::python {

// Guards of Python objects that a call may read, each with the recorded value. `source` says where the call reads the
// object, such as `closure box.items[0]`. Guards own the objects that they refer to. holds() runs no user code;
// difference() describes what has changed.

/// Entries of a dict: those with certain names, or all of them in order.
struct DictGuard {
  enum class Style : uint8_t { kGlobal, kAttribute, kItem, kClass };

  PyObject* dict;
  PyObject* names;     // a frozenset; null means all entries
  PyObject* expected;  // a private dict; for all entries a tuple of alternating keys and values
  std::string source;
  Style style;
  /// The dict's version at the last comparison that found no difference.
  mutable uint64_t version;

  DictGuard(PyObject* dict, PyObject* names, std::string source, Style style);
  bool holds() const {
    const uint64_t now = version_of(dict);
    return (now == version && now != 0) || holds_at(now);
  }
  std::optional<Difference> difference() const;
  /// Adds the entries that differ. Returns whether they are all that differs, and all of them are still there.
  bool add_writes(std::vector<Write>& writes, const std::unordered_set<PyObject*>& made) const;
  /// Accepts anything in an entry from now on.
  void release(PyObject* key);
  /// Accepts any int, or any float, in the entry with a name that holds one.
  void accept_numbers(PyObject* name);
  size_t size() const;
  template <typename Visit>
  void each(Visit visit) {
    visit(dict), visit(names), visit(expected);
  }

 private:
  /// Compares the entries. `now` is the dict's version.
  bool holds_at(uint64_t now) const;
  bool holds_names() const;
  bool holds_all() const;
  /// Calls a function with each entry that has one of the names, its hash and its value, until it returns false.
  template <typename Function>
  bool for_each_named(Function function) const;
  Difference difference_of(PyObject* key, PyObject* before, PyObject* now) const;
};

/// An object's class, and the identity of its attribute dict. It does not create the dict.
struct InstanceGuard {
  PyObject* object;
  PyObject* type;
  PyObject* dict;   // null if it has none yet
  PyObject** slot;  // the object's pointer to the dict; null if it cannot have one
  std::string source;

  InstanceGuard(PyObject* object, std::string source);
  bool holds() const {
    if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type) return false;
    return !slot || *slot == dict;
  }
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(object), visit(type), visit(dict);
  }
};

/// The names of a class, and the classes that it derives from.
struct ClassGuard {
  PyObject* type;
  PyObject* name;
  PyObject* qualified_name;
  PyObject* order;
  std::string source;

  ClassGuard(PyObject* type, std::string source);
  bool holds() const {
    const auto* now = reinterpret_cast<PyHeapTypeObject*>(type);
    if (now->ht_type.tp_mro != order) return false;
    // Classes that are not on the heap have no names of their own.
    return !name || (equal_constants(name, now->ht_name) && equal_constants(qualified_name, now->ht_qualname));
  }
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(type), visit(name), visit(qualified_name), visit(order);
  }
};

/// A closure's cell, or an attribute that is stored in a slot of the object.
struct SlotGuard {
  PyObject* holder;
  Py_ssize_t offset;  // -1 for a cell
  PyObject* expected;
  std::string source;

  /// `member` is the descriptor of the slot, or null if the holder is a cell.
  SlotGuard(PyObject* holder, PyObject* member, std::string source);
  PyObject* now() const { return where().now(); }
  bool holds() const { return same(expected, now()); }
  std::optional<Difference> difference() const;
  Location where() const {
    return {offset < 0 ? Location::Kind::kCell : Location::Kind::kSlot, holder, nullptr, offset};
  }
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(holder), visit(expected);
  }
};

/// What code asks about a number: `number % modulus < constant`, or the like. Without a modulus, it is 0.
struct NumberTest {
  enum class Op : uint8_t { kLess, kLessEqual, kEqual, kNotEqual, kGreater, kGreaterEqual };
  int64_t modulus;
  Op op;
  int64_t constant;

  bool holds(int64_t number) const;
};

/// An int that code only tests: the outcomes of the tests are compared, not its value. If the call counts, adding
/// `step` to it, the tests come before or after that.
struct TestGuard {
  Location where;
  std::vector<NumberTest> tests;
  std::vector<bool> expected;
  int64_t step;
  std::string source;

  /// `before` is what the location held when the recorded call began.
  TestGuard(const Location& where, std::vector<NumberTest> tests, int64_t before, int64_t step, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(where.holder), visit(where.key);
  }

 private:
  /// Calls a function with the outcomes for a number, in order, until it returns false. Returns whether it never did.
  template <typename Function>
  bool each_outcome(int64_t number, const Function& function) const;
};

/// An int or a float that varies: another check decides which values the plan serves.
struct NumberGuard {
  Location where;
  PyTypeObject* type;
  std::string source;

  NumberGuard(const Location& where, std::string source);
  bool holds() const {
    PyObject* const now = where.now();
    return now && Py_IS_TYPE(now, type);
  }
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(where.holder), visit(where.key);
  }
};

/// The items of a list, a deque or a set, or the keys of an ordered dict, in order.
struct SequenceGuard {
  PyObject* holder;
  PyObject* expected;  // a tuple
  std::string source;

  SequenceGuard(PyObject* holder, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  /// As DictGuard's, for the items of a list.
  bool add_writes(std::vector<Write>& writes) const;
  void release(Py_ssize_t index);
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(holder), visit(expected);
  }
};

/// A function's code, name and defaults.
struct FunctionGuard {
  PyObject* function;
  PyObject* name;
  PyObject* qualified_name;
  PyObject* code;
  PyObject* defaults;
  PyObject* keyword_defaults;  // the dict; another guard compares its contents
  std::string source;

  FunctionGuard(PyObject* function, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(function), visit(name), visit(qualified_name), visit(code), visit(defaults), visit(keyword_defaults);
  }
};

/// The contents of an object with a buffer, and what programs can see of its layout: format, shape, strides, and
/// whether it can be written to.
class Bytes {
 public:
  Bytes() = default;
  explicit Bytes(PyObject* holder);
  /// Whether an object has the same. Runs no user code for arrays, bytearrays and memoryviews.
  bool match(PyObject* holder) const;

 private:
  std::string layout_;
  std::string contents_;
};

/// The bytes of an array.
struct BytesGuard {
  PyObject* holder;
  Bytes expected;
  std::string source;

  BytesGuard(PyObject* holder, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(holder);
  }
};

/// The value of a context variable.
struct ContextGuard {
  PyObject* variable;
  PyObject* expected;  // null if it has none
  std::string source;

  ContextGuard(PyObject* variable, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(variable), visit(expected);
  }

 private:
  nb::object now() const;
};

/// What a C function without arguments returns: the number of classes registered with abstract ones.
struct CallGuard {
  PyObject* function;
  PyObject* expected;
  std::string source;

  CallGuard(PyObject* function, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(function), visit(expected);
  }
};

/// The attribute dict of an object, created if the object has none yet; null if it cannot have one. Borrowed.
PyObject* attributes_of(PyObject* object);
/// Whether the attribute dict of an object exists.
bool has_attribute_dict(PyObject* object);

}  // namespace lucid::python
