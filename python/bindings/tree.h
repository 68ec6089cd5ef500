#pragma once

#include <lucid/tree.h>

#include <string>

#include "bindings/errors.h"
#include "bindings/gil.h"

namespace lucid::python {

/// What to do with objects that a tree cannot represent: throw TypeError, or keep them as Foreign.
enum class Unsupported { kReject, kKeep };

/// Converts Python data to a tree. `root` names the object in messages: "save: obj". Throws TypeError with the path of
/// the object for unsupported objects, and OverflowError for integers of more than 64 bits.
/// Other Python threads may run during the conversion.
Tree to_tree(const std::string& root, nb::handle object, Unsupported unsupported);

/// Converts None and tensors. Any other object passes through unchanged, as Foreign.
Tree to_tree(nb::handle object);

/// Converts a tree to Python data. Lists, tuples and dicts are new objects; tensors are shared. With `yield`, other
/// Python threads run during the conversion, so none of them may have access to the tree.
nb::object from_tree(const Tree& tree, GilYield* yield = nullptr);

}  // namespace lucid::python
