#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/error.h"
#include "ir/graph.h"
#include "ir/graph_emitter.h"

namespace lucid {
namespace {

constexpr const char* kNormalize = R"(graph normalize(%0: f32[32,128] input) -> (%5) {
  %1: f32[32,1] = mean(%0) {dim=[1], keepdim=true}  ; example.py:4
  %2: f32[32,128] = sub(%0, %1)  ; example.py:5
  %3: f32[32,1] = std(%0) {dim=[1], keepdim=true}
  %4: f32[32,1] = add(%3, 1e-05)
  %5: f32[32,128] = div(%2, %4)
}
)";

constexpr const char* kEverything =
    R"(graph "a step"(%0: f32[4]@gpu:0 input, %7: f16[] param, %9: i64[] state, %8: bool[0] constant) -> () {
  %1: f32[4]@gpu:0 = clamp(%0, none, -2.5)
  %2: f32[4]@gpu:0 = add(%1, true) no_grad  ; a b.py:1
  %3: f32[4]@gpu:0 = mul(%2, nan) no_grad  ; "  odd \"source\"\n"
  %4: i64[], %5: i64[] = max_dim(%9) {dim=0}
  %10: i64[] = add(%9, 3)
  %11: f32[4]@gpu:0 = gelu(%0) {approximate="tanh"}
  %12: bool[2,3] = full(true) {size=[2,3], dtype=bool}
  %13: f32[4]@gpu:0 = nan_to_num(%0) {nan=-0.0, posinf=inf, neginf=-inf}
  update %9 = %10
}
)";

constexpr const char* kSizes =
    R"(graph f[s0=12, s1=5](%0: f32[s0,s1,64] input) -> (%4) {
  %1: f32[s0*64,s1] = reshape(%0) {shape=[s0*64,s1]}
  %2: f32[s0*64,s1] = div(%1, s0*s1-1)
  %3: f32[s0*64,((s1+1)/2)] = slice(%2) {dim=1, end=9223372036854775807, step=2}
  %4: f32[(s0%8),(s1/(s0*2))] = full(0.0) {size=[(s0%8),(s1/(s0*2))]}
}
)";

TEST(GraphText, ParsesWhatItPrints) {
  for (const char* text : {kNormalize, kEverything, kSizes, "graph empty() -> () {\n}\n"}) {
    const IRGraph graph = parse_graph(text);
    EXPECT_EQ(to_text(graph), text);
    EXPECT_EQ(parse_graph(to_text(graph)), graph);
  }
}

TEST(GraphText, ComputesSizesFromSymbols) {
  const IRGraph graph = parse_graph(kSizes);
  EXPECT_EQ(graph.type(1).shape, (Dims{768, 5}));
  EXPECT_EQ(graph.type(3).shape, (Dims{768, 3}));
  EXPECT_EQ(graph.type(4).shape, (Dims{4, 0}));
  const auto other = SizeTrace::Evaluation::of(*graph.sizes, std::vector<int64_t>{20, 100});
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)(graph.type(4).shape[1]), 2);
  EXPECT_EQ((*other)(graph.nodes[1].inputs[1].number->size()), 1999);
}

TEST(GraphText, ReadsNumbersExactly) {
  const IRGraph graph = parse_graph(
      "graph f(%0: f64[1] input) -> () {\n"
      "  %1: f64[1] = add(%0, 0.1)\n  %2: f64[1] = add(%0, -0.0)\n  %3: f64[1] = add(%0, -9223372036854775808)\n"
      "  %4: f64[1] = add(%0, -inf)\n  %5: f64[1] = add(%0, 1e+300)\n}");
  EXPECT_EQ(graph.nodes[0].inputs[1].number, Scalar(0.1));
  EXPECT_EQ(graph.nodes[1].inputs[1].number, Scalar(-0.0));
  EXPECT_EQ(graph.nodes[2].inputs[1].number, Scalar(INT64_MIN));
  EXPECT_EQ(graph.nodes[3].inputs[1].number, Scalar(-std::numeric_limits<double>::infinity()));
  EXPECT_EQ(graph.nodes[4].inputs[1].number, Scalar(1e300));
}

TEST(GraphText, OmitsAttributesThatHaveTheirDefault) {
  const IRGraph graph =
      parse_graph("graph f(%0: f32[4] input) -> () {\n  %1: f32[] = sum(%0) {dim=none, keepdim=false, dtype=none}\n}");
  EXPECT_NE(to_text(graph).find("= sum(%0)\n"), std::string::npos);
}

