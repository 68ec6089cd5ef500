#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lucid {

/// Object code kept on disk between runs, one file for each key. It can be lost, cut short, flipped or written by
/// another process at any time: whatever is not exactly what was put is as if it were not there, and nothing here
/// fails.
///
/// Digests protect against accidents. Against other users protects the directory, which must belong to this user and be
/// writable for nobody else; otherwise nothing is read or written, and one warning says so.
class ObjectStore {
 public:
  static constexpr uint64_t kDefaultLimit = uint64_t{256} << 20;

  /// An empty directory means no store. When its files exceed `limit` bytes, those unused for longest are removed.
  explicit ObjectStore(std::string directory, uint64_t limit = kDefaultLimit);
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  ~ObjectStore();

  std::optional<std::string> get(std::string_view key);
  void put(std::string_view key, std::string_view object);

  /// Where a key's file is; for tests.
  std::string path_of(std::string_view key) const;

 private:
  /// The directory's descriptor, or -1 when there is no store. To be asked for before every use: programs close
  /// descriptors that are not theirs (os.closerange, daemons), and the number may then name another directory.
  int directory();
  bool is_still_open() const;
  void open_directory();
  void remove_oldest();

  const std::string path_;
  const uint64_t limit_;
  bool opened_ = false;
  int descriptor_ = -1;
  // What descriptor_ was opened as.
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::atomic<uint64_t> written_{0};
  std::atomic<bool> checked_{false};
};

/// LUCID_CACHE_DIR, or else lucid under $XDG_CACHE_HOME or ~/.cache. Empty, meaning no store, when LUCID_CACHE_DIR is
/// set but empty, when LUCID_DISK_CACHE is 0, when there is no home, or when it belongs to another user: root would
/// leave a directory there that its owner cannot use. LUCID_LOG=cache tells of the last case.
std::string default_cache_directory();

}  // namespace lucid
