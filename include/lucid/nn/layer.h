#pragma once

#include "lucid/nn/fields.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// A module without settings and parameters.
template <typename T>
Ptr<Module> make_blank() {
  T* const module = new T();
  module->set_owned();
  return Ptr<Module>(module);
}

/// Base of the library's own modules: `class Identity : public Layer<Identity>`. Self defines kName and a default
/// constructor, which creates a module without settings and parameters; copying fills them in. The options of a module
/// are declared by its constant kSignature, from which the struct of options is generated (lucid/nn/options).
template <typename Self, typename Base = Module>
class Layer : public Base {
 public:
  using Base::Base;
  std::string type_name() const override { return Self::kName; }
  Ptr<Module> blank() const override { return make_blank<Self>(); }
};

/// A layer with options, which are its settings: `class Flatten : public OptionsLayer<Flatten, FlattenOptions>`. Layers
/// with parameters define a constructor that calls build().
template <typename Self, typename Options_, typename Base = Module>
class OptionsLayer : public Layer<Self, Base> {
 public:
  using Options = Options_;
  OptionsLayer() = default;
  explicit OptionsLayer(Options given) : options(std::move(given)) {}
  Options options;
  void fields(Fields& visit) override { options.fields(visit); }
};

/// A module type that Python can look up by name.
struct LayerType {
  std::string name;
  Ptr<Module> (*make_blank)();
};

template <typename... Types>
std::vector<LayerType> layer_types_of() {
  return {LayerType{Types::kName, make_blank<Types>}...};
}

/// All module types of the library.
const std::vector<LayerType>& layer_types();

}  // namespace lucid::nn
#pragma GCC visibility pop
