// Writes the parsed signatures of the op table, or of the classes in public headers, as JSON. The build runs it first:
// tools/generate generates the methods of Emitter and the public functions from its output, and the files of src/ops,
// which contain the signatures, include those methods. It therefore links only the parser and reads the string literals
// from the sources.
//
//   dump_signatures <output> <source>...
//   dump_signatures --classes <output> <header>...

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/schema_json.h"
#include "signatures/declaration.h"
#include "signatures/entries.h"

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

const std::string& name_of(const Json& entry) { return entry.at("name").get_ref<const std::string&>(); }

/// One entry per line, so that two dumps can be compared.
std::string lines_of(const std::vector<Json>& entries) {
  std::string text = "[\n";
  for (const Json& entry : entries) text += entry.dump() + (&entry == &entries.back() ? "\n" : ",\n");
  return text + "]\n";
}

std::string dump_ops(std::span<char*> sources) {
  std::vector<Json> ops;
  for (const std::filesystem::path source : sources) {
    const std::string text = read_file(source);
    for (const Entry& entry : EntryReader(source.string(), text).read()) {
      Json op = to_json(parse_schema(entry.signature));
      op["signature"] = entry.signature;
      op["doc"] = entry.doc;
      op["file"] = source.filename().string();
      ops.push_back(std::move(op));
    }
  }
  std::ranges::sort(ops, {}, name_of);
  const auto twin = std::ranges::adjacent_find(ops, {}, name_of);
  if (twin != ops.end()) throw std::runtime_error("two ops are named " + name_of(*twin));
  return lines_of(ops);
}

std::string dump_classes(std::span<char*> headers) {
  std::vector<Json> classes;
  for (const std::filesystem::path header : headers) {
    const std::string text = read_file(header);
    for (const DeclaredClass& found : EntryReader(header.string(), text).read_classes()) {
      Json parameters = Json::array();
      if (!found.signature.empty()) parameters = parse_declaration(found.signature);
      if (!found.like.empty()) {
        const auto like = std::ranges::find(classes, found.like, name_of);
        if (like == classes.end()) throw std::runtime_error(found.name + ": no " + found.like + " comes before it");
        parameters = like->at("parameters");
      }
      classes.push_back({{"name", found.name},
                         {"file", header.filename().string()},
                         {"has_signature", !found.signature.empty() || !found.like.empty()},
                         {"parameters", std::move(parameters)}});
    }
  }
  return lines_of(classes);
}

}  // namespace
}  // namespace lucid::signatures

int main(int count, char** arguments) {
  using namespace lucid::signatures;
  try {
    const std::span<char*> all(arguments, static_cast<size_t>(count));
    if (count > 3 && std::string_view(all[1]) == "--classes")
      write_if_different(all[2], dump_classes(all.subspan(3)));
    else if (count > 2)
      write_if_different(all[1], dump_ops(all.subspan(2)));
    else
      throw std::runtime_error("usage: dump_signatures [--classes] <output> <source>...");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
