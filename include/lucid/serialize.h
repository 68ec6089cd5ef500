#pragma once

#include <span>
#include <string>

#include "lucid/tree.h"

#pragma GCC visibility push(default)

namespace lucid {

/// Writes a tree to a file in the safetensors format. A dict from names to tensors alone is a plain safetensors file,
/// as other libraries read and write it; anything else has its structure as JSON in the file's metadata. Nothing in
/// such a file can run code.
///
/// A regular file appears whole or not at all: it is written beside its place and then moved there. It keeps the
/// permissions of a file that it replaces, and its owner and group as far as the process may set them; other hard links
/// keep the old contents. A symbolic link stays, and the file that it leads to is written. A device, a FIFO or an open
/// file such as /dev/stdout is written in place; a FIFO needs a reader.
///
/// Throws TypeError for trees with foreign objects, ValueError for a path with a null byte, RuntimeError when the file
/// cannot be written.
void save(const Tree& tree, const std::string& path);

/// Reads what save() wrote, or any other safetensors file. Throws ValueError for files that are damaged or something
/// else, RuntimeError when the file cannot be read.
Tree load(const std::string& path);

/// The same in memory.
std::string serialize(const Tree& tree);
Tree deserialize(std::span<const char> bytes);

}  // namespace lucid

#pragma GCC visibility pop
