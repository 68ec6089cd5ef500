#include "spirv/format.h"
#include "spirv/translator.h"

namespace lucid::spirv {

using spv::Op;

namespace {

/// Bits that a significand has beyond those of the format, before it is rounded.
constexpr uint64_t kExtraBits = 3;

}  // namespace

// Sums and differences are exact where they are subnormal, so their rounded value tells whether they are.
Value Translator::flushed(Value result) {
  if (!target_.flush_results) return result;
  const Format format = format_of(result.kind);
  return flushed_if((bits_of(result) & format.magnitude_mask()) < format.implicit_bit(), result);
}

Value Translator::flushed_if(Value is_tiny, Value result) {
  const Value bits = bits_of(result);
  return bitcast(select(is_tiny, bits & format_of(result.kind).sign_bit(), bits), result.kind);
}

Translator::Parts Translator::parts_of(Value number) {
  const Format format = format_of(number.kind);
  const Value magnitude = bits_of(number) & format.magnitude_mask();
  // A subnormal number is an integer times a power of two. As a float, the integer is normal.
  const Value is_subnormal = magnitude < format.implicit_bit();
  const Value integer = bits_of(unary(Op::OpConvertUToF, magnitude, number.kind));
  const Value normal = select(is_subnormal, integer, magnitude);
  const Value scale = constant_like(magnitude, format.bias + format.fraction_bits - 1);
  const Value exponent = normal >> format.fraction_bits;
  return {select(is_subnormal, exponent - scale, exponent), (normal & format.fraction_mask()) | format.implicit_bit()};
}

Value Translator::round_to_bits(Value sign, Value exponent, Value significand, Kind kind) {
  const Format format = format_of(kind);
  const auto round = [&](Value exact) { return (exact + 3 + ((exact >> kExtraBits) & 1)) >> kExtraBits; };
  const Value one = constant_like(exponent, 1);
  const Value zero = constant_like(exponent, 0);
  const Value is_small = signed_less(exponent, one);
  // The leading bit of the rounded significand is added to the exponent below.
  const Value normal = ((exponent - one) << format.fraction_bits) + round(significand);
  const Value infinity = constant_like(exponent, format.infinity());
  const Value limited = select(normal >= infinity, infinity, normal);
  if (target_.flush_results) {
    const Value carry = round(significand) >> (format.fraction_bits + 1);
    return sign | select(signed_less(exponent + carry, one), zero, select(is_small, normal, limited));
  }
  // A subnormal number has fewer bits: the others join the last bit, before it is rounded.
  const Value all_bits = constant_like(exponent, format.fraction_bits + kExtraBits + 2);
  const Value missing = one - exponent;
  const Value shift = select(is_small, select(missing < all_bits, missing, all_bits), zero);
  const Value lost = significand & ((one << shift) - one);
  const Value shifted = (significand >> shift) | to_integer(lost != zero, exponent.kind);
  return sign | select(is_small, round(shifted), limited);
}

Value Translator::call(std::string_view name, std::initializer_list<Value> arguments,
                       const std::function<Value(std::span<const Value>)>& body) {
  std::vector<Id> types, ids;
  for (Value argument : arguments) {
    types.push_back(module_.type(argument.kind));
    ids.push_back(argument.id);
  }
  const Kind kind = arguments.begin()->kind;
  auto found = functions_.find(name);
  if (found == functions_.end()) {
    std::vector<Id> parameters;
    const Id function = module_.begin_function(types[0], types, &parameters);
    std::vector<Value> values;
    for (size_t i = 0; i < parameters.size(); ++i)
      values.push_back({&module_, parameters[i], arguments.begin()[i].kind});
    const Value result = body(values);
    module_.effect(Op::OpReturnValue, {result.id});
    module_.end_function();
    found = functions_.emplace(name, function).first;
  }
  return {&module_, module_.call(found->second, types[0], ids), kind};
}

}  // namespace lucid::spirv
