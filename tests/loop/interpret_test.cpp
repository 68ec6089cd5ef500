#include "loop/interpret.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/scalar.h"
#include "loop/lane.h"
#include "random_kernel.h"

namespace lucid::loop {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

Bits bits(float value) { return std::bit_cast<uint32_t>(value); }
Bits bits(double value) { return std::bit_cast<uint64_t>(value); }
template <typename T>
  requires std::is_integral_v<T>
Bits bits(T value) {
  return static_cast<std::make_unsigned_t<T>>(value);
}

template <typename T>
void run(const std::string& text, std::vector<T>& data, int64_t end, std::vector<int64_t> params = {}) {
  void* buffers[] = {data.data()};
  interpret(parse_kernel(text), buffers, params.data(), 0, end);
}

TEST(Lane, FloatsRoundToTheirType) {
  const float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
  EXPECT_EQ(compute_lane(Code::kFma, Dtype::kF32, bits(a), bits(a), bits(c)), bits(0x1p-24f));
  EXPECT_EQ(compute_lane(Code::kMul, Dtype::kF32, bits(a), bits(a), 0), bits(1.0f + 0x1p-11f));
  EXPECT_EQ(compute_lane(Code::kAdd, Dtype::kF32, bits(0x1p24f), bits(1.0f), 0), bits(0x1p24f));
  EXPECT_EQ(compute_lane(Code::kAdd, Dtype::kF64, bits(0x1p24), bits(1.0), 0), bits(0x1p24 + 1));
  EXPECT_EQ(compute_lane(Code::kRound, Dtype::kF32, bits(2.5f), 0, 0), bits(2.0f));
  EXPECT_EQ(compute_lane(Code::kRound, Dtype::kF32, bits(-0.5f), 0, 0), bits(-0.0f));
  EXPECT_EQ(compute_lane(Code::kTrunc, Dtype::kF64, bits(-1.5), 0, 0), bits(-1.0));
  EXPECT_EQ(compute_lane(Code::kFloor, Dtype::kF64, bits(-1.5), 0, 0), bits(-2.0));
  EXPECT_EQ(compute_lane(Code::kCeil, Dtype::kF64, bits(-1.5), 0, 0), bits(-1.0));
  EXPECT_EQ(compute_lane(Code::kNeg, Dtype::kF32, bits(0.0f), 0, 0), bits(-0.0f));
  EXPECT_EQ(compute_lane(Code::kAbs, Dtype::kF32, bits(-0.0f), 0, 0), bits(0.0f));
  EXPECT_EQ(compute_lane(Code::kCopySign, Dtype::kF32, bits(2.0f), bits(-0.0f), 0), bits(-2.0f));
  EXPECT_EQ(compute_lane(Code::kDiv, Dtype::kF32, bits(1.0f), bits(-0.0f), 0), bits(-kInfinity));
  EXPECT_EQ(compute_lane(Code::kSqrt, Dtype::kF32, bits(2.0f), 0, 0), bits(0x1.6a09e6p+0f));
}

TEST(Lane, ComparisonsHandleNan) {
  for (Code code : {Code::kEq, Code::kLt, Code::kLe, Code::kGt, Code::kGe}) {
    EXPECT_EQ(compute_lane(code, Dtype::kF32, bits(kNan), bits(1.0f), 0), 0u);
    EXPECT_EQ(compute_lane(code, Dtype::kF32, bits(kNan), bits(kNan), 0), 0u);
  }
  EXPECT_EQ(compute_lane(Code::kNe, Dtype::kF32, bits(kNan), bits(kNan), 0), 1u);
  EXPECT_EQ(compute_lane(Code::kEq, Dtype::kF32, bits(0.0f), bits(-0.0f), 0), 1u);
  EXPECT_EQ(compute_lane(Code::kLt, Dtype::kU8, 0x80, 0x7f, 0), 0u);
  EXPECT_EQ(compute_lane(Code::kLt, Dtype::kI8, 0x80, 0x7f, 0), 1u);
}

TEST(Lane, IntegersWrap) {
  EXPECT_EQ(compute_lane(Code::kAdd, Dtype::kI8, bits(int8_t{127}), 1, 0), bits(int8_t{-128}));
  EXPECT_EQ(compute_lane(Code::kSub, Dtype::kU8, 0, 1, 0), 255u);
  EXPECT_EQ(compute_lane(Code::kMul, Dtype::kI16, bits(int16_t{300}), bits(int16_t{300}), 0), bits(int16_t{24464}));
  EXPECT_EQ(compute_lane(Code::kNeg, Dtype::kI32, 0x80000000, 0, 0), 0x80000000u);
  EXPECT_EQ(compute_lane(Code::kAbs, Dtype::kI8, bits(int8_t{-128}), 0, 0), 0x80u);
  EXPECT_EQ(compute_lane(Code::kDiv, Dtype::kI32, bits(-7), 2, 0), bits(-3));
  EXPECT_EQ(compute_lane(Code::kRem, Dtype::kI32, bits(-7), 2, 0), bits(-1));
  EXPECT_EQ(compute_lane(Code::kDiv, Dtype::kU8, 200, 3, 0), 66u);
  EXPECT_EQ(compute_lane(Code::kMin, Dtype::kI32, bits(-7), 2, 0), bits(-7));
  EXPECT_EQ(compute_lane(Code::kMax, Dtype::kU8, 0xf9, 2, 0), 0xf9u);
  EXPECT_EQ(compute_lane(Code::kShr, Dtype::kI16, 0x8000, 15, 0), 0xffffu);
  EXPECT_EQ(compute_lane(Code::kShr, Dtype::kU8, 0x80, 7, 0), 1u);
  EXPECT_EQ(compute_lane(Code::kShrLogical, Dtype::kI16, 0x8000, 15, 0), 1u);
  EXPECT_EQ(compute_lane(Code::kShl, Dtype::kI64, 1, 63, 0), uint64_t{1} << 63);
  EXPECT_EQ(compute_lane(Code::kNot, Dtype::kU8, 0x0f, 0, 0), 0xf0u);
  EXPECT_EQ(compute_lane(Code::kNot, Dtype::kBool, 1, 0, 0), 0u);
  EXPECT_EQ(compute_lane(Code::kXor, Dtype::kBool, 1, 1, 0), 0u);
}

TEST(Lane, RejectsUndefinedBehavior) {
  EXPECT_THROW(compute_lane(Code::kDiv, Dtype::kI32, 1, 0, 0), InternalError);
  EXPECT_THROW(compute_lane(Code::kRem, Dtype::kI64, uint64_t{1} << 63, ~uint64_t{0}, 0), InternalError);
  EXPECT_THROW(compute_lane(Code::kShl, Dtype::kI32, 1, 32, 0), InternalError);
  EXPECT_THROW(compute_lane(Code::kShr, Dtype::kI32, 1, bits(-1), 0), InternalError);
  EXPECT_THROW(compute_lane(Code::kAdd, Dtype::kF16, 0, 0, 0), InternalError);
}

TEST(Lane, Converts) {
  const auto from_f32 = [](Dtype to, float value) { return convert_lane(Dtype::kF32, to, bits(value)); };
  EXPECT_EQ(from_f32(Dtype::kI32, -1.9f), bits(-1));
  EXPECT_EQ(from_f32(Dtype::kI32, 3e9f), 0x7fffffffu);
  EXPECT_EQ(from_f32(Dtype::kI32, -3e9f), 0x80000000u);
  EXPECT_EQ(from_f32(Dtype::kI32, kNan), 0u);
  EXPECT_EQ(from_f32(Dtype::kI64, kInfinity), 0x7fffffffffffffffu);
  EXPECT_EQ(from_f32(Dtype::kI64, -kInfinity), 0x8000000000000000u);
  EXPECT_EQ(from_f32(Dtype::kU8, -0.9f), 0u);
  EXPECT_EQ(from_f32(Dtype::kU8, -5.0f), 0u);
  EXPECT_EQ(from_f32(Dtype::kU8, 255.9f), 255u);
  EXPECT_EQ(from_f32(Dtype::kU8, 256.0f), 255u);
  EXPECT_EQ(from_f32(Dtype::kI8, -129.0f), 0x80u);
  EXPECT_EQ(from_f32(Dtype::kBool, kNan), 1u);
  EXPECT_EQ(from_f32(Dtype::kBool, -0.0f), 0u);
  EXPECT_EQ(from_f32(Dtype::kBool, 0.25f), 1u);
  EXPECT_EQ(from_f32(Dtype::kF16, 65520.0f), 0x7c00u);
  EXPECT_EQ(from_f32(Dtype::kBF16, 1.0f), 0x3f80u);
  EXPECT_EQ(convert_lane(Dtype::kF16, Dtype::kF64, 0x0001), bits(0x1p-24));
  EXPECT_EQ(convert_lane(Dtype::kI32, Dtype::kI8, 0x1ff), 0xffu);
  EXPECT_EQ(convert_lane(Dtype::kI8, Dtype::kI64, 0xff), ~uint64_t{0});
  EXPECT_EQ(convert_lane(Dtype::kU8, Dtype::kI64, 0xff), 255u);
  EXPECT_EQ(convert_lane(Dtype::kI32, Dtype::kBool, 0x100), 1u);
  EXPECT_EQ(convert_lane(Dtype::kBool, Dtype::kF32, 1), bits(1.0f));
  EXPECT_EQ(convert_lane(Dtype::kI64, Dtype::kF32, (1 << 24) + 1), bits(0x1p24f));
  // One rounding: through f64 this would be 2^60.
  EXPECT_EQ(convert_lane(Dtype::kI64, Dtype::kF32, (uint64_t{1} << 60) + (uint64_t{1} << 36) + 1),
            bits(0x1.000002p60f));
}

TEST(Interpret, LoopsAndMasks) {
  std::vector<float> data(40);
  std::iota(data.begin(), data.end(), 0.0f);
  run(R"(kernel k(@0: f32) {
    %lo: i64 = begin
    %hi: i64 = end
    for %i = %lo to %hi step 16 {
      %n: i64 = sub %hi, %i
      %lanes: i64x16 = iota
      %limit: i64x16 = splat %n
      %mask: boolx16 = lt %lanes, %limit
      %x: f32x16 = load @0[%i] mask %mask
      %y: f32x16 = mul %x, %x
      store @0[%i], %y mask %mask
    }
  })",
      data, 21);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(data[i], i < 21 ? i * i : i);
}

