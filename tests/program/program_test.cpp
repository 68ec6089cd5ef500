// Exporting functions from C++ and running the programs.

#include <gtest/gtest.h>
#include <lucid/lucid.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "program/program_file.h"

namespace lucid {
namespace {

class Programs : public ::testing::Test {
 protected:
  Programs() {
    std::filesystem::create_directories(folder_);
    manual_seed(1);
  }
  ~Programs() override { std::filesystem::remove_all(folder_); }
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  std::string path() const { return folder_ / "program.lucid"; }
  std::string bytes() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& contents) const {
    std::ofstream file(path(), std::ios::binary);
    file << contents;
  }
  /// The program from its graph, and with its machine code.
  std::vector<Program> both() const { return {Program::load(path()), Program::load(path(), {.trusted = true})}; }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("lucid_program_test_" + std::to_string(::getpid()));
};

/// Bit for bit, in contiguous memory.
bool is_equal(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && a.dtype() == b.dtype() && serialize(a) == serialize(b);
}

TEST_F(Programs, ExamplesThatDoNotFit) {
  const ExportedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; };
  const Tensor x = randn({5, 4});
  for (const Tensor& other : {randn({5}), randn({5, 4, 1}), randn({6, 4}), randn({5, 4}, kFloat64)})
    EXPECT_THROW(export_program(f, {x}, path(), {.examples = {{other}}}), ValueError);
  EXPECT_THROW(export_program(f, {x}, path(), {.dynamic = {{{1, {"n", 1, 9}}}}, .examples = {{randn({5})}}}),
               ValueError);
  EXPECT_THROW(export_program(f, {x}, path(), {.dynamic = {{{1, {"n", 3, 1}}}}}), ValueError);
  EXPECT_THROW(export_program(f, {x}, path(), {.dynamic = {{{0, {"n", 1, 9}}, {1, {"n", 1, 9}}}}}), ValueError);
  EXPECT_THROW(export_program(f, {x, x}, path(), {.input_names = {"x", "x"}}), ValueError);
}

TEST_F(Programs, BoundsNeedNotIncludeTheExample) {
  const ExportedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; };
  export_program(f, {randn({5, 4})}, path(), {.dynamic = {{{1, {"n", 1, 3}}}}});
  const Program program = Program::load(path());
  for (const int64_t size : {1, 2, 3}) {
    const Tensor x = randn({5, size});
    EXPECT_TRUE(is_equal(program.run({x}).front(), x * 2));
  }
  EXPECT_THROW(program.run({randn({5, 4})}), ValueError);
}

TEST_F(Programs, ATargetThatIsNamedTwice) {
  const ExportedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; };
  export_program(f, {ones({2})}, path(), {.targets = {{"avx2", "avx2"}}});
  for (const Program& program : both()) EXPECT_TRUE(is_equal(program(ones({2}))[0], ones({2}) * 2));
}

TEST_F(Programs, StateWithoutElements) {
  Tensor cache = zeros({0, 4});
  const ExportedFunction f = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    cache.mul_(2);
    return {in[0] + cache.sum(0)};
  };
  export_program(f, {ones({4})}, path());
  for (const Program& program : both()) EXPECT_TRUE(is_equal(program(ones({4}))[0], ones({4})));
}

TEST_F(Programs, AStepThatClearsTheGradientsOfAModule) {
  nn::Linear linear({3, 1});
  optim::SGD optimizer(linear.parameters(), {.lr = 0.1});
  const ExportedFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    linear.zero_grad();
    const Tensor loss = linear(in[0]).sum();
    loss.backward();
    optimizer.step();
    return {loss};
  };
  step({ones({2, 3})});
  export_program(step, {ones({2, 3})}, path(), {.gradients = true});
  for (const Program& program : both()) {
    const Tensor first = program(ones({2, 3}))[0], second = program(ones({2, 3}))[0];
    EXPECT_LT(second.item<float>(), first.item<float>());
  }
}

