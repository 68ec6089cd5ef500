#include "schedule/kernel_writer.h"

#include <algorithm>

namespace lucid {

loop::BufferRef KernelWriter::buffer(const BufferUse& use, Dtype dtype) {
  for (size_t i = 0; i < uses_.size(); ++i) {
    BufferUse& other = uses_[i];
    if (other.kind == use.kind && other.index == use.index && other.byte_offset == use.byte_offset &&
        refs_[i].dtype == dtype) {
      if (other.tile != use.tile) other.tile = {};
      return refs_[i];
    }
  }
  uses_.push_back(use);
  refs_.push_back(builder_.argument(dtype));
  return refs_.back();
}

KernelStep KernelWriter::finish(SymInt items, double nanoseconds_per_item, SymInt tile_items) {
  KernelStep step;
  step.kernel = std::make_shared<const loop::Kernel>(builder_.finish());
  step.buffers = std::move(uses_);
  step.params = std::move(params_);
  step.items = items;
  step.tile_items = tile_items;
  step.nanoseconds = nanoseconds_per_item;
  return step;
}

}  // namespace lucid
