// Choosing between values, bounding them, converting them.

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

Op to() {
  return {
      .signature = "to(x, dtype: dtype)",
      .doc =
          R"(x converted to another dtype. Floats become integers by dropping the fraction and saturating; NaN becomes 0.

>>> lucid.to(lucid.tensor([1.7, -1.7]), lucid.int32)
tensor([ 1, -1], dtype=lucid.int32))",
      .infer = [](const Call& call) -> std::vector<TensorType> { return {{call.dtype_of("dtype"), call.shape(0)}}; },
      .lowering = PointwiseLowering{.body =
                                        [](loop::Builder& b, std::span<const loop::Value> in, const Call& call) {
                                          return b.convert(in[0], compute_dtype(call.dtype_of("dtype")));
                                        }},
      .reference = reference_unary<Domain::kAll>([](auto x) { return x; }),
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }},
      .samples =
          with(unary_samples(), {{"dtype", Dtype::kF32}}) + with(unary_samples(), {{"dtype", Dtype::kI32}}) +
          with({{{normal({37})}}}, {{"dtype", Dtype::kBool}}) + with({{{positive({37})}}}, {{"dtype", Dtype::kU8}}) +
          with({{{normal({37})}}}, {{"dtype", Dtype::kF16}}) + with({{{normal({37})}}}, {{"dtype", Dtype::kF64}}),
  };
}

}  // namespace

void add_select_ops(std::vector<Op>& ops) {
  for (auto make : {to}) ops.push_back(make());
}

}  // namespace lucid
