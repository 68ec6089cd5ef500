#include "base/hash.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <vector>

#include "base/small_vector.h"

namespace lucid {
namespace {

TEST(Hash, IsTheSameOnEveryRun) {
  // Published values of XXH3 with seed 0.
  EXPECT_EQ(hash_string(""), 0x2d06800538d394c2ull);
  EXPECT_EQ(hash_string("a"), 0xe6c632b61e964e1full);
}

TEST(Hash, SpansHashByContent) {
  const Dims a = {1, 2, 3}, b = {1, 2, 3}, c = {1, 2, 4};
  EXPECT_EQ(hash_span<SymInt>(a), hash_span<SymInt>(b));
  EXPECT_NE(hash_span<SymInt>(a), hash_span<SymInt>(c));
  EXPECT_NE(hash_span<SymInt>(a), hash_span<SymInt>(a, 1));
}

TEST(Hash, CombineDependsOnOrderAndNeverLosesAWord) {
  EXPECT_NE(hash_combine(hash_combine(0, 1), 2), hash_combine(hash_combine(0, 2), 1));
  std::set<uint64_t> seen;
  for (uint64_t hash = 0; hash < 300; ++hash)
    for (uint64_t word = 0; word < 300; ++word) seen.insert(hash_combine(hash, word));
  EXPECT_EQ(seen.size(), 300u * 300u);
}

TEST(Hash, OneChangedBitChangesAboutHalfOfTheResult) {
  int changed = 0;
  for (int bit = 0; bit < 64; ++bit)
    changed += std::popcount(hash_combine(5, 9) ^ hash_combine(5, 9 ^ (uint64_t{1} << bit)));
  EXPECT_NEAR(changed / 64.0, 32.0, 3.0);
}

}  // namespace
}  // namespace lucid
