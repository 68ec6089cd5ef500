#include <gtest/gtest.h>

#include <bit>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <string>

#include "base/error.h"
#include "loop/builder.h"
#include "random_kernel.h"

namespace lucid::loop {
namespace {

/// f32 sum of squares of each row, plus a mask, a table, an if and a carried loop: one of each construct.
constexpr const char* kRowSums = R"(kernel row_sums(@0: f32, @1: f32) params 1 {
  @2 = scratch f32[16]
  @3 = table f32[2] {0x3f800000, 0x0}
  %0: i64 = begin
  %1: i64 = end
  %2: i64 = param 0
  %3: f32 = -0.5
  %4: i64 = 0
  for %6 = %0 to %1 step 1 {
    %7: i64 = mul %6, %2
    %8: f32x16 = splat %3
    %9 = for %10 = %4 to %2 step 16 carry (%11: f32x16 = %8) {
      %12: i64 = add %7, %10
      %13: i64 = sub %2, %10
      %14: i64x16 = iota
      %15: i64x16 = splat %13
      %16: boolx16 = lt %14, %15
      %17: f32x16 = load @0[%12] mask %16
      %18: f32x16 = fma %17, %17, %11
      yield %18
    }
    %19: f32x16 = result %9, 0
    %20: f32x16 = rotate %19, 8
    %21: f32x16 = add %19, %20
    %22: f32 = extract %21, 0
    %23: f32 = load @3[%4]
    %24: bool = lt %22, %23
    if %24 {
      store @1[%6], %22
    } else {
      prefetch @0[%4]
      store @1[%6], %23
    }
  }
}
)";

TEST(Text, PrintsWhatItParses) { EXPECT_EQ(to_text(parse_kernel(kRowSums)), kRowSums); }

TEST(Text, TheDocumentedExampleIsCanonical) {
  std::ifstream file(LUCID_TEST_DIR "/../../src/loop/README.md");
  const std::string readme{std::istreambuf_iterator<char>(file), {}};
  const size_t start = readme.find("kernel row_sums");
  ASSERT_NE(start, std::string::npos);
  const std::string example = readme.substr(start, readme.find("```", start) - start);
  EXPECT_EQ(to_text(parse_kernel(example)), example);
}

constexpr const char* kGroup = R"(kernel swap(@0: f32, @1: f32) params 1 group 4 {
  @2 = shared f32[64]
  %0: i64 = begin
  %1: i64 = end
  %2: i64 = member
  %3: i64 = 16
  %4: i64 = 3
  for %6 = %0 to %1 step 1 {
    %7: i64 = mul %2, %3
    %8: f32x16 = load @0[%7]
    barrier
    store @2[%7], %8
    barrier
    %12: i64 = sub %4, %2
    %13: i64 = mul %12, %3
    %14: f32x16 = load @2[%13]
    store @1[%7], %14
  }
}
)";

TEST(Text, Groups) {
  const Kernel kernel = parse_kernel(kGroup);
  EXPECT_EQ(to_text(kernel), kGroup);
  EXPECT_EQ(kernel.group, 4);
  EXPECT_EQ(kernel.buffers[2].kind, Buffer::Kind::kShared);
  Kernel other = kernel;
  other.group = 8;
  EXPECT_FALSE(other == kernel);
  EXPECT_NE(key_of(other), key_of(kernel));
}

TEST(Text, ReadsNamesCommentsAndAnyLayout) {
  const std::string text = R"(
    # Doubles every element.
    kernel double(@0: f64) { %lo: i64 = begin %hi: i64 = end
      for %i = %lo to %hi step 1 {  # no lanes here
        %x: f64 = load @0[%i]
        %twice: f64 = add %x, %x   store @0[%i], %twice } })";
  EXPECT_EQ(to_text(parse_kernel(text)), R"(kernel double(@0: f64) {
  %0: i64 = begin
  %1: i64 = end
  for %3 = %0 to %1 step 1 {
    %4: f64 = load @0[%3]
    %5: f64 = add %4, %4
    store @0[%3], %5
  }
}
)");
}

TEST(Text, EveryKernelParsesBack) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Kernel kernel = random_kernel(seed);
    const std::string text = to_text(kernel);
    const Kernel parsed = parse_kernel(text);
    ASSERT_TRUE(parsed == kernel) << text;
    ASSERT_EQ(to_text(parsed), text);
  }
}

