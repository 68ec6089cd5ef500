#include "base/checked_int.h"

#include <gtest/gtest.h>

#include <vector>

namespace lucid {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(CheckedInt, ComputesAsIntegersDo) {
  EXPECT_EQ((CheckedInt(7) * 3 - 1 + 2).value(), 22);
  EXPECT_EQ((CheckedInt(-7) / 2).value(), -3);
  EXPECT_EQ((CheckedInt(-7) % 2).value(), -1);
  EXPECT_EQ(CheckedInt().value(), 0);
  EXPECT_EQ(CheckedInt(uint64_t{5}).value(), 5);
}

TEST(CheckedInt, HasNoValueOnceAResultDoesNotFit) {
  for (const CheckedInt number : {CheckedInt(kMax) + 1, CheckedInt(kMin) - 1, CheckedInt(int64_t{1} << 62) * 4,
                                  CheckedInt(kMin) / -1, CheckedInt(kMin) % -1, CheckedInt(1) / 0, CheckedInt(1) % 0,
                                  CheckedInt(uint64_t{1} << 63), CheckedInt::none()}) {
    EXPECT_FALSE(number.has_value());
    EXPECT_FALSE((number * 0).has_value());
    EXPECT_FALSE((CheckedInt(1) - number).has_value());
    EXPECT_FALSE((number / 2).has_value());
  }
}

TEST(CheckedInt, ComparisonsWithoutAValueAreFalse) {
  const CheckedInt none = CheckedInt::none();
  EXPECT_FALSE(none == none);
  EXPECT_FALSE(none == 0);
  EXPECT_FALSE(none < 1);
  EXPECT_FALSE(none >= 1);
  EXPECT_FALSE(0 <= none);
  EXPECT_TRUE(CheckedInt(2) < 3);
  EXPECT_TRUE(CheckedInt(kMin) <= kMin);
}

TEST(CheckedInt, BytesOfAShape) {
  const auto bytes = [](const std::vector<int64_t>& shape, size_t element) {
    return checked_bytes(shape, element).value();
  };
  EXPECT_EQ(bytes({}, 8), 8);
  EXPECT_EQ(bytes({3, 5}, 4), 60);
  EXPECT_EQ(bytes({3, 0, 5}, 4), 0);
  EXPECT_EQ(bytes({int64_t{1} << 60}, 4), int64_t{1} << 62);
  EXPECT_EQ(bytes({int64_t{1} << 61}, 4), std::nullopt);
  EXPECT_EQ(bytes({(int64_t{1} << 62) + 1}, 4), std::nullopt);
  EXPECT_EQ(bytes({0, int64_t{1} << 62, int64_t{1} << 62}, 1), std::nullopt);
  EXPECT_EQ(bytes({2, -1}, 1), std::nullopt);
  EXPECT_EQ(bytes({0, -1}, 1), std::nullopt);
}

}  // namespace
}  // namespace lucid
