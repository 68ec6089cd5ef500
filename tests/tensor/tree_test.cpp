#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cmath>
#include <functional>

namespace lucid {
namespace {

/// An object of another language that converts to a tree, or to itself.
struct Box : Foreign {
  explicit Box(Tree held) : content(std::move(held)) {}
  std::string kind() const override { return "a box"; }
  Tree convert() const override { return content.is_none() ? Tree(std::make_shared<const Box>(Tree())) : content; }
  Tree call(const std::vector<Tree>& arguments) const override { return arguments.at(0); }
  Tree content;
};

Tree boxed(const Tree& content) { return Tree(std::make_shared<const Box>(content)); }

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const TypeError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(Tree, ConvertsAsPythonDoes) {
  EXPECT_TRUE(Tree(2).as_bool());
  EXPECT_EQ(Tree(true).as_integer(), 1);
  EXPECT_EQ(Tree(3).as_real(), 3.0);
  EXPECT_EQ(Tree({2, 3}).as_shape(), (Shape{2, 3}));
  EXPECT_EQ(Tree(4).as_shape(), Shape{4});
  EXPECT_EQ(Tree(kInt32).as_dtype(), kInt32);
  EXPECT_FALSE(Tree().as_optional_tensor().defined());
  EXPECT_TRUE(Tree(Tensor()).is_none());
  EXPECT_FALSE(Tree(true).is_number());
  EXPECT_EQ(message_of([] { Tree(1.5).as_integer("size"); }), "size must be an integer, not a float");
  EXPECT_EQ(message_of([] { Tree().as_tensor("input"); }), "input must be a tensor, not None");
  EXPECT_EQ(message_of([] { Tree(1).as_text(); }), "the value must be text, not an integer");
}

TEST(Tree, BracesMakeATuple) {
  const Tree tree = {1, kNone, "same"};
  ASSERT_TRUE(tree.get_if<Tree::Tuple>());
  EXPECT_TRUE(tree.is_same(Tree(Tree::Tuple{{1, Tree(), "same"}})));
  EXPECT_FALSE(tree.is_same(Tree::List{1, Tree(), "same"}));
}

TEST(Tree, ObjectsOfOtherLanguagesConvertWhenTheyAreRead) {
  EXPECT_EQ(boxed(5).as_integer(), 5);
  EXPECT_TRUE(boxed("x").is_text());
  EXPECT_EQ(boxed({2, 3}).as_shape(), (Shape{2, 3}));
  EXPECT_EQ(boxed({2, 3}).as_items().size(), 2u);
  EXPECT_FALSE(boxed({2, 3}).items_or_null());
  EXPECT_EQ(message_of([] { boxed(Tree()).as_real("rate"); }), "rate must be a number, not a box");
}

TEST(Tree, SameTreesHoldTheSameBitsAndTensors) {
  const Tensor x = scalar(1.0);
  const auto tree_of = [&](double number, const Tensor& tensor) {
    return Tree(Tree::Dict{{"a", Tree::List{number, tensor}}, {int64_t{1}, kInt32}});
  };
  EXPECT_TRUE(tree_of(0.0, x).is_same(tree_of(0.0, x)));
  EXPECT_TRUE(tree_of(NAN, x).is_same(tree_of(NAN, x)));
  EXPECT_FALSE(tree_of(0.0, x).is_same(tree_of(-0.0, x)));
  EXPECT_FALSE(tree_of(0.0, x).is_same(tree_of(0.0, scalar(1.0))));
  EXPECT_FALSE(Tree(1).is_same(Tree(true)));
  const Tree object = boxed(1);
  EXPECT_TRUE(object.is_same(Tree(object)));
  EXPECT_FALSE(object.is_same(boxed(1)));
}

}  // namespace
}  // namespace lucid