TEST(Interpret, CarriedValuesAdvanceTogether) {
  std::vector<int64_t> data(2);
  run(R"(kernel fibonacci(@0: i64) params 1 {
    %zero: i64 = 0
    %one: i64 = 1
    %n: i64 = param 0
    %loop = for %i = %zero to %n step 1 carry (%a: i64 = %zero, %b: i64 = %one) {
      %next: i64 = add %a, %b
      yield %b, %next
    }
    %a_n: i64 = result %loop, 0
    %b_n: i64 = result %loop, 1
    store @0[%zero], %a_n
    store @0[%one], %b_n
  })",
      data, 1, {10});
  EXPECT_EQ(data, (std::vector<int64_t>{55, 89}));
}

TEST(Interpret, LoopsNearTheLargestIndexEnd) {
  std::vector<int64_t> data(1);
  run(R"(kernel k(@0: i64) {
    %zero: i64 = 0
    %lo: i64 = 9223372036854775800
    %hi: i64 = 9223372036854775807
    %loop = for %i = %lo to %hi step 5 carry (%n: i64 = %zero) {
      %one: i64 = 1
      %more: i64 = add %n, %one
      yield %more
    }
    %count: i64 = result %loop, 0
    store @0[%zero], %count
  })",
      data, 1);
  EXPECT_EQ(data[0], 2);
}

