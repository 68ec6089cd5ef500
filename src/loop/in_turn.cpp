#include "loop/in_turn.h"

#include "loop/builder.h"

namespace lucid::loop {

Kernel in_turn(std::string name, std::span<const Turn> turns, std::span<const Dtype> arguments,
               std::span<const Local> locals) {
  Builder b(std::move(name));
  for (Dtype dtype : arguments) b.argument(dtype);
  for (const Local& local : locals) b.scratch(local.dtype, local.count);
  std::vector<int64_t> first_params;
  for (const Turn& turn : turns) first_params.push_back(b.params(turn.kernel->param_count));
  const Value block = b.param();
  std::vector<Value> items, unit_elements;
  for (size_t i = 0; i < turns.size(); ++i) items.push_back(b.param());
  for (size_t i = 0; i < locals.size(); ++i) unit_elements.push_back(b.param());

  const Value begin = b.begin(), end = b.end();
  const Value blocks = (end - begin + (block - b.index(1))) / block;
  b.for_loop(b.index(0), blocks, 1, [&](Value counter) {
    const Value unit = begin + counter * block;
    const Value stop = b.binary(Code::kMin, unit + block, end);
    for (size_t i = 0; i < turns.size(); ++i) {
      // In a local, the elements of the first unit of the block come first.
      std::vector<Value> origins;
      for (uint32_t buffer : turns[i].buffers)
        if (buffer >= arguments.size()) origins.push_back(unit * unit_elements[buffer - arguments.size()]);
      b.call(*turns[i].kernel, turns[i].buffers, first_params[i], unit * items[i], stop * items[i], origins);
    }
  });
  return b.finish();
}

}  // namespace lucid::loop
