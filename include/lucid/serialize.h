#pragma once

#include <span>
#include <string>

#include "lucid/tree.h"

#pragma GCC visibility push(default)

namespace lucid {

/// Writes a tree to a file in the safetensors format. A dict that maps names to tensors becomes a plain safetensors
/// file, readable by other libraries. For any other tree, the file's metadata holds the structure as JSON. Loading such
/// a file never runs code.
///
/// A regular file is written atomically: to a temporary file next to it, which is then moved into place. The new file
/// keeps the permissions of a file that it replaces, and its owner and group as far as the process may set them; other
/// hard links keep the old contents. A symbolic link is followed, and its target replaced. A device, a FIFO or an open
/// file such as /dev/stdout is written in place; a FIFO needs a reader.
///
/// Throws TypeError for trees with foreign objects, ValueError for a path with a null byte, and RuntimeError if the
/// file cannot be written.
void save(const Tree& tree, const std::string& path);

/// Reads a file written by save(), or any other safetensors file. Throws ValueError if the file is damaged or has
/// another format, and RuntimeError if it cannot be read.
Tree load(const std::string& path);

/// The same with bytes in memory.
std::string serialize(const Tree& tree);
Tree deserialize(std::span<const char> bytes);

}  // namespace lucid

#pragma GCC visibility pop
