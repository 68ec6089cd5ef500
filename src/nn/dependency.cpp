#include "nn/dependency.h"

#include <fmt/format.h>

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

class ModuleDependency : public Dependency {
 public:
  explicit ModuleDependency(Module& module)
      // A module that is not owned by a Ptr belongs to the function's surroundings, like the function itself.
      : module_(&module),
        owner_(module.is_owned() ? &module : nullptr),
        structure_(module.structure_version()),
        global_(global_hooks().version()),
        version_(module.version()),
        modes_(modes_of(module)) {}

  bool holds() const override {
    if (global_hooks().version() != global_) return false;
    const uint64_t version = module_->version();
    if (version == version_.load(std::memory_order_relaxed)) return true;
    if (module_->structure_version() != structure_ || modes_of(*module_) != modes_) return false;
    version_.store(version, std::memory_order_relaxed);
    return true;
  }
  std::string name() const override { return fmt::format("the module {}", module_->type_name()); }

 private:
  Module* const module_;
  const Ptr<Module> owner_;
  const uint64_t structure_;
  const uint64_t global_;
  /// The last version for which it was found to hold.
  mutable std::atomic<uint64_t> version_;
  const std::string modes_;
};

}  // namespace

void note_use(Module& module) {
  note_dependency(&module, [&] { return std::make_shared<ModuleDependency>(module); });
}

}  // namespace lucid::nn
