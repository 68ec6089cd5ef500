#include "ops/philox.h"

namespace lucid::philox {
namespace {

using loop::Code;
using loop::Value;

Value low(Value x) { return x & x.builder().index(0xFFFFFFFF); }
Value high(Value x) { return x.builder().binary(Code::kShrLogical, x, x.builder().index(32)); }

}  // namespace

std::array<Value, 4> words(Value seed, Value counter) {
  loop::Builder& b = counter.builder();
  std::array<Value, 4> c = {low(counter), high(counter), b.index(0), b.index(0)};
  Value key[2] = {low(seed), high(seed)};
  for (int round = 0; round < kRounds; ++round) {
    // Both factors are below 2^32, so no bit of the product is lost.
    const Value first = b.index(kMultipliers[0]) * c[0];
    const Value second = b.index(kMultipliers[1]) * c[2];
    c = {high(second) ^ c[1] ^ key[0], low(second), high(first) ^ c[3] ^ key[1], low(first)};
    for (int i = 0; i < 2; ++i) key[i] = low(key[i] + b.index(kKeySteps[i]));
  }
  return c;
}

Value joined(Value high, Value low) {
  loop::Builder& b = high.builder();
  return b.binary(Code::kShl, high, b.index(32)) | low;
}

uint64_t multiply_high(uint64_t x, uint64_t y) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(x) * y) >> 64);
}

Value multiply_high(Value x, Value y) {
  // Schoolbook multiplication in 32-bit digits; no partial sum exceeds 64 bits.
  const Value ones = high(low(x) * low(y));
  const Value middle = high(x) * low(y) + ones;
  const Value other = low(x) * high(y) + low(middle);
  return high(x) * high(y) + high(middle) + high(other);
}

void check_state(const Call& call) {
  if (!call.operand(0).is_value() || call.dtype(0) != Dtype::kI64 || call.shape(0) != Dims{2})
    throw TypeError("{}: the state of a generator must be i64[2], got {}", call.name(),
                    to_string(call.operand(0).type()));
}

}  // namespace lucid::philox
