#include <gtest/gtest.h>

#include <set>

#include "identity_cases.h"
#include "passes/exact_identity.h"
#include "passes/identity_rules.h"
#include "passes/layout_facts.h"
#include "run_graph.h"
#include "special_values.h"

// Tests each identity on special numbers. tests/tensor/passes_test.cpp does the same with kernels, where subnormal
// numbers are flushed.
namespace lucid {
namespace {

TEST(Identities, KeepSpecialNumbersOfEveryDtype) {
  for (const test::IdentityCase& c : test::identity_cases()) {
    for (int i = 0; i < kDtypeCount; ++i) {
      const auto dtype = static_cast<Dtype>(i);
      if (!c.dtypes.contains(dtype)) continue;
      const IRGraph before = c.graph(dtype);
      SCOPED_TRACE(c.rule + "\n" + to_text(before));
      ASSERT_NO_THROW(verify(before));
      IRGraph after = before;
      ConstantPool constants;
      EXPECT_TRUE(ExactIdentityPass().run(after, constants));
      const test::Known leaves = {{0, test::special_tensor({dtype, {3, 8}})},
                                  {10, test::special_tensor({Dtype::kBool, {3, 8}})}};
      EXPECT_EQ(test::run_graph(after, {}, leaves), test::run_graph(before, {}, leaves)) << to_text(after);
    }
  }
}

TEST(Identities, EveryRuleHasAReasonAndATest) {
  std::set<std::string> tried;
  for (const test::IdentityCase& c : test::identity_cases()) tried.insert(c.rule);
  std::set<std::string> rules;
  for (const auto list : {view_rules(), element_rules()}) {
    for (const IdentityRule& rule : list) {
      EXPECT_FALSE(std::string(rule.why).empty()) << rule.name;
      EXPECT_TRUE(rules.insert(rule.name).second) << rule.name << " is there twice";
    }
  }
  EXPECT_EQ(tried, rules);
}

/// LayoutFact::kept_by_elementwise is set for every elementwise result without dimensions of size 0 or 1.
TEST(LayoutFacts, ElementwiseOpsKeepTheStridesOfElementwiseResults) {
  const Dims shapes[] = {{3, 4, 5, 2}, {2, 2, 2, 2}, {4, 2, 2, 3}};
  Dims order = {0, 1, 2, 3};
  do {
    for (const Dims& shape : shapes) {
      for (const int64_t spread : {1, 2}) {
        Geometry first{shape, Dims(4), 0};
        Geometry second{shape, contiguous_strides(shape), 0};
        int64_t stride = spread;
        for (const int64_t d : order) {
          first.strides[static_cast<size_t>(d)] = stride;
          stride *= std::max<int64_t>(shape[static_cast<size_t>(d)], 1);
        }
        for (const auto& operands : {std::vector{&first}, std::vector{&first, &second}, std::vector{&second, &first}}) {
          const std::vector<const Geometry*> given(operands.begin(), operands.end());
          const Geometry result{shape, elementwise_strides(shape, given), 0};
          const Geometry* const only = &result;
          ASSERT_EQ(elementwise_strides(shape, {&only, 1}), result.strides)
              << to_string(shape) << " with strides " << to_string(first.strides);
        }
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace
}  // namespace lucid
