#pragma once

#include "lucid/nn/module.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

Item to_item(bool value);
Item to_item(int64_t value);
Item to_item(double value);
Item to_item(const std::string& value);
Item to_item(const Shape& value);
Item to_item(const std::vector<double>& value);
Item to_item(const Tensor& value);
Item to_item(const Item& value);
void from_item(const Item& item, bool& value);
void from_item(const Item& item, int64_t& value);
void from_item(const Item& item, double& value);
void from_item(const Item& item, std::string& value);
void from_item(const Item& item, Shape& value);
void from_item(const Item& item, std::vector<double>& value);
void from_item(const Item& item, Tensor& value);
void from_item(const Item& item, Item& value);
template <typename T>
Item to_item(const std::optional<T>& value) {
  return value ? to_item(*value) : Item();
}
template <typename T>
void from_item(const Item& item, std::optional<T>& value) {
  if (item.is_none()) {
    value.reset();
  } else {
    T read{};
    from_item(item, read);
    value = std::move(read);
  }
}

/// Visits the settings of a module. Module::fields() calls it with the name and a reference to each setting. A visitor
/// lists all settings, reads one or writes one.
class Fields {
 public:
  static std::vector<std::pair<std::string, Item>> list(Module& module) {
    Fields visitor(Mode::kList, {});
    module.fields(visitor);
    return std::move(visitor.all_);
  }
  static std::optional<Item> get(Module& module, std::string_view name) {
    Fields visitor(Mode::kGet, name);
    module.fields(visitor);
    return visitor.found_ ? std::optional<Item>(std::move(visitor.item_)) : std::nullopt;
  }
  /// Returns whether the setting exists. Increments the module's version.
  static bool set(Module& module, std::string_view name, const Item& item);
  static bool has(Module& module, std::string_view name) {
    Fields visitor(Mode::kFind, name);
    module.fields(visitor);
    return visitor.found_;
  }

  template <typename T>
  void operator()(const char* name, T& value) {
    if (mode_ == Mode::kList) {
      all_.emplace_back(name, to_item(value));
    } else if (!found_ && name_ == name) {
      found_ = true;
      if (mode_ == Mode::kGet) item_ = to_item(value);
      if (mode_ == Mode::kSet) from_item(item_, value);
    }
  }

 private:
  enum class Mode : uint8_t { kList, kGet, kSet, kFind };
  Fields(Mode mode, std::string_view name) : mode_(mode), name_(name) {}

  Mode mode_;
  std::string_view name_;
  Item item_;
  bool found_ = false;
  std::vector<std::pair<std::string, Item>> all_;
};

/// Settings by name.
using Settings = std::vector<std::pair<std::string, Item>>;

/// The options of a module whose struct lists them in fields().
template <typename Options>
Settings settings_of(Options options) {
  Settings all;
  auto visit = [&](const char* name, const auto& value) { all.emplace_back(name, to_item(value)); };
  options.fields(visit);
  return all;
}

}  // namespace lucid::nn
#pragma GCC visibility pop
