#include <lucid/nn/functional.h>
#include <lucid/nn/init.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings/gil.h"
#include "bindings/module_object.h"
#include "bindings/random.h"
#include "nn/init_random.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

/// Binds an initializer as a function of (tensor, generator, settings...).
template <typename... Settings>
nb::object initializer(Tensor (*function)(Tensor, Settings...)) {
  return nb::cpp_function(
      [function](nb::handle tensor, nb::handle generator, const std::decay_t<Settings>&... settings) {
        const nn::init::UseGenerator use(generator_or_default("init", generator.ptr()));
        function(Tensor(&expect_tensor("init", tensor.ptr())), settings...);
      });
}

}  // namespace

void bind_nn_functions(nb::module_& module) {
  namespace init = nn::init;
  nb::dict all;
  all["calculate_gain"] = nb::cpp_function(init::calculate_gain);
  all["uniform_"] = initializer(init::uniform_);
  all["normal_"] = initializer(init::normal_);
  all["trunc_normal_"] = initializer(init::trunc_normal_);
  all["constant_"] = initializer(init::constant_);
  all["eye_"] = initializer(init::eye_);
  all["dirac_"] = initializer(init::dirac_);
  all["xavier_uniform_"] = initializer(init::xavier_uniform_);
  all["xavier_normal_"] = initializer(init::xavier_normal_);
  all["kaiming_uniform_"] = initializer(init::kaiming_uniform_);
  all["kaiming_normal_"] = initializer(init::kaiming_normal_);
  all["orthogonal_"] = initializer(init::orthogonal_);
  all["sparse_"] = initializer(init::sparse_);
  module.attr("initializers") = all;
  module.def("nn_embedding", [](nb::handle input, nb::handle weight, std::optional<int64_t> padding_idx,
                                std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq) {
    return to_object(ref_of(nn::functional::embedding(Tensor(&expect_tensor("embedding", input.ptr())),
                                                      Tensor(&expect_tensor("embedding", weight.ptr())), padding_idx,
                                                      max_norm, norm_type, scale_grad_by_freq)));
  });
  module.def(
      "nn_embedding_bag",
      [](nb::handle input, nb::handle weight, nb::handle offsets, nb::handle per_sample_weights,
         const std::string& mode, bool include_last_offset, std::optional<int64_t> padding_idx,
         std::optional<double> max_norm, double norm_type, bool scale_grad_by_freq) {
        const auto tensor = [](nb::handle object) { return Tensor(&expect_tensor("embedding_bag", object.ptr())); };
        const auto or_none = [&](nb::handle object) { return object.is_none() ? Tensor() : tensor(object); };
        return to_object(ref_of(nn::functional::embedding_bag(
            tensor(input), tensor(weight), or_none(offsets), or_none(per_sample_weights),
            {mode, padding_idx, max_norm, norm_type, scale_grad_by_freq, include_last_offset})));
      },
      nb::arg(), nb::arg(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg(), nb::arg().none(),
      nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace lucid::python
