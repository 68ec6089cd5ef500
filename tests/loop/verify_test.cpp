#include "loop/verify.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "loop/builder.h"

namespace lucid::loop {
namespace {

// A valid kernel with one of each construct; each test breaks it in one place. Values have descriptive names.
constexpr const char* kText = R"(kernel k(@0: f32, @1: i32, @2: f16) params 1 {
  @3 = scratch f32[64]
  @4 = table f32[2] {0x3f800000, 0x0}
  %0: i64 = begin
  %1: i64 = param 0
  %2: f32 = 0.5
  %3: i32 = 7
  %4: i64x16 = iota
  %5: f32x16 = splat %2
  %6: boolx16 = lt %5, %5
  %7: bool = any %6
  %8: i64 = add %0, %1
  %9: f32x16 = fma %5, %5, %5
  %10: f32x16 = select %6, %5, %9
  %11: i32x16 = convert %5
  %12: i32x16 = bitcast %5
  %13: f32 = extract %9, 3
  %14: f32x16 = rotate %9, 3
  %15: f32x16 = load @0[%0] mask %6
  %16: f32x16 = gather @0[%4] mask %6
  store @0[%0], %15 mask %6
  scatter @0[%4], %16 mask %6
  prefetch @0[%0]
  %20 = for %21 = %0 to %1 step 1 carry (%22: f32 = %2) {
    %23: f32 = sqrt %22
    yield %23
  }
  %24: f32 = result %20, 0
  if %7 {
    store @0[%0], %24
  } else {
    store @3[%0], %13
  }
  %28: f16 = load @2[%0]
  %29: f32 = load @4[%0]
  %30: f32x16 = load_alternate @0[%0] mask %6
  %31: f32x16 = load_twice @0[%0] mask %6
}
)";

struct Broken {
  const char* rule;  // part of the message
  std::function<void(Kernel&)> damage;
};

void PrintTo(const Broken& broken, std::ostream* out) { *out << broken.rule; }

void expect_refused(Kernel kernel, const Broken& broken) {
  broken.damage(kernel);
  try {
    verify(kernel);
    ADD_FAILURE() << "accepted";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find(broken.rule), std::string::npos) << error.what();
  }
}

class Rules : public testing::TestWithParam<Broken> {};

TEST_P(Rules, AreChecked) { expect_refused(parse_kernel(kText), GetParam()); }

std::function<void(Kernel&)> operand(Id id, size_t k, Id value) {
  return [=](Kernel& kernel) { kernel.instructions[id].operands[k] = value; };
}
std::function<void(Kernel&)> type(Id id, Dtype element, bool vector) {
  return [=](Kernel& kernel) { kernel.instructions[id].type = {element, vector}; };
}
std::function<void(Kernel&)> integer(Id id, int64_t value) {
  return [=](Kernel& kernel) { kernel.instructions[id].integer = value; };
}
std::function<void(Kernel&)> code(Id id, Code value) {
  return [=](Kernel& kernel) { kernel.instructions[id].code = value; };
}
std::function<void(Kernel&)> buffer(Id id, uint32_t value) {
  return [=](Kernel& kernel) { kernel.instructions[id].buffer = value; };
}
std::function<void(Kernel&)> no_operand(Id id) {
  return [=](Kernel& kernel) { kernel.instructions[id].operands.pop_back(); };
}
std::function<void(Kernel&)> one_more_operand(Id id) {
  return [=](Kernel& kernel) { kernel.instructions[id].operands.push_back(0); };
}

// A kernel that calls another, with a buffer and its own scratch.
constexpr const char* kCallText = R"(kernel k(@0: f32, @1: i32) params 2 {
  @2 = scratch f32[64]
  kernel part(@0: f32, @1: f32) params 1 {
    @2 = scratch f32[8]
    %0: i64 = begin
    %1: f32 = load @0[%0]
    store @1[%0], %1
  }
  %0: i64 = begin
  %1: i64 = end
  call 0(@0, @2 from %0) params 1 items %0 to %1
}
)";

class CallRules : public testing::TestWithParam<Broken> {};

