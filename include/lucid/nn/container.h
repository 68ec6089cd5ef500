#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Runs modules one after another, each on the result of the previous one.
class Sequential : public Layer<Sequential> {
 public:
  static constexpr const char* kName = "Sequential";
  Sequential() = default;
  template <typename... Modules>
  explicit Sequential(const Ptr<Modules>&... modules) {
    (append(modules), ...);
  }
  Sequential& append(Ptr<Module> module);
  size_t size() const { return child_count(); }
  /// Throws IndexError if `i` is out of range.
  Module& operator[](size_t i) const { return child_at(i); }
  Tensor forward(const Tensor& input) override;
  Tree forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return false; }
};

/// A list of modules. It only holds them: it has no forward().
class ModuleList : public Layer<ModuleList> {
 public:
  static constexpr const char* kName = "ModuleList";
  ModuleList() = default;
  explicit ModuleList(const std::vector<Ptr<Module>>& modules) {
    for (const Ptr<Module>& module : modules) append(module);
  }
  ModuleList& append(Ptr<Module> module);
  size_t size() const { return child_count(); }
  /// Throws IndexError if `i` is out of range.
  Module& operator[](size_t i) const { return child_at(i); }
  bool repeats_in_repr() const override { return true; }
};

/// A dict of modules. It only holds them.
class ModuleDict : public Layer<ModuleDict> {
 public:
  static constexpr const char* kName = "ModuleDict";
  Module& operator[](std::string_view name) const { return child(name); }
};

/// A list of parameters.
class ParameterList : public Layer<ParameterList> {
 public:
  static constexpr const char* kName = "ParameterList";
  std::string extra_repr() const override;
};

/// A dict of parameters.
class ParameterDict : public Layer<ParameterDict> {
 public:
  static constexpr const char* kName = "ParameterDict";
  std::string extra_repr() const override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