/// A kernel that differs from another in one place.
Kernel changed(const Kernel& kernel, std::mt19937& random) {
  Kernel other = kernel;
  Instruction& instruction = other.instructions[random() % other.instructions.size()];
  switch (random() % 8) {
    case 0:
      instruction.integer += 1;
      break;
    case 1:
      instruction.real = -instruction.real - 1;
      break;
    case 2:
      instruction.masked = !instruction.masked;
      break;
    case 3:
      instruction.buffer += 1;
      break;
    case 4:
      instruction.operands.push_back(0);
      break;
    case 5:
      instruction.code = instruction.code == Code::kAdd ? Code::kSub : Code::kAdd;
      break;
    case 6:
      other.blocks.front().yields.push_back(0);
      break;
    default:
      other.param_count += 1;
  }
  return other;
}

TEST(Text, OnlyEqualKernelsHaveTheSameKey) {
  std::mt19937 random(1);
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const Kernel kernel = random_kernel(seed);
    ASSERT_EQ(key_of(parse_kernel(to_text(kernel))), key_of(kernel));
    for (int i = 0; i < 20; ++i) {
      const Kernel other = changed(kernel, random);
      ASSERT_EQ(key_of(other) == key_of(kernel), other == kernel);
    }
    ASSERT_EQ(key_of(random_kernel(seed + 1)) == key_of(kernel), random_kernel(seed + 1) == kernel);
  }
}

TEST(Text, ConstantsKeepTheirBits) {
  const double infinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(1);
  for (Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64}) {
    Builder b("k");
    const BufferRef out = b.argument(dtype);
    std::vector<double> values = {0.0,
                                  -0.0,
                                  infinity,
                                  -infinity,
                                  std::numeric_limits<double>::quiet_NaN(),
                                  5e-324,
                                  1e-45,
                                  std::numeric_limits<double>::max(),
                                  std::numeric_limits<float>::max(),
                                  0.1,
                                  1.0 / 3};
    for (int i = 0; i < 200; ++i) {
      const auto bits = random();
      values.push_back(std::bit_cast<double>(bits));
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
    for (double value : values) b.store(out, b.begin(), b.constant(dtype, value));
    const Kernel kernel = b.finish();
    EXPECT_TRUE(parse_kernel(to_text(kernel)) == kernel) << name_of(dtype);
  }
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kI64);
  b.store(out, b.begin(), b.index(std::numeric_limits<int64_t>::min()));
  const Kernel kernel = b.finish();
  EXPECT_TRUE(parse_kernel(to_text(kernel)) == kernel);
}

TEST(Text, NamesMayBeAnything) {
  for (const char* name : {"plain_1", "", "with space", "quote\" back\\slash", "line\nbreak\x01\x7f", "\xc3\xa9"}) {
    const Kernel kernel = Builder(name).finish();
    EXPECT_TRUE(parse_kernel(to_text(kernel)) == kernel) << name;
  }
}

TEST(Text, WrapsLongTables) {
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kU8);
  std::vector<uint64_t> bits;
  for (uint64_t i = 0; i < 20; ++i) bits.push_back(i * 12);
  b.store(out, b.begin(), b.load(b.table(Dtype::kU8, bits), b.begin()));
  const Kernel kernel = b.finish();
  const std::string text = to_text(kernel);
  EXPECT_NE(text.find("{\n    0x0, 0xc, 0x18, 0x24, 0x30, 0x3c, 0x48, 0x54,\n    0x60,"), std::string::npos) << text;
  EXPECT_TRUE(parse_kernel(text) == kernel);
}

TEST(Text, EqualityComparesEverything) {
  const Kernel kernel = parse_kernel(kRowSums);
  EXPECT_TRUE(kernel == kernel);
  auto differs = [&](auto change) {
    Kernel other = kernel;
    change(other);
    return !(other == kernel);
  };
  EXPECT_TRUE(differs([](Kernel& k) { k.name = "other"; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.param_count++; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.buffers[0].dtype = Dtype::kF64; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.buffers[2].count = 8; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.buffers[3].table[1] = 9; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[3].real = 0.5; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[4].integer = 1; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[7].code = Code::kAdd; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[7].operands[0] = 0; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[8].type.vector = false; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[17].buffer = 1; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.instructions[17].masked = false; }));
  EXPECT_TRUE(differs([](Kernel& k) { k.blocks[2].yields[0] = 17; }));
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    parse_kernel(text);
    ADD_FAILURE() << "parsed: " << text;
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what() << "\nexpected: " << message;
  }
}

