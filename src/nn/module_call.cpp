// A call of a module, and the hooks around it.

#include <lucid/autograd.h>
#include <lucid/nn/module.h>

#include <algorithm>

#include "base/error.h"
#include "base/stack.h"
#include "nn/bridge.h"
#include "nn/dependency.h"
#include "nn/hooks.h"
#include "nn/settings.h"
#include "tensor/api.h"
#include "tensor/function.h"

namespace lucid::nn {
namespace {

using Entries = std::vector<std::shared_ptr<HookEntry>>;

template <typename Hook>
HookRemover add(Module& module, Hook hook, bool prepend, bool always_call = false) {
  auto entry = std::make_shared<HookEntry>();
  entry->function = std::move(hook);
  entry->always_call = always_call;
  return module.add_hook(std::move(entry), prepend);
}

/// Replaces the tensors of an item, in order, by the results of `map`.
Tree map_tensors(const Tree& item, const std::function<Tensor(const Tensor&)>& map) {
  check_stack("module call");
  if (item.is_tensor()) return map(item.as_tensor());
  if (!item.is_sequence()) return item;
  Tree::Tuple mapped;
  for (const Tree& part : item.as_items()) mapped.items.push_back(map_tensors(part, map));
  return mapped;
}

std::vector<Tensor> tensors_in(const Tree& item) {
  std::vector<Tensor> found;
  const auto note = [&](const Tensor& tensor) {
    found.push_back(tensor);
    return tensor;
  };
  if (item.is_tensor() || item.is_sequence()) map_tensors(item, note);
  return found;
}

/// The state shared by the two functions around a module call with backward hooks.
struct BackwardCall {
  Ptr<Module> module;
  Entries pre_hooks;
  Entries hooks;
  size_t inputs = 0;
  bool watches_inputs = false;
  Gradients grad_output;

  void outputs_arrived(Gradients& gradients) {
    for (const auto& entry : pre_hooks)
      if (auto replaced = std::get<BackwardPreHook>(entry->function)(*module, gradients)) {
        check_count("full backward pre hook", *replaced, gradients.size());
        gradients = *std::move(replaced);
      }
    grad_output = gradients;
    // If no input requires grad, no further gradient will arrive.
    if (!watches_inputs) {
      Gradients none(inputs);
      run_hooks(none);
    }
  }

  void run_hooks(Gradients& grad_input) {
    for (const auto& entry : hooks)
      if (auto replaced = std::get<BackwardHook>(entry->function)(*module, grad_input, grad_output)) {
        check_count("full backward hook", *replaced, grad_input.size());
        grad_input = *std::move(replaced);
      }
    grad_output.clear();
  }

