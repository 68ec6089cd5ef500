// Writes the parsed signatures of the op table as JSON. The build runs it first: tools/generate generates the methods
// of Emitter and the public functions from its output, and the files of src/ops, which contain the signatures, include
// those methods. It therefore links only the parser and reads the string literals from the sources.
//
//   dump_signatures <output> <source>...

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "entries.h"
#include "ir/schema_json.h"

namespace lucid::signatures {
namespace {

using Json = nlohmann::ordered_json;

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Leaves an unchanged file untouched, so that the build does not rerun what depends on it.
void write_if_different(const std::filesystem::path& path, const std::string& text) {
  if (std::filesystem::exists(path) && read_file(path) == text) return;
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

std::string dump(const std::vector<std::filesystem::path>& sources) {
  std::vector<Json> ops;
  for (const std::filesystem::path& source : sources) {
    const std::string text = read_file(source);
    for (const Entry& entry : EntryReader(source.string(), text).read()) {
      Json op = to_json(parse_schema(entry.signature));
      op["signature"] = entry.signature;
      op["doc"] = entry.doc;
      op["file"] = source.filename().string();
      ops.push_back(std::move(op));
    }
  }
  const auto name = [](const Json& op) { return op.at("name").get_ref<const std::string&>(); };
  std::ranges::sort(ops, {}, name);
  const auto twin = std::ranges::adjacent_find(ops, {}, name);
  if (twin != ops.end()) throw std::runtime_error("two ops are named " + name(*twin));
  // One op per line, so that two dumps can be compared.
  std::string text = "[\n";
  for (const Json& op : ops) text += op.dump() + (&op == &ops.back() ? "\n" : ",\n");
  return text + "]\n";
}

}  // namespace
}  // namespace lucid::signatures

int main(int count, char** arguments) {
  try {
    if (count < 3) throw std::runtime_error("usage: dump_signatures <output> <source>...");
    lucid::signatures::write_if_different(arguments[1], lucid::signatures::dump({arguments + 2, arguments + count}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
