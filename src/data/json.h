#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace lucid {

/// The members of an object are sorted by name: lookups stay cheap however many there are.
using Json = nlohmann::json;

/// What to call a text in messages, and how deep its arrays and objects may nest.
struct JsonLimits {
  const char* what;
  size_t levels;
};

/// Parses text from an untrusted file, in O(n log n) whatever it holds. Throws ValueError when it is not JSON, nests
/// too deep, or repeats a name within an object.
Json parse_json(const std::string& text, const JsonLimits& limits);

/// The same for a text whose outermost value is an object: hands each member to `take` as soon as it is complete, in
/// the order of the text, and keeps none. Throws ValueError if it is no object.
void parse_json_members(const std::string& text, const JsonLimits& limits,
                        const std::function<void(const std::string& name, Json value)>& take);

/// The text of a value. Throws ValueError when some string in it is not UTF-8.
std::string json_text(const Json& value);

/// Text from a file, short enough for a message.
std::string shown(const std::string& text);

}  // namespace lucid
