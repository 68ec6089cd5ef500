#include "runtime/object_store.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"

namespace lucid {

namespace {

constexpr char kMagic[8] = {'L', 'U', 'C', 'I', 'D', 'K', 'R', 'N'};
constexpr uint64_t kFormat = 1;
constexpr uint64_t kLargestObject = uint64_t{64} << 20;
constexpr std::string_view kSuffix = ".kernel";
constexpr std::string_view kTemporaryPrefix = ".writing-";
constexpr time_t kDay = 24 * 60 * 60;
// The name of a file is a digest of its key. The header holds a digest with another seed, to distinguish keys whose
// names collide.
constexpr uint64_t kNameSeed = 1;
constexpr uint64_t kContentSeed = 2;

struct Digest {
  uint64_t low, high;
  bool operator==(const Digest&) const = default;
};

Digest digest(std::string_view bytes, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

/// The start of a file; the object code follows.
struct Header {
  char magic[8];
  uint64_t format;
  uint64_t key_bytes;
  Digest key_digest;
  uint64_t object_bytes;
  Digest object_digest;
  bool operator==(const Header&) const = default;
};
static_assert(sizeof(Header) == 64);

Header make_header(std::string_view key, std::string_view object) {
  Header header{.format = kFormat,
                .key_bytes = key.size(),
                .key_digest = digest(key, kContentSeed),
                .object_bytes = object.size(),
                .object_digest = digest(object, kContentSeed)};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  return header;
}

std::string file_name(std::string_view key) {
  const Digest name = digest(key, kNameSeed);
  return fmt::format("{:016x}{:016x}{}", name.high, name.low, kSuffix);
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  explicit operator bool() const { return descriptor_ >= 0; }
  int get() const { return descriptor_; }

  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return true;
  }

  bool read(char* bytes, size_t size) const {
    while (size > 0) {
      const ssize_t count = ::read(descriptor_, bytes, size);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes += count;
      size -= static_cast<size_t>(count);
    }
    return true;
  }

 private:
  int descriptor_;
};

void make_directories(const std::string& path) {
  for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
    if (end == std::string::npos) return;
  }
}

/// Makes a path absolute: the directory may be reopened after the program has changed its working directory.
std::string absolute(std::string path) {
  if (path.empty() || path.starts_with('/')) return path;
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  return error ? path : (here / path).string();
}

/// Why the directory cannot be trusted; empty if it can.
std::string distrust(const std::string& path, const struct stat& link, const struct stat& directory) {
  const uid_t user = ::geteuid();
  if (S_ISLNK(link.st_mode) && link.st_uid != user) return fmt::format("{} is another user's symbolic link", path);
  if (directory.st_uid != user) return fmt::format("{} belongs to another user", path);
  if (directory.st_mode & (S_IWGRP | S_IWOTH)) return fmt::format("{} is writable for other users", path);
  return "";
}

/// Whether only this user and root can have written an open file. Others may have put it into the directory, or opened
/// it for writing, before the directory belonged to this user alone.
bool is_own_file(const struct stat& file) {
  return S_ISREG(file.st_mode) && (file.st_uid == ::geteuid() || file.st_uid == 0) &&
         !(file.st_mode & (S_IWGRP | S_IWOTH));
}

}  // namespace

ObjectStore::ObjectStore(std::string directory, uint64_t limit)
    : path_(absolute(std::move(directory))), limit_(limit) {}

ObjectStore::~ObjectStore() {
  if (descriptor_ >= 0 && is_still_open()) ::close(descriptor_);
}

int ObjectStore::directory() {
  const std::lock_guard lock(mutex_of(LockRank::kObjectStore, this));
  if (!std::exchange(opened_, true)) open_directory();
  if (descriptor_ >= 0 && !is_still_open()) {
    // Not closed: the descriptor now belongs to other code.
    descriptor_ = -1;
    open_directory();
  }
  return descriptor_;
}

bool ObjectStore::is_still_open() const {
  struct stat status{};
  return ::fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void ObjectStore::open_directory() {
  if (path_.empty()) return;
  make_directories(path_);
  struct stat link{}, target{};
  std::string problem;
  // All other accesses use this descriptor, so the directory cannot be replaced after the check.
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0 || ::lstat(path_.c_str(), &link) != 0 || ::fstat(descriptor, &target) != 0) {
    problem = fmt::format("{}: {}", path_, std::strerror(errno));
  } else {
    problem = distrust(path_, link, target);
  }
  if (problem.empty()) {
    descriptor_ = descriptor;
    device_ = target.st_dev;
    inode_ = target.st_ino;
    return;
  }
  if (descriptor >= 0) ::close(descriptor);
  const std::string warning = fmt::format("lucid: warning: compiled kernels are not stored on disk: {}\n", problem);
  std::fputs(warning.c_str(), stderr);
}

