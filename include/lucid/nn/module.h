#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lucid/nn/item.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

class Bridge;
class Fields;
class Module;
class StateDict;
struct HookEntry;

/// A counted reference to a module; one pointer wide. Where Python has an object for the module, the count is that
/// object's.
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
  explicit operator bool() const { return pointer_ != nullptr; }
  bool operator==(const Ptr& other) const = default;

 private:
  T* pointer_ = nullptr;
};

template <typename T, typename... Args>
Ptr<T> make(Args&&... args) {
  return Ptr<T>(new T(std::forward<Args>(args)...));
}

/// A tensor that a module holds: counted here or, once Python has an object for it, kept alive by that object, so that
/// the tensor is the same object as long as the module has it.
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

  /// None if the slot is empty.
  Tensor get() const { return Tensor(tensor_); }
  TensorImpl* impl() const { return tensor_; }
  void* object() const { return object_; }
  /// Takes over a reference to the object that keeps the tensor alive.
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

// Hooks. What they return, if anything, replaces what they were given.

using ForwardPreHook = std::function<std::optional<Arguments>(Module& module, const Arguments& arguments)>;
using ForwardHook = std::function<std::optional<Item>(Module& module, const Arguments& arguments, const Item& result)>;
using Gradients = std::vector<Tensor>;
using BackwardHook =
    std::function<std::optional<Gradients>(Module& module, const Gradients& grad_input, const Gradients& grad_output)>;
using BackwardPreHook = std::function<std::optional<Gradients>(Module& module, const Gradients& grad_output)>;
/// Before the state of a module, or of a module below it, is written.
using StateDictPreHook = std::function<void(Module& module, const std::string& prefix, bool keep_vars)>;
/// After it was written.
using StateDictHook = std::function<void(Module& module, StateDict& state, const std::string& prefix)>;

/// Which keys a state dict lacked, and which it had too many.
struct LoadResult {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

/// Before a module is loaded; may change the state.
using LoadStateDictPreHook =
    std::function<void(Module& module, StateDict& state, const std::string& prefix, LoadResult& result)>;
using LoadStateDictPostHook = std::function<void(Module& module, LoadResult& result)>;

/// Removes the hook that it was returned for; more than once does no harm.
class HookRemover {
 public:
  HookRemover() = default;
  explicit HookRemover(std::weak_ptr<HookEntry> entry) : entry_(std::move(entry)) {}
  void remove();

 private:
  std::weak_ptr<HookEntry> entry_;
};

/// Names of what is saved, with tensors or, for extra state, other items; in order.
class StateDict {
 public:
  virtual ~StateDict() = default;
  virtual void set(const std::string& key, Item value) = 0;
  virtual bool has(const std::string& key) const = 0;
  virtual Item get(const std::string& key) const = 0;
  virtual std::vector<std::string> keys() const = 0;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// A part of a network: parameters that are learned, buffers that are not, and modules below it. Derive from it,
/// register parts in the constructor and override forward(). Every change to a module, or to one below it, moves its
/// version.
class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  // What derived classes say.

  /// The result for one tensor.
  virtual Tensor forward(const Tensor& input);
  /// The result for any arguments. Modules that take more than one tensor override this one.
  virtual Item forward_with(const Arguments& arguments);
  /// Whether forward() says what the module does with one tensor. Modules whose result is more than a tensor do not.
  virtual bool gives_one_tensor() const { return true; }
  virtual std::string type_name() const { return "Module"; }
  /// What stands between the brackets when the module is printed.
  virtual std::string extra_repr() const { return {}; }
  /// Whether equal modules below it are printed as one line.
  virtual bool repeats_in_repr() const { return false; }
  /// Names the settings of the module: what copies and files of it must have.
  virtual void fields(Fields&) {}
  /// Makes parameters and buffers according to the settings.
  virtual void build(std::optional<Dtype>) {}
  /// Draws the parameters anew.
  virtual void reset_parameters() {}
  /// A new module of the same class without settings. Needed for clone().
  virtual Ptr<Module> blank() const;

  // Calling: runs the hooks around forward.

  Tensor operator()(const Tensor& input);
  Item call(const Tensor& input);
  Item call(const Arguments& arguments);

  // Parts. Names must not be empty, contain dots or be taken.

  Tensor register_parameter(const std::string& name, const Tensor& tensor);
  Tensor register_buffer(const std::string& name, const Tensor& tensor, bool persistent = true);
  void add_module(const std::string& name, Ptr<Module> module);
  template <typename T>
  Ptr<T> register_module(const std::string& name, Ptr<T> module) {
    add_module(name, module);
    return module;
  }
  /// A parameter or buffer by its own name; none if it is none. Throws when there is no such name.
  Tensor parameter(std::string_view name) const;
  Tensor buffer(std::string_view name) const;
  Module& child(std::string_view name) const;
  /// By a path with dots; "" is the module itself.
  Tensor get_parameter(const std::string& path) const;
  Tensor get_buffer(const std::string& path) const;
  Ptr<Module> get_submodule(const std::string& path);

  // Walks, the module first, each tensor and module once.

  std::vector<Tensor> parameters(bool recurse = true);
  NamedTensors named_parameters(const std::string& prefix = "", bool recurse = true, bool remove_duplicate = true);
  NamedTensors named_buffers(const std::string& prefix = "", bool recurse = true, bool remove_duplicate = true);
  std::vector<std::pair<std::string, Ptr<Module>>> named_modules(const std::string& prefix = "",
                                                                 bool remove_duplicate = true);
  std::vector<std::pair<std::string, Ptr<Module>>> named_children();
  /// Calls a function with every module below, then with this one.
  void apply(const std::function<void(Module&)>& function);

