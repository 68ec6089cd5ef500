// Guards of values that are read anew for each check.

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "capture/object_guards.h"

namespace lucid::python {
namespace {

/// The buffer of an object, while it exists.
class BufferView {
 public:
  explicit BufferView(PyObject* holder) : is_valid_(PyObject_GetBuffer(holder, &view_, PyBUF_FULL_RO) == 0) {
    if (!is_valid_) PyErr_Clear();
  }
  BufferView(const BufferView&) = delete;
  BufferView& operator=(const BufferView&) = delete;
  ~BufferView() {
    if (is_valid_) PyBuffer_Release(&view_);
  }

  bool is_valid() const { return is_valid_; }
  /// What programs can see of the layout.
  std::string layout() const {
    std::string text = std::string(view_.readonly ? "r" : "w") + (view_.format ? view_.format : "");
    for (int i = 0; i < view_.ndim; ++i) {
      text += "," + std::to_string(view_.shape ? view_.shape[i] : view_.len);
      if (view_.strides) text += ":" + std::to_string(view_.strides[i]);
    }
    return text;
  }
  std::string contents() const {
    std::string bytes(static_cast<size_t>(view_.len), '\0');
    if (PyBuffer_ToContiguous(bytes.data(), &view_, view_.len, 'C') < 0) PyErr_Clear();
    return bytes;
  }
  bool has_contents(std::string_view bytes) const {
    if (static_cast<size_t>(view_.len) != bytes.size()) return false;
    if (!PyBuffer_IsContiguous(&view_, 'C')) return contents() == bytes;
    return std::memcmp(view_.buf, bytes.data(), bytes.size()) == 0;
  }

 private:
  Py_buffer view_;
  bool is_valid_;
};

}  // namespace

// Bytes.

Bytes::Bytes(PyObject* holder) {
  const BufferView view(holder);
  if (!view.is_valid()) throw TypeError("bytes: a {} has no readable buffer", Py_TYPE(holder)->tp_name);
  layout_ = view.layout();
  contents_ = view.contents();
}

bool Bytes::match(PyObject* holder) const {
  const BufferView view(holder);
  return view.is_valid() && view.layout() == layout_ && view.has_contents(contents_);
}

BytesGuard::BytesGuard(PyObject* holder, std::string source)
    : holder(nullptr), expected(holder), source(std::move(source)) {
  this->holder = Py_NewRef(holder);
}

bool BytesGuard::holds() const { return expected.match(holder); }

std::optional<Difference> BytesGuard::difference() const { return differ(holds(), source, "some values", "others"); }

// Tests of numbers.

bool NumberTest::holds(int64_t number) const {
  if (modulus > 0) number = ((number % modulus) + modulus) % modulus;
  switch (op) {
    case Op::kLess:
      return number < constant;
    case Op::kLessEqual:
      return number <= constant;
    case Op::kEqual:
      return number == constant;
    case Op::kNotEqual:
      return number != constant;
    case Op::kGreater:
      return number > constant;
    case Op::kGreaterEqual:
      return number >= constant;
  }
  return false;
}

TestGuard::TestGuard(const Location& where, std::vector<NumberTest> tests, int64_t before, int64_t step,
                     std::string source)
    : where{where.kind, Py_NewRef(where.holder), Py_XNewRef(where.key), where.offset},
      tests(std::move(tests)),
      step(step),
      source(std::move(source)) {
  each_outcome(before, [&](bool outcome) {
    expected.push_back(outcome);
    return true;
  });
}

template <typename Function>
bool TestGuard::each_outcome(int64_t number, const Function& function) const {
  return std::ranges::all_of(tests, [&](const NumberTest& test) {
    return function(test.holds(number)) && function(test.holds(number + step));
  });
}

bool TestGuard::holds() const {
  // Larger numbers would overflow.
  constexpr int64_t kMax = int64_t{1} << 53;
  PyObject* const now = where.now();
  if (!now || !PyLong_CheckExact(now)) return false;
  int overflow = 0;
  const int64_t number = PyLong_AsLongLongAndOverflow(now, &overflow);
  if (overflow != 0 || number < -kMax || number > kMax) return false;
  size_t at = 0;
  return each_outcome(number, [&](bool outcome) { return outcome == expected[at++]; });
}

std::optional<Difference> TestGuard::difference() const {
  return differ(holds(), source, "a number that passed some tests", value_text(where.now()) + ", which passes others");
}

// Numbers that vary.

NumberGuard::NumberGuard(const Location& where, std::string source)
    : where{where.kind, Py_NewRef(where.holder), Py_XNewRef(where.key), where.offset},
      type(where.now() && PyFloat_CheckExact(where.now()) ? &PyFloat_Type : &PyLong_Type),
      source(std::move(source)) {}

std::optional<Difference> NumberGuard::difference() const {
  return differ(holds(), source, type == &PyFloat_Type ? "a float" : "an int", value_text(where.now()));
}

// Context variables.

ContextGuard::ContextGuard(PyObject* variable, std::string source)
    : variable(nullptr), expected(nullptr), source(std::move(source)) {
  if (!PyContextVar_CheckExact(variable)) throw TypeError("context: expected a context variable");
  this->variable = Py_NewRef(variable);
  expected = now().release().ptr();
}

nb::object ContextGuard::now() const {
  PyObject* value = nullptr;
  if (PyContextVar_Get(variable, nullptr, &value) < 0) PyErr_Clear();
  return nb::steal(value);
}

bool ContextGuard::holds() const { return same(expected, now().ptr()); }

std::optional<Difference> ContextGuard::difference() const {
  return differ(holds(), source, value_text(expected), value_text(now().ptr()));
}

// Calls.

CallGuard::CallGuard(PyObject* function, std::string source)
    : function(Py_NewRef(function)), expected(nullptr), source(std::move(source)) {
  expected = checked(PyObject_CallNoArgs(function)).release().ptr();
}

bool CallGuard::holds() const {
  PyObject* now = PyObject_CallNoArgs(function);
  const bool equal = equal_constants(expected, now);
  Py_XDECREF(now);
  PyErr_Clear();
  return equal;
}

std::optional<Difference> CallGuard::difference() const {
  const nb::object now = nb::steal(PyObject_CallNoArgs(function));
  return differ(holds(), source, value_text(expected), value_text(now.ptr()));
}

}  // namespace lucid::python
