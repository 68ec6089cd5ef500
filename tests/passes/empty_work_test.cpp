#include "passes/empty_work.h"

#include <gtest/gtest.h>

namespace lucid {
namespace {

std::string after(const std::string& text) {
  IRGraph graph = parse_graph(text);
  drop_empty_work(graph);
  verify(graph);
  return to_text(graph);
}

TEST(EmptyWork, WhatAnEmptyResultIsComputedFromIsDropped) {
  EXPECT_EQ(after(R"(graph f(%0: f32[1099511627776,0] input) -> (%2) {
  %1: f32[1099511627776,1] = sum(%0) {dim=[1], keepdim=true}
  %2: f32[1099511627776,0] = div(%0, %1)
}
)"),
            R"(graph f(%0: f32[1099511627776,0] input) -> (%2) {
  %2: f32[1099511627776,0] = full(0) {size=[1099511627776,0], dtype=f32}
}
)");
}

TEST(EmptyWork, OtherUsesKeepIt) {
  const std::string text = R"(graph f(%0: f32[8,0] input) -> (%1, %2) {
  %1: f32[8,1] = sum(%0) {dim=[1], keepdim=true}
  %2: f32[8,0] = full(0) {size=[8,0], dtype=f32}
}
)";
  EXPECT_EQ(after(text), text);
}

TEST(EmptyWork, ChecksOfOtherElementsAreKept) {
  const std::string text = R"(graph f(%0: f32[0,3] input, %1: i64[1] input, %2: f32[1,3] input) -> (%3) {
  %3: f32[0,3] = index_add(%0, %1, %2) {dim=0}
}
)";
  EXPECT_EQ(after(text), text);
}

}  // namespace
}  // namespace lucid