TEST(Interpret, BranchesLanesTablesAndScratch) {
  std::vector<int32_t> data(32, -1);
  run(R"(kernel k(@0: i32) {
    @1 = scratch i32[16]
    @2 = table i32[4] {0xa, 0xb, 0xc, 0xd}
    %zero: i64 = 0
    %one: i64 = 1
    %v: i32x16 = iota
    %r: i32x16 = rotate %v, 3
    store @1[%zero], %r
    %first: i32 = load @1[%zero]
    %last: i32 = extract %r, 15
    %c: bool = lt %first, %last
    if %c {
      store @0[%zero], %last
    } else {
      store @0[%zero], %first
    }
    %three: i32 = 3
    %threes: i32x16 = splat %three
    %low: i32x16 = and %v, %threes
    %at: i64x16 = convert %low
    %fetched: i32x16 = gather @2[%at]
    %some: boolx16 = gt %v, %threes
    %n: bool = any %some
    if %n {
      scatter @0[%at], %v mask %some
    }
    %offset: i64 = 16
    store @0[%offset], %fetched
  })",
      data, 1);
  EXPECT_EQ(data[0], 12);  // the last lane wins: 12, 13, 14, 15
  EXPECT_EQ(data[3], 15);
  EXPECT_EQ(data[4], -1);
  EXPECT_EQ(data[16], 10);
  EXPECT_EQ(data[31], 13);
}

