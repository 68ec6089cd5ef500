#include <gtest/gtest.h>
#include <lucid/autograd.h>
#include <lucid/nn.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "base/stack.h"

namespace lucid::nn {
namespace {

class Net : public Module {
 public:
  Net() {
    add_module("first", make<Linear>(3, 4));
    add_module("second", make<Linear>(4, 2));
  }
  std::string type_name() const override { return "Net"; }
  Tensor forward(const Tensor& input) override { return child("second")(relu(child("first")(input))); }
};

std::vector<std::string> names(const NamedTensors& tensors) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : tensors) found.push_back(name);
  return found;
}

TEST(Module, CallsAndLearns) {
  const Ptr<Net> net = make<Net>();
  const Tensor result = (*net)(ones({5, 3}));
  EXPECT_EQ(result.shape(), (Shape{5, 2}));
  sum(result).backward();
  for (const auto& [name, tensor] : net->named_parameters()) EXPECT_TRUE(tensor.grad().defined()) << name;
  net->zero_grad();
  for (const auto& [name, tensor] : net->named_parameters()) EXPECT_FALSE(tensor.grad().defined()) << name;
}

TEST(Module, MayBeUsedInItsConstructorAndOnTheStack) {
  class Frozen : public Net {
   public:
    Frozen() {
      for (Tensor tensor : parameters()) tensor.requires_grad_(false);
      count_ = named_modules().size();
    }
    size_t count_;
  };
  const Ptr<Frozen> made = make<Frozen>();
  EXPECT_EQ(made->count_, 3u);
  EXPECT_FALSE(made->get_parameter("first.bias").requires_grad());
  Frozen local;
  EXPECT_EQ(local.parameters().size(), 4u);
  {
    const Ptr<Module> copy(&local);
    EXPECT_EQ(copy->use_count(), 1u);
  }
  EXPECT_EQ(names(local.named_parameters()).size(), 4u);
  EXPECT_EQ(local(ones({5, 3})).shape(), (Shape{5, 2}));
}

TEST(Module, IsDeletedWithTheLastPtr) {
  class Counted : public Module {
   public:
    explicit Counted(int& deleted) : deleted_(deleted) {}
    ~Counted() override { ++deleted_; }

   private:
    int& deleted_;
  };
  int deleted = 0;
  {
    Ptr<Counted> first = make<Counted>(deleted);
    const Ptr<Module> second = first;
    first = nullptr;
    EXPECT_EQ(deleted, 0);
  }
  EXPECT_EQ(deleted, 1);
}

TEST(Module, NamesPartsInOrderAndOnce) {
  const Ptr<Net> net = make<Net>();
  const std::vector<std::string> expected = {"first.weight", "first.bias", "second.weight", "second.bias"};
  EXPECT_EQ(names(net->named_parameters()), expected);
  net->add_module("again", net->get_submodule("first"));
  EXPECT_EQ(names(net->named_parameters()), expected);
  EXPECT_EQ(net->named_parameters("", true, false).size(), 6u);
  EXPECT_EQ(names(net->state_dict()).size(), 6u);
}

TEST(Module, EveryChangeIncrementsTheVersionOfEveryModuleAbove) {
  const Ptr<Sequential> root = make<Sequential>(make<Net>());
  const Ptr<Sequential> other = make<Sequential>();
  other->append(Ptr<Module>(&(*root)[0]));
  const Ptr<Module> leaf = (*root)[0].get_submodule("first");
  const auto moves = [&](const char* what, const std::function<void()>& change) {
    const uint64_t before = root->version();
    const uint64_t other_before = other->version();
    change();
    EXPECT_GT(root->version(), before) << what;
    EXPECT_GT(other->version(), other_before) << what;
  };
  HookRemover hook;
  moves("parameter", [&] { leaf->register_parameter("extra", zeros({1})); });
  moves("buffer", [&] { leaf->register_buffer("state", zeros({1})); });
  moves("child", [&] { leaf->add_module("child", make<Identity>()); });
  moves("removal", [&] { leaf->remove_part("child"); });
  moves("mode", [&] { leaf->eval(); });
  moves("setting", [&] { Fields::set(*leaf, "in_features", Tree(7)); });
  moves("hook",
        [&] { hook = leaf->register_forward_pre_hook([](Module&, const Arguments&) { return std::nullopt; }); });
  moves("removed hook", [&] { hook.remove(); });
  moves("dtype", [&] { leaf->to(kFloat64); });
}

