// Padding of tensors.

#include <algorithm>

#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

Op constant_pad() {
  return {
      .signature = "constant_pad(x, pad: ints, value: float = 0.0)",
      .doc = R"(Pads `x` with `value`. `pad` holds two sizes for each padded dimension, before and after, starting from
the last dimension. Negative sizes crop. Raises ValueError if `pad` has an odd length, names more
dimensions than `x` has, or crops more than a dimension holds.

>>> lucid.constant_pad(lucid.tensor([1, 2]), (1, 2))
tensor([0, 1, 2, 0, 0]))",
      .names = {.audience = Audience::kOps},
      .infer = [](const Call& call) -> Types {
        const Dims& pad = call.ints("pad");
        if (pad.size() % 2 != 0 || pad.rank() / 2 > call.rank(0))
          throw ValueError("pad: sizes {} must have two elements for each padded dimension of {}", to_string(pad),
                           to_string(call.operand(0).type()));
        Dims shape = call.shape(0);
        for (size_t i = 0; i < pad.size() / 2; ++i) {
          SymInt& size = shape[shape.size() - 1 - i];
          const SymInt before = pad[2 * i];
          const SymInt after = pad[2 * i + 1];
          if (before > INT32_MAX * int64_t{1024} || after > INT32_MAX * int64_t{1024} || before < -size ||
              after < -size || size + before + after < 0)
            throw ValueError("pad: sizes {} do not fit dimension {} of {}", to_string(pad), shape.size() - 1 - i,
                             to_string(call.operand(0).type()));
          size += before + after;
        }
        checked_numel("pad", shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const Dims& pad = call.ints("pad");
                                        const int64_t rank = call.rank(0);
                                        std::vector<loop::Value> index;
                                        loop::Value valid;
                                        for (int64_t d = 0; d < rank; ++d) {
                                          const auto from_last = static_cast<size_t>(rank - 1 - d);
                                          loop::Value i = element.index(d);
                                          if (2 * from_last < pad.size()) {
                                            i = i - element.number(pad[2 * from_last]);
                                            const loop::Value inside =
                                                (i >= b.index(0)) & (i < element.input_size(0, d));
                                            valid = valid ? valid & inside : inside;
                                          }
                                          index.push_back(i);
                                        }
                                        const loop::Value x = element.load(0, index, valid);
                                        return valid ? b.select(valid, x, b.like(x, call.real("value"))) : x;
                                      }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            const Dims& pad = call.ints("pad");
            int64_t at = 0;
            for_each_index(out.type.shape, [&](Dims index) {
              bool inside = true;
              for (size_t i = 0; i < pad.size() / 2; ++i) {
                const size_t d = index.size() - 1 - i;
                index[d] -= pad[2 * i];
                inside = inside && index[d] >= 0 && index[d] < call.shape(0)[d];
              }
              if (inside)
                copy_element(call.in(0), position(call.shape(0), index), out, at);
              else
                Scalar(call.real("value")).store(out.type.dtype, element_of(out, at));
              ++at;
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        Dims back = call.ints("pad");
        for (SymInt& n : back) n = -n;
        return {e.constant_pad(g[0], back, 0.0)};
      }},
      .samples = with({{{normal({5})}}, {{normal({2, 17})}}, {{strided({2, 3}, {1, 2})}}}, {{"pad", Dims{1, 2}}}) +
                 with({{{normal({2, 3, 4})}}}, {{"pad", Dims{-1, 2, 0, 1}}, {"value", 2.0}}) +
                 with({{{normal({2, 3})}}}, {{"pad", Dims{}}}),
  };
}

Op pad() {
  return {
      .signature = "pad(x, pad: ints, mode: str = \"constant\", value: float = 0.0)",
      .doc = R"(Pads the last dimensions of `x`. `pad` holds two sizes for each padded dimension, before and after,
starting from the last dimension. `mode` is "constant" (fills with `value`; negative sizes crop),
"reflect" (mirrors without repeating the edge; each size must be below the size of the dimension),
"replicate" (repeats the edge) or "circular" (wraps around; each size is at most the size of the
dimension). Raises ValueError if `mode` or `pad` is invalid.

>>> lucid.pad(lucid.tensor([1, 2, 3]), (2, 1), "reflect")
tensor([3, 2, 1, 2, 3, 2]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const std::string& mode = call.text("mode");
        const Dims& pad = call.ints("pad");
        if (mode == "constant") return {e.constant_pad(inputs[0], pad, call.real("value"))};
        if (mode != "reflect" && mode != "replicate" && mode != "circular")
          throw ValueError("pad: mode must be constant, reflect, replicate or circular, got \"{}\"", mode);
        Value result = inputs[0];
        if (pad.size() % 2 != 0 || pad.rank() / 2 > result.rank())
          throw ValueError("pad: sizes {} must have two elements for each padded dimension of {}", to_string(pad),
                           to_string(result.type()));
        for (size_t i = 0; i < pad.size() / 2; ++i) {
          const int64_t axis = result.rank() - 1 - static_cast<int64_t>(i);
          const SymInt size = result.size(axis);
          const SymInt before = pad[2 * i];
          const SymInt after = pad[2 * i + 1];
          const SymInt limit = mode == "reflect" ? size - 1 : mode == "circular" ? size : SymInt(INT32_MAX);
          if (before < 0 || after < 0 || before > limit || after > limit || size == 0)
            throw ValueError("pad: sizes {} do not fit dimension {} of {} in mode {}", to_string(pad), axis,
                             to_string(result.type()), mode);
          Value index = e.sub(e.iota(Dims{size + before + after}, 0), before);
          if (mode == "replicate") index = e.clamp(index, 0, size - 1);
          if (mode == "circular") index = e.remainder(index, size);
          if (mode == "reflect") index = e.sub(size - 1, e.abs(e.sub(size - 1, e.abs(index))));
          result = e.index_select(result, axis, index);
        }
        return {result};
      },
      .samples = with({{{normal({2, 3})}}}, {{"pad", Dims{1, 2}}}) +
                 with({{{normal({3, 4})}}}, {{"pad", Dims{2, 1, 1, 0}}, {"mode", std::string("reflect")}}) +
                 with({{{normal({3, 4})}}}, {{"pad", Dims{2, 1}}, {"mode", std::string("replicate")}}) +
                 with({{{normal({3, 4})}}}, {{"pad", Dims{2, 1}}, {"mode", std::string("circular")}}),
  };
}

}  // namespace

void add_pad_ops(std::vector<Op>& ops) {
  for (auto make : {constant_pad, pad}) ops.push_back(make());
}

}  // namespace lucid
