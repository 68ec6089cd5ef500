#include "data/json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace lucid {
namespace {

/// Builds values from the events of nlohmann's lexer. Not its own parser: with a callback, that one searches the parent
/// again after every object, which makes a list of objects quadratic.
class Builder : public nlohmann::json_sax<Json> {
 public:
  using Take = std::function<void(const std::string&, Json)>;
  /// With `take`, the members of the outermost object go there instead of into `result`.
  Builder(const JsonLimits& limits, const Take* take) : limits_(limits), take_(take) {}

  Json result;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(size_t /*count*/) override { return open(Json::object()); }
  bool start_array(size_t /*count*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    names_.push_back(std::move(name));
    return true;
  }

  bool end_object() override {
    // Sorted once when the object is complete: no hash table, whose worst case a hostile file could aim at.
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(open_.back().first_name);
    std::sort(begin, names_.end());
    if (const auto twice = std::adjacent_find(begin, names_.end()); twice != names_.end())
      throw ValueError("load: {} names '{}' twice", limits_.what, shown(*twice));
    names_.erase(begin, names_.end());
    return close();
  }

  bool parse_error(size_t /*position*/, const std::string& /*token*/, const Json::exception& error) override {
    throw ValueError("load: {} is no valid JSON: {}", limits_.what, shown(error.what()));
  }

 private:
  /// An array or object that has begun. Its address holds: until it ends, nothing is added to what it lies in.
  struct Open {
    Json* value;
    size_t first_name;  // where its names begin in names_
  };

  bool hands_over() const { return take_ && open_.size() == 1; }

  /// Puts a value where the text has it and returns its place. Until it ends, a member to hand over lies in `result`.
  Json& place(Json value) {
    if (open_.empty() || hands_over()) return result = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_array()) return parent.emplace_back(std::move(value));
    return parent[names_.back()] = std::move(value);
  }

  bool add(Json value) {
    if (take_ && open_.empty()) throw ValueError("load: {} is no object", limits_.what);
    place(std::move(value));
    if (hands_over()) (*take_)(names_.back(), std::move(result));
    return true;
  }

  bool open(Json empty) {
    if (take_ && open_.empty() && !empty.is_object()) throw ValueError("load: {} is no object", limits_.what);
    if (open_.size() == limits_.levels)
      throw ValueError("load: {} is nested more than {} deep", limits_.what, limits_.levels);
    Json& value = place(std::move(empty));
    open_.push_back({&value, names_.size()});
    return true;
  }

  bool close() {
    open_.pop_back();
    if (hands_over()) (*take_)(names_.back(), std::move(result));
    return true;
  }

  const JsonLimits& limits_;
  const Take* take_;
  std::vector<Open> open_;
  std::vector<std::string> names_;  // of all objects that have begun, the innermost last
};

Json run(const std::string& text, const JsonLimits& limits, const Builder::Take* take) {
  Builder builder(limits, take);
  Json::sax_parse(text, &builder);
  return std::move(builder.result);
}

}  // namespace

Json parse_json(const std::string& text, const JsonLimits& limits) { return run(text, limits, nullptr); }

void parse_json_members(const std::string& text, const JsonLimits& limits,
                        const std::function<void(const std::string& name, Json value)>& take) {
  run(text, limits, &take);
}

std::string json_text(const Json& value) {
  try {
    return value.dump();
  } catch (const Json::exception&) {
    throw ValueError("save: some text is no valid UTF-8");
  }
}

std::string shown(const std::string& text) {
  constexpr size_t kMost = 80;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

}  // namespace lucid
