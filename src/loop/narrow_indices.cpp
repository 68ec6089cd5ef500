#include "loop/narrow_indices.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "loop/codes.h"

namespace lucid::loop {
namespace {

using Wide = __int128;

/// The values that an integer may have.
struct Range {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();

  bool fits() const {
    return low >= std::numeric_limits<int32_t>::min() && high <= std::numeric_limits<int32_t>::max();
  }
  Wide magnitude() const { return std::max<Wide>(high, -Wide{low}); }
};

/// All i64 numbers if the bounds are not: then the result may have wrapped.
Range range_of(Wide low, Wide high) {
  const Range all;
  return low < all.low || high > all.high ? all : Range{static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

Range range_of(Dtype dtype) {
  if (is_bool(dtype)) return {0, 1};
  if (!is_integer(dtype)) return {};
  const int bits = 8 * static_cast<int>(size_of(dtype));
  if (dtype == Dtype::kU8) return {0, 255};
  return range_of(-(Wide{1} << (bits - 1)), (Wide{1} << (bits - 1)) - 1);
}

Range product(const Range& x, const Range& y) {
  const std::array<Wide, 4> corners = {Wide{x.low} * y.low, Wide{x.low} * y.high, Wide{x.high} * y.low,
                                       Wide{x.high} * y.high};
  return range_of(*std::ranges::min_element(corners), *std::ranges::max_element(corners));
}

/// The range of numbers up to a magnitude with the sign of x.
Range with_sign_of(const Range& x, Wide magnitude) {
  return range_of(x.low < 0 ? -magnitude : 0, x.high > 0 ? magnitude : 0);
}

/// Whether conversions of i64 to the dtype use the low 32 bits only.
bool is_truncated(Dtype dtype) { return is_integer(dtype) && size_of(dtype) <= sizeof(int32_t); }

bool is_wide(const Instruction& x) { return has_result(x.code) && x.type.element == Dtype::kI64; }

/// Finds the ranges of the i64 values of a kernel.
class Ranges {
 public:
  explicit Ranges(const Kernel& kernel)
      : kernel_(kernel), integer_params_(integer_params(kernel)), ranges_(kernel.instructions.size()) {
    visit(0);
  }
  const Range& operator[](Id id) const { return ranges_[id]; }

 private:
  void visit(uint32_t index) {
    for (const Id id : kernel_.blocks[index].instructions) {
      const Instruction& x = kernel_.instructions[id];
      if (is_wide(x)) ranges_[id] = find(x);
      if (x.code == Code::kFor) {
        const Range &first = ranges_[x.operands[0]], &end = ranges_[x.operands[1]];
        ranges_[kernel_.blocks[x.blocks[0]].arguments[0]] =
            range_of(first.low, std::max<Wide>(first.high, Wide{end.high} - 1));
      }
      for (const uint32_t inner : x.blocks) visit(inner);
    }
  }

  Range find(const Instruction& x) const {
    const auto of = [&](size_t i) -> const Range& { return ranges_[x.operands[i]]; };
    switch (x.code) {
      case Code::kConst:
        return {x.integer, x.integer};
      case Code::kParam:
        if (!integer_params_[static_cast<size_t>(x.integer)]) return {};
        return {-kMaxSmallInteger, kMaxSmallInteger};
      case Code::kBegin:
      case Code::kEnd:
        return {0, kMaxSmallInteger};
      case Code::kMember:
      case Code::kIota:
        return {0, kLanes - 1};
      case Code::kAdd:
        return range_of(Wide{of(0).low} + of(1).low, Wide{of(0).high} + of(1).high);
      case Code::kSub:
        return range_of(Wide{of(0).low} - of(1).high, Wide{of(0).high} - of(1).low);
      case Code::kMul:
        return product(of(0), of(1));
      case Code::kDiv:
        return of(1).low > 0 ? with_sign_of(of(0), of(0).magnitude()) : range_of(-of(0).magnitude(), of(0).magnitude());
      case Code::kRem:
        return with_sign_of(of(0), std::min(of(0).magnitude(), of(1).magnitude()));
      case Code::kMin:
        return {std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
      case Code::kMax:
        return {std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
      case Code::kNeg:
        return range_of(-Wide{of(0).high}, -Wide{of(0).low});
      case Code::kSelect:
        return {std::min(of(1).low, of(2).low), std::max(of(1).high, of(2).high)};
      case Code::kConvert:
        return range_of(kernel_.instructions[x.operands[0]].type.element);
      case Code::kSplat:
      case Code::kExtract:
      case Code::kRotate:
        return of(0);
      default:
        return {};
    }
  }

  const Kernel& kernel_;
  const std::vector<bool> integer_params_;
  std::vector<Range> ranges_;
};

/// Writes the new kernel. An i64 value has an i64 form, an i32 form, or both.
class Narrowing {
 public:
  explicit Narrowing(const Kernel& kernel)
      : kernel_(kernel), ranges_(kernel), uses_(kernel.instructions.size()), forms_(kernel.instructions.size()) {}

  Kernel run() {
    find_uses(0);
    result_.name = kernel_.name;
    result_.buffers = kernel_.buffers;
    result_.param_count = kernel_.param_count;
    result_.group = kernel_.group;
    result_.blocks.resize(kernel_.blocks.size());
    write(0);
    return std::move(result_);
  }

 private:
  /// How a value is used: in which forms, and whether its i64 form must be right in all bits.
  struct Uses {
    bool is_narrow = false;
    bool is_wide = false;
    bool is_exact = false;
  };
  enum class Form : uint8_t { kOther, kNarrow, kIndex, kExact };

  /// Whether the low bits of the result depend on the low bits of the operands only.
  bool keeps_low_bits(const Instruction& x) const {
    switch (x.code) {
      case Code::kAdd:
      case Code::kSub:
      case Code::kMul:
      case Code::kAnd:
      case Code::kOr:
      case Code::kXor:
      case Code::kNeg:
      case Code::kNot:
      case Code::kSelect:
      case Code::kSplat:
      case Code::kExtract:
      case Code::kRotate:
        return true;
      default:
        return false;
    }
  }

  /// Whether the instruction computes in i32. Its uses must be known.
  bool is_narrow(Id id) const {
    const Instruction& x = kernel_.instructions[id];
    if (!is_wide(x)) return false;
    if (keeps_low_bits(x)) return ranges_[id].fits() || !uses_[id].is_exact;
    switch (x.code) {
      case Code::kDiv:
      case Code::kRem:
      case Code::kMin:
      case Code::kMax:
        return ranges_[id].fits() && ranges_[x.operands[0]].fits() && ranges_[x.operands[1]].fits();
      case Code::kConvert:
        return ranges_[id].fits();
      default:
        return false;
    }
  }

  /// The form in which an instruction uses an operand.
  Form form_of(Id id, size_t operand) const {
    const Instruction& x = kernel_.instructions[id];
    const Id used = x.operands[operand];
    if (!is_wide(kernel_.instructions[used])) return Form::kOther;
    if (is_narrow(id)) return Form::kNarrow;
    const Family family = info_of(x.code).family;
    if (family == Family::kMemory && operand == 0) return Form::kIndex;
    const bool fits = ranges_[used].fits();
    if (x.code == Code::kConvert) {
      return fits || is_truncated(x.type.element) ? Form::kNarrow : Form::kExact;
    }
    if (family == Family::kComparison && fits && ranges_[x.operands[1 - operand]].fits()) return Form::kNarrow;
    return Form::kExact;
  }

  void add_use(Id used, Form form) {
    Uses& uses = uses_[used];
    uses.is_narrow |= form == Form::kNarrow;
    uses.is_wide |= form == Form::kIndex || form == Form::kExact;
    uses.is_exact |= form == Form::kExact;
  }

  /// Backwards, so that the uses of a value are known before those of its operands are decided.
  void find_uses(uint32_t index) {
    const Block& block = kernel_.blocks[index];
    for (const Id id : block.yields) add_use(id, Form::kExact);
    for (size_t i = block.instructions.size(); i-- > 0;) {
      const Id id = block.instructions[i];
      const Instruction& x = kernel_.instructions[id];
      for (size_t b = x.blocks.size(); b-- > 0;) find_uses(x.blocks[b]);
      if (x.code == Code::kResult) continue;
      for (size_t operand = 0; operand < x.operands.size(); ++operand)
        add_use(x.operands[operand], form_of(id, operand));
    }
  }

  Id add(Instruction x) {
    result_.instructions.push_back(std::move(x));
    return static_cast<Id>(result_.instructions.size() - 1);
  }
  Id place(uint32_t block, Instruction x) {
    const Id id = add(std::move(x));
    result_.blocks[block].instructions.push_back(id);
    return id;
  }
  Id convert(uint32_t block, Id id, Dtype dtype) {
    const Type type{dtype, result_.instructions[id].type.vector};
    return place(block, {.code = Code::kConvert, .type = type, .operands = {id}});
  }

  /// Adds the other form of a value, if it is used.
  void complete(uint32_t block, Id old) {
    Forms& forms = forms_[old];
    if (!is_wide(kernel_.instructions[old])) return;
    if (!forms.narrow && uses_[old].is_narrow) forms.narrow = convert(block, *forms.wide, Dtype::kI32);
    if (!forms.wide && uses_[old].is_wide) forms.wide = convert(block, *forms.narrow, Dtype::kI64);
  }

  void write(uint32_t index) {
    const Block& block = kernel_.blocks[index];
    for (const Id old : block.arguments) {
      forms_[old].wide = add(kernel_.instructions[old]);
      result_.blocks[index].arguments.push_back(*forms_[old].wide);
    }
    for (const Id old : block.arguments) complete(index, old);
    for (const Id old : block.instructions) {
      write_instruction(index, old);
      complete(index, old);
    }
    for (const Id old : block.yields) result_.blocks[index].yields.push_back(*forms_[old].wide);
  }

  void write_instruction(uint32_t index, Id old) {
    Instruction x = kernel_.instructions[old];
    const bool narrows = is_narrow(old);
    for (size_t i = 0; i < x.operands.size(); ++i) {
      const Forms& forms = forms_[x.operands[i]];
      const bool is_narrow_use = x.code != Code::kResult && form_of(old, i) == Form::kNarrow;
      x.operands[i] = is_narrow_use ? *forms.narrow : *forms.wide;
    }
    if (is_free(x) && is_wide(x)) return write_leaf(index, old);
    if (narrows) x.type.element = Dtype::kI32;
    std::optional<Id>& form = narrows ? forms_[old].narrow : forms_[old].wide;
    if (x.code == Code::kConvert && result_.instructions[x.operands[0]].type == x.type) {
      form = x.operands[0];
      return;
    }
    const SmallVector<uint32_t, 2> inner = x.blocks;
    form = place(index, std::move(x));
    for (const uint32_t block : inner) write(block);
  }

  /// Leaves that exist in both types.
  static bool is_free(const Instruction& x) { return x.code == Code::kConst || x.code == Code::kIota; }

  void write_leaf(uint32_t index, Id old) {
    Instruction x = kernel_.instructions[old];
    if (uses_[old].is_wide || !uses_[old].is_narrow) forms_[old].wide = place(index, x);
    if (!uses_[old].is_narrow) return;
    x.type.element = Dtype::kI32;
    x.integer = static_cast<int32_t>(x.integer);
    forms_[old].narrow = place(index, std::move(x));
  }

  /// A value's ids in the new kernel. Values that are not i64 have one, `wide`.
  struct Forms {
    std::optional<Id> wide;
    std::optional<Id> narrow;
  };

  const Kernel& kernel_;
  const Ranges ranges_;
  std::vector<Uses> uses_;
  std::vector<Forms> forms_;
  Kernel result_;
};

}  // namespace

std::vector<bool> integer_params(const Kernel& kernel) {
  std::vector<bool> result(static_cast<size_t>(kernel.param_count));
  for (const Instruction& x : kernel.instructions) {
    const bool truncates = x.code == Code::kConvert && is_truncated(x.type.element);
    if (x.code == Code::kBitcast || truncates) continue;
    for (const Id id : x.operands) {
      const Instruction& used = kernel.instructions[id];
      if (used.code == Code::kParam) result[static_cast<size_t>(used.integer)] = true;
    }
  }
  return result;
}

Kernel narrow_indices(const Kernel& kernel) {
  LUCID_CHECK(kernel.parts.empty(), "kernel {}: kernels with calls cannot be narrowed", kernel.name);
  return Narrowing(kernel).run();
}

}  // namespace lucid::loop
