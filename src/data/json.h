#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace lucid {

/// Members of an object are sorted by name, so lookups take O(log n).
using Json = nlohmann::json;

/// The name of a text in messages, and the maximum nesting depth of its arrays and objects.
struct JsonLimits {
  const char* what;
  size_t levels;
};

/// Parses text from an untrusted file, in O(n log n) for any text. Throws ValueError if it is not JSON, is nested too
/// deep, or repeats a name within an object.
Json parse_json(const std::string& text, const JsonLimits& limits);

/// The same for a text whose outermost value is an object. Passes each member to `on_member` as soon as it is complete,
/// in the order of the text, and keeps none. Throws ValueError if the text is not an object.
void parse_json_members(const std::string& text, const JsonLimits& limits,
                        const std::function<void(const std::string& name, Json value)>& on_member);

/// The text of a value. Throws ValueError if a string in it is not UTF-8.
std::string json_text(const Json& value);

/// Text from a file, cut to 80 characters for use in a message.
std::string abbreviated(const std::string& text);

}  // namespace lucid
