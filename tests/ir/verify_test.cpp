#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "ir/graph.h"

namespace lucid {
namespace {

IRGraph example() {
  return parse_graph(R"(graph step(%0: f32[3,4] input, %1: f32[4] param, %2: i64[] state, %3: f32[] constant) -> (%7) {
  %4: f32[3,4] = mul(%0, %1)
  %5: f32[3] = sum(%4) {dim=[1]}
  %6: i64[] = add(%2, 1)
  %7: f32[3] = clamp(%5, none, %3)
  %8: f32[4] = sub(%1, 0.5)
  update %1 = %8
  update %2 = %6
}
)");
}

TEST(Verify, AcceptsAGoodGraph) { EXPECT_NO_THROW(verify(example())); }

struct Breach {
  const char* name;
  std::function<void(IRGraph&)> damage;
  const char* message;
};

void PrintTo(const Breach& breach, std::ostream* out) { *out << breach.name; }

class VerifyBreach : public testing::TestWithParam<Breach> {};

TEST_P(VerifyBreach, IsReported) {
  IRGraph graph = example();
  GetParam().damage(graph);
  try {
    verify(graph);
    ADD_FAILURE() << "accepted:\n" << to_text(graph);
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos) << error.what();
  }
}

const Op kForeign = op_table().at("add");

INSTANTIATE_TEST_SUITE_P(
    Rules, VerifyBreach,
    testing::Values(
        Breach{"NegativeId", [](IRGraph& g) { g.values[-2] = {}; }, "%-2 is a negative id"},
        Breach{"NegativeSize", [](IRGraph& g) { g.values[3].type.shape = {-1}; }, "%3: value: shape [-1]"},
        Breach{"TooLarge", [](IRGraph& g) { g.values[3].type.shape = {INT64_MAX, 2}; }, "%3: value:"},
        Breach{"TooManyDimensions", [](IRGraph& g) { g.values[3].type.shape = Dims(65, 1); }, "65 dimensions"},
        Breach{"ArgumentWithoutType", [](IRGraph& g) { g.input_ids.push_back(99); },
               "%99 is an argument but has no type"},
        Breach{"ArgumentTwice", [](IRGraph& g) { g.state_ids.push_back(0); }, "%0 is an argument twice"},
        Breach{"NoOp", [](IRGraph& g) { g.nodes[1].op = nullptr; }, "the node has no op"},
        Breach{"ForeignOp", [](IRGraph& g) { g.nodes[0].op = &kForeign; }, "not in the op table"},
        Breach{"TooFewOperands", [](IRGraph& g) { g.nodes[0].inputs.pop_back(); }, "mul: takes 2 tensors, got 1"},
        Breach{"TooManyOperands", [](IRGraph& g) { g.nodes[0].inputs.push_back({.id = 0}); },
               "mul: takes 2 tensors, got 3"},
        Breach{"AbsentOperand", [](IRGraph& g) { g.nodes[0].inputs[1] = {}; }, "mul: argument y is missing"},
        Breach{"ValueAndNumber", [](IRGraph& g) { g.nodes[0].inputs[1].number = Scalar(1); }, "both %1 and a number"},
        Breach{"UnknownOperand", [](IRGraph& g) { g.nodes[0].inputs[1].id = 42; }, "operand %42 has no type"},
        Breach{"UseBeforeDefinition", [](IRGraph& g) { std::swap(g.nodes[0], g.nodes[1]); },
               "operand %4 is used before it is defined"},
        Breach{"MissingAttribute", [](IRGraph& g) { g.nodes[1].attributes.pop_back(); }, "attribute dtype is missing"},
        Breach{"ExtraAttribute", [](IRGraph& g) { g.nodes[0].attributes.push_back(true); },
               "1 attributes are too many"},
        Breach{"AttributeOfWrongKind", [](IRGraph& g) { g.nodes[1].attributes[0] = 0.5; },
               "attribute dim does not take 0.5"},
        Breach{"AttributeNotConverted", [](IRGraph& g) { g.nodes[1].attributes[0] = int64_t{1}; },
               "attribute dim does not take 1"},
        Breach{"ShapeRuleFails", [](IRGraph& g) { g.nodes[1].attributes[0] = Dims{5}; }, "sum: "},
        Breach{"TooManyResults", [](IRGraph& g) { g.nodes[0].outputs.push_back(9); }, "1 results expected, 2 named"},
        Breach{"ResultWithoutType", [](IRGraph& g) { g.nodes[0].outputs[0] = 77; }, "result %77 has no type"},
        Breach{"DefinedTwice", [](IRGraph& g) { g.nodes[4].outputs[0] = 1; }, "%1 is defined twice"},
        Breach{"WrongDtype", [](IRGraph& g) { g.values[5].type.dtype = Dtype::kF64; },
               "%5 has type f64[3], but the op returns f32[3]"},
        Breach{"WrongShape", [](IRGraph& g) { g.values[5].type.shape = {4}; },
               "%5 has type f32[4], but the op returns f32[3]"},
        Breach{"DevicesDiffer", [](IRGraph& g) { g.values[0].type.device = Device::gpu(0); }, "different devices"},
        Breach{"UndefinedOutput", [](IRGraph& g) { g.output_ids.push_back(50); }, "output %50 is not defined"},
        Breach{"UpdateOfNoState", [](IRGraph& g) { g.updates.emplace_back(4, 4); },
               "neither an input, a param nor a state"},
        Breach{"UpdatedTwice", [](IRGraph& g) { g.updates.emplace_back(1, 8); }, "%1 is updated twice"},
        Breach{"UpdateUndefined", [](IRGraph& g) { g.updates[0].second = 60; }, "%60, which is not defined"},
        Breach{"UpdateChangesType", [](IRGraph& g) { g.updates[0].second = 7; },
               "%1 is f32[4], but is updated with %7"},
        Breach{"Orphan", [](IRGraph& g) { g.values[30] = {}; }, "%30 has a type, but nothing defines it"}),
    [](const auto& info) { return info.param.name; });

TEST(Verify, ShowsTheNodeAmongItsNeighbours) {
  IRGraph graph = example();
  graph.values[7].type.dtype = Dtype::kI8;
  try {
    verify(graph);
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_EQ(std::string(error.what()), R"(graph step is malformed: %7 has type i8[3], but the op returns f32[3]
  %4: f32[3,4] = mul(%0, %1)
  %5: f32[3] = sum(%4) {dim=[1]}
  %6: i64[] = add(%2, 1)
> %7: i8[3] = clamp(%5, none, %3)
  %8: f32[4] = sub(%1, 0.5)
)");
  }
}

}  // namespace
}  // namespace lucid
