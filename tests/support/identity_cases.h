#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace lucid::test {

/// A graph of %0: T[3,8] that a rule of ExactIdentityPass applies to, with T one of `dtypes`.
struct IdentityCase {
  std::string rule;
  DtypeSet dtypes;
  std::string body;  // ends with %9, which hides the strides of its operands

  IRGraph graph(Dtype dtype) const {
    std::string text = "graph f(%0: T[3,8] input, %10: bool[3,8] input) -> (%9) {\n" + body + "\n}\n";
    for (size_t at; (at = text.find("T[")) != std::string::npos;) text.replace(at, 1, name_of(dtype));
    for (size_t at; (at = text.find("=T}")) != std::string::npos;) text.replace(at + 1, 1, name_of(dtype));
    return parse_graph(text);
  }
};

/// The dtypes in `among` for which a call of the op on `operands` tensors of the dtype returns the same dtype.
inline DtypeSet kept_dtypes(const Op& op, size_t operands, DtypeSet among) {
  DtypeSet kept;
  for (int i = 0; i < kDtypeCount; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    if (!among.contains(dtype) || !op.dtypes.contains(dtype)) continue;
    const Value x = make_ref<ValueBase>(dtype, Dims{3, 8}, kCpuDevice);
    const std::vector<Operand> given(operands, Operand(x));
    const Attributes attributes = op.schema.default_attributes();
    if (infer_types(Call(op, given, attributes)).front().dtype == dtype) kept = kept | dtype;
  }
  return kept;
}

/// Adds a case for each identity that the entry of an op declares.
inline void add_identity_cases(const Op& op, std::vector<IdentityCase>& cases) {
  const std::string end = "\n%9: T[6,8] = cat_same(%8, %8)";
  const Algebra& algebra = op.algebra;
  const auto add = [&](const char* rule, DtypeSet dtypes, const std::string& arguments) {
    cases.push_back({rule, dtypes, "%8: T[3,8] = " + op.name() + "(" + arguments + ")" + end});
  };
  const size_t operands = op.schema.parameters.size();
  if (algebra.is_involution || (algebra.is_idempotent && operands == 1)) {
    const std::string twice = "%1: T[3,8] = " + op.name() + "(%0)\n%8: T[3,8] = " + op.name() + "(%1)" + end;
    cases.push_back({algebra.is_involution ? "involution" : "idempotence", kept_dtypes(op, 1, kAllDtypes), twice});
  }
  if (algebra.is_idempotent && operands == 2) add("equal choices", kept_dtypes(op, 2, kAllDtypes), "%0, %0");
  if (algebra.neutral) {
    const auto add_number = [&](DtypeSet among, const std::string& number) {
      const DtypeSet dtypes = kept_dtypes(op, 2, among);
      add("neutral element", dtypes, "%0, " + number);
      if (algebra.neutral->either_side) add("neutral element", dtypes, number + ", %0");
    };
    add_number(kIntegers, std::to_string(algebra.neutral->number));
    add_number(kBoolean, algebra.neutral->number != 0 ? "true" : "false");
  }
}

