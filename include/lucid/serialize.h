#pragma once

#include <span>
#include <string>

#include "lucid/tree.h"

#pragma GCC visibility push(default)

namespace lucid {

/// Writes a tree to a file in the safetensors format. A dict from names to tensors alone is a plain safetensors file,
/// as other libraries read and write it; anything else has its structure as JSON in the file's metadata. The file
/// appears whole or not at all. Nothing in such a file can run code. Throws TypeError for trees with foreign objects,
/// RuntimeError when the file cannot be written.
void save(const Tree& tree, const std::string& path);

/// Reads what save() wrote, or any other safetensors file. Throws ValueError for files that are damaged or something
/// else, RuntimeError when the file cannot be read.
Tree load(const std::string& path);

/// The same in memory.
std::string serialize(const Tree& tree);
Tree deserialize(std::span<const char> bytes);

}  // namespace lucid

#pragma GCC visibility pop
