#pragma once

#include <algorithm>
#include <cstring>

#include "jit/program.h"
#include "tensor/random.h"

namespace lucid::jit {

/// The buffers of one run. They are all held here, because other threads may give handles other cells, and cells other
/// memory, while the plan runs.
class Program::Frame {
 public:
  /// What the run is for: to be committed, or to be compared with the function. In the latter case it writes nothing in
  /// place, and its inputs stay as they are when the function runs.
  enum class Purpose : uint8_t { kCommit, kShadow };

  Frame(const Program& program, const Handles& handles, Purpose purpose)
      : is_shadow_(purpose == Purpose::kShadow),
        call_(handles.sized ? handles.sized->call : program.call_),
        handles_(handles.all.data(), handles.all.size()) {
    for (TensorImpl* handle : handles_) {
      cells_.push_back(handle->cell());
      offsets_.push_back(handle->offset());
    }
    for (const RecordedCall::GeneratorUse& use : program.recorded_.generators)
      numbers_.emplace_back(static_cast<GeneratorState&>(*handles_[use.handle]), use.count);
    const bool packs = !call_.plan->packed_bytes.empty();
    if (program.numbers_ > 0) scalars_.reserve(call_.inputs.size());
    for (const GraphInput& input : call_.inputs) {
      PackedForms* forms = nullptr;
      if (input.kind == GraphInput::Kind::kConstant) {
        inputs_.push_back(input.constant->data());
      } else if (input.kind == GraphInput::Kind::kNumber) {
        inputs_.push_back(store_number(handles.numbers[input.number], input.dtype));
      } else {
        const Storage* const storage = hold_storage(program, input);
        if (!storage) [[unlikely]]
          return;
        inputs_.push_back(address_in(*storage, input));
        if (packs && !storage->borrowed() && !is_shadow_) forms = &cells()[input.handle]->packed_forms();
      }
      if (packs) forms_.push_back(forms);
    }
    for (size_t i = 0; i < call_.outputs.size(); ++i) {
      storages_.push_back(is_shadow_ ? Storage::allocate(static_cast<size_t>(call_.outputs[i].bytes), device_of(i))
                                     : program.memory_for(call_, i, handles_));
      outputs_.push_back(storages_[i] ? storages_[i]->data() : inputs_[static_cast<size_t>(call_.plan->donors[i])]);
    }
    is_complete_ = true;
    if (is_shadow_) return;
    // Snapshots of borrowed memory are copied now: during the commit there is memory for small objects only.
    for (size_t i = 0; i < call_.written.size(); ++i) {
      const size_t handle = call_.written[i];
      if (storages_[own() + i] && cells()[handle]->is_borrowed()) handles_[handle]->before_write();
    }
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Returns the error word of the plan. `nanoseconds` as in Plan::run(). Fails, too, if another thread has deferred a
  /// write to an input since fits().
  int64_t run(std::span<double> nanoseconds = {}) {
    if (!is_complete_) [[unlikely]]
      return Plan::kHostError;
    return call_.plan->run({inputs_.data(), inputs_.size()}, {outputs_.data(), outputs_.size()},
                           {forms_.data(), forms_.size()}, nanoseconds);
  }

  /// The values that the call reads, from output `first` on, up to the first that is not as expected.
  Branch branch(size_t first, const Branch& expected) const {
    Branch found;
    for (size_t i = 0; i < expected.size(); ++i) {
      found.emplace_back(expected[i].size(), '\0');
      read_bytes(device_of(first + i), found[i].data(), outputs_[first + i], found[i].size());
      if (found[i] != expected[i]) break;
    }
    return found;
  }

  /// Moves the new contents into the written cells. Cannot fail.
  void commit(const Program& program) {
    for (ReservedNumbers& numbers : numbers_) numbers.keep();
    for (size_t i = 0; i < call_.written.size(); ++i) {
      const size_t handle = call_.written[i];
      const size_t output = own() + i;
      if (const RecordedCall::GeneratorUse* use = program.recorded_.generator_use_of(handle)) {
        // Its offset has been advanced already.
        if (use->sets_state) set_state(use->handle, outputs_[output]);
      } else if (!storages_[output]) {
        cells()[handle]->after_write();
      } else if (const Ref<Storage> storage = cells()[handle]->storage(); storage->borrowed()) {
        std::memcpy(storage->data(), storages_[output]->data(), static_cast<size_t>(call_.outputs[output].bytes));
      } else {
        cells()[handle]->replace_storage(storages_.take(output));
      }
    }
  }

  /// Creates the new cells that the results and effects of the call need.
  std::span<Cell* const> make_own_cells() {
    for (size_t i = 0; i < own(); ++i) own_cells_.push_back(make_ref<Cell>(storages_.take(i)));
    return own_cells_.pointers();
  }
  std::span<Cell* const> cells() const { return cells_.pointers(); }
  Outcome::HandleMemory handle_memory() const { return {cells(), {offsets_.data(), offsets_.size()}}; }

  // For shadow runs.
  const CallPlan& call() const { return call_; }
  std::span<void* const> inputs() const { return {inputs_.data(), inputs_.size()}; }
  /// The new contents of the written cell i.
  const Storage& written(size_t i) const { return *storages_[own() + i]; }
  /// Returns the random numbers, for the function. The words of the generators when the run began are in `before`.
  void give_back_numbers(std::vector<GeneratorState::Words>& before) {
    for (const ReservedNumbers& numbers : numbers_) {
      GeneratorState::Words& words = before.emplace_back();
      std::memcpy(words.data(), numbers.state()->cell()->storage()->data(), sizeof(words));
    }
    numbers_.clear();
  }

 private:
  Device device_of(size_t output) const { return call_.outputs[output].device; }
  size_t own() const { return call_.outputs.size() - call_.written.size(); }

  const Storage* hold_storage(const Program& program, const GraphInput& input) {
    const RecordedCall::GeneratorUse* use = program.recorded_.generator_use_of(input.handle);
    const Cell* const cell =
        use ? numbers_[static_cast<size_t>(use - program.recorded_.generators.data())].state()->cell().get()
            : cells()[input.handle];
    Ref<Storage> storage = cell->storage_now();
    if (!storage) return nullptr;
    held_.push_back(is_shadow_ && is_written(*cell) ? storage->copy() : std::move(storage));
    return held_.pointers().back();
  }

  bool is_written(const Cell& cell) const {
    return std::ranges::any_of(call_.written, [&](size_t handle) { return cells()[handle] == &cell; });
  }

  void* store_number(const Scalar& number, Dtype dtype) {
    number.store(dtype, &scalars_.emplace_back());
    return &scalars_.back();
  }

  void* address_in(const Storage& storage, const GraphInput& input) const {
    const TensorImpl& handle = *handles_[input.handle];
    const int64_t offset = input.kind == GraphInput::Kind::kHandle ? handle.offset().unguarded() : 0;
    return static_cast<char*>(storage.data()) + offset * static_cast<int64_t>(size_of(handle.dtype()));
  }

  void set_state(size_t handle, const void* memory) const {
    GeneratorState::Words words;
    std::memcpy(words.data(), memory, sizeof(words));
    static_cast<GeneratorState&>(*handles_[handle]).set(words);
  }

  const bool is_shadow_;
  bool is_complete_ = false;
  const CallPlan& call_;
  std::span<TensorImpl* const> handles_;
  RefList<Cell, 32> cells_;  // of the handles
  SmallVector<SymInt, 32> offsets_;
  RefList<Storage, 32> held_;
  std::vector<ReservedNumbers> numbers_;
  std::vector<int64_t> scalars_;  // the traced numbers; reserved, so that addresses stay valid
  SmallVector<void*, 32> inputs_;
  SmallVector<PackedForms*, 32> forms_;
  SmallVector<void*, 32> outputs_;
  /// The memory of each output; null for outputs written in place.
  RefList<Storage, 32> storages_;
  RefList<Cell, 32> own_cells_;
};

}  // namespace lucid::jit
