#pragma once

#include <lucid/tree.h>

#include <string>

#include "bindings/errors.h"

namespace lucid::python {

/// What becomes of objects that a tree has no kind for.
enum class Others { kRefuse, kKeep };

/// Python data as a tree. `place` begins messages: "save: obj". Throws TypeError for what cannot be part of one, naming
/// where it was found; OverflowError for integers of more than 64 bits.
Tree to_tree(const std::string& place, nb::handle object, Others others);

/// Lists, tuples and dicts are new; tensors are the same.
nb::object from_tree(const Tree& tree);

}  // namespace lucid::python
