#include "ops/table.h"

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "ir/graph_emitter.h"
#include "samples.h"

// Properties of every entry of the op table.
namespace lucid {
namespace {

using test::describe;
using test::SampleCall;

class EveryOp : public testing::TestWithParam<const Op*> {
 protected:
  const Op& op() const { return *GetParam(); }

  /// Runs `check` on each sample with each dtype that the op accepts.
  template <typename F>
  void for_each_sample(F check, DtypeSet among = kAllDtypes) {
    for (const Sample& sample : op().samples) {
      for (const Dtype dtype : test::dtypes_of(op(), among)) {
        const SampleCall call(op(), sample, dtype);
        SCOPED_TRACE(describe(call));
        check(call);
        if (HasFatalFailure()) return;
      }
    }
  }
};

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops;
  for (const Op& op : op_table().ops()) ops.push_back(&op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOp, testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param->name(); });

TEST_P(EveryOp, IsDocumentedWithAnExample) {
  const std::string& doc = op().doc;
  const size_t blank = doc.find("\n\n");
  ASSERT_NE(blank, std::string::npos) << "no example";
  EXPECT_EQ(doc[blank - 1], '.') << "the description ends with a full stop";
  EXPECT_EQ(doc.compare(blank + 2, 4, ">>> "), 0);
  EXPECT_NE(doc.find(op().name() + "(", blank), std::string::npos) << "the example does not call the op";
}

TEST_P(EveryOp, HasSamplesAndTheFieldsItsKindNeeds) {
  EXPECT_FALSE(op().samples.empty());
  if (op().is_lowered()) EXPECT_TRUE(op().reference) << "lowered ops have a reference";
  if (op().is_pointwise()) EXPECT_TRUE(op().promote != Promote::kNone || op().infer);
  if (op().promote == Promote::kNone && !op().decompose && !op().host) EXPECT_TRUE(op().infer);
  EXPECT_TRUE(op().gradient || op().decompose || op().host || op().ignores_values)
      << "say what its gradient is, or that it is 0";
}

/// Samples cover corner cases: empty and 0-d tensors.
TEST_P(EveryOp, SamplesHaveTheRightNumberOfOperands) {
  for (const Sample& sample : op().samples) EXPECT_NO_THROW(SampleCall(op(), sample, Dtype::kF32));
}

TEST_P(EveryOp, SamplesAreValidForEveryDtype) {
  for_each_sample([](const SampleCall& sample) {
    if (!test::has_types(sample)) return;
    const std::vector<TensorType> types = sample.types();
    if (!sample.op.schema.returns_list) ASSERT_EQ(types.size(), std::max<size_t>(1, sample.op.schema.results.size()));
  });
}

/// The reference, or the references of its decomposition, returns the types that the shape rule infers.
TEST_P(EveryOp, ComputesWhatItsRuleSays) {
  for_each_sample([](const SampleCall& sample) {
    Interpreter interpreter;
    const Values results = interpreter.emit(sample.op, sample.operands, sample.attributes);
    if (!test::has_types(sample)) return;
    const std::vector<TensorType> types = sample.types();
    ASSERT_EQ(results.size(), types.size());
    for (size_t i = 0; i < types.size(); ++i) ASSERT_EQ(to_string(results[i].type()), to_string(types[i]));
  });
}

/// A graph whose inputs are the sample's tensors.
struct SampleGraph {
  explicit SampleGraph(const SampleCall& sample) : emitter(graph) {
    for (const Value& value : sample.values)
      values.push_back(value ? emitter.value(graph.add_input(value.type())) : Value());
    for (size_t i = 0; i < values.size(); ++i) operands.push_back(values[i] ? Operand(values[i]) : sample.operands[i]);
  }

