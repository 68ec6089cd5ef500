#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "capture/inputs.h"
#include "capture/references.h"
#include "capture/values.h"

namespace lucid::python {

/// The arguments of a call as vectorcall passes them.
struct PassedArguments {
  PyObject* const* values = nullptr;
  Py_ssize_t count = 0;
  PyObject* keyword_names = nullptr;  // a tuple, or null

  /// Null if the call does not have it. Borrowed.
  PyObject* at(Py_ssize_t position) const { return position < count ? values[position] : nullptr; }
  PyObject* named(PyObject* name) const;
};

/// A pattern that an argument must match, part by part. It does not keep the argument alive.
struct ArgumentShape {
  enum class Kind : uint8_t {
    kAny,       // anything: the key of the call covers it
    kMissing,   // an attribute that must not exist
    kValue,     // an equal number or string
    kSame,      // the same object
    kInstance,  // an object with the same values in the guarded attributes
    kAgain,     // the same object as an earlier part with a number
    kItems,     // a list, a tuple, a named tuple, a functools.partial, or a set with its items in the same order
    kEntries,   // a dict
    kTensor,    // a tensor of the same type, which is an input of the plan
    kFunction,  // a function with the same code, globals and names; its defaults and cells are the parts
    kBytes,     // an object of the same class whose memory has the same bytes
  };
  static constexpr size_t kNoNumber = SIZE_MAX;

  Kind kind = Kind::kAny;
  nb::object value;  // of kValue; of kSame, a weak reference if the object supports one
  bool is_weak = false;
  nb::object type;   // of kFunction: its code
  nb::object names;  // of kInstance: a frozenset of guarded names; None means all. Of kFunction: its globals
  nb::object keys;   // of kInstance and kEntries: a tuple, one for each part. Of kFunction: its name and qualified name
  nb::object members;  // of kInstance: a tuple of slot descriptors, whose parts come after those of the keys
  /// Of kInstance: its class derives from dict, and the last part is the kEntries of what it holds.
  bool has_entries = false;
  bool is_partial = false;  // of kItems: the parts are the function, the arguments and the keywords
  InputType tensor;         // of kTensor
  std::string bytes;        // of kBytes
  // The index of a kInstance, and of a container that programs can tell from an equal one; for kAgain, which it is.
  size_t number = kNoNumber;
  std::vector<ArgumentShape> parts;

  int traverse(visitproc visit, void* arg) const;
};

/// Parses a description by lucid.compiler._arguments: nested tuples that begin with the name of a kind.
ArgumentShape to_shape(nb::handle description);

/// The arguments that are guarded.
class ArgumentGuards {
 public:
  /// `where` is a position or a keyword.
  void add(nb::handle where, const std::string& name, nb::handle description);
  bool empty() const { return guards_.empty(); }
  size_t size() const { return guards_.size(); }
  /// `known` are the objects that the call reaches without its arguments. A kInstance must not be one of them, because
  /// it was not when the call was recorded. Adds the tensors that stand for kTensor to `inputs`, in order.
  bool hold(const PassedArguments& arguments, const std::unordered_set<PyObject*>& known, Inputs& inputs) const;
  std::optional<Difference> difference(const PassedArguments& arguments,
                                       const std::unordered_set<PyObject*>& known) const;
  void visit_references(ReferenceVisitor& visitor) const;
  /// Whether an argument that must be the same object is gone.
  bool is_obsolete() const;
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
