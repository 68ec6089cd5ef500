// Recorded calls as graphs, of which nothing is compiled.

#include "jit/recorder.h"

#include <gtest/gtest.h>

#include <functional>

#include "../support/tensor_samples.h"
#include "../tensor/support.h"
#include "ir/graph_emitter.h"
#include "jit/program.h"
#include "runtime/kernel_cache.h"
#include "tensor/eager.h"

namespace lucid::jit {
namespace {

using testing::counting;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

std::vector<TensorRef> refs(const Tensors& tensors) {
  std::vector<TensorRef> result;
  for (const Tensor& tensor : tensors) result.emplace_back(&unwrap(tensor));
  return result;
}

struct Recorded {
  std::optional<RecordedCall> call;
  std::string obstacle;
  Tensors results;
};

Recorded record(const Function& f, const Tensors& arguments) {
  Recorder recorder({.keeps_contents = true});
  recorder.start();
  Recorded recorded{.results = f(arguments)};
  recorder.stop();
  recorded.call = recorder.finish(refs(arguments), refs(recorded.results), "f", recorded.obstacle);
  for (Tensor& result : recorded.results) result = result.detach().clone();
  recorder.restore_contents();
  return recorded;
}

/// Applies the nodes of a function to other arguments, and to the tensors that it captured. Returns the results, then
/// the new values of captured tensors.
Tensors apply(const RecordedCall& call, const Tensors& arguments) {
  const FunctionGraph function = call.function();
  EXPECT_EQ(function.obstacle, "");
  verify(function.graph);
  std::map<ValueId, Value> values;
  std::vector<TensorRef> handles = refs(arguments);
  handles.insert(handles.end(), call.captured.begin(), call.captured.end());
  for (size_t i = 0; i < handles.size(); ++i) values.emplace(function.handles[i], handles[i]);
  for (const auto& [id, contents] : function.constants) {
    const TensorType& type = function.graph.type(id);
    const Dims strides = contiguous_strides(type.shape);
    values.emplace(id, make_ref<TensorImpl>(type.dtype, type.shape, strides, 0, make_ref<Cell>(contents)));
  }
  for (const IRNode& node : function.graph.nodes) {
    std::vector<Operand> operands;
    for (const IROperand& input : node.inputs)
      operands.push_back(input.id >= 0  ? Operand(values.at(input.id))
                         : input.number ? Operand(*input.number)
                                        : Operand());
    const Values results = eager().emit(*node.op, operands, node.attributes);
    for (size_t i = 0; i < results.size(); ++i) values[node.outputs[i]] = results[i];
  }
  Tensors found;
  for (const ValueId id : function.graph.output_ids) found.push_back(wrap(TensorRef(tensor_of(values.at(id)))));
  for (const auto& [_, id] : function.graph.updates) found.push_back(wrap(TensorRef(tensor_of(values.at(id)))));
  return found;
}

void expect_same(const Tensors& found, const Tensors& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(to_string(unwrap(found[i]).type()), to_string(unwrap(expected[i]).type()));
    EXPECT_EQ(test::bits_of(unwrap(found[i])), test::bits_of(unwrap(expected[i])));
  }
}

/// Makes a plan of a function and runs it. `captured` are the tensors of its last handles.
Tensors run_compiled(const FunctionGraph& function, const Tensors& arguments, std::vector<TensorRef> captured = {}) {
  Program program(RecordedCall::from_graph(function, std::move(captured)));
  EXPECT_EQ(program.compile_now(), "");
  Tensors contiguous;
  std::vector<TensorImpl*> pointers;
  for (const Tensor& argument : arguments) {
    contiguous.push_back(argument.contiguous());
    pointers.push_back(&unwrap(contiguous.back()));
  }
  Program::Handles handles;
  CallResults results;
  Program::Branch branch;
  EXPECT_TRUE(program.fits(pointers, handles));
  EXPECT_TRUE(program.run(handles, results, branch));
  Tensors found;
  for (size_t i = 0; i < results.size(); ++i) found.push_back(wrap(results.take(i)));
  return found;
}

/// Records a call without gradients, and applies its function to the arguments of another one, also by a plan.
void expect_function(const Function& f, const Tensors& arguments, const Tensors& others) {
  const NoGrad no_grad;
  const Recorded recorded = record(f, arguments);
  ASSERT_TRUE(recorded.call) << recorded.obstacle;
  const Tensors expected = f(others);
  expect_same(apply(*recorded.call, others), expected);
  expect_same(run_compiled(recorded.call->function(), others, recorded.call->captured), expected);
}

Function with_views(const Tensor& weight) {
  return [=](const Tensors& in) -> Tensors {
    const Tensor x = in[0].transpose(0, 1);
    Tensor sum = x.matmul(weight) + in[0].sum();
    sum[0] += 1;
    return {sum, sum[0], x, in[0]};
  };
}

TEST(RecordedCalls, AreFunctionsOfTensors) {
  expect_function(with_views(counting({2, 4})), {counting({2, 3})}, {counting({2, 3}) * 2});
}

TEST(RecordedCalls, ArgumentsMayBeViewsUnusedOrTheSame) {
  const Tensor x = counting({4, 6});
  const auto f = [](const Tensors& in) -> Tensors { return {in[0] * in[2], in[2].exp()}; };
  expect_function(f, {x[0], x[1], x[2]}, {x[3], x[2], x[0]});
  const NoGrad no_grad;
  const Recorded recorded = record(f, {x, x, x});
  const FunctionGraph function = recorded.call->function();
  EXPECT_EQ(function.graph.input_ids.size(), 1u);  // all arguments are one tensor
  EXPECT_EQ(function.handles[0], function.handles[1]);
  EXPECT_EQ(function.handles[0], function.handles[2]);
}

TEST(RecordedCalls, HaveConstantsAndNewValuesOfCapturedTensors) {
  Tensor state = counting({3});
  const auto f = [=](const Tensors& in) mutable -> Tensors {
    const Tensor table = from_vector(std::vector<double>{1, 5, 9}, {3});
    state += in[0] * table;
    return {state * 2};
  };
  const NoGrad no_grad;
  const Tensor x = counting({3}), before = state.clone();
  const Recorded recorded = record(f, {x});
  ASSERT_TRUE(recorded.call) << recorded.obstacle;
  const Tensor after = before + x * from_vector(std::vector<double>{1, 5, 9}, {3});
  expect_same({state}, {before});  // the contents were restored
  expect_same(apply(*recorded.call, {x}), {after * 2, after});
  expect_same(run_compiled(recorded.call->function(), {x}, recorded.call->captured), {after * 2});
  expect_same({state}, {after});
}

TEST(RecordedCalls, UpdateAnArgumentThatIsPassedTwiceOnce) {
  const NoGrad no_grad;
  const Tensor x = counting({3});
  const auto f = [](const Tensors& in) -> Tensors { return {Tensor(in[0]).add_(1) * in[1]}; };
  const Recorded recorded = record(f, {x, x});
  ASSERT_TRUE(recorded.call) << recorded.obstacle;
  const Tensor other = counting({3}) * 5, after = other + 1;
  expect_same(apply(*recorded.call, {other, other}), {after * after, after});
  expect_same(run_compiled(recorded.call->function(), {other, other}), {after * after});
  expect_same({other}, {after});
}

TEST(RecordedCalls, RefuseWritesToPartOfOtherMemory) {
  const NoGrad no_grad;
  Tensor whole = counting({4, 3});
  const Recorded recorded = record([](const Tensors& in) -> Tensors { return {Tensor(in[0]).add_(1)}; }, {whole[1]});
  ASSERT_TRUE(recorded.call) << recorded.obstacle;
  EXPECT_NE(recorded.call->function().obstacle, "");
}

TEST(RecordedCalls, CompileNothing) {
  const Tensor weight = counting({5, 7});
  const Function f = with_views(weight);
  const Tensors arguments = {counting({5, 11})};
  const NoGrad no_grad;
  record(f, arguments);  // compiles the kernels of its ops
  const uint64_t before = kernel_cache().stats().misses;
  const Recorded recorded = record(f, arguments);
  EXPECT_EQ(recorded.call->function().obstacle, "");
  EXPECT_EQ(recorded.call->graph().obstacle, "");
  EXPECT_EQ(kernel_cache().stats().misses, before);
}

TEST(RecordedCalls, SizesMayBeSymbols) {
  const NoGrad no_grad;
  const Tensor x = counting({6, 3});
  Recorder recorder;
  const TracedSizes::Dimension rows[] = {{0, {2, 64}}};
  const std::vector<TensorRef> given = {recorder.trace_sizes(unwrap(x), 0, rows)};
  recorder.start();
  const Tensor traced = wrap(given[0]);
  const Tensor result = traced.narrow(0, 0, traced.size(0) / 2).sum(1);
  recorder.stop();
  std::string obstacle;
  const auto call = recorder.finish(given, refs({result}), "half", obstacle);
  ASSERT_TRUE(call) << obstacle;
  EXPECT_NE(to_text(call->function().graph).find("f64[s0,3] input"), std::string::npos);
  EXPECT_NE(to_text(call->function().graph).find("s0/2"), std::string::npos);
  const Tensor other = counting({10, 3});
  expect_same(run_compiled(call->function(), {other}), {other.narrow(0, 0, 5).sum(1)});
}

// ---- Graphs that did not come from a call.

TEST(BuiltGraphs, RunAsPrograms) {
  FunctionGraph function;
  IRGraph& graph = function.graph;
  GraphEmitter emitter(graph);
  const ValueId x = graph.add_input({Dtype::kF64, {2, 3}});
  const ValueId weight = graph.add_value({Dtype::kF64, {3, 4}});
  graph.param_ids.push_back(weight);
  const Value hidden = emitter.relu(emitter.matmul(emitter.value(x), emitter.value(weight)));
  const Value sum = emitter.sum(hidden, Dims{1}, false);
  function.handles = {x, weight};
  graph.output_ids = {GraphEmitter::id_of(sum), GraphEmitter::id_of(hidden), GraphEmitter::id_of(sum), x};
  const NoGrad no_grad;
  const Tensor a = counting({2, 3}) - 3, w = counting({3, 4}) - 5;
  const Tensors results = run_compiled(function, {a}, refs({w}));
  const Tensor expected = a.matmul(w).relu();
  expect_same(results, {expected.sum(1), expected, expected.sum(1), a});
  EXPECT_TRUE(results[0].is_same(results[2]));
  EXPECT_NE(unwrap(results[3]).cell(), unwrap(a).cell());
}

TEST(BuiltGraphs, UpdateTensorsAfterTheResultsWereComputed) {
  FunctionGraph function;
  IRGraph& graph = function.graph;
  GraphEmitter emitter(graph);
  const TensorType type{Dtype::kF64, {3}};
  const ValueId x = graph.add_input(type), total = graph.add_value(type);
  graph.state_ids.push_back(total);
  const Value sum = emitter.add(emitter.value(total), emitter.value(x));
  function.handles = {x, total};
  graph.output_ids = {total};
  graph.updates = {{total, GraphEmitter::id_of(sum)}};
  const NoGrad no_grad;
  const Tensor state = counting({3}), before = state.clone(), step = counting({3}) * 10;
  expect_same(run_compiled(function, {step}, refs({state})), {before});
  expect_same({state}, {before + step});
}

TEST(BuiltGraphs, DrawTheNumbersOfTheGenerator) {
  const NoGrad no_grad;
  const Function f = [](const Tensors& in) -> Tensors { return {in[0] + rand({4}, Dtype::kF64)}; };
  const Tensor x = counting({4});
  manual_seed(3);
  const Recorded recorded = record(f, {x});
  ASSERT_TRUE(recorded.call) << recorded.obstacle;
  manual_seed(5);
  const Tensors expected = {f({x})[0], f({x})[0]};
  manual_seed(5);
  const FunctionGraph function = recorded.call->function();
  expect_same(run_compiled(function, {x}, recorded.call->captured), {expected[0]});
  expect_same(run_compiled(function, {x}, recorded.call->captured), {expected[1]});
}

TEST(BuiltGraphs, MayBeTransformed) {
  const NoGrad no_grad;
  const Recorded recorded = record([](const Tensors& in) -> Tensors { return {in[0].exp() * 2}; }, {counting({3})});
  ASSERT_TRUE(recorded.call) << recorded.obstacle;
  FunctionGraph function = recorded.call->function();
  for (IRNode& node : function.graph.nodes)
    if (node.op->name() == "exp") node.op = &op_table().at("log");
  const Tensor x = counting({3});
  expect_same(run_compiled(function, {x}), {x.log() * 2});
}

TEST(BuiltGraphs, AreNotRunOrCompiledBeforehand) {
  FunctionGraph function;
  GraphEmitter emitter(function.graph);
  const ValueId x = function.graph.add_input({Dtype::kF64, {17}});
  function.handles = {x};
  function.graph.output_ids = {GraphEmitter::id_of(emitter.exp(emitter.neg(emitter.value(x))))};
  const uint64_t before = kernel_cache().stats().misses;
  const RecordedCall call = RecordedCall::from_graph(function);
  EXPECT_EQ(kernel_cache().stats().misses, before);
  EXPECT_EQ(to_text(call.function().graph), to_text(function.graph));
}

TEST(Resized, RepeatsOrLeavesOutElements) {
  const TensorRef example(&unwrap(counting({2, 3})));
  const std::pair<int64_t, int64_t> sizes[] = {{0, 3}, {1, 2}};
  EXPECT_EQ(wrap(resized(example, sizes)).to_vector<double>(), (std::vector<double>{1, 2, 4, 5, 1, 2}));
}

}  // namespace
}  // namespace lucid::jit
