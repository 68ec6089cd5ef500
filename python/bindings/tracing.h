#pragma once

#include "bindings/errors.h"
#include "jit/recorder.h"

namespace lucid::python {

/// "example.py:4" of the innermost frame outside the package.
std::string source_of_user();

/// The contents of Python's `_core.Tracing`: a recording of the ops of this thread, from start() to stop().
struct PythonTracing {
  /// If it `is_symbolic`, some of the numbers and sizes of the call are traced; floats that it reads are then values on
  /// which it depends.
  explicit PythonTracing(bool keeps_contents = false, bool is_symbolic = false)
      : recorder({.source = source_of_user, .keeps_contents = keeps_contents}), is_symbolic_(is_symbolic) {}
  PythonTracing(const PythonTracing&) = delete;
  PythonTracing& operator=(const PythonTracing&) = delete;
  ~PythonTracing() { stop(); }

  /// The recording of this thread, if it is one from Python; otherwise null.
  static PythonTracing* active();
  void start();
  void stop();
  bool reads_values() const { return !context().trace().guards.empty(); }
  /// Why the call cannot be compiled; empty if it can.
  std::string obstacle() const;
  /// Notes that Python code gets the value of a tensor, a float.
  void add_float(const TensorImpl& tensor, nb::object value);

  /// A float that Python code has read.
  struct ReadFloat {
    nb::object value;
    /// A copy of the tensor.
    TensorRef copy;
    /// The code that has read it, and the offset of the instruction.
    nb::object code;
    int offset;
    /// Whether it is the code that was called first.
    bool is_root;
    std::string source;
  };

  jit::TracingContext& context() { return recorder.context(); }
  const jit::TracingContext& context() const { return recorder.context(); }

  jit::Recorder recorder;
  std::vector<ReadFloat> floats;
  /// Whether the call only compares them or hands them on: then they are among its results. Otherwise it depends on
  /// them.
  bool forwards_scalars = false;

 private:
  /// Adds guards for the comparisons that the frame makes with a float that it reads. Returns false if it also uses the
  /// float in another way.
  bool add_comparisons(const Value& copy, nb::handle frame);

  const bool is_symbolic_;
  /// While the call runs: the frame that makes it; may be null.
  PyFrameObject* caller_ = nullptr;
  PythonTracing* before_ = nullptr;
};

/// The value of a tensor as a Python number. If the call is recorded and the value is a float, the call may hand it on.
nb::object read_number(const TensorImpl& tensor);

/// The tensors of a sequence. Throws TypeError for other objects.
std::vector<TensorRef> tensors_in(nb::handle sequence);

/// `_core.Tracing`.
void bind_tracing(nb::module_& module);

}  // namespace lucid::python
