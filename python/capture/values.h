#pragma once

#include <Python.h>

#include <optional>
#include <string>

#include "bindings/errors.h"

namespace lucid::python {

/// Whether a program cannot distinguish two values: the same object, or equal numbers, strings and similar constants.
/// Null stands for a missing value. Inside an IdentityScope they must be the same object. Runs no user code.
inline bool same(PyObject* before, PyObject* now);
/// As same(), but equal constants are accepted in any scope: for names, which programs do not compare by identity.
inline bool equal_constants(PyObject* before, PyObject* now);
/// The same for two objects.
bool are_equal_constants(PyObject* before, PyObject* now);

/// Entered to check guards of a program that compares constants by identity, as `a is b` does.
class IdentityScope {
 public:
  explicit IdentityScope(bool compares_identity) : before_(active_) { active_ = compares_identity; }
  IdentityScope(const IdentityScope&) = delete;
  IdentityScope& operator=(const IdentityScope&) = delete;
  ~IdentityScope() { active_ = before_; }
  static bool is_active() { return active_; }

 private:
  // Guards are checked under the interpreter's lock.
  inline static bool active_ = false;
  bool before_;
};

inline bool same(PyObject* before, PyObject* now) {
  return before == now || (!IdentityScope::is_active() && are_equal_constants(before, now));
}
inline bool equal_constants(PyObject* before, PyObject* now) {
  return before == now || are_equal_constants(before, now);
}

/// Whether a value is None, a bool, a number, a text or bytes. Hashing and comparing these runs no user code.
bool is_constant(PyObject* value);

/// A value for messages: the repr of numbers and strings, the type of anything else. Runs no user code.
std::string value_text(PyObject* value);
/// A name for messages: a str without quotes.
std::string name_text(PyObject* name);

/// The value that a dict has for an exact str, or null. Runs no code of users: other keys are not compared. Borrowed.
PyObject* find_name(PyObject* dict, PyObject* name);
/// Whether all keys of a dict are exact strs. If so, looking a name up in it runs no code of users.
bool has_only_names(PyObject* dict);

/// What a message says of a value that changed.
struct Difference {
  std::string source;
  /// The name in the code.
  std::string name;
  std::string before;
  std::string now;
};

/// Nothing if a guard holds, else what changed.
inline std::optional<Difference> differ(bool holds, const std::string& source, std::string before, std::string now) {
  if (holds) return std::nullopt;
  return Difference{source, source, std::move(before), std::move(now)};
}

/// A number that changes whenever the dict changes. It is 0 if this version of Python has none; then the entries must
/// be compared every time.
inline uint64_t version_of([[maybe_unused]] PyObject* dict) {
#if PY_VERSION_HEX < 0x030D0000
  return reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#else
  return 0;
#endif
}

}  // namespace lucid::python
