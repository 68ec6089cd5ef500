#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

namespace lucid {

/// A file that is written from its start.
///
/// A regular file, or one that does not exist yet, is written to a temporary file in the same folder, which commit()
/// renames. Until then, and if anything throws, the old file is unchanged. A symbolic link is kept, and the file that
/// it leads to is written; that file need not exist. A new file gets the permissions that open() would give it. A file
/// that replaces another gets its permissions, and its owner and group as far as the process may set them; other hard
/// links keep the old contents.
///
/// Anything else (a device, a FIFO, an open file under /proc/self/fd such as /dev/stdout) is opened and written in
/// place. A FIFO without a reader is an error.
class OutputFile {
 public:
  /// Throws FileError, and ValueError for a path with a null byte. `what` is the prefix of messages.
  OutputFile(std::string what, std::string path);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();
  void write(const void* bytes, size_t count);
  void commit();

 private:
  void open_in_place();
  void open_temporary();
  void give_permissions() const;

  std::string what_;
  std::string path_;
  std::string temporary_;  // empty if the file is written in place
  std::optional<struct stat> before_;
  int descriptor_ = -1;
};

/// Writes a whole file.
void write_file(const std::string& what, const std::string& path, std::string_view bytes);

}  // namespace lucid
