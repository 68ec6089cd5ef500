#pragma once

#include <span>
#include <string_view>
#include <utility>

#include "ir/op.h"
#include "tensor/tensor_impl.h"

namespace lucid {

class GradNode;
struct GradSlot;

/// Sees everything that this thread does to tensors, in order; installed by whoever records a trace.
class EagerObserver {
 public:
  virtual ~EagerObserver() = default;
  /// A tensor with new memory. What it holds is said by the next event about it; if there is none, it was filled by the
  /// host.
  virtual void made(const TensorImpl& /*tensor*/) {}
  /// Results with memory of their own.
  virtual void computed(const Call& call, const Values& results) = 0;
  /// A result that shows the memory of the call's first operand.
  virtual void viewed(const Call& call, const TensorImpl& result) = 0;
  /// Results are about to be written to memory that existed before, and were.
  virtual void writes(const Call& /*call*/, std::span<TensorImpl* const> /*destinations*/) {}
  virtual void written(const Call& call, std::span<TensorImpl* const> destinations) = 0;
  /// What a snapshot held was moved out of the way of a write: `copy`, of new memory, holds what `source` held.
  virtual void moved(const TensorImpl& /*source*/, const TensorImpl& /*copy*/) {}
  /// A leaf's `.grad` is about to be read, or replaced whatever it is. The slot is null where there never was one.
  virtual void gradient_read(const TensorImpl* /*leaf*/, const GradSlot* /*slot*/) {}
  virtual void gradient_replaced(const TensorImpl* /*leaf*/, const GradSlot* /*slot*/) {}
  /// A handle outside the gradient graph on the memory of another.
  virtual void detached(const TensorImpl& /*source*/, const TensorImpl& /*result*/) {}
  /// A root is about to get another place in the gradient graph.
  virtual void rebases(TensorImpl& /*root*/) {}
  /// A hook is about to be registered at a node, or, where it is null, for when a leaf has its gradient.
  virtual void hooked(const GradNode* /*node*/) {}
  /// A node of the gradient graph is about to run.
  virtual void ran(const GradNode& /*node*/) {}
  /// The tensor is used in a way that no graph shows, for instance its values reach the program. `how` completes "the
  /// call ...".
  virtual void escaped(const TensorImpl& /*tensor*/, std::string_view /*how*/) {}
  /// The call makes something that later calls will find, such as the state of an optimizer. They do something else.
  virtual void sets_up() {}
  /// Something about the tensor besides its values changes, which matters if others know it.
  virtual void changed(const TensorImpl& /*tensor*/, std::string_view /*how*/) {}
};

namespace observer_detail {
inline constinit thread_local EagerObserver* t_observer = nullptr;
}

/// This thread's, or null.
inline EagerObserver* eager_observer() { return observer_detail::t_observer; }

/// Installs an observer for this thread, or none; returns the one before.
inline EagerObserver* set_eager_observer(EagerObserver* observer) {
  return std::exchange(observer_detail::t_observer, observer);
}

// Tell the observer, if there is one.

inline void note_escape(const TensorImpl& tensor, std::string_view how) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->escaped(tensor, how);
}
inline void note_setup() {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->sets_up();
}
inline void note_change(const TensorImpl& tensor, std::string_view how) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->changed(tensor, how);
}

}  // namespace lucid
