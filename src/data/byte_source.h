#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"

namespace lucid {

/// An error of the operating system; `code` is its errno.
class FileError : public RuntimeError {
 public:
  FileError(const std::string& what, const std::string& path, int code);
  /// With a more specific reason than the system's.
  FileError(const std::string& what, const std::string& path, int code, const std::string& reason);
  int code() const { return code_; }
  const std::string& reason() const { return reason_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::string reason_;
  int code_;
};

/// Throws ValueError for a path with a null byte, at which the system would cut it off.
void check_path(const std::string& what, const std::string& path);

/// A sequence of bytes of known size with random access. Not memory-mapped: if a file is truncated while it is read,
/// the result is an error, not a signal.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  uint64_t size() const { return size_; }
  /// Reads `count` bytes at `offset`; the caller has checked that they exist.
  virtual void read(uint64_t offset, void* bytes, size_t count) const = 0;

 protected:
  uint64_t size_ = 0;
};

class MemorySource : public ByteSource {
 public:
  explicit MemorySource(std::span<const char> bytes) : bytes_(bytes) { size_ = bytes.size(); }
  void read(uint64_t offset, void* bytes, size_t count) const override;

 private:
  std::span<const char> bytes_;
};

class FileSource : public ByteSource {
 public:
  /// Opens a regular file; others have no size. Throws FileError. `what` is the prefix of messages.
  FileSource(std::string what, std::string path);
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override;
  void read(uint64_t offset, void* bytes, size_t count) const override;

 private:
  std::string what_;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace lucid
