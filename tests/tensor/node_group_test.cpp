// How the engine runs groups of nodes: it calls each group once per pass and runs the group's nodes without the nodes
// ordered in between.

#include "tensor/node_group.h"

#include "base/error.h"
#include "support.h"
#include "tensor/autograd_meta.h"
#include "tensor/engine.h"

namespace lucid {
namespace {

using namespace lucid::testing;

/// Passes its gradient on to all its edges, or fails.
class PassOn : public GradNode {
 public:
  PassOn(std::vector<Edge> edges, TensorType type, bool fails = false)
      : GradNode(std::move(edges), {std::move(type)}), fails_(fails) {}
  std::string_view name() const override { return "pass_on"; }
  void run(BackwardPass& pass, Values gradients) override {
    if (fails_) throw RuntimeError("this node fails");
    for (const Edge& edge : edges()) pass.add(edge, gradients.front());
  }

 private:
  bool fails_;
};

struct Group : NodeGroup {
  bool run(BackwardPass& pass) override {
    ++calls;
    if (declines) return false;
    try {
      pass.run_nodes(*this, first, ran);
    } catch (const Error&) {
      pass.run_after(ran.back()->order());
      throw;
    }
    seen = static_cast<bool>(grad_between && grad_between->grad().defined());
    return true;
  }

  bool declines = false;
  int calls = 0;
  NodeOrder first;
  std::vector<GradNode*> ran;
  const Tensor* grad_between = nullptr;
  bool seen = false;
};

/// before <- first <- second -> between, where the accumulator of `between` was created after `first`.
struct Graph {
  explicit Graph(bool fails = false) {
    const TensorType type = unwrap(before).type();
    first = make_ref<PassOn>(std::vector<Edge>{gradient_edge(unwrap(before))}, type, fails);
    second = make_ref<PassOn>(std::vector<Edge>{{first, 0}, gradient_edge(unwrap(between))}, type);
    group->first = first->order();
    group->grad_between = &between;
    first->join(group, 0);
    second->join(group, 1);
  }
  void backward() const {
    const Edge root{second, 0};
    BackwardPass({}).run({&root, 1}, {Value(TensorRef(&unwrap(ones({3}))))});
  }

  Tensor before = zeros({3}).requires_grad_();
  Tensor between = zeros({3}).requires_grad_();
  Ref<Group> group = make_ref<Group>();
  Ref<GradNode> first;
  Ref<GradNode> second;
};

TEST(NodeGroup, RunsItsNodesWithoutTheNodesInBetween) {
  const Graph graph;
  graph.backward();
  EXPECT_EQ(graph.group->calls, 1);
  EXPECT_EQ(graph.group->ran, (std::vector<GradNode*>{graph.second.get(), graph.first.get()}));
  EXPECT_FALSE(graph.group->seen);
  EXPECT_EQ(read(graph.before.grad()), std::vector<double>(3, 1.0));
  EXPECT_EQ(read(graph.between.grad()), std::vector<double>(3, 1.0));
}

TEST(NodeGroup, IsCalledOnceIfItDeclines) {
  const Graph graph;
  graph.group->declines = true;
  graph.backward();
  EXPECT_EQ(graph.group->calls, 1);
  EXPECT_EQ(read(graph.before.grad()), std::vector<double>(3, 1.0));
  EXPECT_EQ(read(graph.between.grad()), std::vector<double>(3, 1.0));
}

TEST(NodeGroup, LeavesTheStateOfASingleFailingNode) {
  const Graph graph(/*fails=*/true);
  EXPECT_THROW(graph.backward(), RuntimeError);
  EXPECT_FALSE(graph.before.grad().defined());
  EXPECT_EQ(read(graph.between.grad()), std::vector<double>(3, 1.0));
}

}  // namespace
}  // namespace lucid
