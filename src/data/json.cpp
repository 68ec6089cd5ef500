#include "data/json.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.h"

namespace lucid {
namespace {

/// Builds values from the events of nlohmann's lexer. Its own parser is not used: with a callback, it searches the
/// parent again after every object, which takes quadratic time for a list of objects.
class Builder : public nlohmann::json_sax<Json> {
 public:
  using OnMember = std::function<void(const std::string&, Json)>;
  /// With `on_member`, the members of the outermost object are passed to it instead of added to `result`.
  Builder(const JsonLimits& limits, const OnMember* on_member) : limits_(limits), on_member_(on_member) {}

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
    // Sorted once when the object is complete. A hostile file could trigger the worst case of a hash table.
    const auto begin = names_.begin() + static_cast<std::ptrdiff_t>(open_.back().first_name);
    std::sort(begin, names_.end());
    if (const auto twice = std::adjacent_find(begin, names_.end()); twice != names_.end())
      throw ValueError("load: {} names '{}' twice", limits_.what, abbreviated(*twice));
    names_.erase(begin, names_.end());
    return close();
  }

  bool parse_error(size_t /*position*/, const std::string& /*token*/, const Json::exception& error) override {
    throw ValueError("load: {} is not valid JSON: {}", limits_.what, abbreviated(error.what()));
  }

 private:
  /// An array or object that has started. Its address is stable: nothing is added to its parent until it ends.
  struct Open {
    Json* value;
    size_t first_name;  // index of its first name in names_
  };

  bool is_member() const { return on_member_ && open_.size() == 1; }

  /// Inserts a value at the current position and returns a reference to it. A member for on_member_ is built in
  /// `result`.
  Json& insert(Json value) {
    if (open_.empty() || is_member()) return result = std::move(value);
    Json& parent = *open_.back().value;
    if (parent.is_array()) return parent.emplace_back(std::move(value));
    return parent[names_.back()] = std::move(value);
  }

  bool add(Json value) {
    if (on_member_ && open_.empty()) throw ValueError("load: {} is not an object", limits_.what);
    insert(std::move(value));
    if (is_member()) (*on_member_)(names_.back(), std::move(result));
    return true;
  }

  bool open(Json empty) {
    if (on_member_ && open_.empty() && !empty.is_object()) throw ValueError("load: {} is not an object", limits_.what);
    if (open_.size() == limits_.levels)
      throw ValueError("load: {} is nested more than {} deep", limits_.what, limits_.levels);
    Json& value = insert(std::move(empty));
    open_.push_back({&value, names_.size()});
    return true;
  }

  bool close() {
    open_.pop_back();
    if (is_member()) (*on_member_)(names_.back(), std::move(result));
    return true;
  }

  const JsonLimits& limits_;
  const OnMember* on_member_;
  std::vector<Open> open_;
  std::vector<std::string> names_;  // of all objects that have started, the innermost last
};

Json run(const std::string& text, const JsonLimits& limits, const Builder::OnMember* on_member) {
  Builder builder(limits, on_member);
  Json::sax_parse(text, &builder);
  return std::move(builder.result);
}

}  // namespace

Json parse_json(const std::string& text, const JsonLimits& limits) { return run(text, limits, nullptr); }

void parse_json_members(const std::string& text, const JsonLimits& limits,
                        const std::function<void(const std::string& name, Json value)>& on_member) {
  run(text, limits, &on_member);
}

std::string json_text(const Json& value) {
  try {
    return value.dump();
  } catch (const Json::exception&) {
    throw ValueError("save: a string is not valid UTF-8");
  }
}

std::string abbreviated(const std::string& text) {
  constexpr size_t kMaxLength = 80;
  return text.size() <= kMaxLength ? text : text.substr(0, kMaxLength) + "...";
}

}  // namespace lucid
