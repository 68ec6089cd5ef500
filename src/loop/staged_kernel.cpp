#include "loop/staged_kernel.h"

#include "loop/builder.h"

namespace lucid::loop {

Kernel staged_kernel(std::string name, std::span<const Stage> stages, std::span<const Dtype> arguments,
                     std::span<const Local> locals) {
  Builder b(std::move(name));
  for (Dtype dtype : arguments) b.argument(dtype);
  for (const Local& local : locals) b.scratch(local.dtype, local.count);
  std::vector<int64_t> first_params;
  for (const Stage& stage : stages) first_params.push_back(b.params(stage.kernel->param_count));
  const Value block = b.param();
  std::vector<Value> items, tile_elements;
  for (size_t i = 0; i < stages.size(); ++i) items.push_back(b.param());
  for (size_t i = 0; i < locals.size(); ++i) tile_elements.push_back(b.param());

  const Value begin = b.begin(), end = b.end();
  const Value blocks = (end - begin + (block - b.index(1))) / block;
  b.for_loop(b.index(0), blocks, 1, [&](Value counter) {
    const Value tile = begin + counter * block;
    const Value stop = b.binary(Code::kMin, tile + block, end);
    for (size_t i = 0; i < stages.size(); ++i) {
      // A local starts with the elements of the first tile of the block.
      std::vector<Value> origins;
      for (uint32_t buffer : stages[i].buffers)
        if (buffer >= arguments.size()) origins.push_back(tile * tile_elements[buffer - arguments.size()]);
      b.call(*stages[i].kernel, stages[i].buffers, first_params[i], tile * items[i], stop * items[i], origins);
    }
  });
  return b.finish();
}

}  // namespace lucid::loop