TEST(Interpret, MaskedLanesLoadZeroAndAccessNoMemory) {
  std::vector<float> data = {5, 6};
  run(R"(kernel k(@0: f32) {
    @1 = scratch f32[16]
    %zero: i64 = 0
    %v: i64x16 = iota
    %ones: i64 = 1
    %one: i64x16 = splat %ones
    %m: boolx16 = eq %v, %one
    %x: f32x16 = load @0[%zero] mask %m
    store @1[%zero], %x
    %a: f32 = load @1[%zero]
    %b: f32 = load @1[%ones]
    store @0[%zero], %b
    store @0[%ones], %a
  })",
      data, 1);
  EXPECT_EQ(data, (std::vector<float>{6, 0}));
}

TEST(Interpret, LoadAlternateAndLoadTwice) {
  std::vector<int32_t> data(64);
  for (int32_t i = 0; i < 32; ++i) data[static_cast<size_t>(i)] = 100 + i;
  run(R"(kernel k(@0: i32) {
    %one: i64 = 1
    %v: i32x16 = iota
    %threes: i32 = 3
    %three: i32x16 = splat %threes
    %m: boolx16 = le %v, %three
    %apart: i32x16 = load_alternate @0[%one] mask %m
    %twice: i32x16 = load_twice @0[%one]
    %here: i64 = 32
    %there: i64 = 48
    store @0[%here], %apart
    store @0[%there], %twice
  })",
      data, 1);
  EXPECT_EQ(std::vector<int32_t>(data.begin() + 32, data.begin() + 38),
            (std::vector<int32_t>{101, 103, 105, 107, 0, 0}));
  EXPECT_EQ(std::vector<int32_t>(data.begin() + 48, data.begin() + 52), (std::vector<int32_t>{101, 101, 102, 102}));
  EXPECT_EQ(data[63], 108);
}

TEST(Interpret, StaysInsideScratchAndTables) {
  std::vector<float> data(16);
  const std::string text = R"(kernel k(@0: f32) params 1 {
    @1 = table f32[2] {0x0, 0x0}
    %i: i64 = param 0
    %x: f32 = load @1[%i]
    %zero: i64 = 0
    store @0[%zero], %x
  })";
  EXPECT_NO_THROW(run(text, data, 1, {1}));
  EXPECT_THROW(run(text, data, 1, {2}), InternalError);
  EXPECT_THROW(run(text, data, 1, {-1}), InternalError);
}

