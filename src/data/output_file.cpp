#include "data/output_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/random.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>
#include <utility>

#include "base/blocking.h"
#include "data/byte_source.h"

namespace lucid {
namespace {

/// The file that a path leads to through symbolic links in its last component. It need not exist.
struct Target {
  std::string path;
  bool is_open_file = false;  // a link of procfs, which leads to an open file regardless of its text
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_on_procfs(const std::string& link) {
  const int descriptor = ::open(link.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct statfs info{};
  const bool answer = ::fstatfs(descriptor, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
  ::close(descriptor);
  return answer;
}

Target follow_links(const std::string& what, const std::string& path) {
  constexpr int kMaxLinks = 40;  // the limit of the kernel
  Target target{path};
  for (int i = 0; i <= kMaxLinks; ++i) {
    std::array<char, PATH_MAX> text;
    const ssize_t length = ::readlink(target.path.c_str(), text.data(), text.size());
    if (length < 0) return target;  // not a link; other errors are reported when it is opened
    if (is_on_procfs(target.path)) {
      target.is_open_file = true;
      return target;
    }
    const std::string next(text.data(), static_cast<size_t>(length));
    target.path = next.starts_with('/') ? next : folder_of(target.path) + next;
  }
  throw FileError(what, path, ELOOP);
}

/// A random name for a new file in the folder of `path`.
std::string temporary_name(const std::string& path) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz012345";
  std::array<unsigned char, 12> random{};
  // If this fails, the bytes are zeros and the name may be taken: the caller tries again.
  static_cast<void>(::getrandom(random.data(), random.size(), GRND_NONBLOCK));
  std::string suffix = ".";
  for (const unsigned char byte : random) suffix += kDigits[byte % kDigits.size()];
  const std::string folder = folder_of(path);
  return folder + path.substr(folder.size(), NAME_MAX - suffix.size()) + suffix;
}

}  // namespace

OutputFile::OutputFile(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {
  check_path(what_, path_);
  // The kernel follows the links first, because it may forbid it, as for links of other users in /tmp.
  struct stat info{};
  if (::stat(path_.c_str(), &info) == 0)
    before_ = info;
  else if (errno != ENOENT || path_.empty())
    throw FileError(what_, path_, errno);
  Target target = follow_links(what_, path_);
  if (target.is_open_file || (before_ && !S_ISREG(before_->st_mode))) {
    open_in_place();
    return;
  }
  path_ = std::move(target.path);
  open_temporary();
}

void OutputFile::open_in_place() {
  // Without O_NONBLOCK, a FIFO without a reader would block the caller until there is one.
  const bool is_fifo = before_ && S_ISFIFO(before_->st_mode);
  while (descriptor_ < 0) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | (is_fifo ? O_NONBLOCK : 0));
    if (descriptor_ >= 0) break;
    if (is_fifo && errno == ENXIO)
      throw FileError(what_, path_, ENXIO, "this FIFO has no reader; pass open(path, \"wb\") to wait for a reader");
    if (errno != EINTR) throw FileError(what_, path_, errno);
    check_interrupts();
  }
  if (is_fifo && ::fcntl(descriptor_, F_SETFL, O_WRONLY) != 0) throw FileError(what_, path_, errno);
}

void OutputFile::open_temporary() {
  constexpr int kMaxTries = 100;
  // The kernel applies the umask: reading it would require setting it, for all threads. A file that replaces another is
  // private until it gets the permissions of the other.
  const mode_t mode = before_ ? 0600 : 0666;
  for (int i = 0; i < kMaxTries && descriptor_ < 0; ++i) {
    temporary_ = temporary_name(path_);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
  if (descriptor_ >= 0) return;
  const int code = errno;
  temporary_.clear();
  throw FileError(what_, path_, code);
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::write(const void* bytes, size_t count) {
  const auto* from = static_cast<const char*>(bytes);
  while (count) {
    const ssize_t put = ::write(descriptor_, from, count);
    if (put < 0 && errno != EINTR) throw FileError(what_, path_, errno);
    if (put > 0) {
      from += put;
      count -= static_cast<size_t>(put);
    }
    // A signal may also interrupt a write after a part of it.
    if (count) check_interrupts();
  }
}

void OutputFile::give_permissions() const {
  if (!before_) return;
  // Only root may change the owner, and others may change the group only to one of their own. If the owner cannot be
  // kept, the setuid and setgid bits must not be kept either.
  mode_t mode = before_->st_mode & 07777u;
  if (::fchown(descriptor_, before_->st_uid, before_->st_gid) != 0) {
    mode &= 0777u;
    static_cast<void>(::fchown(descriptor_, static_cast<uid_t>(-1), before_->st_gid) != 0);
  }
  if (::fchmod(descriptor_, mode) != 0) throw FileError(what_, path_, errno);
}

void OutputFile::commit() {
  if (!temporary_.empty()) {
    give_permissions();
    if (::fsync(descriptor_) != 0) throw FileError(what_, path_, errno);
  }
  const int status = ::close(std::exchange(descriptor_, -1));
  if (status != 0) throw FileError(what_, path_, errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw FileError(what_, path_, errno);
  temporary_.clear();
}

void write_file(const std::string& what, const std::string& path, std::string_view bytes) {
  OutputFile file(what, path);
  file.write(bytes.data(), bytes.size());
  file.commit();
}

}  // namespace lucid
