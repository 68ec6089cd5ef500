#include "base/shape.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "base/error.h"
#include "message_of.h"

namespace lucid {
namespace {

using test::message_of;

using Random = std::mt19937_64;

int64_t pick_size(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

Dims random_sizes(Random& random, int64_t max_rank, int64_t smallest) {
  Dims sizes(static_cast<size_t>(pick_size(random, 0, max_rank)));
  for (SymInt& size : sizes) size = pick_size(random, smallest, 4);
  return sizes;
}

/// Calls visit with every index of the shape, in row-major order.
template <typename Visit>
void for_each_index(DimsView sizes, Visit visit) {
  Dims index(sizes.size());
  for (int64_t left = numel(sizes); left > 0; --left) {
    visit(index);
    for (size_t i = sizes.size(); i-- > 0;) {
      if (++index[i] < sizes[i]) break;
      index[i] = 0;
    }
  }
}

int64_t place(DimsView index, DimsView strides) {
  int64_t offset = 0;
  for (size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

/// The offset of each element, in row-major order of the indices.
std::vector<int64_t> places(DimsView sizes, DimsView strides) {
  std::vector<int64_t> result;
  for_each_index(sizes, [&](const Dims& index) { result.push_back(place(index, strides)); });
  return result;
}

/// Strides as of views: permuted, sliced, broadcast, and arbitrary where the size is 1.
Dims random_strides(Random& random, const Dims& sizes) {
  std::vector<size_t> order(sizes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (pick_size(random, 0, 1)) std::shuffle(order.begin(), order.end(), random);
  Dims strides(sizes.size());
  int64_t next = pick_size(random, 0, 3) ? 1 : 2;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = next;
    next *= std::max<int64_t>(sizes[order[i]], 1) + (pick_size(random, 0, 7) == 0);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    if (pick_size(random, 0, 11) == 0) strides[i] = 0;
    if (sizes[i] == 1 && pick_size(random, 0, 1)) strides[i] = pick_size(random, 0, 9);
  }
  return strides;
}

TEST(Shape, PrintsLikeTheTextForm) {
  EXPECT_EQ(to_string(TensorType{Dtype::kF32, {8, 4}}), "f32[8,4]");
  EXPECT_EQ(to_string(TensorType{Dtype::kI64, {}}), "i64[]");
  EXPECT_EQ(to_string(Dims{0, -1, 7}), "[0,-1,7]");
}

TEST(Shape, CountsElements) {
  EXPECT_EQ(numel(Dims{}), 1);
  EXPECT_EQ(numel(Dims{2, 3, 4}), 24);
  EXPECT_EQ(numel(Dims{2, 0, 4}), 0);
  EXPECT_EQ(checked_numel("empty", Dims{2, 3}, 4), 6);
  EXPECT_EQ(checked_numel("empty", Dims{0, 3}, 4), 0);
  EXPECT_EQ(checked_numel("empty", Dims{int64_t{1} << 60}, 4), int64_t{1} << 60);
}

TEST(Shape, RejectsSizesThatDoNotFit) {
  const int64_t big = int64_t{1} << 32;
  EXPECT_EQ(
      message_of<ValueError>([&] { checked_numel("empty", Dims{big, big}, 1); }),
      "empty: shape [4294967296,4294967296] is too large: its 1-byte elements would not fit in 63 bits of address");
  EXPECT_THROW(checked_numel("empty", Dims{int64_t{1} << 61}, 4), ValueError);
  EXPECT_THROW(checked_numel("empty", Dims{0, big, big}, 1), ValueError);
  EXPECT_EQ(message_of<ValueError>([] { checked_numel("empty", Dims{2, -3}, 4); }),
            "empty: shape [2,-3] has a negative size");
  EXPECT_NO_THROW(checked_numel("empty", Dims(64, 1), 4));
  EXPECT_EQ(message_of<ValueError>([] { checked_numel("empty", Dims(65, 1), 4); }),
            "empty: 65 dimensions are too many; a tensor has at most 64");
}

TEST(Strides, ContiguousOnesAreRowMajor) {
  EXPECT_EQ(contiguous_strides(Dims{}), (Dims{}));
  EXPECT_EQ(contiguous_strides(Dims{2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(contiguous_strides(Dims{2, 0, 4}), (Dims{4, 4, 1}));
}

TEST(Strides, PredicatesMatchTheElementOffsets) {
  Random random(1);
  int contiguous = 0, dense = 0, neither = 0;
  for (int round = 0; round < 20000; ++round) {
    const Dims sizes = random_sizes(random, 4, 0);
    const Dims strides = random_strides(random, sizes);
    const std::vector<int64_t> where = places(sizes, strides);
    const int64_t count = numel(sizes);
    const std::set<int64_t> distinct(where.begin(), where.end());
    const bool fills_block = distinct.size() == where.size() && (where.empty() || *distinct.rbegin() == count - 1);
    const bool in_order = fills_block && std::is_sorted(where.begin(), where.end());
    ASSERT_EQ(is_contiguous(sizes, strides), in_order) << to_string(sizes) << to_string(strides);
    ASSERT_EQ(is_dense(sizes, strides), fills_block) << to_string(sizes) << to_string(strides);
    const Geometry geometry{sizes, strides, 100};
    const auto [low, high] = element_range(geometry);
    ASSERT_EQ(high - low, where.empty() ? 0 : *distinct.rbegin() + 1);
    ASSERT_EQ(low, 100);
    if (has_internal_overlap(sizes, strides) && count > 0) {
      ASSERT_LT(distinct.size(), where.size());
    }
    ++(in_order ? contiguous : fills_block ? dense : neither);
  }
  EXPECT_GT(contiguous, 1000);
  EXPECT_GT(dense, 500);
  EXPECT_GT(neither, 1000);
}

TEST(Strides, RangeOfNegativeStridesReachesBack) {
  EXPECT_EQ(element_range({{3, 4}, {4, -1}, 3}), (std::pair<SymInt, SymInt>(0, 12)));
  EXPECT_EQ(element_range({{3, 0}, {4, 1}, 5}), (std::pair<SymInt, SymInt>(5, 5)));
  EXPECT_EQ(element_range({{}, {}, 5}), (std::pair<SymInt, SymInt>(5, 6)));
}

TEST(Broadcast, FollowsTheRightAlignedRule) {
  EXPECT_EQ(broadcast("add", Dims{2, 3}, Dims{2, 3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast("add", Dims{3}, Dims{2, 3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast("add", Dims{2, 1}, Dims{1, 3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast("add", Dims{}, Dims{2, 3}), (Dims{2, 3}));
  EXPECT_EQ(broadcast("add", Dims{1}, Dims{0}), (Dims{0}));
  EXPECT_EQ(broadcast("add", Dims{0, 1}, Dims{5}), (Dims{0, 5}));
}

TEST(Broadcast, NamesTheDimensionThatDiffers) {
  EXPECT_EQ(
      message_of<ValueError>([] { broadcast("add", Dims{2, 3}, Dims{5, 2, 4}); }),
      "add: shapes [2,3] and [5,2,4] do not broadcast: dimension 1 from the right is 3 and 4; it must be equal in "
      "both, or 1 in one");
  EXPECT_THROW(broadcast("add", Dims{0}, Dims{2}), ValueError);
}

TEST(Broadcast, StridesReadTheSourceElement) {
  Random random(2);
  for (int round = 0; round < 5000; ++round) {
    const Dims shape = random_sizes(random, 4, 0);
    Dims sizes(shape);
    for (int64_t lost = pick_size(random, 0, shape.rank()); lost > 0; --lost) sizes.erase(0);
    for (SymInt& size : sizes)
      if (pick_size(random, 0, 2) == 0) size = 1;
    const Dims strides = random_strides(random, sizes);
    const Dims read = broadcast_strides(sizes, strides, shape);
    const size_t lead = shape.size() - sizes.size();
    for_each_index(shape, [&](const Dims& index) {
      int64_t expected = 0;
      for (size_t i = 0; i < sizes.size(); ++i) expected += (sizes[i] == 1 ? SymInt(0) : index[lead + i]) * strides[i];
      ASSERT_EQ(place(index, read), expected);
    });
  }
  EXPECT_THROW(broadcast_strides(Dims{3}, Dims{1}, Dims{4}), InternalError);
  EXPECT_THROW(broadcast_strides(Dims{1, 3}, Dims{3, 1}, Dims{3}), InternalError);
}

TEST(Axes, NegativeOnesCountFromTheEnd) {
  EXPECT_EQ(normalize_axis("sum", -1, 3), 2);
  EXPECT_EQ(normalize_axis("sum", 0, 3), 0);
  EXPECT_EQ(normalize_axis("sum", -1, 0), 0);
  EXPECT_EQ(normalize_axis("sum", 0, 0), 0);
  EXPECT_EQ(normalize_axes("sum", Dims{-1, 0}, 3), (Dims{0, 2}));
  EXPECT_EQ(normalize_axes("sum", Dims{}, 3), (Dims{}));
}

TEST(Axes, ErrorsNameTheRange) {
  EXPECT_EQ(message_of<IndexError>([] { normalize_axis("sum", 3, 2); }),
            "sum: axis 3 is out of range for a tensor with 2 dimensions; expected -2 to 1");
  EXPECT_EQ(message_of<IndexError>([] { normalize_axis("sum", -2, 1); }),
            "sum: axis -2 is out of range for a tensor with 1 dimension; expected -1 to 0");
  EXPECT_THROW(normalize_axis("sum", 1, 0), IndexError);
  EXPECT_EQ(message_of<ValueError>([] { normalize_axes("sum", Dims{0, -2}, 2); }),
            "sum: axes [0,-2] name axis 0 more than once");
}

TEST(InferShape, FillsInTheMissingSize) {
  EXPECT_EQ(infer_shape("reshape", Dims{-1, 4}, 24), (Dims{6, 4}));
  EXPECT_EQ(infer_shape("reshape", Dims{-1}, 0), (Dims{0}));
  EXPECT_EQ(infer_shape("reshape", Dims{3, -1}, 0), (Dims{3, 0}));
  EXPECT_EQ(infer_shape("reshape", Dims{2, 3}, 6), (Dims{2, 3}));
  EXPECT_EQ(infer_shape("reshape", Dims{}, 1), (Dims{}));
  EXPECT_EQ(infer_shape("reshape", Dims{0, int64_t{1} << 62, int64_t{1} << 62}, 0).size(), 3u);
}

TEST(InferShape, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(message_of<ValueError>([] { infer_shape("reshape", Dims{2, -1, -1}, 8); }),
            "reshape: shape [2,-1,-1] has more than one -1; only one size can be inferred");
  EXPECT_EQ(message_of<ValueError>([] { infer_shape("reshape", Dims{2, -2}, 8); }),
            "reshape: shape [2,-2] has a negative size; only -1, meaning \"infer\", is allowed");
  EXPECT_EQ(message_of<ValueError>([] { infer_shape("reshape", Dims{0, -1}, 0); }),
            "reshape: the -1 in shape [0,-1] is ambiguous: with no elements any size fits; write the size");
  EXPECT_EQ(message_of<ValueError>([] { infer_shape("reshape", Dims{5, -1}, 8); }),
            "reshape: shape [5,-1] does not hold 8 elements");
  EXPECT_EQ(message_of<ValueError>([] { infer_shape("reshape", Dims{3}, 1); }),
            "reshape: shape [3] does not hold 1 element");
  EXPECT_THROW(infer_shape("reshape", Dims{0, -1}, 4), ValueError);
  EXPECT_THROW(infer_shape("reshape", Dims{int64_t{1} << 32, int64_t{1} << 32}, 0), ValueError);
}

/// Every shape with the given number of elements and rank.
void shapes_of(int64_t elements, size_t rank, Dims& prefix, std::vector<Dims>& out) {
  if (rank == 0) {
    if (elements == 1) out.push_back(prefix);
    return;
  }
  for (int64_t size = 1; size <= elements; ++size) {
    if (elements % size) continue;
    prefix.push_back(size);
    shapes_of(elements / size, rank - 1, prefix, out);
    prefix.pop_back();
  }
}

/// By definition, a view exists if neighbouring elements have the same distance everywhere along each dimension.
bool view_exists(const std::vector<int64_t>& where, const Dims& shape) {
  const Dims positions = contiguous_strides(shape);
  bool exists = true;
  for_each_index(shape, [&](const Dims& index) {
    const auto linear = static_cast<size_t>(place(index, positions));
    for (size_t i = 0; i < shape.size(); ++i) {
      if (index[i] + 1 >= shape[i]) continue;
      const auto step = static_cast<size_t>(positions[i]);
      exists &= where[linear + step] - where[linear] == where[step] - where[0];
    }
  });
  return exists;
}

TEST(ViewStrides, ExistExactlyWhenTheElementsAreEvenlySpaced) {
  Random random(3);
  int viewable = 0, not_viewable = 0;
  for (int round = 0; round < 3000; ++round) {
    const Dims sizes = random_sizes(random, 4, 1);
    const Dims strides = random_strides(random, sizes);
    const std::vector<int64_t> where = places(sizes, strides);
    for (size_t rank = 0; rank <= 3; ++rank) {
      std::vector<Dims> shapes;
      Dims prefix;
      shapes_of(numel(sizes), rank, prefix, shapes);
      for (const Dims& shape : shapes) {
        const auto view = view_strides(sizes, strides, shape);
        ASSERT_EQ(view.has_value(), view_exists(where, shape))
            << to_string(sizes) << to_string(strides) << " as " << to_string(shape);
        if (view) {
          ASSERT_EQ(places(shape, *view), where);
        }
        ++(view ? viewable : not_viewable);
      }
    }
  }
  EXPECT_GT(viewable, 10000);
  EXPECT_GT(not_viewable, 5000);
}

TEST(ViewStrides, OfEmptyTensors) {
  EXPECT_EQ(view_strides(Dims{0, 3}, Dims{7, 2}, Dims{0, 3}), (Dims{7, 2}));
  EXPECT_EQ(view_strides(Dims{0, 3}, Dims{7, 2}, Dims{3, 0, 2}), (Dims{2, 2, 1}));
}

}  // namespace
}  // namespace lucid
