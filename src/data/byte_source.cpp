#include "data/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace lucid {

FileError::FileError(const std::string& what, const std::string& path, int code)
    : FileError(what, path, code, std::strerror(code)) {}

FileError::FileError(const std::string& what, const std::string& path, int code, const std::string& reason)
    : RuntimeError(fmt::format("{}: {}: {}", what, path, reason)), path_(path), reason_(reason), code_(code) {}

void check_path(const std::string& what, const std::string& path) {
  if (const size_t at = path.find('\0'); at != std::string::npos)
    throw ValueError("{}: embedded null byte in the path, after '{}'", what, path.substr(0, at));
}

void MemorySource::read(uint64_t offset, void* bytes, size_t count) const {
  LUCID_CHECK(offset <= size_ && count <= size_ - offset, "a read of {} bytes at {} of {}", count, offset, size_);
  if (count) std::memcpy(bytes, bytes_.data() + offset, count);
}

FileSource::FileSource(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {
  check_path(what_, path_);
  // Non-blocking: a FIFO is refused below, even if it has no writer.
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor_ < 0) throw FileError(what_, path_, errno);
  struct stat info{};
  int code = ::fstat(descriptor_, &info) != 0 ? errno : 0;
  if (!code && S_ISDIR(info.st_mode)) code = EISDIR;
  if (!code && !S_ISREG(info.st_mode)) code = ESPIPE;
  if (code) {
    ::close(descriptor_);
    throw FileError(what_, path_, code);
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

FileSource::~FileSource() { ::close(descriptor_); }

void FileSource::read(uint64_t offset, void* bytes, size_t count) const {
  LUCID_CHECK(offset <= size_ && count <= size_ - offset, "a read of {} bytes at {} of {}", count, offset, size_);
  auto* to = static_cast<char*>(bytes);
  while (count) {
    const ssize_t got = ::pread(descriptor_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw FileError(what_, path_, errno);
    if (got == 0) throw ValueError("{}: {} was truncated while it was read", what_, path_);
    to += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
}

}  // namespace lucid
