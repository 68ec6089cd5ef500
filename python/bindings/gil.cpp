#include "bindings/gil.h"

#include "base/blocking.h"

namespace lucid::python {
namespace {

// Elements that a simple kernel passes through in 20 microseconds, and products that a contraction computes.
constexpr int64_t kManyElements = 1 << 15;
constexpr int64_t kManyProducts = 1 << 20;

}  // namespace

bool is_long(const Op& op, std::span<const Operand> operands, const Attributes& attributes) {
  int64_t elements = 0;
  double products = 1;
  int matrices = 0;
  for (const Operand& operand : operands) {
    if (!operand.is_value()) continue;
    const int64_t count = numel(operand.shape());
    elements += count;
    if (operand.rank() >= 2) {
      products *= static_cast<double>(count);
      ++matrices;
    }
  }
  // Ops that make tensors are told their size by an attribute.
  if (elements == 0 && !attributes.empty())
    if (const Dims* size = std::get_if<Dims>(&attributes.front())) elements = numel(*size);
  if (elements >= kManyElements) return true;
  return matrices >= 2 && !op.is_pointwise() && products >= static_cast<double>(kManyProducts);
}

void GilTurns::pass() {
  // As often as the interpreter switches between threads.
  constexpr std::chrono::milliseconds kTurn{5};
  if (std::chrono::steady_clock::now() - last_ < kTurn) return;
  {
    const nb::gil_scoped_release release;
  }
  last_ = std::chrono::steady_clock::now();
}

void release_gil_while_compiling() {
  // Not held by threads that know nothing of Python, nor where a caller gave it up already.
  set_blocking_hooks(
      {.begin = []() -> void* { return Py_IsInitialized() && PyGILState_Check() ? PyEval_SaveThread() : nullptr; },
       .end = [](void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }});
}

}  // namespace lucid::python
