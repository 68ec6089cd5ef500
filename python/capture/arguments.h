#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/values.h"

namespace lucid::python {

/// The arguments of a call as vectorcall passes them.
struct CallArguments {
  PyObject* const* values = nullptr;
  Py_ssize_t count = 0;
  PyObject* keyword_names = nullptr;  // a tuple, or null

  /// Null if the call does not have it. Borrowed.
  PyObject* at(Py_ssize_t position) const { return position < count ? values[position] : nullptr; }
  PyObject* named(PyObject* name) const;
};

/// What an argument must look like, part by part. Nothing of the argument itself is kept alive.
struct ArgumentShape {
  enum class Kind : uint8_t {
    kAny,       // somebody else looks at it
    kMissing,   // an attribute that must not be there
    kValue,     // an equal number or text
    kSame,      // the same object
    kInstance,  // an object with the same values in the attributes that matter
    kAgain,     // the same object as an earlier part of kInstance
    kItems,     // a list or tuple, or the like
    kEntries,   // a dict
  };
  Kind kind = Kind::kAny;
  nb::object value;  // of kValue; of kSame, a weak reference where there can be one
  bool is_weak = false;
  nb::object type;
  nb::object names;    // of kInstance: a frozenset; none means all
  nb::object keys;     // of kInstance and kEntries: a tuple, one for each part
  nb::object members;  // of kInstance: a tuple of descriptors of slots, whose parts come after those of the keys
  size_t number = 0;   // of kInstance and kAgain
  std::vector<ArgumentShape> parts;

  int traverse(visitproc visit, void* arg) const;
};

/// Reads what lucid.compiler._arguments writes: nested tuples that begin with the name of a kind.
ArgumentShape to_shape(nb::handle description);

/// The arguments that are guarded.
class ArgumentGuards {
 public:
  /// `where` is a position or a keyword.
  void add(nb::handle where, const std::string& name, nb::handle description);
  bool empty() const { return guards_.empty(); }
  size_t size() const { return guards_.size(); }
  /// `known` are objects that the call reaches otherwise: an argument that was none of them must be none of them.
  bool hold(const CallArguments& arguments, const std::unordered_set<PyObject*>& known) const;
  std::optional<Difference> difference(const CallArguments& arguments,
                                       const std::unordered_set<PyObject*>& known) const;
  int traverse(visitproc visit, void* arg) const;
  void clear() { guards_.clear(); }

 private:
  struct Guard {
    nb::object where;
    std::string name;
    ArgumentShape shape;
  };
  std::vector<Guard> guards_;
};

}  // namespace lucid::python
