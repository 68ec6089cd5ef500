#include <nanobind/stl/string.h>

#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/warning.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/gil.h"
#include "bindings/interop.h"
#include "bindings/pure.h"
#include "runtime/allocator.h"
#include "runtime/float_mode.h"
#include "runtime/kernel_cache.h"
#include "runtime/thread_pool.h"
#include "tensor/plan_cache.h"

namespace lucid::python {

namespace {

struct FailingAllocations {
  int64_t successes;
  bool only_one;
  std::optional<AllocationFailureScope> scope = std::nullopt;
  bool has_failed = false;

  void leave() {
    has_failed = scope && scope->has_failed();
    scope.reset();
  }
};

/// Python's function for warnings. Owned, and never released: threads may warn while the interpreter ends.
PyObject* warning_function = nullptr;

}  // namespace

nb::dict to_dict(const MemoryStats& stats) {
  nb::dict result;
  result["bytes_in_use"] = stats.bytes_in_use;
  result["peak_bytes"] = stats.peak_bytes;
  result["cached_bytes"] = stats.cached_bytes;
  result["allocations"] = stats.allocations;
  return result;
}

void bind_settings(nb::module_& module) {
  using namespace nb::literals;
  def_pure(
      module, "get_default_dtype", [] { return nb::borrow(dtype_object(default_float())); },
      "The default dtype of floats.");
  module.def(
      "set_default_dtype",
      [](nb::handle dtype) { set_default_float(to_dtype({"set_default_dtype", "dtype"}, dtype.ptr())); }, "dtype"_a,
      "Sets the default dtype of floats.");
  module.def("get_num_threads", &num_threads, "The maximum number of threads of an operation.");
  module.def(
      "set_num_threads",
      [](nb::handle threads) {
        const int64_t count = to_int({"set_num_threads", "threads"}, threads.ptr());
        if (count < 1 || count > kMaxThreads)
          throw ValueError("set_num_threads: expected 1 to {} threads, got {}", kMaxThreads, count);
        set_thread_count(static_cast<int>(count));
      },
      "threads"_a, "Sets the maximum number of threads of an operation. Results do not depend on it.");
  module.def(
      "set_flush_denormal",
      [](bool flush) {
        set_flush_denormal(flush);
        return true;
      },
      "mode"_a, "Sets whether subnormal results are flushed to zero (the default).");
  def_pure(
      module, "promote_types",
      [](nb::handle a, nb::handle b) {
        return nb::borrow(dtype_object(
            promote(to_dtype({"promote_types", "a"}, a.ptr()), to_dtype({"promote_types", "b"}, b.ptr()))));
      },
      "a"_a, "b"_a, "The result dtype of arithmetic on tensors of two dtypes.");
  module.def("memory_stats", [] { return to_dict(memory_stats()); }, "Statistics of the memory that tensors use.");
  module.def("logs", [](const std::string& topic) { return options().logs(topic); }, "topic"_a);
  module.def("log", [](const std::string& topic, const std::string& text) { log(topic, text); }, "topic"_a, "text"_a);
  module.def(
      "set_warning_function",
      [](const nb::object& function) {
        warning_function = nb::object(function).release().ptr();
        set_warning_handler([](const std::string& message) {
          const GilAcquire gil;
          const nb::handle function(warning_function);
          function(message);
        });
      },
      "function"_a, "Sets the function that is called with the text of each warning.");
  module.def("empty_cache", &empty_cache, "Returns cached tensor memory to the operating system.");
  module.def(
      "set_cache_limits",
      [](size_t eager_plans, size_t kernels, size_t kernel_bytes) {
        set_max_eager_plans(eager_plans);
        kernel_cache().set_limits({kernels, kernel_bytes});
      },
      "eager_plans"_a = kMaxEagerPlans, "kernels"_a = KernelCacheLimits().entries,
      "kernel_bytes"_a = KernelCacheLimits().bytes,
      "Limits the number of cached plans of eager ops, and the number and total size of cached kernels. For tests.");
  module.def("reset_peak_memory", &reset_peak_memory, "Resets peak_bytes of memory_stats() to the bytes in use.");
  nb::class_<FailingAllocations>(module, "FailingAllocations",
                                 "Context manager for tests: allocating tensor memory fails after `successes` "
                                 "allocations; with only_one, one allocation fails.")
      .def(
          "__init__",
          [](FailingAllocations* self, int64_t successes, bool only_one) {
            new (self) FailingAllocations{successes, only_one};
          },
          "successes"_a, "only_one"_a = false)
      .def("__enter__",
           [](nb::object object) {
             auto& self = nb::cast<FailingAllocations&>(object);
             self.scope.emplace(self.successes, self.only_one);
             return object;
           })
      .def(
          "__exit__", [](FailingAllocations& self, nb::handle, nb::handle, nb::handle) { self.leave(); },
          nb::arg().none(), nb::arg().none(), nb::arg().none())
      .def_ro("has_failed", &FailingAllocations::has_failed);
}

}  // namespace lucid::python