TEST(Text, ErrorsNameLineAndColumn) {
  expect_error("", "line 1, column 1: expected 'kernel'");
  expect_error("kernel k() {\n  %0: i64 = begin\n  %0: i64 = end\n}", "line 3, column 3: %0 is defined twice");
  expect_error("kernel k() {\n  %1: i64 = add %0, %0\n}", "line 2, column 17: %0 is not defined");
  expect_error("kernel k() {\n  %1: i64 = frobnicate %0\n}", "line 2, column 13: 'frobnicate' is not an instruction");
  expect_error("kernel k() {\n  %1: i65 = begin\n}", "line 2, column 7: 'i65' is not a type");
  expect_error("kernel k() {\n  %1: f32x8 = begin\n}", "'f32x8' is not a type");
  expect_error("kernel k() {\n  jump\n}", "line 2, column 3: 'jump' is not a statement");
  expect_error("kernel k() {", "expected a statement or }");
  expect_error("kernel k() { } x", "line 1, column 16: expected the end of the text");
  expect_error("kernel k(@1: f32) { }", "expected @0");
  expect_error("kernel k(@0: float) { }", "'float' is not an element type");
  expect_error("kernel \"k() { }", "closing quote");
  expect_error("kernel \"\\q\"() { }", "column 9: expected \\\"");
  expect_error("kernel k() { @0 = heap f32[1] }", "expected scratch, shared or table");
  expect_error("kernel k() { @0 = scratch f32[0] }", "expected a number of elements");
  expect_error("kernel k() { @0 = scratch f32[99999999999999999999] }", "expected a number of elements");
  expect_error("kernel k() { @0 = scratch f32[9223372036854775807] }", "bytes of scratch");
  expect_error("kernel k() { @0 = table u8[1] {0x11111111111111111} }", "up to 16 hexadecimal digits");
  expect_error("kernel k() { @0 = table u8[1] {7} }", "expected a hexadecimal number");
  expect_error("kernel k() { @0 = table u8[9000000000000000000] {0x7} }", "table elements");
  expect_error("kernel k() params -1 { }", "expected a number of params");
  expect_error("kernel k() { %0: i64 = 9223372036854775808 }", "is not a valid i64");
  expect_error("kernel k() { %0: i8 = 128 }", "128 is not a valid i8");
  expect_error("kernel k() { %0: i8 = 1.5 }", "'1.5' is not a valid i8");
  expect_error("kernel k() { %0: f32 = 1e99 }", "'1e99' is not a valid f32");
  expect_error("kernel k() { %0: f16 = 0.1 }", "is not a valid f16");
  expect_error("kernel k() { %0: bool = 1 }", "'1' is not a valid bool");
  expect_error("kernel k() { %0: i64 = begin for %1 = %0 to %1 step 1 { } }", "%1 is not defined");
  expect_error("kernel k() { %0: i64 = begin for %1 = %0 to %0 step 0 { } }", "expected a step");
  expect_error("kernel k() { %0: i64 = begin %2 = for %1 = %0 to %0 step 1 { } }", "carries nothing has no name");
  expect_error("kernel k() { %0: i64 = begin for %1 = %0 to %0 step 1 carry (%2: i64 = %0) { yield %2 } }",
               "needs a name");
  expect_error("kernel k() { %0: i64 = begin yield %0 }", "yield nothing");
}

TEST(Text, VerifierErrorsHaveALocationToo) {
  expect_error("kernel k(@0: f32) {\n  %0: i64 = begin\n  %1: f32 = load @0[%0]\n  %2: i64 = add %0, %1\n}",
               "line 4, column 3: kernel k: %2 = add: operand 1 is f32, must be i64");
}

std::string nested(int depth) {
  std::string text = "kernel k() { %c: bool = true ";
  for (int i = 0; i < depth; ++i) text += "if %c { ";
  for (int i = 0; i <= depth; ++i) text += "} ";
  return text;
}

TEST(Text, NestingIsLimited) {
  EXPECT_NO_THROW(parse_kernel(nested(kMaxDepth)));
  expect_error(nested(kMaxDepth + 1), "nest deeper than 64");
  expect_error(nested(1000000), "nest deeper than 64");
}

/// For any damage to the text, the parser returns a kernel or throws a ValueError.
TEST(Text, SurvivesDamage) {
  const std::string good = std::string(kRowSums) + "# " + kRowSums;
  std::mt19937 random(7);
  int parsed = 0, refused = 0;
  for (int n = 0; n < 4000; ++n) {
    std::string text = kRowSums;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        case 2:
          text.insert(at, good.substr(random() % good.size(), random() % 30));
          break;
        default:
          text[at] = good[random() % good.size()];
      }
      if (text.empty()) text = " ";
    }
    try {
      const Kernel kernel = parse_kernel(text);
      ASSERT_TRUE(parse_kernel(to_text(kernel)) == kernel) << text;
      ++parsed;
    } catch (const ValueError&) {
      ++refused;
    }
  }
  EXPECT_GT(parsed, 20);
  EXPECT_GT(refused, 2000);
}

}  // namespace
}  // namespace lucid::loop
