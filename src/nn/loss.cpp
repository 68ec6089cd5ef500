#include <lucid/nn/loss.h>

#include "base/error.h"

namespace lucid::nn {
namespace {

void add_missing_buffer(Module& module, const char* name) {
  if (!module.find_buffer(name)) module.register_buffer(name, Tensor());
}

Tensor lengths_of(const Item& item) {
  if (item.is_tensor()) return item.to_tensor();
  const Shape numbers = item.to_shape();
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

Item CTCLoss::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind("CTCLoss.forward", inputs(), 4);
  return apply(op_name(), {items[0].to_tensor(), items[1].to_tensor(), lengths_of(items[2]), lengths_of(items[3])})
      .front();
}

}  // namespace lucid::nn
