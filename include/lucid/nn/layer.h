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

/// Base of the library's own modules: `class ReLU : public Layer<ReLU>`. Self defines kName and a default constructor,
/// which creates a module without settings and parameters; copying fills them in.
template <typename Self, typename Base = Module>
class Layer : public Base {
 public:
  using Base::Base;
  std::string type_name() const override { return Self::kName; }
  Ptr<Module> blank() const override { return make_blank<Self>(); }
};

/// A module type that Python can look up by name.
struct LayerType {
  std::string name;
  Ptr<Module> (*make_blank)();
};

template <typename... Types>
void add_layer_types(std::vector<LayerType>& types) {
  (types.push_back({Types::kName, make_blank<Types>}), ...);
}

/// All module types of the library.
const std::vector<LayerType>& layer_types();

}  // namespace lucid::nn
#pragma GCC visibility pop
