#include <lucid/nn/image.h>
#include <lucid/ops.h>

#include <cmath>

#include "base/error.h"
#include "nn/call_op.h"
#include "nn/dependency.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {

void Pad::fields(Fields& visit) {
  visit("padding", options.padding);
  if (has_value()) visit("value", options.value);
}

void Pad::build(std::optional<Dtype>) {
  options.padding = for_each_dimension(type_name(), "padding", options.padding, 2 * spatial());
}

Tensor Pad::forward(const Tensor& input) {
  on_use(*this);
  return pad(input, options.padding, mode(), options.value);
}

std::string Pad::extra_repr() const {
  if (!has_value()) return tuple_text(options.padding);
  return fmt::format("padding={}, value={}", tuple_text(options.padding), number_text(options.value));
}

Tensor Upsample::forward(const Tensor& input) {
  on_use(*this);
  Settings settings = {{"mode", options.mode}, {"align_corners", tree_of(options.align_corners)}};
  if (options.scale_factor.is_sequence()) {
    // The op has a single factor for all dimensions.
    Shape wanted;
    const Tree::List factors = options.scale_factor.as_items("scale_factor");
    if (static_cast<int64_t>(factors.size()) != input.dim() - 2)
      throw ValueError("Upsample: scale_factor has {} numbers, but the input is {}", factors.size(),
                       to_string(unwrap(input).type()));
    for (size_t d = 0; d < factors.size(); ++d) {
      const auto old = static_cast<double>(input.size(static_cast<int64_t>(d) + 2));
      wanted.push_back(static_cast<int64_t>(std::floor(old * factors[d].as_real("scale_factor"))));
    }
    settings.emplace_back("size", wanted);
  } else {
    settings.emplace_back("size", options.size);
    settings.emplace_back("scale_factor", options.scale_factor);
  }
  return call_op("interpolate", {input}, settings);
}

std::string Upsample::extra_repr() const {
  const std::string how = options.scale_factor.is_none() ? "size=" + tree_text(options.size)
                          : options.scale_factor.is_sequence()
                              ? "scale_factor=(...)"
                              : "scale_factor=" + number_text(options.scale_factor.as_real());
  return fmt::format("{}, mode='{}'", how, options.mode);
}

}  // namespace lucid::nn
