#include "schedule/kernel_writer.h"

#include <algorithm>

namespace lucid {
namespace {

// Below this much work a thread costs more to wake than it saves.
constexpr double kWorthAThread = 10'000;

}  // namespace

loop::BufferRef KernelWriter::buffer(const BufferUse& use, Dtype dtype) {
  for (size_t i = 0; i < uses_.size(); ++i) {
    BufferUse& other = uses_[i];
    if (other.kind == use.kind && other.index == use.index && other.byte_offset == use.byte_offset &&
        refs_[i].dtype == dtype) {
      if (other.row != use.row) other.row = {};
      return refs_[i];
    }
  }
  uses_.push_back(use);
  refs_.push_back(builder_.argument(dtype));
  return refs_.back();
}

KernelStep KernelWriter::finish(int64_t items, double nanoseconds_per_item) {
  KernelStep step;
  step.kernel = builder_.finish();
  step.buffers = std::move(uses_);
  step.params = std::move(params_);
  step.items = items;
  step.grain = std::max<int64_t>(1, static_cast<int64_t>(kWorthAThread / std::max(nanoseconds_per_item, 0.01)));
  return step;
}

}  // namespace lucid
