#include <lucid/nn/loss.h>

#include "base/error.h"

namespace lucid::nn {
namespace {

void add_missing_buffer(Module& module, const char* name) {
  if (!module.find_buffer(name)) module.register_buffer(name, Tensor());
}

Tensor lengths_of(const Tree& item) {
  if (item.is_tensor()) return item.as_tensor();
  const Shape numbers = item.as_shape("lengths");
  return from_vector(numbers, {static_cast<int64_t>(numbers.size())});
}

}  // namespace

void WeightedLoss::build(std::optional<Dtype> dtype) {
  add_missing_buffer(*this, "weight");
  Loss::build(dtype);
}

void BCEWithLogitsLoss::build(std::optional<Dtype> dtype) {
  WeightedLoss::build(dtype);
  add_missing_buffer(*this, "pos_weight");
}

Tree CTCLoss::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind("CTCLoss.forward", inputs(), 4);
  return apply(op_name(), {items[0].as_tensor("log_probs"), items[1].as_tensor("targets"), lengths_of(items[2]),
                           lengths_of(items[3])})
      .front();
}

}  // namespace lucid::nn