TEST_F(Programs, CompiledFunctionsThatUseFilesRunEagerly) {
  Tensor w = ones({1});
  const auto store = compile(
      [&](const Tensor& x) {
        w.add_(x);
        save(Tree::Dict{{"w", w}}, path());
      },
      {.wait = true});
  const auto read =
      compile([&](const Tensor& x) { return x * load(path()).as_named_tensors("w").front().second; }, {.wait = true});
  const auto copy = compile(
      [&](const Tensor& x) { return x * deserialize(serialize(Tree::Dict{{"w", w}})).as_named_tensors("w")[0].second; },
      {.wait = true});
  const auto exporter = compile(
      [&](const Tensor& x) {
        export_program([](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] * 2}; }, {ones({1})},
                       path());
        return x * 2;
      },
      {.wait = true});
  const auto read_bytes = compile([&](const Tensor& x) { return x * read_idx(path()); }, {.wait = true});
  for (int repeat = 0; repeat < 4; ++repeat) {
    std::ofstream(path(), std::ios::binary) << std::string("\0\0\x08\1\0\0\0\1", 8) << static_cast<char>(repeat);
    EXPECT_EQ(read_bytes(ones({1})).item<int>(), repeat);
    store(ones({1}));
    EXPECT_TRUE(is_equal(read(ones({1})), w));
    EXPECT_TRUE(is_equal(copy(ones({1})), w));
    std::filesystem::remove(path());
    exporter(ones({1}));
    EXPECT_TRUE(std::filesystem::remove(path()));
  }
}

TEST_F(Programs, AFunctionOfSeveralInputs) {
  const Tensor weight = randn({3, 2});
  const ExportedFunction f = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor y = in[0].matmul(weight) + in[1];
    return {y.relu(), y.sum(0)};
  };
  export_program(f, {randn({4, 3}), randn({2})}, path(), {.name = "f", .input_names = {"x", "bias"}});
  const std::vector<Tensor> inputs = {randn({4, 3}), randn({2})};
  for (const Program& program : both()) {
    EXPECT_EQ(program.name(), "f");
    EXPECT_EQ(program.inputs(), (std::vector<std::string>{"x: f32[4,3]", "bias: f32[2]"}));
    EXPECT_EQ(program.outputs(), (std::vector<std::string>{"output0: f32[4,2]", "output1: f32[2]"}));
    const std::vector<Tensor> results = program.run(inputs), expected = f(inputs);
    ASSERT_EQ(results.size(), 2u);
    for (size_t i = 0; i < 2; ++i) EXPECT_TRUE(is_equal(results[i], expected[i])) << i;
    EXPECT_TRUE(is_equal(program.state("state"), weight));
  }
}

TEST_F(Programs, AModuleWithABatchThatVaries) {
  const auto model = nn::make<nn::Sequential>();
  model->append(nn::make<nn::Linear>(3, 8));
  model->append(nn::make<nn::ReLU>());
  model->append(nn::make<nn::Linear>(8, 2));
  model->eval();
  const Dim batch{.name = "batch", .max = 16};
  export_program(model, randn({4, 3}), path(), {.dynamic = {{{0, batch}}}});
  for (const Program& program : both()) {
    EXPECT_EQ(program.inputs(), std::vector<std::string>{"input: f32[batch,3]"});
    EXPECT_EQ(program.outputs(), std::vector<std::string>{"output0: f32[batch,2]"});
    for (const int64_t batch : {1, 2, 3, 7, 16}) {
      const Tensor x = randn({batch, 3});
      const NoGrad no_grad;
      EXPECT_TRUE(is_equal(program(x)[0], (*model)(x))) << batch;
    }
    EXPECT_THROW(program(randn({17, 3})), ValueError);
    EXPECT_THROW(program(randn({4, 2})), ValueError);
    EXPECT_THROW(program(randn({4, 3}).to(kFloat64)), TypeError);
    EXPECT_THROW(program.run({}), TypeError);
    EXPECT_EQ(program.state_names(), (std::vector<std::string>{"0.weight", "0.bias", "2.weight", "2.bias"}));
  }
}

TEST_F(Programs, StateBelongsToACopy) {
  Tensor count = zeros({2});
  const ExportedFunction f = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    count += in[0];
    return {count * 10};
  };
  export_program(f, {ones({2})}, path());
  EXPECT_TRUE(is_equal(count, zeros({2})));
  for (const Program& program : both()) {
    EXPECT_TRUE(is_equal(program(ones({2}))[0], full({2}, 10.0)));
    EXPECT_TRUE(is_equal(program(ones({2}))[0], full({2}, 20.0)));
    const Program copy = program.copy();
    EXPECT_TRUE(is_equal(copy(ones({2}))[0], full({2}, 10.0)));
    EXPECT_TRUE(is_equal(program.state("state"), full({2}, 2.0)));
    program.reset();
    EXPECT_TRUE(is_equal(program(ones({2}))[0], full({2}, 10.0)));
  }
}

