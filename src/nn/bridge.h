#pragma once

#include <lucid/nn/module.h>

namespace lucid::nn {

/// The interface to another language that has objects for modules. Its bindings install one when they are loaded;
/// before that, no module has an object.
class Bridge {
 public:
  virtual ~Bridge() = default;

  virtual void retain(void* object) = 0;
  virtual void release(void* object) = 0;
  virtual void retain(void* object, uint32_t times) = 0;

  // Methods that a class of that language may override. Each falls back to the module's own.

  virtual Tree forward(Module& module, const Tensor& input) = 0;
  virtual Tree forward_with(Module& module, const Arguments& arguments) = 0;
  virtual std::string type_name(const Module& module) = 0;
  virtual std::string extra_repr(const Module& module) = 0;
  virtual std::string repr(const Module& module) = 0;
  virtual void train(Module& module, bool mode) = 0;
  /// If the class overrides this part of saving or loading, runs the override and returns true.
  virtual bool save_own(Module& module, StateDict& state, const std::string& prefix, bool keep_vars) = 0;
  virtual bool load_own(Module& module, StateDict& state, const std::string& prefix, LoadResult& result,
                        std::vector<std::string>& errors) = 0;
  /// State other than tensors; nullopt if the class has none.
  virtual std::optional<Tree> extra_state(Module& module) = 0;
  virtual bool wants_extra_state(Module& module) = 0;
  virtual void set_extra_state(Module& module, const Tree& state) = 0;
  virtual Ptr<Module> clone(Module& module) = 0;

  static Bridge* get();
  static void install(Bridge* bridge);
  /// The bridge if the module has an object, otherwise null.
  static Bridge* of(const Module& module) { return module.object() ? get() : nullptr; }

  // The implementations behind `super()` in classes that override these parts.

  static void save_own_state(Module& module, StateDict& state, const std::string& prefix, bool keep_vars);
  static void load_own_state(Module& module, StateDict& state, const std::string& prefix, bool assign,
                             LoadResult& result, std::vector<std::string>& errors) {
    module.load_own(state, prefix, assign, result, errors);
  }
};

}  // namespace lucid::nn
