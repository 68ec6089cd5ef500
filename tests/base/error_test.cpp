#include "base/error.h"

#include <gtest/gtest.h>

#include <string>

#include "base/throw_error.h"

namespace lucid {
namespace {

TEST(Error, FormatsItsMessageAndKeepsItsClass) {
  try {
    throw ValueError("matmul: inner dimensions differ: {} and {}", 4, "3");
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "matmul: inner dimensions differ: 4 and 3");
    EXPECT_EQ(error.error_class(), ErrorClass::kValue);
  }
}

TEST(Error, APlainMessageIsNotAFormat) {
  EXPECT_STREQ(TypeError("expected {}").what(), "expected {}");
  EXPECT_STREQ(TypeError(std::string("expected {}")).what(), "expected {}");
}

TEST(Error, ClassesAreDistinct) {
  EXPECT_EQ(TypeError("").error_class(), ErrorClass::kType);
  EXPECT_EQ(IndexError("").error_class(), ErrorClass::kIndex);
  EXPECT_EQ(RuntimeError("").error_class(), ErrorClass::kRuntime);
  EXPECT_EQ(MemoryError("").error_class(), ErrorClass::kMemory);
  EXPECT_EQ(NotImplementedError("").error_class(), ErrorClass::kNotImplemented);
  EXPECT_EQ(InternalError("").error_class(), ErrorClass::kInternal);
  EXPECT_THROW(throw IndexError("x"), Error);
  EXPECT_THROW(throw IndexError("x"), std::runtime_error);
}

TEST(Error, AClassKnownAtRunTime) {
  EXPECT_THROW(throw_error(ErrorClass::kValue, "x"), ValueError);
  EXPECT_THROW(throw_error(ErrorClass::kType, "x"), TypeError);
  EXPECT_THROW(throw_error(ErrorClass::kIndex, "x"), IndexError);
  EXPECT_THROW(throw_error(ErrorClass::kRuntime, "x"), RuntimeError);
  EXPECT_THROW(throw_error(ErrorClass::kMemory, "x"), MemoryError);
  EXPECT_THROW(throw_error(ErrorClass::kNotImplemented, "x"), NotImplementedError);
  EXPECT_THROW(throw_error(ErrorClass::kInternal, "x"), InternalError);
}

TEST(Check, NamesTheConditionTheLocationAndTheReason) {
  const int line = __LINE__ + 2;
  try {
    LUCID_CHECK(1 + 1 == 3, "arithmetic gave {}", 2);
    FAIL() << "did not throw";
  } catch (const InternalError& error) {
    EXPECT_EQ(std::string(error.what()),
              fmt::format("internal error at {}:{}: 1 + 1 == 3 does not hold: arithmetic gave 2. Please report this.",
                          __FILE__, line));
  }
}

TEST(Check, TheReasonIsOptionalAndNotEvaluatedOnSuccess) {
  int evaluations = 0;
  LUCID_CHECK(true, "{}", ++evaluations);
  EXPECT_EQ(evaluations, 0);
  try {
    LUCID_CHECK(false);
    FAIL() << "did not throw";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("false does not hold. Please"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lucid
