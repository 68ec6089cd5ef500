#include <cstring>

#include "ops/rules.h"

namespace lucid {
namespace {

Op to_device() {
  return {
      .signature = "to_device(x, device: str)",
      .doc = R"(Returns a copy of `x` on a device, 'cpu' or 'gpu'.

>>> lucid.to_device(lucid.tensor([1.0, 2.0]), "cpu")
tensor([1., 2.]))",
      .names = {.method = false},
      .infer = same_as_input,
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            const HostArray& copy = call.make_output(x.type);
            if (x.size() > 0) std::memcpy(copy.data, x.data, static_cast<size_t>(x.size()) * size_of(x.type.dtype));
          },
      // The caller moves gradients to the device of the operand.
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }},
      .samples = with({{{normal({3, 19})}}, {{normal({})}}, {{normal({0, 3})}}}, {{"device", std::string("cpu")}}),
  };
}

}  // namespace

void add_transfer_ops(std::vector<Op>& ops) { ops.push_back(to_device()); }

}  // namespace lucid
