#include "base/dtype.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <utility>

#include "base/error.h"

namespace lucid {
namespace {

using enum Dtype;

constexpr Dtype kAll[] = {kBool, kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64};

Dtype promoted(std::initializer_list<std::pair<Dtype, Rank>> operands) {
  Promotion promotion;
  for (const auto& [dtype, rank] : operands) promotion.add(dtype, rank);
  return promotion.result();
}

TEST(Dtype, NamesParseBack) {
  for (Dtype dtype : kAll) EXPECT_EQ(parse_dtype(name_of(dtype)), dtype);
  EXPECT_EQ(parse_dtype("float32"), kF32);
  EXPECT_EQ(parse_dtype("double"), kF64);
  EXPECT_EQ(parse_dtype("long"), kI64);
  EXPECT_EQ(parse_dtype("f31"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

TEST(Dtype, EachBelongsToOneCategory) {
  for (Dtype dtype : kAll) EXPECT_EQ(is_bool(dtype) + is_integer(dtype) + is_float(dtype), 1) << name_of(dtype);
  EXPECT_EQ(size_of(kBool), 1u);
  EXPECT_EQ(size_of(kBF16), 2u);
  EXPECT_EQ(size_of(kI64), 8u);
  EXPECT_EQ(compute_dtype(kF16), kF32);
  EXPECT_EQ(compute_dtype(kF64), kF64);
}

TEST(Promotion, FollowsPyTorchsTable) {
  // Rows and columns in the order of kAll, with the results of torch.promote_types.
  constexpr Dtype table[10][10] = {
      {kBool, kU8, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64},
      {kU8, kU8, kI16, kI16, kI32, kI64, kF16, kBF16, kF32, kF64},
      {kI8, kI16, kI8, kI16, kI32, kI64, kF16, kBF16, kF32, kF64},
      {kI16, kI16, kI16, kI16, kI32, kI64, kF16, kBF16, kF32, kF64},
      {kI32, kI32, kI32, kI32, kI32, kI64, kF16, kBF16, kF32, kF64},
      {kI64, kI64, kI64, kI64, kI64, kI64, kF16, kBF16, kF32, kF64},
      {kF16, kF16, kF16, kF16, kF16, kF16, kF16, kF32, kF32, kF64},
      {kBF16, kBF16, kBF16, kBF16, kBF16, kBF16, kF32, kBF16, kF32, kF64},
      {kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF32, kF64},
      {kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64, kF64},
  };
  for (int i = 0; i < kDtypeCount; ++i)
    for (int j = 0; j < kDtypeCount; ++j)
      EXPECT_EQ(promote(kAll[i], kAll[j]), table[i][j]) << name_of(kAll[i]) << " " << name_of(kAll[j]);
}

TEST(Promotion, WeakerOperandsMatterOnlyWithAHigherCategory) {
  EXPECT_EQ(promoted({{kF16, Rank::kTensor}, {kF64, Rank::kZeroDim}}), kF16);
  EXPECT_EQ(promoted({{kF16, Rank::kTensor}, {kF64, Rank::kNumber}}), kF16);
  EXPECT_EQ(promoted({{kI8, Rank::kTensor}, {kI64, Rank::kNumber}}), kI8);
  EXPECT_EQ(promoted({{kI8, Rank::kTensor}, {kF64, Rank::kNumber}}), kF32);
  EXPECT_EQ(promoted({{kI8, Rank::kTensor}, {kF64, Rank::kZeroDim}}), kF64);
  EXPECT_EQ(promoted({{kBool, Rank::kTensor}, {kI64, Rank::kNumber}}), kI64);
  EXPECT_EQ(promoted({{kI32, Rank::kZeroDim}, {kI64, Rank::kNumber}}), kI32);
  EXPECT_EQ(promoted({{kF64, Rank::kNumber}, {kI64, Rank::kNumber}}), kF32);
  EXPECT_EQ(promoted({{kU8, Rank::kTensor}, {kI8, Rank::kTensor}}), kI16);
  EXPECT_THROW(promoted({}), InternalError);
}

TEST(Promotion, NumbersTakeTheDefaultFloat) {
  set_default_float(kF64);
  EXPECT_EQ(promoted({{kI8, Rank::kTensor}, {kF64, Rank::kNumber}}), kF64);
  set_default_float(kF32);
  EXPECT_THROW(set_default_float(kI32), TypeError);
  EXPECT_EQ(default_float(), kF32);
}

}  // namespace
}  // namespace lucid
