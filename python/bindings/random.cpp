#include "bindings/random.h"

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/dtype_object.h"
#include "bindings/pure.h"

namespace lucid::python {
namespace {

/// Converts a 64-bit seed. Negative seeds are taken modulo 2**64.
uint64_t to_seed(const char* function, nb::handle seed) {
  const nb::object index = checked(PyNumber_Index(seed.ptr()));
  const unsigned long long value = PyLong_AsUnsignedLongLongMask(index.ptr());
  if (value == static_cast<unsigned long long>(-1) && PyErr_Occurred()) nb::detail::raise_python_error();
  int overflow = 0;
  PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  const bool fits_unsigned = overflow > 0 && _PyLong_NumBits(index.ptr()) <= 64;
  if (overflow != 0 && !fits_unsigned)
    raise_overflow("%s: the seed %.60R does not fit in 64 bits", function, index.ptr());
  return value;
}

}  // namespace

GeneratorImpl& generator_or_default(const char* function, PyObject* object) {
  if (!object || object == Py_None) return current_generator();
  GeneratorHandle* handle = nullptr;
  if (!nb::try_cast(nb::handle(object), handle)) ArgumentContext{function, "generator"}.fail("a Generator", object);
  return *handle->generator;
}

void bind_random(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<GeneratorHandle>(
      module, "Generator",
      "A random number generator. A number depends only on the seed, the offset (how many numbers were generated "
      "before) and its position in the result, never on threads.")
      .def(
          "__init__",
          [](GeneratorHandle* self, nb::handle device) {
            to_device_or_none("Generator", device.ptr());
            new (self) GeneratorHandle{make_ref<GeneratorImpl>()};
          },
          "device"_a = nb::none())
      .def(
          "manual_seed",
          [](nb::object self, nb::handle seed) {
            nb::cast<GeneratorHandle&>(self).generator->manual_seed(to_seed("manual_seed", seed));
            return self;
          },
          "seed"_a, "Sets the seed and resets the offset. Returns the generator.")
      .def(
          "seed", [](GeneratorHandle& self) { return self.generator->seed(); },
          "Sets a seed from the operating system and returns it.")
      .def(
          "initial_seed", [](GeneratorHandle& self) { return self.generator->initial_seed(); }, "The current seed.")
      .def(
          "get_state", [](GeneratorHandle& self) { return to_object(self.generator->state()); },
          "A copy of the state: seed and offset.")
      .def(
          "set_state",
          [](nb::object self, nb::handle state) {
            nb::cast<GeneratorHandle&>(self).generator->set_state(expect_tensor("set_state", state.ptr()));
            return self;
          },
          "state"_a, "Restores a state returned by get_state(). Returns the generator.")
      .def("__getstate__", [](GeneratorHandle& self) { return to_object(self.generator->state()); })
      .def("__setstate__", [](GeneratorHandle& self, nb::handle state) {
        new (&self) GeneratorHandle{make_ref<GeneratorImpl>()};
        self.generator->set_state(expect_tensor("set_state", state.ptr()));
      });
  declare_pure(module, module.attr("Generator"));
  def_pure(
      module, "default_generator", [] { return GeneratorHandle{Ref<GeneratorImpl>(&current_generator())}; },
      "The generator that random ops use by default.");
}

}  // namespace lucid::python
