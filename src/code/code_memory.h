#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace lucid {

/// Allocator of executable memory. Kernels share chunks, so that thousands of them need few mappings. Freed memory is
/// reused, and empty chunks are unmapped. Thread safe.
///
/// Memory is never writable and executable at the same time. A block consists of whole pages, because the protection of
/// a page cannot change while other kernels run from it. The pages are private: after a fork, neither process sees what
/// the other writes.
///
/// Nothing here throws: LLVM, which calls this class, is built without exceptions. Errors are errno values.
class CodeMemory {
 public:
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory();

  /// Whole pages. `start` is null, and `error` is set, if allocation failed.
  struct Block {
    char* start = nullptr;
    size_t bytes = 0;
    int error = 0;
  };
  /// Allocates memory that is writable but not executable.
  Block allocate(size_t bytes);
  /// Makes the block executable and read-only. Returns 0 or an errno value.
  static int make_executable(const Block& block);
  void free(const Block& block);

  /// Number of chunks, and bytes mapped and in use.
  struct Usage {
    size_t chunks = 0;
    size_t mapped = 0;
    size_t used = 0;
  };
  Usage usage();

 private:
  struct Chunk {
    std::vector<bool> is_used;  // by page
    size_t used_pages = 0;
  };

  char* allocate_pages(size_t pages);
  char* add_chunk(size_t pages, int* error);
  void free_pages(char* start, size_t pages);

  const size_t page_bytes_;
  std::map<char*, Chunk> chunks_;  // by address
};

/// The instance of the process, which is never destroyed.
CodeMemory& code_memory();

}  // namespace lucid
