#include <lucid/random.h>

#include "tensor/api.h"
#include "tensor/random.h"

namespace lucid {
namespace {

Attribute size_attribute(const Shape& shape) { return Dims(shape.begin(), shape.end()); }
Attribute dtype_or_none(std::optional<Dtype> dtype) { return dtype ? Attribute(*dtype) : Attribute(); }

Tensor sample(const char* op, std::span<const Operand> operands, const Attributes& attributes) {
  return wrap(default_generator().sample(op_table().at(op), operands, attributes).front());
}

}  // namespace

void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }
Tensor get_rng_state() { return wrap(default_generator().state()); }
void set_rng_state(const Tensor& state) { default_generator().set_state(unwrap(state)); }

Tensor rand(const Shape& shape, std::optional<Dtype> dtype) {
  return sample("random_uniform", {}, {size_attribute(shape), dtype_or_none(dtype)});
}

Tensor randn(const Shape& shape, std::optional<Dtype> dtype) {
  return sample("random_normal", {}, {size_attribute(shape), dtype_or_none(dtype)});
}

Tensor randint(int64_t low, int64_t high, const Shape& shape) {
  return sample("random_integers", {}, {size_attribute(shape), low, high, Attribute()});
}

Tensor randperm(int64_t n) { return sample("random_permutation", {}, {n}); }

Tensor bernoulli(const Tensor& p) {
  const Operand operands[] = {Operand(&unwrap(p))};
  return sample("random_bernoulli", operands, {});
}

}  // namespace lucid
