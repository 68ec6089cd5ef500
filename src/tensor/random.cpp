#include "tensor/random.h"

#include <random>

#include "base/error.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/inplace.h"
#include "tensor/item.h"

namespace lucid {
namespace {

TensorRef state_tensor(uint64_t seed) {
  const int64_t words[2] = {static_cast<int64_t>(seed), 0};
  return tensor_from(words, Dtype::kI64, Dims{2});
}

}  // namespace

Generator::Generator(uint64_t seed) : state_(state_tensor(seed)), offset_(alias_of(*state_, {{}, {}, 1})) {}

void Generator::manual_seed(uint64_t seed) {
  const TensorRef fresh = state_tensor(seed);
  set_state(*fresh);
}

uint64_t Generator::seed() {
  std::random_device device;
  const uint64_t seed = (static_cast<uint64_t>(device()) << 32) | device();
  manual_seed(seed);
  return seed;
}

uint64_t Generator::initial_seed() const {
  const std::scoped_lock guard(mutex_);
  return static_cast<uint64_t>(static_cast<const int64_t*>(state_->data())[0]);
}

TensorRef Generator::state() const {
  const std::scoped_lock guard(mutex_);
  return copy_of(*state_, state_->strides());
}

void Generator::set_state(const TensorImpl& state) {
  if (state.dtype() != Dtype::kI64 || state.sizes() != Dims{2})
    throw TypeError("set_state: a generator's state is i64[2], got {}", to_string(state.type()));
  const std::scoped_lock guard(mutex_);
  const GradModeScope no_grad(false);
  copy_(*state_, Operand(&state));
}

Values Generator::draw(const Op& op, std::span<const Operand> others, const Attributes& attributes) {
  static const Op& add = op_table().at("add");
  std::vector<Operand> operands = {Operand(state_.get())};
  operands.insert(operands.end(), others.begin(), others.end());
  const std::scoped_lock guard(mutex_);
  Values results = eager().emit(op, operands, attributes);
  int64_t drawn = 0;
  for (const Value& result : results) drawn += tensor_of(result)->numel();
  const Operand more[] = {Operand(drawn)};
  in_place(add, *offset_, more, {});
  return results;
}

Generator& default_generator() {
  static Ref<Generator> generator = make_ref<Generator>();
  return *generator;
}

}  // namespace lucid