TEST_F(Programs, BranchesThatExamplesTake) {
  const ExportedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    if ((in[0].sum() > 0).item<bool>()) return {in[0] * 2};
    return {in[0] - 1};
  };
  export_program(f, {ones({3})}, path());
  EXPECT_THROW(Program::load(path())(-ones({3})), RuntimeError);
  export_program(f, {ones({3})}, path(), {.examples = {{-ones({3})}}});
  for (const Program& program : both())
    for (const Tensor& x : {ones({3}), -ones({3})}) EXPECT_TRUE(is_equal(program(x)[0], f({x})[0]));
}

TEST_F(Programs, TrainingSteps) {
  const auto model = nn::make<nn::Linear>(3, 1);
  optim::Adam adam(model->parameters(), {.lr = 0.1});
  const ExportedFunction step = [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
    const Tensor loss = ((*model)(in[0]) - in[1]).square().mean();
    adam.zero_grad();
    loss.backward();
    adam.step();
    return {loss};
  };
  const std::vector<Tensor> batch = {randn({8, 3}), randn({8, 1})};
  EXPECT_THROW(export_program(step, batch, path(), {.gradients = true}), ValueError);  // creates the state of Adam
  step(batch);
  export_program(step, batch, path(), {.gradients = true});
  const std::vector<Program> programs = both();
  for (int i = 0; i < 10; ++i) {
    const Tensor loss = step(batch)[0].detach();
    for (const Program& program : programs) EXPECT_TRUE(is_equal(program.run(batch)[0], loss)) << i;
  }
}

TEST_F(Programs, WhatCannotBeExported) {
  const Tensor x = ones({3});
  const auto exports = [&](const ExportedFunction& f, const ExportOptions& options = {}) {
    export_program(f, {x}, path(), options);
  };
  EXPECT_THROW(exports([](const std::vector<Tensor>& in) { return in; }), ValueError);
  EXPECT_THROW(exports([](const std::vector<Tensor>& in) -> std::vector<Tensor> {
                 Tensor y = in[0];
                 y += 1;
                 return {y * 2};
               }),
               ValueError);
  const ExportedFunction f = [](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] + 1}; };
  EXPECT_THROW(exports([](const std::vector<Tensor>& in) -> std::vector<Tensor> {
                 try {
                   return {in[0] + ones({4})};
                 } catch (const ValueError&) {
                   return {in[0] * 10};
                 }
               }),
               ValueError);
  Tensor kept;
  EXPECT_THROW(exports([&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
                 kept = in[0] + 1;
                 return {kept * 2};
               }),
               ValueError);
  EXPECT_THROW(exports(f, {.input_names = {"a", "b"}}), ValueError);
  EXPECT_THROW(exports(f, {.dynamic = {{{1, {"n"}}}}}), ValueError);
  EXPECT_THROW(exports(f, {.dynamic = {{{0, {"n", 3, 2}}}}}), ValueError);
  EXPECT_THROW(exports(f, {.targets = {{"sse"}}}), ValueError);
  EXPECT_THROW(exports(f, {.examples = {{x, x}}}), ValueError);
}

TEST_F(Programs, DamagedFilesAreRejected) {
  export_program([](const std::vector<Tensor>& in) -> std::vector<Tensor> { return {in[0] + 1}; }, {ones({3})}, path());
  const std::string good = bytes();
  for (size_t i = 0; i < good.size(); i += 7) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(bad);
    EXPECT_THROW(Program::load(path()), ValueError) << i;
    // With the digest that it should have, it is rejected, or works: it does nothing else.
    program::set_digest(bad);
    write(bad);
    try {
      Program::load(path())(ones({3}));
    } catch (const Error& error) {
      EXPECT_NE(error.error_class(), ErrorClass::kInternal) << i << ": " << error.what();
    }
  }
  EXPECT_THROW(Program::load(path() + ".missing"), RuntimeError);
}

}  // namespace
}  // namespace lucid
