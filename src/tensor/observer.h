#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

class GradNode;
struct GradSlot;

/// What the program gets to know of a tensor that it reads.
enum class ValuesRead : uint8_t { kAll, kTruth };

/// Something other than tensors that a call depends on, such as a module. A recording of the call is valid as long as
/// it holds.
class Dependency {
 public:
  virtual ~Dependency() = default;
  /// Whether it is as it was during the recording.
  virtual bool holds() const = 0;
  /// Whether the object was destroyed: it holds no more.
  virtual bool is_gone() const { return false; }
  /// What has changed if it does not hold: "the module Linear".
  virtual std::string name() const = 0;
  /// The recording is complete. Returns what the call did to the object that a plan cannot repeat, to complete "the
  /// call ..."; empty if nothing.
  virtual std::string recorded() { return {}; }
  /// A plan has run in place of the call: repeats what the call did to the object, other than to its tensors.
  virtual void ran() const {}
};

/// Observes everything that this thread does to tensors, in order. Installed by recorders of traces.
class EagerObserver {
 public:
  virtual ~EagerObserver() = default;
  /// Whether the observer wants to know that a call depends on an object, and does not know it yet.
  virtual bool needs_dependency(const void* /*object*/) const { return false; }
  virtual void depends(const void* /*object*/, const std::shared_ptr<Dependency>& /*dependency*/) {}
  /// A tensor with new memory was created. The next event about it tells its contents; without one, the host filled it.
  virtual void made(const TensorImpl& /*tensor*/) {}
  /// A handle on existing memory was created: on that of `source` or, if null, of a snapshot.
  virtual void made_handle(const TensorImpl& /*handle*/, const TensorImpl* /*source*/) {}
  /// A handle is about to be destroyed.
  virtual void destroyed(const TensorImpl& /*handle*/) {}
  /// Results with their own memory were computed.
  virtual void computed(const Call& call, const Values& results) = 0;
  /// A result was created that views the memory of the call's first operand.
  virtual void viewed(const Call& call, const TensorImpl& result) = 0;
  /// Called before and after results are written to existing memory.
  virtual void writes(const Call& /*call*/, std::span<TensorImpl* const> /*destinations*/) {}
  virtual void written(const Call& call, std::span<TensorImpl* const> destinations) = 0;
  /// A snapshot was moved out of the way of a write: `copy`, on new memory, holds the value that `source` held.
  virtual void moved(const TensorImpl& /*source*/, const TensorImpl& /*copy*/) {}
  /// A leaf's `.grad` is about to be read, or replaced regardless of its value. The slot is null if there is none yet.
  virtual void gradient_read(const TensorImpl* /*leaf*/, const GradSlot* /*slot*/) {}
  virtual void gradient_replaced(const TensorImpl* /*leaf*/, const GradSlot* /*slot*/) {}
  /// A handle outside the gradient graph was created on the memory of another.
  virtual void detached(const TensorImpl& /*source*/, const TensorImpl& /*result*/) {}
  /// A root is about to move to another position in the gradient graph.
  virtual void rebases(TensorImpl& /*root*/) {}
  /// A hook is about to be registered: on a node, or, if `node` is null, to run after a leaf accumulates its gradient.
  virtual void hooked(const GradNode* /*node*/) {}
  /// A node of the gradient graph is about to run.
  virtual void ran(const GradNode& /*node*/) {}
  /// The values of a tensor reach the program: all of them, or only whether its one element is true.
  virtual void values_read(const TensorImpl& /*tensor*/, ValuesRead /*what*/) {}
  /// The tensor is used in a way that no graph can represent; for instance another library gets its memory. `how`
  /// completes the sentence "the call ...".
  virtual void escaped(const TensorImpl& /*tensor*/, std::string_view /*how*/) {}
  /// The call does something outside tensors that a plan cannot repeat, such as writing a file. `how` completes
  /// "the call ...".
  virtual void acted_outside(std::string_view /*how*/) {}
  /// The call creates something that later calls will find, such as the state of an optimizer, so later calls behave
  /// differently.
  virtual void sets_up() {}
  /// Something other than the values of a tensor is read, such as its place in the gradient graph. `how` completes
  /// "the call ...".
  virtual void inspected(const TensorImpl& /*tensor*/, std::string_view /*how*/) {}
  /// The program reads metadata of the tensor: its dtype, sizes, strides or requires_grad.
  virtual void used(const TensorImpl& /*tensor*/) {}
  /// The hash of a tensor is read, which depends on its address.
  virtual void hashed(const TensorImpl& /*tensor*/) {}
  /// A property of the tensor other than its values changes. This matters if code outside the call can see the tensor.
  virtual void changed(const TensorImpl& /*tensor*/, std::string_view /*how*/) {}
};

namespace observer_detail {
inline constinit thread_local EagerObserver* t_observer = nullptr;
}

/// The observer of this thread, or null.
inline EagerObserver* eager_observer() { return observer_detail::t_observer; }

/// Installs an observer for this thread, or removes it if null. Returns the previous one.
inline EagerObserver* set_eager_observer(EagerObserver* observer) {
  return std::exchange(observer_detail::t_observer, observer);
}

// Notify the observer of this thread, if there is one.

inline void on_escape(const TensorImpl& tensor, std::string_view how) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->escaped(tensor, how);
}
inline void on_external_effect(std::string_view how) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->acted_outside(how);
}
inline void on_read(const TensorImpl& tensor, ValuesRead what) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->values_read(tensor, what);
}
inline void on_inspection(const TensorImpl& tensor, std::string_view how) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->inspected(tensor, how);
}
inline void on_use(const TensorImpl& tensor) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->used(tensor);
}
inline void on_hash(const TensorImpl& tensor) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->hashed(tensor);
}
/// `make` returns the dependency of a call on an object.
template <typename Make>
void on_dependency(const void* object, const Make& make) {
  if (EagerObserver* observer = eager_observer(); observer && observer->needs_dependency(object)) [[unlikely]]
    observer->depends(object, make());
}
inline void on_setup() {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->sets_up();
}
inline void on_change(const TensorImpl& tensor, std::string_view how) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->changed(tensor, how);
}

}  // namespace lucid
