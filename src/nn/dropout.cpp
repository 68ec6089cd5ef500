#include <lucid/nn/dropout.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "nn/call_op.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {

void DropoutBase::fields(Fields& visit) { options.fields(visit); }

void DropoutBase::build(std::optional<Dtype>) {
  if (!(options.p >= 0 && options.p <= 1))
    throw ValueError("{}: p must be between 0 and 1, got {}", type_name(), options.p);
}

Tensor DropoutBase::forward(const Tensor& input) {
  const std::optional<int64_t> channel = spatial();
  if (channel && input.dim() != *channel + 1 && input.dim() != *channel + 2)
    throw ValueError("{}: expected {} or {} dimensions, got {}", type_name(), *channel + 1, *channel + 2,
                     to_string(unwrap(input).type()));
  if (!training() || options.p == 0) return input;
  const bool batched = !channel || input.dim() == *channel + 2;
  Tensor result = call_random_op(op_name(), {batched ? input : unsqueeze(input, 0)}, {{"p", options.p}});
  if (!batched) result = squeeze(result, Shape{0});
  return options.inplace ? Tensor(input).copy_(result) : result;
}

std::string DropoutBase::extra_repr() const {
  return fmt::format("p={}, inplace={}", options.p, bool_text(options.inplace));
}

}  // namespace lucid::nn
