#pragma once

#include <optional>
#include <string_view>

#include "loop/kernel.h"

namespace lucid::loop {

/// How a code's operands and result relate. Shared by the builder, the verifier and the text form.
enum class Family : uint8_t {
  kLeaf,        // no operands
  kBinary,      // two operands and a result of one type
  kUnary,       // one operand and a result of one type
  kFma,         // three operands and a result of one type
  kComparison,  // two operands of one type, kBool result
  kSelect,
  kConversion,  // one operand, same shape, different element type
  kLanes,       // one operand; moves between scalar and vector, or within a vector
  kMemory,
  kControl,
};

struct CodeInfo {
  std::string_view name;
  Family family = Family::kLeaf;
  /// The element types of the operands.
  DtypeSet dtypes = kAllDtypes;
};

const CodeInfo& info_of(Code code);
inline std::string_view name_of(Code code) { return info_of(code).name; }
/// The code whose name in the text form is `name`.
std::optional<Code> parse_code(std::string_view name);

/// Whether the instruction defines a value. kFor does not: its results are read with kResult.
bool has_result(Code code);

/// "f32" or "f32x16".
std::string to_string(Type type);

}  // namespace lucid::loop
