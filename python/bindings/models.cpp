#include <lucid/models.h>
#include <nanobind/stl/vector.h>

#include "bindings/module_object.h"

namespace lucid::python {

void bind_models(nb::module_& module) {
  nb::module_ models = module.def_submodule("models");
  const auto wrap = [](const nn::Ptr<nn::Sequential>& network) { return nb::steal(to_python(*network)); };
  models.def("mlp", [wrap](const Shape& sizes) { return wrap(lucid::models::mlp(sizes)); });
  models.def("lenet_5", [wrap](int64_t num_classes) { return wrap(lucid::models::lenet_5(num_classes)); });
}

}  // namespace lucid::python
