#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace lucid::codegen {

/// Executable memory of the process. Kernels lie side by side in chunks, so that thousands of them take few mappings;
/// what is freed is used again, and chunks that are empty are unmapped. Thread safe.
///
/// Memory is never writable and executable at once. A block has whole pages, because the protection of a page that
/// others run from cannot change. The pages are private: after a fork neither process sees what the other writes.
///
/// Nothing here throws: LLVM, which calls it, is built without exceptions. Errors are those of errno.
class CodeMemory {
 public:
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;
  ~CodeMemory();

  /// Whole pages; `start` is null when the system gives none.
  struct Block {
    char* start = nullptr;
    size_t bytes = 0;
    int error = 0;
  };
  /// Memory to write to, which cannot be executed yet.
  Block allocate(size_t bytes);
  /// From now on the block can be executed and no longer written. Returns 0 or an error.
  static int make_executable(const Block& block);
  void free(const Block& block);

  /// What is mapped, and what of it is in use, in bytes.
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

  char* take_pages(size_t pages);
  char* add_chunk(size_t pages, int* error);
  void give_back(char* start, size_t pages);

  const size_t page_bytes_;
  std::map<char*, Chunk> chunks_;  // by address
};

/// The process's own, which is never destroyed.
CodeMemory& code_memory();

}  // namespace lucid::codegen
