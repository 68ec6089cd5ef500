#include <lucid/ops.h>
#include <lucid/random.h>

#include "base/dtype.h"
#include "tensor/api.h"
#include "tensor/random.h"

namespace lucid {
namespace {

Attribute size_attribute(const Shape& shape) { return Dims(shape.begin(), shape.end()); }
Attribute dtype_or_none(std::optional<Dtype> dtype) { return dtype ? Attribute(*dtype) : Attribute(); }

Tensor sample(const char* op, std::span<const Operand> operands, const Attributes& attributes,
              const Generator& generator) {
  return wrap(generator.impl().sample(op_table().at(op), operands, attributes).front());
}

}  // namespace

Generator::Generator() : Generator(*make_ref<GeneratorImpl>()) {}
Generator::Generator(GeneratorImpl& impl) : impl_(&impl) { impl_->retain(); }
Generator::Generator(const Generator& other) : Generator(other.impl()) {}
Generator::~Generator() { Ref<GeneratorImpl>::adopt(impl_); }

Generator& Generator::manual_seed(uint64_t seed) {
  impl().manual_seed(seed);
  return *this;
}
uint64_t Generator::seed() { return impl().seed(); }
uint64_t Generator::initial_seed() const { return impl().initial_seed(); }
Tensor Generator::get_state() const { return wrap(impl().state()); }
void Generator::set_state(const Tensor& state) { impl().set_state(unwrap(state)); }

Generator default_generator() { return Generator(current_generator()); }
void manual_seed(uint64_t seed) { current_generator().manual_seed(seed); }
Tensor get_rng_state() { return wrap(current_generator().state()); }
void set_rng_state(const Tensor& state) { current_generator().set_state(unwrap(state)); }

Tensor rand(const Shape& shape, std::optional<Dtype> dtype, const Generator& generator) {
  return sample("random_uniform", {}, {size_attribute(shape), dtype_or_none(dtype)}, generator);
}

Tensor randn(const Shape& shape, std::optional<Dtype> dtype, const Generator& generator) {
  return sample("random_normal", {}, {size_attribute(shape), dtype_or_none(dtype)}, generator);
}

Tensor normal(double mean, double std, const Shape& shape, std::optional<Dtype> dtype, const Generator& generator) {
  return randn(shape, dtype, generator) * std + mean;
}

Tensor normal(const Tensor& mean, const Tensor& std, const Generator& generator) {
  const Tensor like = mean + std;
  return randn(like.shape(), like.dtype(), generator) * std + mean;
}

Tensor randint(int64_t low, int64_t high, const Shape& shape, std::optional<Dtype> dtype, const Generator& generator) {
  const bool converts = dtype && is_float(*dtype);
  const Tensor integers =
      sample("random_integers", {}, {size_attribute(shape), low, high, dtype_or_none(converts ? std::nullopt : dtype)},
             generator);
  return converts ? integers.to(*dtype) : integers;
}

Tensor randperm(int64_t n, const Generator& generator) { return sample("random_permutation", {}, {n}, generator); }

Tensor bernoulli(const Tensor& p, const Generator& generator) {
  const Operand operands[] = {Operand(&unwrap(p))};
  return sample("random_bernoulli", operands, {}, generator);
}

Tensor multinomial(const Tensor& p, int64_t num_samples, bool replacement, const Generator& generator) {
  const Operand operands[] = {Operand(&unwrap(p))};
  return sample("random_multinomial", operands, {num_samples, replacement}, generator);
}

}  // namespace lucid