TEST(GraphText, EmittedGraphsRoundTrip) {
  IRGraph graph;
  GraphEmitter e(graph);
  const Value x = e.value(graph.add_input({Dtype::kF16, {3, 4}}));
  const Value y = e.clamp(e.add(x, 2), {}, e.amax(x, Dims{0}));
  graph.output_ids = {GraphEmitter::id_of(y), GraphEmitter::id_of(e.max_dim(y, 1)[1])};
  verify(graph);
  EXPECT_EQ(parse_graph(to_text(graph)), graph);
}

struct Mistake {
  const char* text;
  const char* message;
};

TEST(GraphText, ErrorsNameLineAndColumn) {
  const Mistake mistakes[] = {
      {"", "line 1, column 1: expected `graph`, found the end"},
      {"graph f(%0: f32[4]) -> () {}", "line 1, column 19: expected input, param, state or constant"},
      {"graph f(%0: f99[4] input) -> () {}", "`f99` is not a dtype"},
      {"graph f(%0: float32[4] input) -> () {}", "`float32` is not a dtype"},
      {"graph f(%0: f32[-4] input) -> () {}", "negative size"},
      {"graph f(%0: f32[9223372036854775807,9] input) -> () {}",
       "column 39: shape: shape [9223372036854775807,9] is too large"},
      {"graph f(%0: f32[99999999999999999999] input) -> () {}", "does not fit in 64 bits"},
      {"graph f(%0: f32[4] input, %0: f32[4] input) -> () {}", "%0 is declared twice"},
      {"graph f(%-1: f32[4] input) -> () {}", "out of range"},
      {"graph f(%4294967296: f32[4] input) -> () {}", "out of range"},
      {"graph f() -> () {\n  %0: f32[] = frobnicate()\n}", "line 2, column 25: no op is named `frobnicate`"},
      {"graph f() -> () {\n  %0: f32[] = add(%1, f32)\n}", "an operand is a value, a number or none"},
      {"graph f() -> () {\n  %0: f32[] = add(%1 %2)\n}", "line 2, column 22: expected `)`"},
      {"graph f() -> () {\n  %0: f32[] = sum(%1) {dims=[1]}\n}", "sum has no attribute dims"},
      {"graph f() -> () {\n  %0: f32[] = sum(%1) {dim=0.5}\n}", "attribute dim does not take 0.5"},
      {"graph f() -> () {\n  %0: f32[] = sum(%1) {dim=1, dim=1}\n}", "attribute dim is given twice"},
      {"graph f() -> () {\n  %0: f32[] = cumsum(%1)\n}", "cumsum lacks attribute dim"},
      {"graph f() -> () {\n  %0: f32[] = exp(%1) %2\n}", "expected the end of the line"},
      {"graph f() -> () {\n", "line 2, column 1: expected `%`, found the end"},
      {"graph f() -> () {}\n}", "line 2, column 1: expected the end"},
      {"graph \"f() -> () {}", "expected a closing \""},
      {"graph \"\\q\"() -> () {}", "expected an escape"},
      {"graph f[s1=4]() -> () {}", "column 9: expected `s0`"},
      {"graph f[s0=1]() -> () {}", "the size cannot vary"},
      {"graph f[s0=4](%0: f32[s1] input) -> () {}", "column 23: expected a symbol, found \"s1]"},
      {"graph f[s0=4](%0: f32[(s0/(s0-4))] input) -> () {}", "expected numbers that can be divided"},
      {"graph f[s0=4](%0: f32[s0-5] input) -> () {}", "negative size"},
      {"graph f(%0: f32[s0] input) -> () {}", "expected an integer"},
  };
  for (const Mistake& mistake : mistakes) {
    try {
      parse_graph(mistake.text);
      ADD_FAILURE() << "parsed: " << mistake.text;
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find(mistake.message), std::string::npos) << mistake.text << "\n"
                                                                                    << error.what();
    }
  }
}

/// For any damage to the text, parsing returns a graph or throws an error of this library.
TEST(GraphText, SurvivesDamage) {
  std::mt19937 random(7);
  int parsed = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = std::array{kNormalize, kEverything, kSizes}[static_cast<size_t>(round) % 3];
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text.erase(at, 1 + random() % 5);
          break;
        case 1:
          text.insert(at, 1, static_cast<char>(random()));
          break;
        case 2:
          text[at] = "%[]{}(),:=-+*/0123456789.einfs\n\"\\;"[random() % 35];
          break;
        default:
          text.insert(at, text.substr(random() % text.size(), random() % 20));
          break;
      }
    }
    try {
      const IRGraph graph = parse_graph(text);
      ++parsed;
      EXPECT_EQ(to_text(parse_graph(to_text(graph))), to_text(graph));
      verify(graph);
    } catch (const Error&) {
    }
  }
  EXPECT_GT(parsed, 100);
  EXPECT_LT(parsed, 3900);
}

}  // namespace
}  // namespace lucid