  // State.

  bool training() const { return training_; }
  /// Of this module only.
  void set_training(bool training);
  void train(bool mode = true);
  void eval() { train(false); }
  void requires_grad_(bool requires_grad = true);
  void zero_grad(bool set_to_none = true);
  /// Converts floating-point parameters and buffers in place; parameters stay the same tensors.
  void to(Dtype dtype);
  /// Replaces the memory of every parameter and gradient, and every buffer, by what a function gives.
  void transform(const std::function<Tensor(const Tensor&)>& function);

  NamedTensors state_dict(const std::string& prefix = "", bool keep_vars = false);
  /// Copies tensors into the parameters and buffers of these names. Throws RuntimeError naming every key that is
  /// missing (if strict), unexpected (if strict) or has another shape.
  LoadResult load_state_dict(const NamedTensors& state, bool strict = true, bool assign = false);
  void save_state(StateDict& state, const std::string& prefix, bool keep_vars);
  LoadResult load_state(StateDict& state, bool strict, bool assign);

  /// A deep copy, hooks included.
  Ptr<Module> clone();
  /// The tree of modules, as text.
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

  /// Moves whenever anything about the module or one below it changes: a part, a mode, a hook, a setting.
  uint64_t version() const { return version_; }
  /// Moves the version here and in every module above.
  void changed();

  // For the library itself.

  void retain() const;
  void release() const;
  uint32_t use_count() const { return count_.load(std::memory_order_acquire); }
  /// The object that another language has for this module, which then owns it.
  void* object() const { return object_; }
  /// Hands the module, and every reference to it, over to an object.
  void set_object(void* object);
  /// The object is gone, and with it the last reference.
  void destroy() { delete this; }

  const std::vector<NamedSlot>& parameter_slots() const { return parameters_; }
  const std::vector<NamedSlot>& buffer_slots() const { return buffers_; }
  const std::vector<NamedChild>& child_slots() const { return children_; }
  const std::vector<std::shared_ptr<HookEntry>>& hooks() const { return hooks_; }
  NamedSlot* find_parameter(std::string_view name);
  NamedSlot* find_buffer(std::string_view name);
  NamedChild* find_child(std::string_view name);
  /// Sets a part without looking whether the name is taken, keeping its place in the order; other kinds of parts of
  /// that name are removed.
  void set_parameter(std::string_view name, const Tensor& tensor);
  void set_buffer(std::string_view name, const Tensor& tensor, bool persistent);
  void set_child(std::string_view name, Ptr<Module> module);
  /// Whether there was such a part.
  bool remove_part(std::string_view name);
  /// Removes everything, as the last step of a module that is being destroyed together with what refers to it.
  void clear_parts();
  bool has_call_hooks() const { return call_hooks_ > 0; }
  HookRemover add_hook(std::shared_ptr<HookEntry> entry, bool prepend);
  void remove_hook(const HookEntry& entry);
  /// What calls run inside the hooks: forward, as Python may have overridden it.
  Item run_forward(const Arguments& arguments);
  /// The module's own forward of one tensor, without hooks.
  Item forward_one(const Tensor& input) {
    return gives_one_tensor() ? Item(forward(input)) : forward_with(Arguments({Item(input)}));
  }

 private:
  void check_name(const std::string& kind, const std::string& name) const;
  void link(Module& child) { child.parents_.push_back(this); }
  void unlink(Module& child);
  void load_own(StateDict& state, const std::string& prefix, bool assign, LoadResult& result,
                std::vector<std::string>& errors);
  /// The modules that a walk is inside of.
  struct Path;
  void save_tree(StateDict& state, const std::string& prefix, bool keep_vars, Path& path);
  void load_tree(StateDict& state, const std::string& prefix, bool assign, LoadResult& result,
                 std::vector<std::string>& errors, Path& path);
  /// Deletes the module, then those that only it referred to, one after the other: they may be nested deeper than the
  /// stack.
  void delete_in_turn() const;
  Item call_with_backward_hooks(const Arguments& arguments);
  friend class Bridge;

  std::vector<NamedSlot> parameters_;
  std::vector<NamedSlot> buffers_;
  std::vector<NamedChild> children_;
  std::vector<std::shared_ptr<HookEntry>> hooks_;
  std::vector<Module*> parents_;  // one entry for each place below a module
  uint64_t version_ = 0;
  void* object_ = nullptr;
  mutable std::atomic<uint32_t> count_{0};
  uint32_t call_hooks_ = 0;
  bool training_ = true;
  /// The next in a list of modules: those that changed, or those to be deleted.
  mutable Module* next_ = nullptr;
  // End walks through a module that lies below itself.
  bool being_changed_ = false;
  bool being_walked_ = false;
};

/// Hooks that run around every module's call, before its own.
HookRemover register_module_forward_pre_hook(ForwardPreHook hook);
HookRemover register_module_forward_hook(ForwardHook hook, bool always_call = false);
HookRemover register_module_full_backward_hook(BackwardHook hook);
HookRemover register_module_full_backward_pre_hook(BackwardPreHook hook);

}  // namespace lucid::nn
#pragma GCC visibility pop
