#pragma once

#include <string>
#include <vector>

#include "bindings/errors.h"

namespace lucid::python {

/// The modules and optimizers that a compiled function calls while no plan serves it. Each is compiled by itself: code
/// around them may compute with the values of tensors, while the model and the step of its optimizer do not.
///
/// A part refers to its owner, so it is dropped at the end of a call that did not use it: it must not keep alive what
/// the program has replaced.
class Parts {
 public:
  enum class Use : uint8_t { kRun, kNote };

  /// The calls that this thread makes of modules and optimizers, until the end of the scope, run the parts of one
  /// function, or are only noted. `recorder` is the function's Compiled, which makes parts.
  class Scope {
   public:
    Scope(Parts* parts, nb::handle recorder, Use use);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    const Scope* const before_;
    Parts* const parts_;
    const nb::handle recorder_;
    const Use use_;
    /// The number of the function's call.
    const uint64_t call_;
    friend class Parts;
  };

  static bool any() { return t_scope && t_scope->parts_; }
  /// Calls the compiled form of a callable that `owner`, a module or an optimizer, has. Returns null without an
  /// exception if calls of it are not compiled here: the caller then calls it as usual. `make` returns the callable.
  template <typename Make>
  static PyObject* call(PyObject* owner, const Make& make, PyObject* const* arguments, size_t flagged_count,
                        PyObject* names) {
    if (!t_scope->parts_->runs(owner)) return nullptr;
    const nb::object part = t_scope->parts_->compiled(owner, make);
    if (!part.is_valid()) return nullptr;
    const Scope none(nullptr, {}, Use::kNote);
    return PyObject_Vectorcall(part.ptr(), arguments, flagged_count, names);
  }

  void clear() { parts_.clear(); }
  int traverse(visitproc visit, void* arg) const;
  /// What explain() says about them.
  std::string explain() const;

 private:
  struct Part {
    /// Compared only; alive once the part is compiled, which refers to it.
    PyObject* owner = nullptr;
    nb::object compiled;
    uint32_t calls = 0;
    /// The last call of the function that used it.
    uint64_t used = 0;
    uint32_t drops = 0;
    /// It is called as usual: its plan computes too little to be worth the guards, or it was dropped again and again.
    bool is_given_up = false;
  };
  /// A function that calls more modules by themselves runs the others as usual.
  static constexpr size_t kMaxParts = 32;
  static constexpr uint32_t kCallsUntilMeasured = 16;
  static constexpr size_t kFewNodes = 3;
  static constexpr uint32_t kMaxDrops = 2;

  template <typename Make>
  nb::object compiled(PyObject* owner, const Make& make) {
    if (nb::object known = find(owner)->compiled; known.is_valid()) return known;
    const nb::object made = compile(make());
    parts_of(made).owner_ = owner;
    // The code that has run may have changed the list.
    if (Part* const part = find(owner)) part->compiled = made;
    return made;
  }
  /// Notes a call of a module or an optimizer. Returns whether it runs a part.
  bool runs(PyObject* owner);
  Part* find(PyObject* owner);
  void drop_unused(uint64_t call);
  static nb::object compile(const nb::object& target) { return t_scope->recorder_.attr("part")(target); }
  static Parts& parts_of(const nb::object& compiled);
  /// Whether a part has plans, all of few nodes.
  static bool is_small(const nb::object& compiled);

  static inline constinit thread_local const Scope* t_scope = nullptr;

  std::vector<Part> parts_;
  /// How many calls of the function have begun.
  uint64_t calls_ = 0;
  /// If these are the parts of a part: its owner. Compared only.
  PyObject* owner_ = nullptr;
};

}  // namespace lucid::python
