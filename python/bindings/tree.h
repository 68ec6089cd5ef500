#pragma once

#include <lucid/tree.h>

#include <string>

#include "bindings/errors.h"
#include "bindings/gil.h"

namespace lucid::python {

/// What becomes of objects that a tree has no kind for.
enum class Others { kRefuse, kKeep };

/// Python data as a tree. `place` begins messages: "save: obj". Throws TypeError for what cannot be part of one, naming
/// where it was found; OverflowError for integers of more than 64 bits.
/// Other Python threads may run in between.
Tree to_tree(const std::string& place, nb::handle object, Others others);

/// Lists, tuples and dicts are new; tensors are the same. With `turns`, other Python threads run in between: only for a
/// tree that none of them can reach.
nb::object from_tree(const Tree& tree, GilTurns* turns = nullptr);

}  // namespace lucid::python
