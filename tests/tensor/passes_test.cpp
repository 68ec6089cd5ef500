#include <gtest/gtest.h>

#include "identity_cases.h"
#include "ir/graph_emitter.h"
#include "passes/constant_fold.h"
#include "passes/exact_identity.h"
#include "passes/runner.h"
#include "random_graph.h"
#include "runtime/float_mode.h"
#include "tensor/eager.h"
#include "tensor_samples.h"

// Passes against kernels: run eagerly, node by node, a graph returns the same bits, strides and errors before and after
// the passes.
namespace lucid {
namespace {

using test::Known;

/// Strides of inputs by kind: 0 contiguous, 1 in column-major order, 2 with gaps.
Dims strides_of(const Dims& shape, int kind) {
  if (kind == 0 || shape.empty()) return contiguous_strides(shape);
  if (kind == 2) {
    Dims strides = contiguous_strides(shape);
    for (SymInt& stride : strides) stride *= 2;
    return strides;
  }
  Dims strides(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d) strides[d] = strides[d - 1] * std::max<int64_t>(shape[d - 1], 1);
  return strides;
}

std::string describe(const Value& value) {
  const TensorRef tensor = tensor_of(value);
  return fmt::format("{} {} {}", to_string(tensor->type()), to_string(tensor->strides()), test::bits_of(*tensor));
}

/// The results of a graph run node by node, or the error that a node raised.
std::vector<std::string> run_eagerly(const IRGraph& graph, const ConstantPool& constants, const Known& leaves,
                                     int strides) {
  Known known;
  for (const auto& [id, value] : leaves) known[id] = test::to_tensor(value, strides_of(value.shape(), strides));
  for (const auto& [id, data] : constants) known[id] = test::to_tensor(test::value_of(data), {});
  try {
    for (const IRNode& node : graph.nodes) {
      std::vector<Operand> operands;
      for (const IROperand& input : node.inputs)
        operands.push_back(input.id >= 0  ? Operand(known.at(input.id))
                           : input.number ? Operand(*input.number)
                                          : Operand());
      const Values results = eager().emit(*node.op, operands, node.attributes);
      for (size_t i = 0; i < results.size(); ++i) known[node.outputs[i]] = results[i];
    }
  } catch (const Error& error) {
    return {error.what()};
  }
  std::vector<std::string> results;
  for (const ValueId id : graph.output_ids) results.push_back(describe(known.at(id)));
  for (const auto& update : graph.updates) results.push_back(describe(known.at(update.second)));
  return results;
}

class FlushScope {
 public:
  explicit FlushScope(bool flush) : saved_(flush_denormal()) { set_flush_denormal(flush); }
  ~FlushScope() { set_flush_denormal(saved_); }

