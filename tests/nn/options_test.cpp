// Every layer with options, from the list that the build generates.

#include <gtest/gtest.h>
#include <lucid/nn.h>
#include <lucid/ops.h>

#include <map>

#include "base/error.h"
#include "nn/repr.h"

namespace lucid::nn {
namespace {

// Values other than the defaults, with which every layer can be made.

void change(std::string_view, bool& value) { value = !value; }
void change(std::string_view name, int64_t& value) {
  static const std::map<std::string_view, int64_t> kOthers = {
      {"_nhead", 2}, {"nhead", 2}, {"padding_idx", 1}, {"proj_size", 0}};
  const auto other = kOthers.find(name);
  value = other != kOthers.end() ? other->second : 4;
}
void change(std::string_view, double& value) { value = 0.25; }
void change(std::string_view name, std::string& value) {
  static const std::map<std::string_view, std::string> kOthers = {
      {"approximate", "tanh"}, {"mode", "sum"}, {"nonlinearity", "relu"}, {"reduction", "sum"}};
  if (const auto other = kOthers.find(name); other != kOthers.end()) value = other->second;
}
void change(std::string_view, Sizes& value) { value = 3; }
void change(std::string_view name, Tree& value) { value = name == "activation" ? Tree("gelu") : Tree(3); }
template <typename T>
void change(std::string_view name, std::optional<T>& value) {
  change(name, value.emplace());
}

std::string settings_text(Module& module) {
  std::string text;
  for (const auto& [name, item] : Fields::list(module)) text += name + "=" + tree_text(item) + " ";
  return text;
}

/// A layer that was made from options, and a blank one.
struct Made {
  Ptr<Module> module;
  Settings options;
  Ptr<Module> blank;
};

template <typename T>
void add(std::vector<Made>& all) {
  typename T::Options options;
  if constexpr (!requires { options.layer; }) {  // which has no value that could be its default
    auto visit = [](std::string_view name, auto& value) { change(name, value); };
    options.fields(visit);
    all.push_back({make<T>(options), settings_of(options), make_blank<T>()});
  }
}

template <typename... Types>
std::vector<Made> all_layers() {
  std::vector<Made> all;
  (add<Types>(all), ...);
  return all;
}

TEST(Options, ReachTheSettingsOfEveryLayer) {
  const std::vector<Made> layers = all_layers<
#include "tests/layers.inc"
      >();
  for (const Made& layer : layers) {
    const std::string name = layer.module->type_name();
    const std::string text = settings_text(*layer.module);
    EXPECT_NE(text, settings_text(*layer.blank)) << name;
    // Python gives settings by name to a blank layer.
    for (const auto& [option, item] : layer.options) Fields::set(*layer.blank, option, item);
    layer.blank->build(std::nullopt);
    EXPECT_EQ(text, settings_text(*layer.blank)) << name;
  }
}

TEST(Options, AreGivenByNameOrInOrder) {
  EXPECT_EQ(make<Linear>({.in_features = 4, .out_features = 2, .bias = false})->repr(),
            make<Linear>(4, 2, false)->repr());
  EXPECT_EQ(make<RNN>({.input_size = 3, .hidden_size = 4, .nonlinearity = "relu"})->repr(),
            make<RNN>(3, 4, 1, "relu")->repr());
  EXPECT_EQ(make<LSTM>({.input_size = 3, .hidden_size = 4, .proj_size = 2})->repr(),
            make<LSTM>(3, 4, 1, true, false, 0, false, 2)->repr());
  const Ptr<TransformerEncoderLayer> layer = make<TransformerEncoderLayer>(4, 2);
  EXPECT_EQ(make<TransformerEncoder>({.layer = layer, .num_layers = 2})->repr(),
            make<TransformerEncoder>(layer, 2)->repr());
  const Tensor weight = ones({3});
  EXPECT_TRUE(make<NLLLoss>({.weight = weight, .ignore_index = 1})->buffer("weight").is_same(weight));
}

TEST(Options, ModulesAreValuesToo) {
  Conv2d conv({.in_channels = 1, .out_channels = 6, .kernel_size = 5, .padding = "same"});
  EXPECT_EQ(conv(zeros({2, 1, 8, 8})).shape(), (Shape{2, 6, 8, 8}));
  AdaptiveAvgPool2d pool({.output_size = {kNone, 3}});
  EXPECT_EQ(pool(zeros({1, 2, 5, 6})).shape(), (Shape{1, 2, 5, 3}));
}

TEST(Options, InvalidOnesAreErrors) {
  EXPECT_THROW(Conv2d({.in_channels = 1, .out_channels = 6, .kernel_size = {5, 5, 5}}), ValueError);
  EXPECT_THROW(Conv2d({.in_channels = 1, .out_channels = 6}), ValueError);
  EXPECT_THROW(MaxPool2d({.kernel_size = "large"}), TypeError);
  EXPECT_THROW(TransformerEncoder({.num_layers = 2}), ValueError);
}

}  // namespace
}  // namespace lucid::nn
