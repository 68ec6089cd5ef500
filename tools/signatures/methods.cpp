// Writes which ops of the op table are methods of Tensor, and which are methods in place, as JSON, for tools/generate.
//
//   dump_methods <output>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ir/op.h"

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: dump_methods <output>\n");
    return 1;
  }
  std::vector<std::string> methods, in_place;
  for (const lucid::Op& op : lucid::op_table().ops()) {
    if (op.has_method()) methods.push_back(op.name());
    if (op.has_in_place_method()) in_place.push_back(op.name());
  }
  std::ofstream file(arguments[1], std::ios::binary);
  file << nlohmann::ordered_json{{"methods", methods}, {"in_place", in_place}}.dump() << "\n" << std::flush;
  return file ? 0 : 1;
}
