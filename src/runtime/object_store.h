#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lucid {

/// Object code stored on disk between runs, one file for each key. A file may be lost, truncated, corrupted or written
/// by another process at any time: a file that is not exactly what was stored counts as missing. No function here
/// fails.
///
/// Digests protect against accidents. The directory protects against other users: it must belong to this user and be
/// writable by nobody else. Otherwise nothing is read or written, and one warning is printed.
class ObjectStore {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{256} << 20;

  /// An empty path means no store. When the files exceed `limit` bytes, the least recently used are removed.
  explicit ObjectStore(std::string directory, uint64_t limit = kDefaultLimit);
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  ~ObjectStore();

  std::optional<std::string> get(std::string_view key);
  void put(std::string_view key, std::string_view object);

  /// The path of a key's file; for tests.
  std::string path_of(std::string_view key) const;

 private:
  /// The directory's descriptor, or -1 if there is no store. Must be called before every use: programs close
  /// descriptors that they do not own (os.closerange, daemons), and the number may then refer to another file.
  int directory();
  bool is_still_open() const;
  void open_directory();
  void remove_oldest();

  const std::string path_;
  const uint64_t limit_;
  bool opened_ = false;
  int descriptor_ = -1;
  // The identity of the directory when descriptor_ was opened.
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::atomic<uint64_t> written_{0};
  std::atomic<bool> checked_{false};
};

/// LUCID_CACHE_DIR, or else lucid under $XDG_CACHE_HOME or ~/.cache. Empty, which means no store, if LUCID_CACHE_DIR is
/// set but empty, if LUCID_DISK_CACHE is 0, if there is no home directory, or if it belongs to another user: root would
/// leave a directory there that its owner cannot use. LUCID_LOG=cache reports the last case.
std::string default_cache_directory();

}  // namespace lucid
