#pragma once

#include "tensor/node.h"

namespace lucid {

/// a + b. Computed in place in `a` if nothing else can see its memory and nothing is recorded.
Value add_gradients(Value a, Value b);

/// Adds a gradient to a leaf's `.grad`: in place, so that handles to it see the sum, unless the pass creates a graph.
/// `strides` are those of a new gradient; empty if any will do.
void accumulate_gradient(GradSlot& slot, Value gradient, DimsView strides, bool create_graph);

/// Adds a gradient to the `.grad` of a non-leaf tensor that retains it.
void retain_gradient(GradSlot& slot, const Value& gradient);

}  // namespace lucid
