#include "nn/dependency.h"

#include <algorithm>
#include <atomic>

#include "nn/hooks.h"
#include "tensor/observer.h"

namespace lucid::nn {
namespace {

/// Whether each module of a tree is in training mode, in the order of named_modules().
std::string modes_of(Module& module) {
  std::string modes;
  for (const auto& [_, each] : module.named_modules()) modes += each->training() ? 't' : 'e';
  return modes;
}

/// What this thread does in the scope is not part of a recorded call.
class Unobserved {
 public:
  Unobserved() : observer_(set_eager_observer(nullptr)) {}
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;
  ~Unobserved() { set_eager_observer(observer_); }

 private:
  EagerObserver* const observer_;
};

class ModuleDependency : public Dependency {
 public:
  explicit ModuleDependency(Module& module)
      : module_(&module),
        owner_(module.is_owned() ? &module : nullptr),
        life_(module.life()),
        type_name_(module.type_name()),
        structure_(module.structure_version()),
        global_(global_hooks().version()),
        version_(module.version()),
        modes_(modes_of(module)) {}

  bool holds() const override {
    if (life_.expired() || global_hooks().version() != global_) return false;
    const uint64_t version = module_->version();
    if (version == version_.load(std::memory_order_relaxed)) return true;
    if (module_->structure_version() != structure_ || modes_of(*module_) != modes_) return false;
    version_.store(version, std::memory_order_relaxed);
    return true;
  }
  std::string name() const override { return "the module " + type_name_; }
  bool is_gone() const override { return life_.expired(); }
  std::string recorded() override {
    if (module_->structure_version() != structure_ || modes_of(*module_) == modes_) return {};
    return "changes the mode of the module " + type_name_;
  }

 private:
  Module* const module_;
  /// Null for a variable or a member, which may end earlier.
  const Ptr<Module> owner_;
  const std::weak_ptr<const void> life_;
  const std::string type_name_;
  const uint64_t structure_;
  const uint64_t global_;
  /// The last version for which it was found to hold.
  mutable std::atomic<uint64_t> version_;
  const std::string modes_;
};

}  // namespace

void on_use(const Module& module) {
  on_dependency(&module, [&] {
    const Unobserved unobserved;
    return std::make_shared<ModuleDependency>(const_cast<Module&>(module));
  });
}

}  // namespace lucid::nn
