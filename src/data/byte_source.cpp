#include "data/byte_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace lucid {

FileError::FileError(const std::string& what, const std::string& path, int code)
    : Error(ErrorClass::kRuntime, fmt::format("{}: {}: {}", what, path, std::strerror(code))),
      path_(path),
      code_(code) {}

void MemorySource::read(uint64_t offset, void* bytes, size_t count) const {
  LUCID_CHECK(offset <= size_ && count <= size_ - offset, "a read of {} bytes at {} of {}", count, offset, size_);
  if (count) std::memcpy(bytes, bytes_.data() + offset, count);
}

FileSource::FileSource(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
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
    if (got == 0) throw ValueError("{}: {} became shorter while it was read", what_, path_);
    to += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
}

AtomicFile::AtomicFile(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {
  // A link is followed: what it names is replaced, not the link.
  std::error_code ignored;
  if (std::filesystem::is_symlink(path_, ignored)) {
    const auto target = std::filesystem::weakly_canonical(path_, ignored);
    if (!ignored) path_ = target.string();
  }
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = ::mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const int code = errno;
    temporary_.clear();
    throw FileError(what_, path_, code);
  }
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* bytes, size_t count) {
  const auto* from = static_cast<const char*>(bytes);
  while (count) {
    const ssize_t put = ::write(descriptor_, from, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw FileError(what_, path_, errno);
    from += put;
    count -= static_cast<size_t>(put);
  }
}

void AtomicFile::commit() {
  // As a file that was opened in the usual way would be: readable as the mask says, not by its owner alone.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  struct stat before{};
  const mode_t mode = ::stat(path_.c_str(), &before) == 0 ? before.st_mode & 07777u : 0666u & ~mask;
  if (::fchmod(descriptor_, mode) != 0 || ::fsync(descriptor_) != 0) throw FileError(what_, path_, errno);
  const int status = ::close(descriptor_);
  descriptor_ = -1;
  if (status != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) throw FileError(what_, path_, errno);
  temporary_.clear();
}

}  // namespace lucid