TEST_P(CallRules, AreChecked) {
  const Kernel kernel = parse_kernel(kCallText);
  EXPECT_EQ(to_text(kernel), kCallText);
  expect_refused(kernel, GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    Calls, CallRules,
    testing::Values(Broken{"must be call 0 of 1", integer(2, 1)}, Broken{"must be call 0 of 1", integer(2, -1)},
                    Broken{"performs 1 of its 2 calls", [](Kernel& k) { k.calls.push_back(k.calls[0]); }},
                    Broken{"there is no part 7", [](Kernel& k) { k.calls[0].part = 7; }},
                    Broken{"passes 1 params from 2, there are 2", [](Kernel& k) { k.calls[0].first_param = 2; }},
                    Broken{"passes 1 params from -1", [](Kernel& k) { k.calls[0].first_param = -1; }},
                    Broken{"passes 1 buffers, part takes 2", [](Kernel& k) { k.calls[0].buffers.pop_back(); }},
                    Broken{"there is no buffer @9", [](Kernel& k) { k.calls[0].buffers[0] = 9; }},
                    Broken{"@1 holds i32, argument 0 of part is f32", [](Kernel& k) { k.calls[0].buffers[0] = 1; }},
                    Broken{"@2 is a table",
                           [](Kernel& k) { k.buffers[2] = {Buffer::Kind::kTable, Dtype::kF32, 1, {0}}; }},
                    Broken{"has 2 operands, must have 3", no_operand(2)},
                    Broken{"has 4 operands, must have 3", one_more_operand(2)},
                    Broken{"part part has parts", [](Kernel& k) { k.parts[0].parts.push_back(k.parts[0]); }},
                    Broken{"kernel part: there is no body", [](Kernel& k) { k.parts[0].blocks.clear(); }}));

INSTANTIATE_TEST_SUITE_P(
    Buffers, Rules,
    testing::Values(Broken{"argument @4 comes after",
                           [](Kernel& k) { k.buffers[4] = {Buffer::Kind::kArgument, Dtype::kF32, 0, {}}; }},
                    Broken{"@0 has 5 elements", [](Kernel& k) { k.buffers[0].count = 5; }},
                    Broken{"@3 has 0 elements", [](Kernel& k) { k.buffers[3].count = 0; }},
                    Broken{"@3: more than 4194304 bytes", [](Kernel& k) { k.buffers[3].count = int64_t{1} << 62; }},
                    Broken{"@3: more than 4194304 bytes", [](Kernel& k) { k.buffers[3].count = (1 << 20) + 1; }},
                    Broken{"@4 has 1 table elements", [](Kernel& k) { k.buffers[4].table.pop_back(); }},
                    Broken{"@3 has 1 table elements", [](Kernel& k) { k.buffers[3].table.push_back(0); }},
                    Broken{"wider than f32", [](Kernel& k) { k.buffers[4].table[0] = uint64_t{1} << 32; }},
                    Broken{"wider than bool",
                           [](Kernel& k) { k.buffers.push_back({Buffer::Kind::kTable, Dtype::kBool, 1, {2}}); }},
                    Broken{"there is no buffer @9", buffer(15, 9)}, Broken{"@1 holds i32, not f32", buffer(15, 1)},
                    Broken{"@1 holds i32, not f32", buffer(17, 1)},
                    Broken{"@4 is a table, which is read-only", buffer(17, 4)},
                    Broken{"@4 is a table, which is read-only", buffer(18, 4)}));

INSTANTIATE_TEST_SUITE_P(
    Types, Rules,
    testing::Values(Broken{"%8 = add: operand 1 is f32, must be i64", operand(8, 1, 2)},
                    Broken{"%8 = add: operand 0 is i64x16, must be i64", operand(8, 0, 4)},
                    Broken{"%8 = add: operand 0 is i64, must be i32", type(8, Dtype::kI32, false)},
                    Broken{"has 1 operands, must have 2", no_operand(8)},
                    Broken{"has 4 operands, must have 3", one_more_operand(9)},
                    Broken{"%0 = begin: has 1 operands, must have 0", one_more_operand(0)},
                    Broken{"%0 = begin: does not work on f32", type(0, Dtype::kF32, false)},
                    Broken{"returns a vector, must return a scalar", type(2, Dtype::kF32, true)},
                    Broken{"returns a scalar, must return a vector", type(4, Dtype::kI64, false)},
                    Broken{"%4 = iota: does not work on f16", type(4, Dtype::kF16, true)},
                    Broken{"%9 = fma: does not work on i32", type(9, Dtype::kI32, true)},
                    Broken{"%23 = min: has 1 operands, must have 2", code(23, Code::kMin)},
                    Broken{"%23 = not: does not work on f32", code(23, Code::kNot)},
                    Broken{"%23 = sqrt: does not work on f16", type(23, Dtype::kF16, false)},
                    Broken{"%6 = lt: returns f32x16, must return boolx16", type(6, Dtype::kF32, true)},
                    Broken{"%6 = lt: returns bool, must return boolx16", type(6, Dtype::kBool, false)},
                    Broken{"%6 = lt: operand 1 is i64x16, must be f32x16", operand(6, 1, 4)},
                    Broken{"%10 = select: the condition is f32x16", operand(10, 0, 5)},
                    Broken{"operand 2 is f32, must be f32x16", operand(10, 2, 2)},
                    Broken{"a vector condition selects vectors, not f32", type(10, Dtype::kF32, false)},
                    Broken{"%11 = convert: operand 0 is f32x16, must be f32", type(11, Dtype::kI32, false)},
                    Broken{"the operand is f32x16 already", type(11, Dtype::kF32, true)},
                    Broken{"f32x16 and i64x16 differ in size", type(12, Dtype::kI64, true)},
                    Broken{"%12 = bitcast: does not work on bool", operand(12, 0, 6)},
                    Broken{"%5 = splat: operand 0 is i32, must be f32", operand(5, 0, 3)},
                    Broken{"%5 = splat: returns f32, must return f32x16", type(5, Dtype::kF32, false)},
                    Broken{"%7 = any: does not work on f32", type(7, Dtype::kF32, false)},
                    Broken{"%7 = any: operand 0 is f32x16, must be boolx16", operand(7, 0, 5)},
                    Broken{"%13 = extract: returns f32x16, must return f32", type(13, Dtype::kF32, true)},
                    Broken{"%13 = extract: operand 0 is f32, must be f32x16", operand(13, 0, 2)},
                    Broken{"%15 = load: operand 0 is i64x16, must be i64", operand(15, 0, 4)},
                    Broken{"%15 = load: operand 0 is i32, must be i64", operand(15, 0, 3)},
                    Broken{"%16 = gather: operand 0 is i64, must be i64x16", operand(16, 0, 0)},
                    Broken{"operand 1 is bool, must be boolx16", operand(15, 1, 7)},
                    Broken{"%30 = load_alternate: operand 0 is i64x16, must be i64", operand(30, 0, 4)},
                    Broken{"%31 = load_twice: operand 1 is bool, must be boolx16", operand(31, 1, 7)},
                    Broken{"%30 = load_alternate: loads vectors, not f32", type(30, Dtype::kF32, false)},
                    Broken{"%31 = load_twice: loads vectors, not f32", type(31, Dtype::kF32, false)},
                    Broken{"@1 holds i32, not f32", buffer(31, 1)},
                    Broken{"operand 2 is f32x16, must be boolx16", operand(17, 2, 5)},
                    Broken{"a mask needs a vector, not f32", type(15, Dtype::kF32, false)},
                    Broken{"a vector of indices needs a vector of values, not f32", type(16, Dtype::kF32, false)},
                    Broken{"a vector of indices needs a vector of values, not f32", operand(18, 1, 2)},
                    Broken{"has 2 operands, must have 1", one_more_operand(19)}));

INSTANTIATE_TEST_SUITE_P(
    Attributes, Rules,
    testing::Values(Broken{"there is no param 1", integer(1, 1)}, Broken{"there is no param -1", integer(1, -1)},
                    Broken{"the number of params is negative", [](Kernel& k) { k.param_count = -1; }},
                    Broken{"0.1 is not a valid f32", [](Kernel& k) { k.instructions[2].real = 0.1; }},
                    Broken{"2147483648 is not a valid i32", integer(3, int64_t{1} << 31)},
                    Broken{"there is no lane 16", integer(13, 16)}, Broken{"there is no lane -1", integer(14, -1)},
                    Broken{"%8 = add: takes no integer", integer(8, 1)},
                    Broken{"%2 = const: takes no integer", integer(2, 1)},
                    Broken{"%3 = const: takes no real", [](Kernel& k) { k.instructions[3].real = 1; }},
                    Broken{"%8 = add: takes no buffer", buffer(8, 1)},
                    Broken{"%8 = add: takes no mask", [](Kernel& k) { k.instructions[8].masked = true; }},
                    Broken{"%19 = prefetch: takes no mask", [](Kernel& k) { k.instructions[19].masked = true; }},
                    Broken{"%8 = add: takes no blocks", [](Kernel& k) { k.instructions[8].blocks.push_back(1); }}));

INSTANTIATE_TEST_SUITE_P(
    Scopes, Rules,
    testing::Values(
        Broken{"%8 = add: %14 is not in scope", operand(8, 0, 14)}, Broken{"%8 is not in scope", operand(8, 0, 8)},
        Broken{"there is no %99", operand(8, 0, 99)}, Broken{"%17 is not a value but a store", operand(28, 0, 17)},
        Broken{"%20 is not a value but a for", operand(28, 0, 20)}, Broken{"%22 is not in scope", operand(25, 0, 22)},
        Broken{"%24 = result: %26 is not in scope", operand(24, 0, 26)},
        Broken{"%24 = result: %9 is not a loop", operand(24, 0, 9)},
        Broken{"%20 = for: %29 is not in scope", [](Kernel& k) { k.blocks[1].yields[0] = 29; }},
        Broken{"placed twice", [](Kernel& k) { k.blocks[0].instructions.push_back(8); }},
        Broken{"placed twice",
               [](Kernel& k) {
                 k.blocks[1].arguments[1] = 21;
                 k.instructions[22].type = {Dtype::kI64};
                 k.instructions[20].operands[2] = 0;
                 k.blocks[1].yields[0] = 0;
               }},
        Broken{"%31 is not in any block", [](Kernel& k) { k.blocks[0].instructions.pop_back(); }},
        Broken{"lists %99, which does not exist", [](Kernel& k) { k.blocks[0].instructions.push_back(99); }},
        Broken{"belongs in a block's arguments", code(29, Code::kArgument)}));

INSTANTIATE_TEST_SUITE_P(
    Control, Rules,
    testing::Values(Broken{"there is no body", [](Kernel& k) { k.blocks.clear(); }},
                    Broken{"the body must have no arguments", [](Kernel& k) { k.blocks[0].yields.push_back(0); }},
                    Broken{"nothing refers to block 4", [](Kernel& k) { k.blocks.emplace_back(); }},
                    Broken{"block 1 is referred to twice",
                           [](Kernel& k) {
                             k.instructions[20].operands.pop_back();
                             k.blocks[1].arguments.pop_back();
                             k.blocks[1].yields.clear();
                             k.instructions[23].operands[0] = 2;
                             k.blocks[0].instructions = {0, 1, 2, 20, 20};
                           }},
                    Broken{"there is no block 9", [](Kernel& k) { k.instructions[25].blocks[0] = 9; }},
                    Broken{"block 0 is referred to twice", [](Kernel& k) { k.instructions[25].blocks[0] = 0; }},
                    Broken{"has no body", [](Kernel& k) { k.instructions[20].blocks.clear(); }},
                    Broken{"%20 = for: has no bounds", [](Kernel& k) { k.instructions[20].operands.resize(1); }},
                    Broken{"%20 = for: operand 0 is f32, must be i64", operand(20, 0, 2)},
                    Broken{"%20 = for: operand 1 is i64x16, must be i64", operand(20, 1, 4)},
                    Broken{"the step is 0, must be positive", integer(20, 0)},
                    Broken{"the step is -1, must be positive", integer(20, -1)},
                    Broken{"carries 1 values but its body has 1 arguments",
                           [](Kernel& k) { k.blocks[1].arguments.pop_back(); }},
                    Broken{"carries 1 values but its body yields 0", [](Kernel& k) { k.blocks[1].yields.clear(); }},
                    Broken{"%23 is not a block argument", [](Kernel& k) { k.blocks[1].arguments[1] = 23; }},
                    Broken{"argument 0 is i32, must be i64", type(21, Dtype::kI32, false)},
                    Broken{"argument 1 is f32x16, must be f32", type(22, Dtype::kF32, true)},
                    Broken{"yield 0 is i64, must be f32", [](Kernel& k) { k.blocks[1].yields[0] = 0; }},
                    Broken{"the loop has no result 1", integer(24, 1)},
                    Broken{"the loop has no result -1", integer(24, -1)},
                    Broken{"%24 = result: returns i32, must return f32", type(24, Dtype::kI32, false)},
                    Broken{"%25 = if: operand 0 is boolx16, must be bool", operand(25, 0, 6)},
                    Broken{"has 0 blocks, must have 1 or 2", [](Kernel& k) { k.instructions[25].blocks.clear(); }},
                    Broken{"has 3 blocks, must have 1 or 2", [](Kernel& k) { k.instructions[25].blocks.push_back(1); }},
                    Broken{"its blocks must have no arguments", [](Kernel& k) { k.blocks[2].yields.push_back(0); }}));

TEST(Verify, LimitsNesting) {
  Kernel kernel;
  kernel.instructions.push_back({.code = Code::kConst, .type = {Dtype::kBool}});
  kernel.blocks.push_back({.arguments = {}, .instructions = {0}, .yields = {}});
  auto nest = [&] {
    const auto block = static_cast<uint32_t>(kernel.blocks.size());
    const auto id = static_cast<Id>(kernel.instructions.size());
    kernel.blocks.back().instructions.push_back(id);
    kernel.instructions.push_back({.code = Code::kIf, .type = {}, .operands = {0}, .blocks = {block}});
    kernel.blocks.emplace_back();
  };
  for (int depth = 0; depth < kMaxDepth; ++depth) nest();
  EXPECT_NO_THROW(verify(kernel));
  nest();
  EXPECT_THROW(verify(kernel), InternalError);
}

/// A group of four whose body is `statements`.
std::string group_of(const std::string& statements) {
  return "kernel k(@0: f32) params 1 group 4 {\n@1 = shared f32[64]\n%begin: i64 = begin\n%end: i64 = end\n"
         "%n: i64 = param 0\n%member: i64 = member\n%zero: i64 = 0\n%lanes: i64x16 = iota\n" +
         statements + "}";
}

std::string error_of(const std::string& text) {
  try {
    parse_kernel(text);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

TEST(Verify, BarriersNeedUniformControlFlow) {
  for (const char* good :
       {"barrier", "for %i = %begin to %end step 1 { for %k = %i to %n step 1 { barrier } }",
        "%c: bool = lt %begin, %n if %c { barrier } else { barrier }", "for %i = %begin to %member step 1 { } barrier",
        "%s: i64 = mul %n, %n for %i = %zero to %s step 1 { barrier }"})
    EXPECT_EQ(error_of(group_of(good)), "") << good;
  for (const char* bad :
       {"for %i = %begin to %member step 1 { barrier }", "%c: bool = lt %member, %n if %c { barrier }",
        "%c: bool = lt %member, %n if %c { for %i = %begin to %end step 1 { barrier } }",
        "%s: i64 = mul %n, %member for %i = %s to %n step 1 { barrier }",
        "for %i = %member to %n step 1 { for %k = %zero to %i step 1 { barrier } }",
        "%x: f32 = load @0[%n] %y: i64 = convert %x for %i = %zero to %y step 1 { barrier }"})
    EXPECT_NE(error_of(group_of(bad)).find("may take different branches"), std::string::npos) << bad;
}

TEST(Verify, WhatGroupsCannotDo) {
  const auto expect_error = [](const std::string& text, const std::string& rule) {
    EXPECT_NE(error_of(text).find(rule), std::string::npos) << error_of(text);
  };
  expect_error(group_of("%x: i64 = extract %lanes, 1"), "extract: does not work in a group");
  expect_error(group_of("%x: i64x16 = rotate %lanes, 1"), "rotate: does not work in a group");
  expect_error(group_of("%x: f32x16 = load @0[%n] scatter @0[%lanes], %x"), "scatter: does not work in a group");
  expect_error("kernel k() group 4 { @0 = scratch f32[4] }", "groups cannot have");
  expect_error("kernel k() group 4 { @0 = shared f32[4096] @1 = shared u8[1] }", "more than 16384 bytes");
  expect_error("kernel k() { @0 = shared f32[4] }", "there is no group");
  expect_error("kernel k() { barrier }", "there is no group");
  expect_error("kernel k() { %0: i64 = member }", "there is no group");
  expect_error("kernel k() group 17 { }", "a number of members");
  expect_error("kernel k() { kernel p() group 2 { } }", "runs as a group");
  Kernel kernel = parse_kernel(group_of(""));
  kernel.group = 0;
  EXPECT_THROW(verify(kernel), InternalError);
}

TEST(Verify, NamesTheInstruction) {
  Kernel kernel = parse_kernel(kText);
  kernel.instructions[23].type = {Dtype::kF64, false};
  try {
    verify(kernel);
    FAIL();
  } catch (const BrokenRule& broken) {
    EXPECT_EQ(broken.instruction(), 23u);
    EXPECT_EQ(broken.error_class(), ErrorClass::kInternal);
    EXPECT_STREQ(broken.what(), "kernel k: %23 = sqrt: operand 0 is f32, must be f64");
  }
}

}  // namespace
}  // namespace lucid::loop