/// The memory of a random kernel: an input and an output for each dtype.
std::vector<std::vector<std::byte>> random_memory(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<std::byte>> memory;
  for (int k = 0; k < 2 * kDtypeCount; ++k) {
    const auto dtype = static_cast<Dtype>(k % kDtypeCount);
    memory.emplace_back(kRandomKernelElements * size_of(dtype));
    for (std::byte& byte : memory.back())
      byte = static_cast<std::byte>(dtype == Dtype::kBool ? random() & 1 : random());
  }
  return memory;
}

TEST(Interpret, SplittingTheRangeDoesNotChangeTheResult) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Kernel kernel = random_kernel(seed);
    auto whole = random_memory(seed), split = whole;
    const int64_t param = 3;
    auto run_range = [&](std::vector<std::vector<std::byte>>& memory, int64_t begin, int64_t end) {
      std::vector<void*> buffers;
      for (auto& bytes : memory) buffers.push_back(bytes.data());
      interpret(kernel, buffers.data(), &param, begin, end);
    };
    run_range(whole, 0, kRandomKernelItems);
    run_range(split, 96, kRandomKernelItems);
    run_range(split, 0, 48);
    run_range(split, 48, 96);
    ASSERT_TRUE(whole == split) << "seed " << seed << "\n" << to_text(kernel);
    ASSERT_TRUE(whole != random_memory(seed)) << "seed " << seed << " stores nothing";
  }
}

/// Members store their number and sum what all have stored, `%n` times.
std::string sums_of_members(const std::string& first, const std::string& second) {
  return R"(kernel k(@0: i64) params 1 group 4 {
    @1 = shared i64[64]
    %zero: i64 = 0
    %four: i64 = 4
    %sixteen: i64 = 16
    %n: i64 = param 0
    %member: i64 = member
    %lanes: i64x16 = iota
    %at: i64 = mul %member, %sixteen
    %own: i64x16 = splat %at
    %all: i64x16 = add %own, %lanes
    %outer = for %i = %zero to %n step 1 carry (%x: i64x16 = %all) {
      )" +
         first + R"(
      store @1[%at], %x
      )" +
         second + R"(
      %sum = for %k = %zero to %four step 1 carry (%s: i64x16 = %lanes) {
        %from: i64 = mul %k, %sixteen
        %other: i64x16 = load @1[%from]
        %more: i64x16 = add %s, %other
        yield %more
      }
      %y: i64x16 = result %sum, 0
      yield %y
    }
    %total: i64x16 = result %outer, 0
    store @0[%at], %total
  })";
}

TEST(Interpret, MembersOfAGroupShareBuffers) {
  std::vector<int64_t> data(64);
  run(sums_of_members("barrier", "barrier"), data, 1, {2});
  for (int64_t i = 0; i < 64; ++i) {
    const int64_t lane = i % 16, once = lane + 96 + 4 * lane;
    EXPECT_EQ(data[static_cast<size_t>(i)], lane + 4 * once);
  }
}

TEST(Interpret, FindsMissingBarriers) {
  std::vector<int64_t> data(64);
  EXPECT_NO_THROW(run(sums_of_members("", "barrier"), data, 1, {1}));
  EXPECT_THROW(run(sums_of_members("", "barrier"), data, 1, {2}), InternalError);
  EXPECT_THROW(run(sums_of_members("barrier", ""), data, 1, {1}), InternalError);
  // Lanes of one member need barriers too.
  const auto two_lanes = [](const char* between) {
    return std::string(R"(kernel k(@0: i64) group 2 {
      @1 = shared i64[64]
      %member: i64 = member
      %thirty: i64 = 30
      %at: i64 = mul %member, %thirty
      %one: i64 = 1
      %next: i64 = add %at, %one
      %lanes: i64x16 = iota
      store @1[%at], %lanes )") +
           between + " %x: i64x16 = load @1[%next] store @0[%at], %x }";
  };
  EXPECT_NO_THROW(run(two_lanes("barrier"), data, 1));
  EXPECT_THROW(run(two_lanes(""), data, 1), InternalError);
}

}  // namespace
}  // namespace lucid::loop
