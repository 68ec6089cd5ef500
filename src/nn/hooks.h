#pragma once

#include <lucid/nn/module.h>

#include <variant>

namespace lucid::nn {

/// A hook in the list of the module that owns it.
struct HookEntry {
  /// Null once the hook was removed or the module destroyed.
  Module* owner = nullptr;
  std::variant<ForwardPreHook, ForwardHook, BackwardHook, BackwardPreHook, StateDictPreHook, StateDictHook,
               LoadStateDictPreHook, LoadStateDictPostHook>
      function;
  /// For forward hooks: also run it if the call throws.
  bool always_call = false;

  /// Whether it runs when the module is called.
  bool is_call_hook() const { return function.index() < 4; }
};

/// Owns the hooks that run for every module's call.
Module& global_hooks();

/// The current hooks of one kind. Returns a copy, because hooks may add and remove hooks.
template <typename Hook>
std::vector<std::shared_ptr<HookEntry>> hooks_of(const Module& module) {
  std::vector<std::shared_ptr<HookEntry>> found;
  for (const auto& entry : module.hooks())
    if (std::holds_alternative<Hook>(entry->function)) found.push_back(entry);
  return found;
}

/// The global hooks of one kind, then the module's own.
template <typename Hook>
std::vector<std::shared_ptr<HookEntry>> all_hooks_of(const Module& module) {
  std::vector<std::shared_ptr<HookEntry>> found;
  if (global_hooks().has_call_hooks()) found = hooks_of<Hook>(global_hooks());
  for (auto& entry : hooks_of<Hook>(module)) found.push_back(std::move(entry));
  return found;
}

}  // namespace lucid::nn