  IRGraph graph;
  GraphEmitter emitter;
  Values values;
  std::vector<Operand> operands;
};

TEST_P(EveryOp, GraphsOfItVerifyAndRoundTrip) {
  for_each_sample([](const SampleCall& sample) {
    if (!test::has_types(sample)) return;
    SampleGraph graph(sample);
    for (const Value& result : graph.emitter.emit(sample.op, graph.operands, sample.attributes))
      graph.graph.output_ids.push_back(GraphEmitter::id_of(result));
    ASSERT_NO_THROW(verify(graph.graph));
    ASSERT_EQ(parse_graph(to_text(graph.graph)), graph.graph) << to_text(graph.graph);
  });
}

/// IR text may pass numbers where the op expects tensors. Inferring types then succeeds or is an ordinary error.
TEST_P(EveryOp, NumbersForTensorsDoNoHarm) {
  for_each_sample([](const SampleCall& sample) {
    for (size_t i = 0; i < sample.operands.size(); ++i) {
      std::vector<Operand> operands = sample.operands;
      operands[i] = Operand(1);
      try {
        infer_types(Call(sample.op, operands, sample.attributes));
      } catch (const Error& error) {
        ASSERT_NE(error.error_class(), ErrorClass::kMemory) << error.what();
      }
    }
  });
}

TEST_P(EveryOp, DecompositionsVerifyAndKeepTheType) {
  if (!op().decompose) return;
  for_each_sample(
      [](const SampleCall& sample) {
        if (!test::has_types(sample)) return;
        SampleGraph graph(sample);
        const Call call(sample.op, graph.operands, sample.attributes);
        const Values results = sample.op.decompose(graph.emitter, call, graph.values);
        ASSERT_NO_THROW(verify(graph.graph)) << to_text(graph.graph);
        const std::vector<TensorType> types = sample.types();
        ASSERT_EQ(results.size(), types.size());
        for (size_t i = 0; i < types.size(); ++i)
          ASSERT_EQ(to_string(results[i].type()), to_string(types[i])) << to_text(graph.graph);
      },
      // 16-bit floats are widened before they are decomposed.
      kBoolean | kIntegers | Dtype::kF32 | Dtype::kF64);
}

TEST(OpTable, HasTheSignaturesThatTheBuildRead) {
  std::vector<std::string> signatures;
  for (const Op& op : op_table().ops()) signatures.push_back(op.signature);
  std::ranges::sort(signatures, {}, [](const std::string& text) { return text.substr(0, text.find('(')); });
  const auto generated = generated_signatures();
  EXPECT_EQ(signatures, std::vector<std::string>(generated.begin(), generated.end()));
}

TEST(OpTable, FindsOpsByName) {
  EXPECT_EQ(op_table().at("add").name(), "add");
  EXPECT_EQ(&op_table().at(op_table().at("exp").id), &op_table().at("exp"));
  EXPECT_EQ(op_table().find("no_such_op"), nullptr);
  EXPECT_THROW(op_table().at("no_such_op"), InternalError);
}

TEST(OpTable, RejectsDuplicatesAndOpsWithoutAComputation) {
  const auto op = [](const char* signature) { return Op{.signature = signature, .host = [](HostCall&) {}}; };
  EXPECT_THROW(OpTable({op("f(x)"), op("f(x, y)")}), InternalError);
  EXPECT_THROW(OpTable({Op{.signature = "f(x)"}}), InternalError);
}

TEST(OpTable, EachOperatorHasOneOp) {
  std::vector<int> count(kOperatorCount);
  for (const Op& op : op_table().ops())
    if (op.names.python_operator) ++count[static_cast<size_t>(*op.names.python_operator)];
  EXPECT_EQ(count, std::vector<int>(kOperatorCount, 1));
}

TEST(OpTable, NamesFollowFromTheEntryUnlessItSaysOtherwise) {
  const auto places = [](const char* name) {
    const Op& op = op_table().at(name);
    return std::string(op.is_public() ? "f" : "") + (op.has_method() ? "m" : "") +
           (op.has_in_place_method() ? "i" : "");
  };
  EXPECT_EQ(places("add"), "fmi") << "elementwise";
  EXPECT_EQ(places("gelu"), "fmi");
  EXPECT_EQ(places("sum"), "fm") << "not elementwise";
  EXPECT_EQ(places("softmax"), "fmi") << "not elementwise, but it says so";
  EXPECT_EQ(places("isnan"), "fm") << "elementwise, but it says so";
  EXPECT_EQ(places("where"), "fm") << "begins with a condition";
  EXPECT_EQ(places("stack"), "f") << "begins with a list";
  EXPECT_EQ(places("conv2d"), "f") << "it says so";
  EXPECT_EQ(places("zeros_like"), "f") << "a factory";
  EXPECT_EQ(places("random_dropout"), "f") << "begins with the state of a generator";
  EXPECT_EQ(places("convolution"), "") << "a part of other ops";
  EXPECT_EQ(places("adam_step"), "") << "an update of optimizers";
}

TEST(OpTable, MathFunctionsCostMoreUnlessTheySayOtherwise) {
  EXPECT_EQ(op_table().at("add").cost, kSimpleCost);
  EXPECT_EQ(op_table().at("exp").cost, kFunctionCost);
  Op cheap = op_table().at("exp");
  cheap.cost = kSimpleCost;
  EXPECT_FALSE(OpTable({cheap}).at("exp").is_costly());
  EXPECT_TRUE(op_table().at("exp").is_costly());
}

}  // namespace
}  // namespace lucid
