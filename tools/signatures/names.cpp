// Writes where the ops of the op table are visible as JSON, for tools/generate.
//
//   dump_names <output>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ir/op.h"

namespace {

template <typename F>
std::vector<std::string> names_of(F chooses) {
  std::vector<std::string> names;
  for (const lucid::Op& op : lucid::op_table().ops())
    if (chooses(op)) names.push_back(op.name());
  return names;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: dump_names <output>\n");
    return 1;
  }
  using lucid::Op;
  const nlohmann::ordered_json names = {
      {"public", names_of([](const Op& op) { return op.is_public(); })},
      {"methods", names_of([](const Op& op) { return op.has_method(); })},
      {"in_place", names_of([](const Op& op) { return op.has_in_place_method(); })},
      {"factories", names_of([](const Op& op) { return op.names.is_factory; })},
      {"takes_alpha", names_of([](const Op& op) { return op.takes_alpha(); })},
  };
  std::ofstream file(arguments[1], std::ios::binary);
  file << names.dump() << "\n" << std::flush;
  return file ? 0 : 1;
}
