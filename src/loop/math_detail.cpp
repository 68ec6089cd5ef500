#include "loop/math_detail.h"

#include <bit>

#include "base/error.h"

namespace lucid::loop::math {

Value polynomial(Value x, std::span<const double> coefficients) {
  Value sum = number(x, coefficients.back());
  for (size_t k = coefficients.size() - 1; k-- > 0;) sum = fma(sum, x, coefficients[k]);
  return sum;
}

Value scale_in_two_steps(Value x, Value doubly_biased) {
  const Value half = shift_right(doubly_biased, 1);
  return x * power_of_two(half) * power_of_two(doubly_biased - half);
}

Pair two_sum(Value x, Value y) {
  const Value sum = x + y;
  const Value y_part = sum - x;
  return {sum, (x - (sum - y_part)) + (y - y_part)};
}

Pair fast_two_sum(Value x, Value y) {
  const Value sum = x + y;
  return {sum, y - (sum - x)};
}

Pair two_product(Value x, Value y) {
  const Value product = x * y;
  return {product, fma(x, y, -product)};
}

std::vector<Value> repeat_if_any(Value condition, int rounds, std::span<const Value> initial,
                                 const std::function<std::vector<Value>(std::span<const Value>)>& body) {
  Builder& builder = condition.builder();
  const Value any = condition.is_vector() ? builder.any(condition) : condition;
  const Value count = builder.select(any, builder.index(rounds), builder.index(0));
  return builder.for_loop(builder.index(0), count, 1, initial,
                          [&](Value, std::span<const Value> carried) { return body(carried); });
}

BufferRef table_of(Builder& builder, Dtype dtype, std::span<const double> numbers) {
  std::vector<uint64_t> bits;
  for (double number : numbers)
    bits.push_back(dtype == Dtype::kF32 ? std::bit_cast<uint32_t>(static_cast<float>(number))
                                        : std::bit_cast<uint64_t>(number));
  return builder.table(dtype, std::move(bits));
}

Value look_up(BufferRef table, Value index) {
  return index.is_vector() ? index.builder().gather(table, index) : index.builder().load(table, index);
}

void check_float(Value x, const char* function) {
  LUCID_CHECK(x.dtype() == Dtype::kF32 || x.dtype() == Dtype::kF64,
              "{} of {}: the loop language supports it for f32 and f64 only", function, name_of(x.dtype()));
}

}  // namespace lucid::loop::math
