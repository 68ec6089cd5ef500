// An op table with additional ops, and everything that it takes to add them. A program linked with this file has them
// everywhere: in C++, Python, stubs, documentation, passes, and the generators of random programs and of bad calls
// (added_op_test.cpp, tests/python/test_added_op.py).

#include <cstring>

#include "ir/host_call.h"
#include "ops/reference.h"
#include "ops/rules.h"
#include "ops/table.h"
#include "reports.h"

namespace lucid {

std::vector<float>& testing::reports() {
  static std::vector<float> all;
  return all;
}

namespace {

Op opposite() {
  return {
      .signature = "opposite(x)",
      .doc = R"(The opposite of x, elementwise.

>>> lucid.opposite(lucid.tensor([1.0, -2.0]))
tensor([-1.,  2.]))",
      .names = {.takes_inplace = true},
      .algebra = {.is_involution = true},
      .dtypes = kFloats,
      .promote = Promote::kSame,
      .lowering = lower_unary([](loop::Value x) { return -x; }),
      .reference = reference_unary<Domain::kFloats>([]<typename T>(T x) -> T { return -x; }),
      .gradient = {.rule = [](Emitter& e, const GradientCall&, std::span<const Value> g) -> Values {
        return {e.neg(g[0])};
      }},
      .samples = unary_samples(),
      .cost = kFunctionCost,
  };
}

/// Returns x and appends its first element to reports(). A stand-in for ops with side effects, for C++ tests only:
/// hidden from Python.
Op with_effect(std::string signature, Effects effects) {
  return {
      .signature = std::move(signature),
      .doc = "Returns x, and reports it.",
      .names = {.audience = Audience::kOps},
      .infer = [](const Call& call) -> std::vector<TensorType> { return {{call.dtype(0), call.shape(0)}}; },
      .effects = effects,
      .host =
          [](HostCall& call) {
            const HostArray& in = call.in(0);
            testing::reports().push_back(in.as<float>()[0]);
            std::memcpy(call.make_output(in.type).data, in.data,
                        static_cast<size_t>(in.size()) * size_of(in.type.dtype));
          },
      .samples = {{{normal({2, 3})}}},
  };
}

}  // namespace

const OpTable& op_table() {
  static const OpTable table = [] {
    std::vector<Op> ops = standard_ops();
    ops.push_back(opposite());
    ops.push_back(with_effect("reported(x)", Effects::kOrdered));
    ops.push_back(with_effect("sent(x)", Effects::kExternal));
    return OpTable(std::move(ops));
  }();
  return table;
}

}  // namespace lucid