inline std::vector<IdentityCase> identity_cases() {
  constexpr DtypeSet kExact = kIntegers | kBoolean;
  const std::string joined = "\n%9: T[6,8] = cat_same(%8, %8)";
  std::vector<IdentityCase> cases = {
      {"identity view", kAllDtypes, "%8: T[3,8] = reshape(%0) {shape=[3,8]}" + joined},
      {"identity view", kAllDtypes, "%8: T[3,8] = slice(%0) {dim=1}" + joined},
      {"inverse views", kAllDtypes,
       "%1: T[8,3] = transpose(%0) {dim0=0, dim1=1}\n%8: T[3,8] = permute(%1) {dims=[1,0]}" + joined},
      {"composed permutes", kAllDtypes,
       "%1: T[3,2,4] = unflatten(%0) {dim=1, sizes=[2,4]}\n%2: T[2,4,3] = permute(%1) {dims=[1,2,0]}\n"
       "%3: T[4,3,2] = permute(%2) {dims=[1,2,0]}\n%9: T[8,3,2] = cat_same(%3, %3)"},
      {"same shape", kAllDtypes,
       "%1: T[3,1,8] = unsqueeze(%0) {dim=1}\n%2: T[3,1,8] = reshape(%1) {shape=[3,1,8]}\n"
       "%9: T[6,1,8] = cat_same(%2, %2)"},
      {"composed reshapes", kAllDtypes,
       "%1: T[24] = flatten(%0)\n%2: T[6,4] = reshape(%1) {shape=[6,4]}\n%9: T[12,4] = cat_same(%2, %2)"},
      {"copy", kAllDtypes, "%8: T[3,8] = to(%0) {dtype=T}" + joined},
      {"copy", kAllDtypes, "%8: T[3,8] = clone(%0)" + joined},
      {"copy", kAllDtypes, "%8: T[3,8] = contiguous(%0)" + joined},
      {"copy", kAllDtypes, "%8: T[3,8] = cat(%0)" + joined},
      {"equal choices", kAllDtypes, "%8: T[3,8] = where(%10, %0, %0)" + joined},
      {"equal choices", kAllDtypes, "%8: T[3,8] = minimum(%0, %0)" + joined},
      {"equal choices", kAllDtypes, "%8: T[3,8] = maximum(%0, %0)" + joined},
      {"equal choices", kExact, "%8: T[3,8] = bitwise_and(%0, %0)" + joined},
      {"equal choices", kExact, "%8: T[3,8] = bitwise_or(%0, %0)" + joined},
      {"known condition", kAllDtypes,
       "%1: bool[3,8] = zeros() {size=[3,8], dtype=bool}\n%2: T[3,8] = flip(%0) {dims=[0]}\n"
       "%8: T[3,8] = where(%1, %2, %0)" +
           joined},
      {"known condition", kAllDtypes,
       "%1: bool[3,8] = zeros() {size=[3,8], dtype=bool}\n%8: T[3,8] = masked_fill(%0, %1, 1)" + joined},
      {"involution", kNumbers, "%1: T[3,8] = neg(%0)\n%8: T[3,8] = neg(%1)" + joined},
      {"involution", kExact, "%1: T[3,8] = bitwise_not(%0)\n%8: T[3,8] = bitwise_not(%1)" + joined},
      {"involution", kBoolean, "%1: T[3,8] = logical_not(%0)\n%8: T[3,8] = logical_not(%1)" + joined},
  };
  for (const char* op : {"abs", "relu", "sign", "floor", "ceil", "trunc", "round"})
    cases.push_back(
        {"idempotence", kNumbers, std::string("%1: T[3,8] = ") + op + "(%0)\n%8: T[3,8] = " + op + "(%1)" + joined});
  for (const char* call : {"add(%0, 0)", "add(0, %0)", "mul(%0, 1)", "mul(1, %0)", "bitwise_or(%0, 0)",
                           "bitwise_xor(0, %0)", "bitwise_and(%0, -1)"})
    cases.push_back({"neutral element", kIntegers, std::string("%8: T[3,8] = ") + call + joined});
  for (const char* call :
       {"sub(%0, 0)", "floor_divide(%0, 1)", "bitwise_left_shift(%0, 0)", "bitwise_right_shift(%0, 0)"})
    cases.push_back({"neutral element", kIntegers, std::string("%8: T[3,8] = ") + call + joined});
  for (const char* call : {"add(%0, false)", "mul(true, %0)", "bitwise_and(%0, true)", "bitwise_xor(%0, false)"})
    cases.push_back({"neutral element", kBoolean, std::string("%8: T[3,8] = ") + call + joined});
  const auto converted = [&](DtypeSet from, const std::string& to) {
    cases.push_back({"round trip", from,
                     "%1: " + to + "[3,8] = to(%0) {dtype=" + to + "}\n%8: T[3,8] = to(%1) {dtype=T}" + joined});
  };
  for (int i = 1; i < kDtypeCount; ++i) converted(kBoolean, std::string(name_of(static_cast<Dtype>(i))));
  converted(DtypeSet(Dtype::kU8) | Dtype::kI8, "f16");
  converted(DtypeSet(Dtype::kU8) | Dtype::kI8, "bf16");
  converted(DtypeSet(Dtype::kU8) | Dtype::kI8 | Dtype::kI16, "f32");
  converted(DtypeSet(Dtype::kU8) | Dtype::kI8 | Dtype::kI16 | Dtype::kI32, "f64");
  converted(DtypeSet(Dtype::kU8) | Dtype::kI8 | Dtype::kI16 | Dtype::kI32, "i64");
  converted(Dtype::kU8, "i8");
  converted(Dtype::kI8, "u8");
  converted(DtypeSet(Dtype::kF16) | Dtype::kBF16, "f32");
  converted(Dtype::kF16, "f64");
  for (const Op& op : op_table().ops()) add_identity_cases(op, cases);
  return cases;
}

}  // namespace lucid::test
