#pragma once

#include "lucid/nn/module.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

// A setting of each type from a tree. Throws TypeError, naming it, for a tree of another type. A list becomes a tuple:
// settings do not change in place.

void from_tree(const Tree& tree, const char* name, bool& value);
void from_tree(const Tree& tree, const char* name, int64_t& value);
void from_tree(const Tree& tree, const char* name, double& value);
void from_tree(const Tree& tree, const char* name, std::string& value);
void from_tree(const Tree& tree, const char* name, Shape& value);
void from_tree(const Tree& tree, const char* name, std::vector<double>& value);
void from_tree(const Tree& tree, const char* name, Tensor& value);
void from_tree(const Tree& tree, const char* name, Tree& value);
template <typename T>
void from_tree(const Tree& tree, const char* name, std::optional<T>& value) {
  T given{};
  if (!tree.is_none()) from_tree(tree, name, given);
  value = tree.is_none() ? std::nullopt : std::optional<T>(std::move(given));
}

/// Visits the settings of a module. Module::fields() calls it with the name and a reference to each setting. A visitor
/// lists all settings, reads one or writes one.
class Fields {
 public:
  static std::vector<std::pair<std::string, Tree>> list(Module& module) {
    Fields visitor(Mode::kList, {});
    module.fields(visitor);
    return std::move(visitor.all_);
  }
  static std::optional<Tree> get(Module& module, std::string_view name) {
    Fields visitor(Mode::kGet, name);
    module.fields(visitor);
    return visitor.found_ ? std::optional<Tree>(std::move(visitor.value_)) : std::nullopt;
  }
  /// Returns whether the setting exists. Increments the module's version.
  static bool set(Module& module, std::string_view name, const Tree& value);
  static bool has(Module& module, std::string_view name) {
    Fields visitor(Mode::kFind, name);
    module.fields(visitor);
    return visitor.found_;
  }

  template <typename T>
  void operator()(const char* name, T& value) {
    if (mode_ == Mode::kList) {
      all_.emplace_back(name, tree_of(value));
    } else if (!found_ && name_ == name) {
      found_ = true;
      if (mode_ == Mode::kGet) value_ = tree_of(value);
      if (mode_ == Mode::kSet) from_tree(value_, name, value);
    }
  }

 private:
  enum class Mode : uint8_t { kList, kGet, kSet, kFind };
  Fields(Mode mode, std::string_view name) : mode_(mode), name_(name) {}

  Mode mode_;
  std::string_view name_;
  Tree value_;
  bool found_ = false;
  std::vector<std::pair<std::string, Tree>> all_;
};

/// Settings by name.
using Settings = std::vector<std::pair<std::string, Tree>>;

/// The options of a module whose struct lists them in fields().
template <typename Options>
Settings settings_of(Options options) {
  Settings all;
  auto visit = [&](const char* name, const auto& value) { all.emplace_back(name, tree_of(value)); };
  options.fields(visit);
  return all;
}

}  // namespace lucid::nn
#pragma GCC visibility pop
