#include "tensor/random.h"

#include <cstring>
#include <mutex>
#include <random>

#include "base/error.h"
#include "base/lock.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/item.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

Ref<Cell> state_cell(uint64_t seed) {
  Ref<Storage> storage = Storage::allocate(sizeof(GeneratorState::Words));
  const GeneratorState::Words words = {static_cast<int64_t>(seed), 0};
  std::memcpy(storage->data(), words.data(), sizeof(words));
  return make_ref<Cell>(std::move(storage));
}

}  // namespace

// The lock is held only while the words are read or written: an observer may do anything.

GeneratorState::GeneratorState(uint64_t seed)
    : TensorImpl(Dtype::kI64, Dims{2}, Dims{1}, 0, state_cell(seed)), offset_(alias_of(*this, {{}, {}, 1})) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->made(*this);
}

GeneratorState::Words GeneratorState::words() const {
  Words words;
  const PinnedMemory memory = this->memory();
  const std::lock_guard lock(mutex_of(LockRank::kGenerator, this));
  std::memcpy(words.data(), memory.data, sizeof(words));
  return words;
}

void GeneratorState::set(const Words& words) {
  before_write();
  const PinnedMemory memory = this->memory();
  const std::lock_guard lock(mutex_of(LockRank::kGenerator, this));
  std::memcpy(memory.data, words.data(), sizeof(words));
}

TensorRef GeneratorState::copy_and_advance(int64_t count) {
  TensorRef copy = make_tensor(Dtype::kI64, Dims{2});
  const PinnedMemory memory = this->memory();
  const std::lock_guard lock(mutex_of(LockRank::kGenerator, this));
  std::memcpy(copy->data(), memory.data, sizeof(Words));
  static_cast<int64_t*>(memory.data)[1] += count;
  return copy;
}

TensorRef GeneratorState::copy() {
  TensorRef copy = copy_and_advance(0);
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->moved(*this, *copy);
  return copy;
}

TensorRef GeneratorState::reserve(int64_t count) {
  before_write();
  EagerObserver* const observer = eager_observer();
  if (!observer) [[likely]]
    return copy_and_advance(count);
  static const Op& add = op_table().at("add");
  const Operand operands[] = {Operand(offset_.get()), Operand(count)};
  const Attributes none;
  const Call call(add, operands, none);
  TensorImpl* const destination = offset_.get();
  observer->writes(call, {&destination, 1});
  TensorRef copy = copy_and_advance(count);
  observer->moved(*this, *copy);
  observer->written(call, {&destination, 1});
  return copy;
}

void GeneratorState::give_back(const TensorImpl& reserved, int64_t count) {
  on_escape(*this, "fails to sample random numbers");
  const PinnedMemory memory = this->memory();
  const auto* before = static_cast<const int64_t*>(reserved.data());
  const std::lock_guard lock(mutex_of(LockRank::kGenerator, this));
  auto* now = static_cast<int64_t*>(memory.data);
  if (now[0] == before[0] && now[1] == before[1] + count) now[1] = before[1];
}

GeneratorImpl::GeneratorImpl(uint64_t seed) : state_(make_ref<GeneratorState>(seed)) {}

void GeneratorImpl::manual_seed(uint64_t seed) {
  const int64_t words[2] = {static_cast<int64_t>(seed), 0};
  set_state(*tensor_from(words, Dtype::kI64, Dims{2}));
}

uint64_t GeneratorImpl::seed() {
  std::random_device device;
  const uint64_t seed = (static_cast<uint64_t>(device()) << 32) | device();
  on_escape(*state_, "seeds a generator from the operating system");
  manual_seed(seed);
  return seed;
}

uint64_t GeneratorImpl::initial_seed() const {
  on_escape(*state_, "reads the seed of a generator");
  return static_cast<uint64_t>(state_->words()[0]);
}

TensorRef GeneratorImpl::state() const { return state_->copy(); }

void GeneratorImpl::set_state(const TensorImpl& state) {
  static const Op& to = op_table().at("to");
  if (state.dtype() != Dtype::kI64 || state.sizes() != Dims{2})
    throw TypeError("set_state: a generator's state is i64[2], got {}", to_string(state.type()));
  const GradModeScope no_grad(false);
  const TensorRef dense = contiguous(TensorRef(const_cast<TensorImpl*>(&state)));
  GeneratorState::Words words;
  std::memcpy(words.data(), HostView(*dense).data(), sizeof(words));
  const Operand operands[] = {Operand(dense.get())};
  const Attributes attributes = {Dtype::kI64};
  const Call call(to, operands, attributes);
  EagerObserver* const observer = eager_observer();
  TensorImpl* const destination = state_.get();
  if (observer) observer->writes(call, {&destination, 1});
  state_->set(words);
  if (observer) observer->written(call, {&destination, 1});
}

namespace {

/// A call that samples from the default generator.
class DefaultGenerator : public Dependency {
 public:
  explicit DefaultGenerator(GeneratorImpl& generator) : generator_(&generator) {}
  bool holds() const override { return &current_generator() == generator_.get(); }
  std::string name() const override { return "the default generator of the thread"; }

 private:
  Ref<GeneratorImpl> generator_;
};

}  // namespace

Values GeneratorImpl::sample(const Op& op, std::span<const Operand> others, const Attributes& attributes) {
  if (this == &current_generator()) on_dependency(this, [&] { return std::make_shared<DefaultGenerator>(*this); });
  std::vector<Operand> operands = {Operand(state_.get())};
  operands.insert(operands.end(), others.begin(), others.end());
  int64_t count = 0;
  for (const TensorType& type : infer_types(Call(op, operands, attributes))) count += numel(type.shape);
  ReservedNumbers numbers(*state_, count);
  operands[0] = Operand(numbers.state().get());
  Values results = eager().emit(op, operands, attributes);
  numbers.keep();
  return results;
}

GeneratorImpl& current_generator() {
  if (GeneratorImpl* const generator = DefaultGeneratorScope::innermost()) return *generator;
  static GeneratorImpl* const generator = new GeneratorImpl;  // outlives threads that still run at exit
  return *generator;
}

}  // namespace lucid
