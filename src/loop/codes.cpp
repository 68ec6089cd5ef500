#include "loop/codes.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace lucid::loop {
namespace {

constexpr int kCodeCount = static_cast<int>(Code::kArgument) + 1;
constexpr DtypeSet kComputedFloats = DtypeSet(Dtype::kF32) | Dtype::kF64;
constexpr DtypeSet kComputed = kIntegers | kComputedFloats;
constexpr DtypeSet kBits = kIntegers | kBoolean;

// In the order of Code.
constexpr std::array<CodeInfo, kCodeCount> kInfos = {{
    {"const", Family::kLeaf, kAllDtypes},
    {"param", Family::kLeaf, Dtype::kI64},
    {"begin", Family::kLeaf, Dtype::kI64},
    {"end", Family::kLeaf, Dtype::kI64},
    {"member", Family::kLeaf, Dtype::kI64},
    {"iota", Family::kLeaf, kComputed},
    {"add", Family::kBinary, kComputed},
    {"sub", Family::kBinary, kComputed},
    {"mul", Family::kBinary, kComputed},
    {"div", Family::kBinary, kComputed},
    {"rem", Family::kBinary, kIntegers},
    {"min", Family::kBinary, kIntegers},
    {"max", Family::kBinary, kIntegers},
    {"and", Family::kBinary, kBits},
    {"or", Family::kBinary, kBits},
    {"xor", Family::kBinary, kBits},
    {"shl", Family::kBinary, kIntegers},
    {"shr", Family::kBinary, kIntegers},
    {"shr_logical", Family::kBinary, kIntegers},
    {"copysign", Family::kBinary, kComputedFloats},
    {"neg", Family::kUnary, kComputed},
    {"abs", Family::kUnary, kComputed},
    {"not", Family::kUnary, kBits},
    {"sqrt", Family::kUnary, kComputedFloats},
    {"floor", Family::kUnary, kComputedFloats},
    {"ceil", Family::kUnary, kComputedFloats},
    {"trunc", Family::kUnary, kComputedFloats},
    {"round", Family::kUnary, kComputedFloats},
    {"fma", Family::kFma, kComputedFloats},
    {"eq", Family::kComparison, kComputed | kBoolean},
    {"ne", Family::kComparison, kComputed | kBoolean},
    {"lt", Family::kComparison, kComputed},
    {"le", Family::kComparison, kComputed},
    {"gt", Family::kComparison, kComputed},
    {"ge", Family::kComparison, kComputed},
    {"select", Family::kSelect, kAllDtypes},
    {"convert", Family::kConversion, kAllDtypes},
    {"bitcast", Family::kConversion, kComputed},
    {"splat", Family::kLanes, kAllDtypes},
    {"extract", Family::kLanes, kAllDtypes},
    {"rotate", Family::kLanes, kAllDtypes},
    {"any", Family::kLanes, kBoolean},
    {"load", Family::kMemory, kAllDtypes},
    {"load_alternate", Family::kMemory, kAllDtypes},
    {"load_twice", Family::kMemory, kAllDtypes},
    {"gather", Family::kMemory, kAllDtypes},
    {"store", Family::kMemory, kAllDtypes},
    {"scatter", Family::kMemory, kAllDtypes},
    {"prefetch", Family::kMemory, kAllDtypes},
    {"for", Family::kControl, kAllDtypes},
    {"result", Family::kControl, kAllDtypes},
    {"if", Family::kControl, kAllDtypes},
    {"call", Family::kControl, kAllDtypes},
    {"barrier", Family::kControl, kAllDtypes},
    {"argument", Family::kControl, kAllDtypes},
}};
static_assert(kInfos.back().name == "argument");

// Codes sorted by name, for binary search.
constexpr auto kByName = [] {
  std::array<Code, kCodeCount> codes{};
  for (int i = 0; i < kCodeCount; ++i) codes[i] = static_cast<Code>(i);
  std::ranges::sort(codes, {}, [](Code code) { return kInfos[static_cast<int>(code)].name; });
  return codes;
}();

}  // namespace

const CodeInfo& info_of(Code code) {
  LUCID_CHECK(static_cast<int>(code) < kCodeCount, "code {}", static_cast<int>(code));
  return kInfos[static_cast<int>(code)];
}

std::optional<Code> parse_code(std::string_view name) {
  const auto found =
      std::ranges::lower_bound(kByName, name, {}, [](Code code) { return kInfos[static_cast<int>(code)].name; });
  if (found == kByName.end() || kInfos[static_cast<int>(*found)].name != name) return std::nullopt;
  return *found;
}

bool has_result(Code code) {
  return code != Code::kStore && code != Code::kScatter && code != Code::kPrefetch && code != Code::kFor &&
         code != Code::kIf && code != Code::kCall && code != Code::kBarrier;
}

std::string to_string(Type type) {
  std::string text(name_of(type.element));
  if (type.vector) text += "x16";
  return text;
}

}  // namespace lucid::loop