  static void check_count(const char* what, const Gradients& given, size_t wanted) {
    if (given.size() != wanted)
      throw RuntimeError("{}: returned {} gradients, expected {}", what, given.size(), wanted);
  }
};

/// An identity function whose backward calls a method of `call`.
CustomFunction watching(const char* name, const std::shared_ptr<BackwardCall>& call,
                        void (BackwardCall::*tell)(Gradients&)) {
  CustomFunction function;
  function.name = name;
  function.forward = [](FunctionContext& context, std::span<const TensorRef> inputs) {
    context.set_materialize_grads(false);
    return std::vector<TensorRef>(inputs.begin(), inputs.end());
  };
  function.backward = [call, tell](FunctionContext&, std::span<const TensorRef> given) {
    Gradients gradients;
    for (const TensorRef& gradient : given) gradients.push_back(wrap(gradient));
    (*call.*tell)(gradients);
    std::vector<TensorRef> results;
    for (const Tensor& gradient : gradients) results.push_back(ref_of(gradient));
    return results;
  };
  function.copy = [name, call, tell](NodeCloner& cloner) {
    const auto copy = [&] {
      auto other = std::make_shared<BackwardCall>(*call);
      other->grad_output.clear();
      return other;
    };
    return watching(name, cloner.shared<BackwardCall>(call, copy), tell);
  };
  return function;
}

/// Passes tensors through a function made by `watching`.
std::vector<Tensor> watched(const CustomFunction& function, const std::vector<Tensor>& tensors) {
  std::vector<TensorRef> refs;
  for (const Tensor& tensor : tensors) refs.push_back(ref_of(tensor));
  std::vector<Tensor> results;
  for (const TensorRef& result : apply_function(function, refs)) results.push_back(wrap(result));
  return results;
}

Tensor one_tensor(const Module& module, const Tree& result) {
  if (result.is_none()) throw TypeError("{}: expected one tensor as the result, got none", module.type_name());
  return result.as_tensor("the result of a module");
}

}  // namespace

Module& global_hooks() {
  static const Ptr<Module>& hooks = *new Ptr<Module>(make<Module>());  // never destroyed: used until the process ends
  return *hooks;
}

void fail_argument(const Module& module, std::string_view name, const Tree& given) {
  throw TypeError("{}.forward: argument '{}' must be a tensor, not {}", module.type_name(), name, given.kind());
}

Tensor Module::forward(const Tensor&) {
  throw NotImplementedError("{}: the module has no forward(); define one", type_name());
}

Tree Module::forward_with(const Arguments& arguments) {
  const Tree input = arguments.bind(type_name() + ".forward", {"input"}, 1).front();
  if (!input.is_tensor()) fail_argument(*this, "input", input);
  return forward(input.as_tensor());
}

Tree Module::run_forward(const Arguments& arguments) {
  Bridge* bridge = Bridge::of(*this);
  return bridge ? bridge->forward_with(*this, arguments) : forward_with(arguments);
}

Tree Module::call(const Tensor& input) {
  check_stack("module call");
  on_use(*this);
  if (call_hooks_ > 0 || global_hooks().has_call_hooks()) return call(Arguments({Tree(input)}));
  Bridge* bridge = Bridge::of(*this);
  return bridge ? bridge->forward(*this, input) : forward_one(input);
}

Tensor Module::operator()(const Tensor& input) { return one_tensor(*this, call(input)); }

Tree Module::call_with_backward_hooks(const Arguments& arguments) {
  auto watched_call = std::make_shared<BackwardCall>();
  watched_call->pre_hooks = all_hooks_of<BackwardPreHook>(*this);
  watched_call->hooks = all_hooks_of<BackwardHook>(*this);
  if (!grad_enabled() || (watched_call->pre_hooks.empty() && watched_call->hooks.empty()))
    return run_forward(arguments);
  watched_call->module = Ptr<Module>(this);

  Arguments given = arguments;
  std::vector<Tensor> inputs;
  for (const Tree& item : given.positional)
    if (item.is_tensor()) inputs.push_back(item.as_tensor());
  watched_call->inputs = inputs.size();
  for (const Tensor& input : inputs) watched_call->watches_inputs |= input.requires_grad();
  if (watched_call->watches_inputs && !watched_call->hooks.empty()) {
    const std::vector<Tensor> replaced =
        watched(watching("module_input", watched_call, &BackwardCall::run_hooks), inputs);
    size_t next = 0;
    for (Tree& item : given.positional)
      if (item.is_tensor()) item = replaced[next++];
  }

  Tree result = run_forward(given);
  const std::vector<Tensor> outputs = tensors_in(result);
  bool differentiable = false;
  for (const Tensor& output : outputs) differentiable |= output.requires_grad();
  if (!differentiable) return result;
  const std::vector<Tensor> replaced =
      watched(watching("module_output", watched_call, &BackwardCall::outputs_arrived), outputs);
  size_t next = 0;
  return map_tensors(result, [&](const Tensor&) { return replaced[next++]; });
}

Tree Module::call(const Arguments& arguments) {
  check_stack("module call");
  on_use(*this);
  const Ptr<Module> kept(this);
  Arguments given = arguments;
  std::vector<const HookEntry*> called;
  const Entries after = all_hooks_of<ForwardHook>(*this);
  Tree result;
  try {
    for (const auto& entry : all_hooks_of<ForwardPreHook>(*this))
      if (auto replaced = std::get<ForwardPreHook>(entry->function)(*this, given)) given = *std::move(replaced);
    result = call_with_backward_hooks(given);
    for (const auto& entry : after) {
      called.push_back(entry.get());
      if (auto replaced = std::get<ForwardHook>(entry->function)(*this, given, result)) result = *std::move(replaced);
    }
  } catch (...) {
    // An exception from the remaining hooks must not hide the error that they are called for.
    for (const auto& entry : after) {
      if (!entry->always_call || std::find(called.begin(), called.end(), entry.get()) != called.end()) continue;
      try {
        std::get<ForwardHook>(entry->function)(*this, given, result);
      } catch (...) {
        continue;
      }
    }
    throw;
  }
  return result;
}

HookRemover Module::register_forward_pre_hook(ForwardPreHook hook, bool prepend) {
  return add(*this, std::move(hook), prepend);
}
HookRemover Module::register_forward_hook(ForwardHook hook, bool prepend, bool always_call) {
  return add(*this, std::move(hook), prepend, always_call);
}
HookRemover Module::register_full_backward_hook(BackwardHook hook, bool prepend) {
  return add(*this, std::move(hook), prepend);
}
HookRemover Module::register_full_backward_pre_hook(BackwardPreHook hook, bool prepend) {
  return add(*this, std::move(hook), prepend);
}
HookRemover Module::register_state_dict_pre_hook(StateDictPreHook hook) { return add(*this, std::move(hook), false); }
HookRemover Module::register_state_dict_post_hook(StateDictHook hook) { return add(*this, std::move(hook), false); }
HookRemover Module::register_load_state_dict_pre_hook(LoadStateDictPreHook hook) {
  return add(*this, std::move(hook), false);
}
HookRemover Module::register_load_state_dict_post_hook(LoadStateDictPostHook hook) {
  return add(*this, std::move(hook), false);
}

HookRemover register_module_forward_pre_hook(ForwardPreHook hook) {
  return add(global_hooks(), std::move(hook), false);
}
HookRemover register_module_forward_hook(ForwardHook hook, bool always_call) {
  return add(global_hooks(), std::move(hook), false, always_call);
}
HookRemover register_module_full_backward_hook(BackwardHook hook) {
  return add(global_hooks(), std::move(hook), false);
}
HookRemover register_module_full_backward_pre_hook(BackwardPreHook hook) {
  return add(global_hooks(), std::move(hook), false);
}

}  // namespace lucid::nn
