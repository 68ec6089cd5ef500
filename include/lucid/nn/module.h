#pragma once

#include <atomic>
#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lucid/nn/arguments.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

class Bridge;
class Fields;
class Module;
class StateDict;
struct HookEntry;

namespace nn_detail {
/// Throws RuntimeError.
[[noreturn]] void throw_null();
}  // namespace nn_detail

/// A reference-counted pointer to a module, one pointer wide. If Python has an object for the module, that object holds
/// the count. The last Ptr deletes a module that make() created. A Ptr to a module on the stack, or to a member of
/// another object, does not delete it and must not outlive it.
template <typename T>
class Ptr {
 public:
  Ptr() = default;
  Ptr(std::nullptr_t) {}               // NOLINT
  Ptr(T* module) : pointer_(module) {  // NOLINT
    if (pointer_) pointer_->retain();
  }
  Ptr(const Ptr& other) : Ptr(other.pointer_) {}
  Ptr(Ptr&& other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
  template <typename U>
    requires std::is_convertible_v<U*, T*>
  Ptr(const Ptr<U>& other) : Ptr(static_cast<T*>(other.get())) {}  // NOLINT
  Ptr& operator=(Ptr other) noexcept {
    std::swap(pointer_, other.pointer_);
    return *this;
  }
  ~Ptr() {
    if (pointer_) pointer_->release();
  }
  T* get() const { return pointer_; }
  T* operator->() const { return pointer_; }
  T& operator*() const { return *pointer_; }
  /// Calls the module, with its hooks: `conv(x)`.
  template <typename... Args>
    requires std::invocable<T&, Args...>
  decltype(auto) operator()(Args&&... args) const {
    if (!pointer_) [[unlikely]]
      nn_detail::throw_null();
    return (*pointer_)(std::forward<Args>(args)...);
  }
  explicit operator bool() const { return pointer_ != nullptr; }
  bool operator==(const Ptr& other) const = default;

 private:
  T* pointer_ = nullptr;
};

/// Creates a module. The modules of the library take their options by name or in order:
/// `make<Linear>({.in_features = 4, .out_features = 2})` or `make<Linear>(4, 2)`.
template <typename T>
Ptr<T> make(const typename T::Options& options) {
  T* const module = new T(options);
  module->set_owned();
  return module;
}
template <typename T, typename... Args>
Ptr<T> make(Args&&... args) {
  if constexpr (sizeof...(Args) == 0 && requires { T(typename T::Options()); }) {
    return make<T>(typename T::Options());
  } else if constexpr (std::is_constructible_v<T, Args...>) {
    T* const module = new T(std::forward<Args>(args)...);
    module->set_owned();
    return module;
  } else {
    return make<T>(typename T::Options(std::forward<Args>(args)...));
  }
}

/// A tensor that a module holds. The slot holds a reference to the tensor or, once Python has an object for it, to that
/// object. The tensor therefore stays the same Python object for as long as the module holds it.
class TensorSlot {
 public:
  TensorSlot() = default;
  explicit TensorSlot(const Tensor& tensor);
  TensorSlot(TensorSlot&& other) noexcept
      : tensor_(std::exchange(other.tensor_, nullptr)), object_(std::exchange(other.object_, nullptr)) {}
  TensorSlot& operator=(TensorSlot other) noexcept {
    std::swap(tensor_, other.tensor_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~TensorSlot();

  /// The tensor; undefined if the slot is empty.
  Tensor get() const { return Tensor(tensor_); }
  TensorImpl* impl() const { return tensor_; }
  void* object() const { return object_; }
  /// Takes ownership of a reference to the Python object, which keeps the tensor alive from now on.
  void adopt_object(void* object);

 private:
  TensorImpl* tensor_ = nullptr;
  void* object_ = nullptr;
};

struct NamedSlot {
  std::string name;
  TensorSlot slot;
  bool persistent = true;
};

struct NamedChild {
  std::string name;
  Ptr<Module> module;
};

// Hooks. If a hook returns a value, the value replaces the one that the hook was called with.

using ForwardPreHook = std::function<std::optional<Arguments>(Module& module, const Arguments& arguments)>;
using ForwardHook = std::function<std::optional<Tree>(Module& module, const Arguments& arguments, const Tree& result)>;
using Gradients = std::vector<Tensor>;
using BackwardHook =
    std::function<std::optional<Gradients>(Module& module, const Gradients& grad_input, const Gradients& grad_output)>;
using BackwardPreHook = std::function<std::optional<Gradients>(Module& module, const Gradients& grad_output)>;
/// Called before the state of the module is written.
using StateDictPreHook = std::function<void(Module& module, const std::string& prefix, bool keep_vars)>;
/// Called after the state of the module, including its submodules, was written.
using StateDictHook = std::function<void(Module& module, StateDict& state, const std::string& prefix)>;

/// The keys that a state dict lacked, and those that the module does not have.
struct LoadResult {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// Called before the state of a module is loaded. It may change the state.
using LoadStateDictPreHook =
    std::function<void(Module& module, StateDict& state, const std::string& prefix, LoadResult& result)>;
/// Called after the state of a module was loaded.
using LoadStateDictPostHook = std::function<void(Module& module, LoadResult& result)>;

/// Removes the hook whose registration returned it. Removing it again has no effect.
class HookRemover {
 public:
  HookRemover() = default;
  explicit HookRemover(std::weak_ptr<HookEntry> entry) : entry_(std::move(entry)) {}
  void remove();

 private:
  std::weak_ptr<HookEntry> entry_;
};

/// The saved state of a module: an ordered map from names to tensors or, for extra state, other items.
class StateDict {
 public:
  virtual ~StateDict() = default;
  virtual void set(const std::string& key, Tree value) = 0;
  virtual bool has(const std::string& key) const = 0;
  virtual Tree get(const std::string& key) const = 0;
  virtual std::vector<std::string> keys() const = 0;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// A part of a network: it holds parameters, which are learned, buffers, which are not, and submodules. Derive from it,
/// register parameters, buffers and submodules in the constructor, and override forward():
///
///     class Net : public Module {
///      public:
///       Net() { hidden_ = register_module("hidden", make<Linear>(4, 2)); }
///       Tensor forward(const Tensor& x) override { return hidden_(x).relu(); }
///
///      private:
///       Ptr<Linear> hidden_;
///     };
///
/// Every change to a module or to one of its submodules increments its version.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  // Overridden by derived classes.

  /// The result for a single tensor.
  virtual Tensor forward(const Tensor& input);
  /// The result for any arguments. Modules that take more than one tensor override this.
  virtual Tree forward_with(const Arguments& arguments);
  /// Whether forward() computes the whole result for one tensor. False if the result is more than one tensor.
  virtual bool returns_one_tensor() const { return true; }
  /// The class name in repr() and messages.
  virtual std::string type_name() const { return "Module"; }
  /// The text between the parentheses of repr().
  virtual std::string extra_repr() const { return {}; }
  /// Whether repr() merges equal consecutive submodules into one line.
  virtual bool repeats_in_repr() const { return false; }
  /// Visits the settings of the module, which copies and files must contain.
  virtual void fields(Fields&) {}
  /// Creates the parameters and buffers according to the settings.
  virtual void build(std::optional<Dtype>) {}
  /// Initializes the parameters again.
  virtual void reset_parameters() {}
  /// A new module of the same class without settings. Required by clone().
  virtual Ptr<Module> blank() const;

  // Calls. They run forward with the hooks around it.

  Tensor operator()(const Tensor& input);
  Tree call(const Tensor& input);
  Tree call(const Arguments& arguments);

  // Parameters, buffers and submodules. Names must be unique, not empty and without dots.

  /// Adds or replaces a parameter and returns it. An undefined tensor reserves the name.
  Tensor register_parameter(const std::string& name, const Tensor& tensor);
  /// Adds or replaces a buffer and returns it. Buffers that are not persistent are left out of state_dict().
  Tensor register_buffer(const std::string& name, const Tensor& tensor, bool persistent = true);
  void add_module(const std::string& name, Ptr<Module> module);
  template <typename T>
  Ptr<T> register_module(const std::string& name, Ptr<T> module) {
    add_module(name, module);
    return module;
  }
  /// A parameter or buffer of this module; undefined if it was registered as an undefined tensor. Throws ValueError if
  /// there is no such name.
  Tensor parameter(std::string_view name) const;
  Tensor buffer(std::string_view name) const;
  Module& child(std::string_view name) const;
  size_t child_count() const;
  /// The i-th submodule, in order of registration. Throws IndexError if `i` is out of range.
  Module& child_at(size_t i) const;
  /// A parameter, buffer or submodule by a path with dots; "" is the module itself.
  Tensor get_parameter(const std::string& path) const;
  Tensor get_buffer(const std::string& path) const;
  Ptr<Module> get_submodule(const std::string& path);

  // Traversal: the module first, then its submodules. Each tensor and module appears once.

  std::vector<Tensor> parameters(bool recurse = true);
  std::vector<Tensor> buffers(bool recurse = true);
  NamedTensors named_parameters(const std::string& prefix = "", bool recurse = true, bool remove_duplicate = true);
  NamedTensors named_buffers(const std::string& prefix = "", bool recurse = true, bool remove_duplicate = true);
  std::vector<std::pair<std::string, Ptr<Module>>> named_modules(const std::string& prefix = "",
                                                                 bool remove_duplicate = true);
  std::vector<std::pair<std::string, Ptr<Module>>> named_children();
  /// Calls a function with every submodule, then with this module.
  void apply(const std::function<void(Module&)>& function);

  // State.

  bool training() const;
  /// Sets the mode of this module only.
  void set_training(bool training);
  /// Sets training mode, or evaluation mode, of this module and its submodules.
  void train(bool mode = true);
  void eval() { train(false); }
  /// Sets requires_grad of all parameters.
  void requires_grad_(bool requires_grad = true);
  /// Clears all gradients, or sets them to zeros.
  void zero_grad(bool set_to_none = true);
  /// Converts floating-point parameters and buffers to a dtype. Parameters stay the same tensors.
  void to(Dtype dtype);
  /// Moves parameters, gradients and buffers to a device: "cpu" or "gpu". Parameters stay the same tensors.
  void to(const std::string& device);
  /// Replaces the memory of every parameter and gradient, and every buffer, by the result of a function.
  void transform(const std::function<Tensor(const Tensor&)>& function);

  /// All parameters and persistent buffers by name. They are detached unless `keep_vars` is set.
  NamedTensors state_dict(const std::string& prefix = "", bool keep_vars = false);
  /// Copies tensors into the parameters and buffers of the same names, or, with `assign`, makes these use the memory of
  /// the tensors. Throws RuntimeError that lists every key that is missing or unexpected (if `strict`), or that has a
  /// different shape.
  LoadResult load_state_dict(const NamedTensors& state, bool strict = true, bool assign = false);
  void save_state(StateDict& state, const std::string& prefix, bool keep_vars);
  LoadResult load_state(StateDict& state, bool strict, bool assign);

  /// A deep copy, including hooks.
  Ptr<Module> clone();
  /// The tree of modules as text.
  std::string repr() const;

  // Hooks.

  HookRemover register_forward_pre_hook(ForwardPreHook hook, bool prepend = false);
  HookRemover register_forward_hook(ForwardHook hook, bool prepend = false, bool always_call = false);
  HookRemover register_full_backward_hook(BackwardHook hook, bool prepend = false);
  HookRemover register_full_backward_pre_hook(BackwardPreHook hook, bool prepend = false);
  HookRemover register_state_dict_pre_hook(StateDictPreHook hook);
  HookRemover register_state_dict_post_hook(StateDictHook hook);
  HookRemover register_load_state_dict_pre_hook(LoadStateDictPreHook hook);
  HookRemover register_load_state_dict_post_hook(LoadStateDictPostHook hook);

  /// Increases whenever the module or one of its submodules changes: a parameter, buffer or submodule, the mode, a hook
  /// or a setting.
  uint64_t version() const { return version_; }
  /// The same, except that changes between training and evaluation do not count.
  uint64_t structure_version() const { return version_ - mode_changes_; }
  /// Increments the version of this module and of every module above it. Call it after changing anything that forward()
  /// reads and that the library does not know.
  void changed() { changed(/*mode_only=*/false); }

  // For the library itself.

  void retain() const;
  void release() const;
  uint32_t use_count() const { return count_.load(std::memory_order_acquire); }
  /// Whether the last Ptr deletes the module.
  bool is_owned() const { return is_owned_; }
  /// Expires with the module.
  std::weak_ptr<const void> life() const { return life_; }
  void set_owned() { is_owned_ = true; }
  /// The object of another language that owns this module; null if there is none.
  void* object() const { return object_; }
  /// Transfers ownership of the module, with every reference to it, to an object.
  void set_object(void* object);
  /// Called when the owning object, which held the last reference, is destroyed.
  void destroy() { delete this; }

  const std::vector<NamedSlot>& parameter_slots() const { return parameters_; }
  const std::vector<NamedSlot>& buffer_slots() const { return buffers_; }
  const std::vector<NamedChild>& child_slots() const { return children_; }
  const std::vector<std::shared_ptr<HookEntry>>& hooks() const { return hooks_; }
  NamedSlot* find_parameter(std::string_view name);
  NamedSlot* find_buffer(std::string_view name);
  NamedChild* find_child(std::string_view name);
  /// Sets a part without checking whether the name is taken. An existing part of the same kind keeps its position;
  /// parts of another kind with that name are removed.
  void set_parameter(std::string_view name, const Tensor& tensor);
  void set_buffer(std::string_view name, const Tensor& tensor, bool persistent);
  void set_child(std::string_view name, Ptr<Module> module);
  /// Returns whether the part existed.
  bool remove_part(std::string_view name);
  /// Removes all parts and hooks. The last step before a module is destroyed as part of a reference cycle.
  void clear_parts();
  bool has_call_hooks() const { return call_hooks_ > 0; }
  HookRemover add_hook(std::shared_ptr<HookEntry> entry, bool prepend);
  void remove_hook(const HookEntry& entry);
  /// The call without hooks: forward, or its override in Python.
  Tree run_forward(const Arguments& arguments);
  /// The module's own forward of one tensor, without hooks or overrides in Python.
  Tree forward_one(const Tensor& input) {
    return returns_one_tensor() ? Tree(forward(input)) : forward_with(Arguments({Tree(input)}));
  }

 private:
  void changed(bool mode_only);
  void check_name(const std::string& kind, const std::string& name) const;
  void link(Module& child) { child.parents_.push_back(this); }
  void unlink(Module& child);
  void load_own(StateDict& state, const std::string& prefix, bool assign, LoadResult& result,
                std::vector<std::string>& errors);
  /// The modules that a traversal is inside of.
  struct Path;
  void save_tree(StateDict& state, const std::string& prefix, bool keep_vars, Path& path);
  void load_tree(StateDict& state, const std::string& prefix, bool assign, LoadResult& result,
                 std::vector<std::string>& errors, Path& path);
  /// Deletes the module, then the modules that only it referred to, without recursion: their nesting may exceed the
  /// stack.
  void delete_iteratively() const;
  Tree call_with_backward_hooks(const Arguments& arguments);
  friend class Bridge;

  std::vector<NamedSlot> parameters_;
  std::vector<NamedSlot> buffers_;
  std::vector<NamedChild> children_;
  std::vector<std::shared_ptr<HookEntry>> hooks_;
  std::vector<Module*> parents_;  // one entry for each occurrence in a parent
  uint64_t version_ = 0;
  uint64_t mode_changes_ = 0;
  void* object_ = nullptr;
  mutable std::atomic<uint32_t> count_{0};
  uint32_t call_hooks_ = 0;
  bool training_ = true;
  bool is_owned_ = false;
  const std::shared_ptr<const void> life_ = std::make_shared<char>();
  /// The next module in a temporary list: of changed modules, or of modules to delete.
  mutable Module* next_ = nullptr;
  // End traversals of a module that contains itself.
  bool being_changed_ = false;
  bool being_walked_ = false;
};

/// Hooks that run for every module's call, before the module's own hooks.
HookRemover register_module_forward_pre_hook(ForwardPreHook hook);
HookRemover register_module_forward_hook(ForwardHook hook, bool always_call = false);
HookRemover register_module_full_backward_hook(BackwardHook hook);
HookRemover register_module_full_backward_pre_hook(BackwardPreHook hook);

}  // namespace lucid::nn
#pragma GCC visibility pop
