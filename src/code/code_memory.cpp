#include "code/code_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <new>

#include "base/lock.h"

namespace lucid {

CodeMemory::CodeMemory() : page_bytes_(static_cast<size_t>(::sysconf(_SC_PAGESIZE))) {}

CodeMemory::~CodeMemory() {
  for (const auto& [start, chunk] : chunks_) ::munmap(start, chunk.is_used.size() * page_bytes_);
}

CodeMemory::Block CodeMemory::allocate(size_t bytes) {
  const size_t pages = std::max<size_t>((bytes + page_bytes_ - 1) / page_bytes_, 1);
  int error = 0;
  const std::lock_guard lock(mutex_of(LockRank::kCodeMemory, this));
  char* start = allocate_pages(pages);
  if (!start) start = add_chunk(pages, &error);
  if (!start) return {nullptr, 0, error};
  if (::mprotect(start, pages * page_bytes_, PROT_READ | PROT_WRITE) != 0) {
    error = errno;
    free_pages(start, pages);
    return {nullptr, 0, error};
  }
  return {start, pages * page_bytes_, 0};
}

int CodeMemory::make_executable(const Block& block) {
  return ::mprotect(block.start, block.bytes, PROT_READ | PROT_EXEC) == 0 ? 0 : errno;
}

void CodeMemory::free(const Block& block) {
  // Discard the contents: the pages read as zeros. Restore the protection even if the pages were never made executable,
  // so that the chunk remains one mapping.
  ::madvise(block.start, block.bytes, MADV_DONTNEED);
  make_executable(block);
  const std::lock_guard lock(mutex_of(LockRank::kCodeMemory, this));
  free_pages(block.start, block.bytes / page_bytes_);
}

CodeMemory::Usage CodeMemory::usage() {
  const std::lock_guard lock(mutex_of(LockRank::kCodeMemory, this));
  Usage usage;
  for (const auto& [_, chunk] : chunks_) {
    ++usage.chunks;
    usage.mapped += chunk.is_used.size() * page_bytes_;
    usage.used += chunk.used_pages * page_bytes_;
  }
  return usage;
}

/// Allocates the first run of free pages that is long enough. Returns null if there is none.
char* CodeMemory::allocate_pages(size_t pages) {
  for (auto& [start, chunk] : chunks_) {
    if (chunk.is_used.size() - chunk.used_pages < pages) continue;
    size_t in_a_row = 0;
    for (size_t page = 0; page < chunk.is_used.size(); ++page) {
      in_a_row = chunk.is_used[page] ? 0 : in_a_row + 1;
      if (in_a_row < pages) continue;
      const size_t first = page + 1 - pages;
      std::fill_n(chunk.is_used.begin() + static_cast<std::ptrdiff_t>(first), pages, true);
      chunk.used_pages += pages;
      return start + first * page_bytes_;
    }
  }
  return nullptr;
}

/// Allocates pages at the start of a new chunk. Returns null and sets `error` on failure.
char* CodeMemory::add_chunk(size_t pages, int* error) {
  const size_t all = std::max(pages, kChunkBytes / page_bytes_);
  void* const start = ::mmap(nullptr, all * page_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    *error = errno;
    return nullptr;
  }
  try {
    chunks_[static_cast<char*>(start)] = {std::vector<bool>(all), 0};
  } catch (const std::bad_alloc&) {
    ::munmap(start, all * page_bytes_);
    *error = ENOMEM;
    return nullptr;
  }
  return allocate_pages(pages);
}

void CodeMemory::free_pages(char* start, size_t pages) {
  const auto found = std::prev(chunks_.upper_bound(start));
  Chunk& chunk = found->second;
  const size_t first = static_cast<size_t>(start - found->first) / page_bytes_;
  std::fill_n(chunk.is_used.begin() + static_cast<std::ptrdiff_t>(first), pages, false);
  chunk.used_pages -= pages;
  // Keep one empty chunk of the usual size, so that short-lived kernels do not map and unmap it repeatedly.
  if (chunk.used_pages > 0 || (chunks_.size() == 1 && chunk.is_used.size() * page_bytes_ == kChunkBytes)) return;
  ::munmap(found->first, chunk.is_used.size() * page_bytes_);
  chunks_.erase(found);
}

CodeMemory& code_memory() {
  // Other threads may still run kernels while the process exits.
  static CodeMemory* const memory = new CodeMemory;
  return *memory;
}

}  // namespace lucid
