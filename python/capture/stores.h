#pragma once

#include <Python.h>

#include <span>
#include <string>
#include <vector>

#include "capture/inputs.h"
#include "capture/values.h"

namespace lucid::python {

/// Holds one object: an entry, an item, a variable of a closure, a slot, a buffer, or the end of a list.
struct Location {
  enum class Kind : uint8_t {
    kEntry,   // of a dict
    kItem,    // of a list
    kCell,    // of a closure
    kSlot,    // of an object
    kEnd,     // of a list, where items are appended
    kBuffer,  // of a module
  };

  Kind kind;
  PyObject* holder;
  PyObject* key = nullptr;  // of an entry: an exact str or int; of a buffer: its name
  Py_ssize_t offset = 0;    // the index of an item, or where the slot is

  /// Null if nothing is there. Borrowed.
  PyObject* now() const;
  /// Stores an object, as an assignment in Python does. At the end of a list, appends the items of a tuple.
  void set(PyObject* value) const;
  bool operator==(const Location&) const = default;
};

/// A location that a recorded call wrote to, and what it held before and after the call. Null stands for nothing.
struct Write {
  Location location;
  std::string name;  // as the user would write it
  nb::object before;
  nb::object now;
};

/// Stands for the contents of a location that may hold anything: another check decides.
PyObject* anything();

/// Stands for any int, or any float.
PyObject* any_number(PyTypeObject* type);
bool is_any_number(PyObject* object);

/// Whether what a location holds is as recorded.
inline bool matches(PyObject* before, PyObject* now) {
  if (before == anything()) [[unlikely]]
    return now != nullptr;
  return same(before, now) || (is_any_number(before) && now && any_number(Py_TYPE(now)) == before);
}

/// The locations that a recorded call writes to. Later calls write there too. Those that held a tensor before the call
/// are its inputs: a later call may find another tensor of the same type there.
class Stores {
 public:
  Stores() = default;
  Stores(const Stores&) = delete;
  Stores& operator=(const Stores&) = delete;
  ~Stores() { clear(); }

  /// Adds a location. If it held a tensor before the call, that is an input. If the call counts, it adds what is stored
  /// to the int that is there.
  void add(const Location& location, std::string name, TensorImpl* before, bool counts);

  bool empty() const { return stores_.empty(); }
  /// Whether the inputs are of the recorded types, and what is counted are ints. If so, adds them to `inputs`.
  bool find_inputs(Inputs& inputs) const { return stores_.empty() || find_any_inputs(inputs); }
  /// The first location that no longer holds a tensor of the recorded type.
  std::optional<Difference> difference() const;
  /// Stores one object for each location.
  void set(std::span<PyObject* const> values) const;
  /// After a call that stores: for each location, its name, the object that set() would be given, from `values`, and
  /// what the location holds now. Without counters.
  nb::list compared(std::span<PyObject* const> values) const;

  template <typename Visit>
  void each(Visit visit) const {
    for (const Store& store : stores_) visit(store.location);
  }
  void clear();

 private:
  struct Store {
    Location location;
    std::string name;
    bool counts;
  };
  struct Input {
    size_t store;
    InputType type;
  };

  bool find_any_inputs(Inputs& inputs) const;

  std::vector<Store> stores_;
  std::vector<Input> inputs_;
};

}  // namespace lucid::python
