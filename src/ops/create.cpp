// Tensors made from nothing but a shape.

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

Dtype full_dtype(const Call& call) {
  if (!call.is_none("dtype")) return call.dtype_of("dtype");
  if (call.operand(0).is_scalar() && call.operand(0).scalar().is_float()) return default_float();
  return call.dtype(0);
}

Op full() {
  return {
      .signature = "full(size: ints, fill_value, *, dtype: dtype? = None)",
      .doc = R"(A tensor of the given size, filled with one value.

>>> lucid.full((2, 2), 1.5)
tensor([[1.5000, 1.5000],
        [1.5000, 1.5000]]))",
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (call.rank(0) != 0)
          throw ValueError("full: fill_value must be a number or a 0-d tensor, got {}",
                           to_string(call.operand(0).type()));
        return {{full_dtype(call), call.ints("size")}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        return element.builder().convert(element.load(0, {}, {}),
                                                                         compute_dtype(full_dtype(call)));
                                      }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output({full_dtype(call), call.ints("size")});
            const Scalar value = Scalar::load(call.in(0).type.dtype, call.in(0).data);
            for (int64_t i = 0; i < out.size(); ++i)
              value.store(out.type.dtype, out.as<char>() + i * static_cast<int64_t>(size_of(out.type.dtype)));
          },
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }},
      .samples = with({{{normal({})}}}, {{"size", Dims{2, 19}}}) + with({{{number(3)}}}, {{"size", Dims{5}}}) +
                 with({{{number(2.5)}}}, {{"size", Dims{}}, {"dtype", Dtype::kI16}}) +
                 with({{{number(true)}}}, {{"size", Dims{0, 3}}}),
  };
}

}  // namespace

void add_create_ops(std::vector<Op>& ops) {
  for (auto make : {full}) ops.push_back(make());
}

}  // namespace lucid
