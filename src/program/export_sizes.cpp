#include <algorithm>

#include "program/export_code.h"

namespace lucid::program {
namespace {

/// The sizes of a symbol that are tried: all of a small range. In a large one, all up to kDense and, for each power of
/// two, its neighbours and kSamples sizes up to the next one.
std::vector<int64_t> sizes_between(int64_t low, int64_t high, bool all) {
  constexpr int64_t kDense = 32, kSamples = 8;
  std::vector<int64_t> sizes;
  if (all) {
    for (int64_t size = low; size <= high; ++size) sizes.push_back(size);
    return sizes;
  }
  const auto add = [&](int64_t size) {
    if (size >= low && size <= high) sizes.push_back(size);
  };
  for (int64_t size = 0; size <= kDense; ++size) add(size);
  for (int64_t power = kDense; power > 0 && power <= high; power *= 2) {
    for (int64_t sample = 0; sample < kSamples; ++sample) add(power + power * sample / kSamples);
    add(power - 1);
    add(power + 1);
  }
  add(low);
  add(high);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

bool visit(std::span<const Symbol> symbols, bool all, std::vector<int64_t>& values,
           const std::function<bool(std::span<const int64_t>)>& function) {
  if (values.size() == symbols.size()) return function(values);
  const Symbol& symbol = symbols[values.size()];
  for (const int64_t size : sizes_between(symbol.low, symbol.high, all)) {
    values.push_back(size);
    if (!visit(symbols, all, values, function)) return false;
    values.pop_back();
  }
  return true;
}

}  // namespace

void for_each_size(std::span<const Symbol> symbols, const std::function<bool(std::span<const int64_t>)>& function) {
  constexpr double kMaxTried = 1 << 16;
  double combinations = 1;
  for (const Symbol& symbol : symbols) combinations *= static_cast<double>(symbol.high - symbol.low + 1);
  std::vector<int64_t> values;
  visit(symbols, combinations <= kMaxTried, values, function);
}

}  // namespace lucid::program
