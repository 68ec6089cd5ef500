#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "ir/graph_emitter.h"
#include "run_graph.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

/// A graph of primitives with its layouts, before and after.
struct Rematerialized {
  IRGraph before;
  IRGraph after;
  std::map<ValueId, Layout> layouts;

  Rematerialized(const IRGraph& source, int64_t threshold) : before(source) {
    std::map<ValueId, Geometry> inputs;
    for (ValueId id : before.input_ids) {
      const Dims& shape = before.type(id).shape;
      inputs[id] = {shape, contiguous_strides(shape), 0};
    }
    layouts = assign_layouts(before, inputs);
    after = before;
    rematerialize(after, layouts, {}, threshold);
  }

  size_t added() const { return after.nodes.size() - before.nodes.size(); }
  size_t count(const char* op) const {
    return static_cast<size_t>(std::count_if(after.nodes.begin(), after.nodes.end(),
                                             [&](const IRNode& node) { return node.op->name() == op; }));
  }

  void expect_same_bits(uint32_t seed) const {
    ASSERT_NO_THROW(verify(after));
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    test::Known leaves;
    for (ValueId id : before.input_ids) {
      const Value value = Interpreter::make(before.type(id));
      const HostArray array = Interpreter::array(value);
      for (int64_t i = 0; i < array.size(); ++i) array.as<float>()[i] = normal(random);
      leaves[id] = value;
    }
    EXPECT_EQ(test::run_graph(after, {}, leaves), test::run_graph(before, {}, leaves));
    for (const IRNode& node : after.nodes)
      for (ValueId id : node.outputs)
        EXPECT_EQ(layouts.at(id).storage, node.op->view ? layouts.at(node.inputs[0].id).storage : id);
  }
};

/// A layer whose activation and its operand stay live across a wide product.
class Layer {
 public:
  explicit Layer(const std::function<Value(Emitter&, const Value&)>& activation) : e_(graph) {
    const Value x = input({1, 64, 64});
    const Value wide = input({1, 64, 1024});
    const Value narrow = input({1, 1024, 64});
    const Value made = e_.bmm(x, x);
    const Value active = activation(e_, made);
    const Value middle = e_.bmm(e_.bmm(e_.cast(active, Dtype::kF32), wide), narrow);
    const Value late = e_.bmm(middle, e_.cast(active, Dtype::kF32));
    graph.output_ids = {GraphEmitter::id_of(e_.add(late, made))};
  }

  IRGraph graph;

 private:
  Value input(const Dims& shape) { return e_.value(graph.add_input({Dtype::kF32, shape})); }
  GraphEmitter e_;
};

TEST(Rematerialize, ACheapValueIsRematerializedForALateUse) {
  const Layer layer([](Emitter& e, const Value& x) { return e.relu(e.mul(x, 0.5)); });
  const Rematerialized done(layer.graph, 0);
  EXPECT_EQ(done.count("relu"), 2u);
  EXPECT_EQ(done.count("bmm"), 4u);
  done.expect_same_bits(1);
}

TEST(Rematerialize, NothingIsBelowTheThreshold) {
  const Layer layer([](Emitter& e, const Value& x) { return e.relu(e.mul(x, 0.5)); });
  EXPECT_EQ(Rematerialized(layer.graph, kRematerializationThreshold).added(), 0u);
}

TEST(Rematerialize, HugeSizesAreCountedLikeOthers) {
  const auto added = [](int64_t size) {
    IRGraph graph;
    GraphEmitter e(graph);
    const Value x = e.value(graph.add_input({Dtype::kF32, {size}}));
    const Value active = e.relu(e.mul(x, 0.5));
    Value sum = active;
    for (int i = 0; i < 4; ++i) sum = e.cumsum(sum, 0);
    graph.output_ids = {GraphEmitter::id_of(e.add(sum, active)), GraphEmitter::id_of(e.neg(x))};
    return Rematerialized(graph, 0).added();
  };
  EXPECT_GT(added(1024), 0u);
  EXPECT_EQ(added(int64_t{1} << 57), added(1024));
}

TEST(Rematerialize, ValuesThatSaveLittleForTheirCostAreKept) {
  // Saves a byte per element at the cost of three math functions.
  const Layer layer([](Emitter& e, const Value& x) { return e.gt(e.exp(e.tanh(e.exp(x))), 1.0); });
  EXPECT_EQ(Rematerialized(layer.graph, 0).count("gt"), 1u);
}

TEST(Rematerialize, ValuesWithoutLiveOperandsAreKept) {
  IRGraph graph;
  GraphEmitter e(graph);
  const Value x = e.value(graph.add_input({Dtype::kF32, {1, 64, 64}}));
  const Value wide = e.value(graph.add_input({Dtype::kF32, {1, 64, 1024}}));
  const Value active = e.relu(e.bmm(x, x));
  const Value middle = e.bmm(e.bmm(active, wide), e.transpose(wide, 1, 2));
  graph.output_ids = {GraphEmitter::id_of(e.bmm(middle, active))};
  EXPECT_EQ(Rematerialized(graph, 0).count("relu"), 1u);
}

/// Products, activations, views and statistics of earlier results at random, all square.
IRGraph random_network(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](size_t bound) { return static_cast<size_t>(random() % bound); };
  IRGraph graph;
  GraphEmitter e(graph);
  std::vector<Value> values;
  for (int i = 0; i < 2; ++i) values.push_back(e.value(graph.add_input({Dtype::kF32, {1, 4, 4}})));
  const size_t count = 6 + below(30);
  const auto any = [&] { return values[below(values.size())]; };
  while (values.size() < count) {
    switch (below(8)) {
      case 0:
        values.push_back(e.relu(any()));
        break;
      case 1:
        values.push_back(e.add(any(), any()));
        break;
      case 2:
        values.push_back(e.mul(any(), 0.5));
        break;
      case 3:
        values.push_back(e.tanh(any()));
        break;
      case 4:
        values.push_back(e.transpose(any(), 1, 2));
        break;
      case 5:
        values.push_back(e.reshape(e.relu(e.reshape(any(), Dims{2, 8})), Dims{1, 4, 4}));
        break;
      case 6:
        values.push_back(e.sub(any(), e.sum(any(), Dims{2}, true)));
        break;
      default:
        values.push_back(e.bmm(any(), any()));
    }
  }
  for (size_t i = 0; i < 2; ++i) graph.output_ids.push_back(GraphEmitter::id_of(values[count - 1 - i]));
  return graph;
}

TEST(Rematerialize, RandomNetworksKeepEveryBit) {
  size_t changed = 0;
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const Rematerialized done(random_network(seed), 0);
    SCOPED_TRACE(to_text(done.before) + to_text(done.after));
    changed += done.after.nodes != done.before.nodes;
    done.expect_same_bits(seed);
    if (HasFailure()) return;
  }
  EXPECT_GT(changed, 200u);
}

}  // namespace
}  // namespace lucid