 private:
  bool saved_;
};

TEST(Passes, IdentitiesKeepSpecialNumbersInKernels) {
  for (const test::IdentityCase& c : test::identity_cases()) {
    for (int i = 0; i < kDtypeCount; ++i) {
      const auto dtype = static_cast<Dtype>(i);
      if (!c.dtypes.contains(dtype)) continue;
      const IRGraph before = c.graph(dtype);
      IRGraph after = before;
      ConstantPool constants;
      ASSERT_TRUE(ExactIdentityPass().run(after, constants));
      SCOPED_TRACE(to_text(before) + to_text(after));
      const Known leaves = {{0, test::special_tensor({dtype, {3, 8}})},
                            {10, test::special_tensor({Dtype::kBool, {3, 8}})}};
      for (const bool flush : {true, false}) {
        const FlushScope scope(flush);
        ASSERT_EQ(run_eagerly(after, {}, leaves, 0), run_eagerly(before, {}, leaves, 0)) << "flush " << flush;
      }
    }
  }
}

TEST(Passes, KeepBitsStridesAndErrorsOfRandomGraphs) {
  for (uint32_t seed = 1000; seed < 1080; ++seed) {
    const test::RandomGraph random(seed, 5 + seed % 30);
    IRGraph graph = random.graph;
    ConstantPool constants = random.constants;
    run_passes(graph, constants);
    SCOPED_TRACE(to_text(random.graph) + to_text(graph));
    for (const int strides : {0, 1, 2})
      ASSERT_EQ(run_eagerly(graph, constants, random.leaves, strides),
                run_eagerly(random.graph, random.constants, random.leaves, strides));
  }
}

/// Folds a call with constant operands and compares it with the results of kernels, with and without flushing.
void check_fold(const Op& op, const Values& values, const std::vector<Operand>& operands, const Attributes& attributes,
                int& folded) {
  IRGraph graph;
  GraphEmitter emitter(graph);
  ConstantPool constants;
  Values held;
  held.reserve(values.size());
  std::vector<Operand> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    inputs.push_back(operands[i]);
    if (!operands[i].is_value()) continue;
    const ValueId id = graph.add_value(values[i].type());
    graph.constant_ids.push_back(id);
    constants[id] = test::data_of(values[i]);
    held.push_back(emitter.value(id));
    inputs.back() = Operand(held.back());
  }
  const Values results = emitter.emit(op, inputs, attributes);
  for (const Value& result : results) graph.output_ids.push_back(GraphEmitter::id_of(emitter.contiguous(result)));
  IRGraph after = graph;
  ConstantPool known = constants;
  if (!ConstantFoldPass().run(after, known)) return;
  ++folded;
  SCOPED_TRACE(to_text(graph));
  for (const bool flush : {true, false}) {
    const FlushScope scope(flush);
    ASSERT_EQ(run_eagerly(after, known, {}, 0), run_eagerly(graph, constants, {}, 0)) << "flush " << flush;
  }
}

TEST(Passes, FoldedConstantsHaveTheBitsOfKernels) {
  int folded = 0;
  for (const Op& op : op_table().ops()) {
    for (const Sample& sample : op.samples) {
      for (const Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kI32}) {
        if (!op.dtypes.contains(dtype)) continue;
        const test::SampleCall call(op, sample, dtype);
        if (!test::has_types(call)) continue;
        check_fold(op, call.values, call.operands, call.attributes, folded);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
  EXPECT_GT(folded, 500);
}

TEST(Passes, FoldedConstantsOfSpecialNumbersAndLongSumsHaveTheBitsOfKernels) {
  int folded = 0;
  for (const char* name : {"add", "mul", "div", "floor_divide", "fmod", "minimum", "sum", "prod", "mean", "cumsum",
                           "amax", "matmul", "to", "floor", "square", "sqrt", "reciprocal", "lerp", "where"}) {
    const Op& op = op_table().at(name);
    for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64, Dtype::kI64}) {
      if (!op.dtypes.contains(dtype)) continue;
      for (const int64_t size : {23, 1000, 4096}) {
        for (const bool special : {true, false}) {
          Values values;
          std::vector<Operand> operands;
          for (size_t i = 0; i < op.schema.parameters.size(); ++i) {
            if (is_attribute(op.schema.parameters[i].kind)) continue;
            const Dtype own = i == 0 && op.promote == Promote::kTail ? Dtype::kBool : dtype;
            values.push_back(special ? test::special_tensor({own, {size}}, i * 7)
                                     : test::make_tensor(normal({size}), own, static_cast<uint32_t>(i)));
          }
          for (const Value& value : values) operands.emplace_back(value);
          Attributes attributes = op.schema.default_attributes();
          const int dim = op.schema.attribute_index("dim");
          if (op.name() == "cumsum") attributes[static_cast<size_t>(dim)] = int64_t{0};
          if (op.name() == "to") attributes[0] = Dtype::kF16;
          check_fold(op, values, operands, attributes, folded);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(folded, 200);
}

}  // namespace
}  // namespace lucid