std::string ObjectStore::path_of(std::string_view key) const { return path_ + "/" + file_name(key); }

std::optional<std::string> ObjectStore::get(std::string_view key) {
  if (directory() < 0) return std::nullopt;
  // Non-blocking, in case the file is a pipe.
  const File file(::openat(directory(), file_name(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0 || !is_own_file(status)) return std::nullopt;
  const auto size = static_cast<uint64_t>(status.st_size);
  Header header;
  if (size < sizeof header || size > sizeof header + kLargestObject) return std::nullopt;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (header.object_bytes != size - sizeof header) return std::nullopt;
  std::string object(header.object_bytes, '\0');
  if (!file.read(object.data(), object.size())) return std::nullopt;
  if (!(header == make_header(key, object))) return std::nullopt;
  // The modification time records the last use with a resolution of a day, which is enough to choose files to remove.
  if (std::time(nullptr) - status.st_mtim.tv_sec > kDay) ::futimens(file.get(), nullptr);
  return object;
}

void ObjectStore::put(std::string_view key, std::string_view object) {
  if (directory() < 0 || object.size() > kLargestObject) return;
  static std::atomic<uint64_t> counter{0};
  const std::string temporary =
      fmt::format("{}{}-{}-{}", kTemporaryPrefix, ::getpid(), counter.fetch_add(1), std::time(nullptr));
  const Header header = make_header(key, object);
  {
    const File file(
        ::openat(directory(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return;
    if (!file.write({reinterpret_cast<const char*>(&header), sizeof header}) || !file.write(object)) {
      ::unlinkat(directory(), temporary.c_str(), 0);
      return;
    }
  }
  // Renaming is atomic: a reader sees the old file or the new one, never a partial one.
  if (::renameat(directory(), temporary.c_str(), directory(), file_name(key).c_str()) != 0) {
    ::unlinkat(directory(), temporary.c_str(), 0);
    return;
  }
  const uint64_t bytes = sizeof header + object.size();
  const bool due = written_.fetch_add(bytes) + bytes > limit_ / 16;
  if (!checked_.exchange(true) || due) {
    written_ = 0;
    remove_oldest();
  }
}

void ObjectStore::remove_oldest() {
  struct Entry {
    std::string name;
    timespec used;
    uint64_t bytes;
  };
  const int listing = ::openat(directory(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(listing >= 0 ? ::fdopendir(listing) : nullptr, ::closedir);
  if (!stream) {
    if (listing >= 0) ::close(listing);
    return;
  }
  std::vector<Entry> entries;
  uint64_t total = 0;
  const time_t now = std::time(nullptr);
  while (const dirent* found = ::readdir(stream.get())) {
    const std::string name = found->d_name;
    const bool temporary = name.starts_with(kTemporaryPrefix);
    struct stat status{};
    if ((!temporary && !name.ends_with(kSuffix)) || ::fstatat(listing, name.c_str(), &status, AT_SYMLINK_NOFOLLOW)) {
      continue;
    }
    // Left behind by a process that died while writing.
    if (temporary && now - status.st_mtim.tv_sec > kDay) ::unlinkat(listing, name.c_str(), 0);
    if (temporary) continue;
    entries.push_back({name, status.st_mtim, static_cast<uint64_t>(status.st_size)});
    total += entries.back().bytes;
  }
  if (total > limit_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.used.tv_sec, a.used.tv_nsec) < std::pair(b.used.tv_sec, b.used.tv_nsec);
    });
    // Shrinks to three quarters of the limit, so that removals are rare.
    for (const Entry& entry : entries) {
      if (total <= limit_ - limit_ / 4) break;
      if (::unlinkat(listing, entry.name.c_str(), 0) == 0) total -= entry.bytes;
    }
  }
}

std::string default_cache_directory() {
  auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  if (variable("LUCID_DISK_CACHE") == "0") return "";
  if (const std::string chosen = options().cache_dir; !chosen.empty()) return chosen;
  if (variable("LUCID_CACHE_DIR") == "") return "";
  const auto below = [](const std::string& base, const char* path) {
    struct stat status{};
    if (::stat(base.c_str(), &status) != 0 || status.st_uid == ::geteuid()) return base + path;
    if (options().logs("cache"))
      log("cache", fmt::format("kernels are not stored on disk: {} belongs to another user", base));
    return std::string();
  };
  // The XDG specification requires relative paths to be ignored.
  if (const auto base = variable("XDG_CACHE_HOME"); base && base->starts_with('/')) return below(*base, "/lucid");
  const auto home = variable("HOME");
  return home && home->starts_with('/') ? below(*home, "/.cache/lucid") : "";
}

}  // namespace lucid
