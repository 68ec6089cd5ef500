#include "base/error.h"
#include "program/export_code.h"

namespace lucid::program {
namespace {

bool visit(std::span<const Symbol> symbols, std::vector<int64_t>& values,
           const std::function<bool(std::span<const int64_t>)>& function) {
  if (values.size() == symbols.size()) return function(values);
  const Symbol& symbol = symbols[values.size()];
  for (int64_t size = symbol.low; size <= symbol.high; ++size) {
    values.push_back(size);
    if (!visit(symbols, values, function)) return false;
    values.pop_back();
  }
  return true;
}

}  // namespace

void for_each_size(std::span<const Symbol> symbols, const std::function<bool(std::span<const int64_t>)>& function) {
  constexpr double kMaxSizes = 1 << 20;
  double count = 1;
  for (const Symbol& symbol : symbols) count *= static_cast<double>(symbol.high - symbol.low + 1);
  if (count > kMaxSizes)
    throw ValueError(
        "export: there are {:.0f} combinations of sizes, and at most {:.0f} can be exported; export smaller "
        "ranges",
        count, kMaxSizes);
  std::vector<int64_t> values;
  visit(symbols, values, function);
}

}  // namespace lucid::program
