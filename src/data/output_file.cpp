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

/// Where a path leads through symbolic links, those in its last component: the file need not exist.
struct Target {
  std::string path;
  bool is_open_file = false;  // a link of procfs, which leads to a file that has been opened, whatever its text says
};

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool lies_on_procfs(const std::string& link) {
  const int descriptor = ::open(link.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct statfs info{};
  const bool answer = ::fstatfs(descriptor, &info) == 0 && info.f_type == PROC_SUPER_MAGIC;
  ::close(descriptor);
  return answer;
}

Target follow_links(const std::string& what, const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as the kernel follows
  Target target{path};
  for (int i = 0; i <= kMostLinks; ++i) {
    std::array<char, PATH_MAX> text;
    const ssize_t length = ::readlink(target.path.c_str(), text.data(), text.size());
    if (length < 0) return target;  // no link; what else may be wrong is found when it is opened
    if (lies_on_procfs(target.path)) {
      target.is_open_file = true;
      return target;
    }
    const std::string next(text.data(), static_cast<size_t>(length));
    target.path = next.starts_with('/') ? next : folder_of(target.path) + next;
  }
  throw FileError(what, path, ELOOP);
}

/// A name for a new file in the folder of `path` that nobody else has.
std::string temporary_name(const std::string& path) {
  constexpr std::string_view kDigits = "abcdefghijklmnopqrstuvwxyz012345";
  std::array<unsigned char, 12> random{};
  // A failure leaves zeros, and the name may be taken: the caller tries again.
  static_cast<void>(::getrandom(random.data(), random.size(), GRND_NONBLOCK));
  std::string suffix = ".";
  for (const unsigned char byte : random) suffix += kDigits[byte % kDigits.size()];
  const std::string folder = folder_of(path);
  return folder + path.substr(folder.size(), NAME_MAX - suffix.size()) + suffix;
}

}  // namespace

OutputFile::OutputFile(std::string what, std::string path) : what_(std::move(what)), path_(std::move(path)) {
  check_path(what_, path_);
  // The kernel follows the links first, since it may forbid that, as for other users' links in /tmp.
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
  // Without O_NONBLOCK, a FIFO that nobody reads from would hold up the caller until somebody does.
  const bool is_fifo = before_ && S_ISFIFO(before_->st_mode);
  while (descriptor_ < 0) {
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY | (is_fifo ? O_NONBLOCK : 0));
    if (descriptor_ >= 0) break;
    if (is_fifo && errno == ENXIO)
      throw FileError(what_, path_, ENXIO, "nobody reads from this FIFO; pass open(path, \"wb\") to wait for a reader");
    if (errno != EINTR) throw FileError(what_, path_, errno);
    check_interrupts();
  }
  if (is_fifo && ::fcntl(descriptor_, F_SETFL, O_WRONLY) != 0) throw FileError(what_, path_, errno);
}

void OutputFile::open_temporary() {
  constexpr int kMostTries = 100;
  // The kernel applies the umask: asking for it would mean setting it, for all threads. A file that replaces another is
  // nobody else's to read until it has the other's permissions.
  const mode_t mode = before_ ? 0600 : 0666;
  for (int i = 0; i < kMostTries && descriptor_ < 0; ++i) {
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
    // A signal may also end a write that has done a part.
    if (count) check_interrupts();
  }
}

void OutputFile::give_permissions() const {
  if (!before_) return;
  // Only root may give files away, and others only to their own groups. Without its owner, a file must not keep the
  // bits that let others run it as the owner or group.
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

}  // namespace lucid