TEST(Module, ChangesOfARemovedModuleDoNotChangeTheVersion) {
  const Ptr<Sequential> root = make<Sequential>(make<Identity>());
  const Ptr<Module> child(&(*root)[0]);
  root->remove_part("0");
  const uint64_t before = root->version();
  child->eval();
  EXPECT_EQ(root->version(), before);
}

TEST(Module, TraversalsEndAtAModuleThatContainsItself) {
  const Ptr<Sequential> loop = make<Sequential>();
  loop->append(loop);
  const uint64_t before = loop->version();
  loop->eval();
  EXPECT_GT(loop->version(), before);
  EXPECT_EQ(loop->named_modules().size(), 1u);
  loop->remove_part("0");
}

TEST(Module, LoadingNamesEveryKeyThatDoesNotFit) {
  const Ptr<Net> net = make<Net>();
  NamedTensors state = net->state_dict();
  state[0].second = zeros({9, 9});
  state[1].first = "first.other";
  try {
    net->load_state_dict(state);
    FAIL() << "must throw";
  } catch (const RuntimeError& error) {
    const std::string text = error.what();
    for (const char* part : {"Net", "first.weight", "[9,9]", "[4,3]", "\"first.bias\"", "\"first.other\""})
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  const LoadResult result = net->load_state_dict({{"second.bias", ones({2})}, {"nothing", ones({1})}}, false);
  EXPECT_EQ(result.missing_keys.size(), 3u);
  EXPECT_EQ(result.unexpected_keys, std::vector<std::string>{"nothing"});
  EXPECT_EQ(net->get_parameter("second.bias").to_vector<float>(), (std::vector<float>{1, 1}));
}

TEST(Module, HooksSeeAndReplace) {
  const Ptr<Identity> module = make<Identity>();
  std::string order;
  module->register_forward_hook([&](Module&, const Arguments&, const Tree& result) -> std::optional<Tree> {
    order += "b";
    return Tree(result.as_tensor() * 10.0);
  });
  module->register_forward_hook(
      [&](Module&, const Arguments&, const Tree&) -> std::optional<Tree> {
        order += "a";
        return std::nullopt;
      },
      true);
  HookRemover pre = module->register_forward_pre_hook([&](Module&, const Arguments& given) -> std::optional<Arguments> {
    order += "p";
    return Arguments({Tree(given.positional[0].as_tensor() + 1.0)});
  });
  EXPECT_EQ((*module)(ones({1})).item<float>(), 20);
  EXPECT_EQ(order, "pab");
  pre.remove();
  pre.remove();
  EXPECT_EQ((*module)(ones({1})).item<float>(), 10);
}

TEST(Module, BackwardHooksSeeBothEnds) {
  const Ptr<Linear> module = make<Linear>(2, 1, false);
  module->load_state_dict({{"weight", from_vector<float>({3, 5}, {1, 2})}});
  std::vector<float> seen_input;
  std::vector<float> seen_output;
  module->register_full_backward_pre_hook(
      [](Module&, const Gradients& output) -> std::optional<Gradients> { return Gradients{output[0] * 2.0}; });
  module->register_full_backward_hook(
      [&](Module&, const Gradients& input, const Gradients& output) -> std::optional<Gradients> {
        seen_input = input[0].to_vector<float>();
        seen_output = output[0].to_vector<float>();
        return Gradients{input[0] * 10.0};
      });
  Tensor x = ones({1, 2});
  x.requires_grad_();
  sum((*module)(x)).backward();
  EXPECT_EQ(seen_output, (std::vector<float>{2}));
  EXPECT_EQ(seen_input, (std::vector<float>{6, 10}));
  EXPECT_EQ(x.grad().to_vector<float>(), (std::vector<float>{60, 100}));
}

TEST(Module, CopiesAreDeepAndKeepSharing) {
  const Ptr<Sequential> net = make<Sequential>(make<Linear>(2, 2), make<Linear>(2, 2));
  (*net)[1].set_parameter("weight", (*net)[0].parameter("weight"));
  const Ptr<Module> copy = net->clone();
  EXPECT_EQ(copy->repr(), net->repr());
  EXPECT_TRUE(copy->get_parameter("0.weight").is_same(copy->get_parameter("1.weight")));
  EXPECT_FALSE(copy->get_parameter("0.weight").is_same(net->get_parameter("0.weight")));
  EXPECT_EQ(copy->get_parameter("0.weight").to_vector<float>(), net->get_parameter("0.weight").to_vector<float>());
}

TEST(Module, PrintsItsTree) {
  const Ptr<Sequential> net = make<Sequential>(make<Linear>(2, 3, false), make<ReLU>());
  EXPECT_EQ(net->repr(), "Sequential(\n  (0): Linear(in_features=2, out_features=3, bias=False)\n  (1): ReLU()\n)");
}

TEST(Module, InvalidNames) {
  const Ptr<Linear> module = make<Linear>(2, 2);
  EXPECT_THROW(module->register_parameter("a.b", zeros({1})), ValueError);
  EXPECT_THROW(module->register_parameter("", zeros({1})), ValueError);
  EXPECT_THROW(module->register_buffer("weight", zeros({1})), ValueError);
  EXPECT_THROW(module->parameter("nothing"), ValueError);
  EXPECT_THROW(module->get_submodule("a.b"), ValueError);
}

TEST(Layers, AllCanBeCopiedAndPrinted) {
  for (const LayerType& type : layer_types()) {
    const Ptr<Module> module = type.make_blank();
    EXPECT_EQ(module->type_name(), type.name);
    for (const auto& [name, item] : Fields::list(*module)) EXPECT_TRUE(Fields::set(*module, name, item)) << name;
  }
}

TEST(Init, OrthogonalRowsAreOrthogonal) {
  const Tensor matrix = init::orthogonal_(empty({3, 5}, kFloat64), 2);
  EXPECT_TRUE(lucid::all(lt(abs(matmul(matrix, transpose(matrix, 0, 1)) - eye(3) * 4.0), 1e-12)).item<bool>());
}

TEST(Init, TruncatedNormalNumbersStayInside) {
  for (const auto& [low, high] : {std::pair(-1.0, 0.5), std::pair(4.0, 5.0)}) {
    const Tensor numbers = init::trunc_normal_(empty({1000}, kFloat64), 0, 1, low, high);
    EXPECT_GE(amin(numbers).item<double>(), low);
    EXPECT_LE(amax(numbers).item<double>(), high);
    EXPECT_GT(amax(numbers).item<double>() - amin(numbers).item<double>(), (high - low) / 2);
  }
}

TEST(Module, NestingHasNoLimitForChangesAndDestruction) {
  Ptr<Module> net = make<Sequential>();
  const Ptr<Module> inner = net;
  for (int i = 0; i < 1'000'000; ++i) {
    Ptr<Sequential> outer = make<Sequential>();
    outer->append(net);
    net = outer;
  }
  const uint64_t before = net->version();
  inner->set_training(false);
  EXPECT_GT(net->version(), before);
  EXPECT_THROW(net->call(ones({1})), RecursionError);
  EXPECT_THROW(net->apply([](Module&) {}), RecursionError);
}

TEST(Module, AModuleThatContainsItselfHasNoStateDict) {
  const Ptr<Sequential> net = make<Sequential>();
  net->append(make<Linear>(1, 1));
  net->append(net);
  EXPECT_THROW(net->state_dict(), RecursionError);
  EXPECT_THROW(net->load_state_dict({}), RecursionError);
  net->clear_parts();
}

TEST(Module, ANullPointerIsAnError) {
  EXPECT_THROW(Ptr<Linear>()(zeros({2})), RuntimeError);
  EXPECT_THROW(Sequential(Ptr<Module>()).forward(zeros({2})), ValueError);
  EXPECT_THROW(compile(Ptr<Linear>(), {.wait = true})(zeros({2})), RuntimeError);
}

}  // namespace
}  // namespace lucid::nn
