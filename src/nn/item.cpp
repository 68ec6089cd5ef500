#include <lucid/nn/item.h>

#include <algorithm>

#include "base/dtype.h"
#include "base/error.h"
#include "nn/bridge.h"

namespace lucid::nn {

Item::Item() noexcept = default;
Item::Item(const Item& other) = default;
Item::Item(Item&& other) noexcept = default;
Item& Item::operator=(const Item& other) = default;
Item& Item::operator=(Item&& other) noexcept = default;
Item::~Item() = default;

Item::Item(std::nullopt_t) noexcept {}
Item::Item(bool value) : value_(value) {}
Item::Item(int value) : value_(static_cast<int64_t>(value)) {}
Item::Item(int64_t value) : value_(value) {}
Item::Item(double value) : value_(value) {}
Item::Item(const char* value) : value_(std::string(value)) {}
Item::Item(std::string value) : value_(std::move(value)) {}
Item::Item(Dtype value) : value_(value) {}
Item::Item(Tuple value) : value_(std::move(value)) {}
Item::Item(std::shared_ptr<const Foreign> value) : value_(std::move(value)) {}

Item::Item(Tensor value) {
  if (value.defined()) value_ = std::move(value);
}

Item::Item(const Shape& shape) : value_(Tuple(shape.begin(), shape.end())) {}

const Foreign* Item::foreign() const {
  const auto* held = std::get_if<std::shared_ptr<const Foreign>>(&value_);
  return held ? held->get() : nullptr;
}

Item Item::native() const {
  const Foreign* object = foreign();
  return object ? object->convert() : *this;
}

bool Item::is_none() const { return std::holds_alternative<std::monostate>(native().value_); }
bool Item::is_tensor() const { return std::holds_alternative<Tensor>(native().value_); }
bool Item::is_string() const { return std::holds_alternative<std::string>(native().value_); }
bool Item::is_tuple() const { return std::holds_alternative<Tuple>(native().value_); }
bool Item::is_number() const {
  const Item own = native();
  return std::holds_alternative<bool>(own.value_) || std::holds_alternative<int64_t>(own.value_) ||
         std::holds_alternative<double>(own.value_);
}

void Item::fail(const char* wanted) const {
  static constexpr const char* kNames[] = {"none",    "a bool",   "an integer", "a number", "a string",
                                           "a dtype", "a tensor", "a tuple",    "an object"};
  const bool is_foreign = foreign() && Bridge::get();
  throw TypeError("expected {}, not {}", wanted, is_foreign ? Bridge::get()->describe(*this) : kNames[value_.index()]);
}

bool Item::to_bool() const {
  const Item own = native();
  if (const auto* value = std::get_if<bool>(&own.value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&own.value_)) return *value != 0;
  own.fail("a bool");
}

int64_t Item::to_int() const {
  const Item own = native();
  if (const auto* value = std::get_if<int64_t>(&own.value_)) return *value;
  if (const auto* value = std::get_if<bool>(&own.value_)) return *value ? 1 : 0;
  own.fail("an integer");
}

double Item::to_double() const {
  const Item own = native();
  if (const auto* value = std::get_if<double>(&own.value_)) return *value;
  if (const auto* value = std::get_if<int64_t>(&own.value_)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<bool>(&own.value_)) return *value ? 1 : 0;
  own.fail("a number");
}

std::string Item::to_string() const {
  const Item own = native();
  if (const auto* value = std::get_if<std::string>(&own.value_)) return *value;
  own.fail("a string");
}

Dtype Item::to_dtype() const {
  const Item own = native();
  if (const auto* value = std::get_if<Dtype>(&own.value_)) return *value;
  own.fail("a dtype");
}

Tensor Item::to_tensor() const {
  const Item own = native();
  if (const auto* value = std::get_if<Tensor>(&own.value_)) return *value;
  if (std::holds_alternative<std::monostate>(own.value_)) return {};
  own.fail("a tensor");
}

Item::Tuple Item::to_tuple() const {
  Item own = native();
  if (auto* value = std::get_if<Tuple>(&own.value_)) return std::move(*value);
  own.fail("a tuple");
}

Shape Item::to_shape() const {
  const Item own = native();
  if (std::holds_alternative<int64_t>(own.value_)) return {own.to_int()};
  Shape shape;
  for (const Item& item : own.to_tuple()) shape.push_back(item.to_int());
  return shape;
}

std::vector<Item> Arguments::bind(const std::string& function, const std::vector<std::string>& names,
                                  size_t required) const {
  if (positional.size() > names.size())
    throw TypeError("{}: takes at most {} arguments, got {}", function, names.size(), positional.size());
  std::vector<Item> bound = positional;
  std::vector<bool> given(names.size());
  std::fill_n(given.begin(), positional.size(), true);
  bound.resize(names.size());
  for (const auto& [name, item] : named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw TypeError("{}: got an unexpected keyword argument '{}'", function, name);
    const auto place = static_cast<size_t>(found - names.begin());
    if (given[place]) throw TypeError("{}: got two values for argument '{}'", function, name);
    given[place] = true;
    bound[place] = item;
  }
  for (size_t i = 0; i < required; ++i)
    if (!given[i]) throw TypeError("{}: argument '{}' is missing", function, names[i]);
  return bound;
}

}  // namespace lucid::nn
