#include "jit/recorder.h"

#include "tensor/eager.h"

namespace lucid::jit {

void Recorder::start() {
  context_.emplace(options_.source);
  if (options_.keeps_contents) context_->keep_contents();
  if (options_.collects_dependencies) context_->collect_dependencies();
  reads_.emplace();
  number_scope_.emplace(numbers_.get());
  if (!traces_sizes()) return;
  context_->set_sizes(sizes_);
  size_scope_.emplace(&sizes_->trace);
}

void Recorder::stop() {
  if (!reads_) return;
  context_->stop();
  size_scope_.reset();
  number_scope_.reset();
  read_ = reads_->numbers();
  reads_.reset();
}

std::string Recorder::obstacle() const {
  if (context().caught_error()) return "catches an error, which may be another one for other arguments";
  if (context().trace().obstacle.empty() && context().uses_tensors_of_other_threads())
    return "uses a tensor that another thread made during the call";
  return "";
}

std::optional<RecordedCall> Recorder::finish(std::span<const TensorRef> arguments, std::span<const TensorRef> results,
                                             std::span<const TensorRef> state, const std::string& name,
                                             std::string& obstacle) {
  const SizeTrace::Scope scope(traces_sizes() ? &sizes_->trace : nullptr);
  return RecordedCall::finish(context(), arguments, results, state, name, obstacle);
}

std::optional<RecordedCall> Recorder::finish(std::span<const TensorRef> arguments, std::span<const TensorRef> results,
                                             const std::string& name, std::string& obstacle) {
  const SizeTrace::Scope scope(traces_sizes() ? &sizes_->trace : nullptr);
  const std::vector<TensorRef> captured = context().captured(arguments, results);
  return RecordedCall::finish(context(), arguments, results, captured, name, obstacle);
}

TensorRef resized(const TensorRef& example, std::span<const std::pair<int64_t, int64_t>> sizes) {
  Value result(example);
  for (const auto& [dim, size] : sizes) {
    const auto axis = static_cast<size_t>(dim);
    const DeviceScope device(example->device());
    const Value indices =
        eager().remainder(eager().arange(0, size, 1, Dtype::kI64), Scalar(int64_t{result.shape()[axis]}));
    result = eager().index_select(result, dim, indices);
  }
  return TensorRef(tensor_of(result));
}

}  // namespace lucid::jit
