#include "code/code_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace lucid {
namespace {

constexpr size_t kPage = 4096;

/// The lines of /proc/self/maps within `start` to `start + bytes`.
std::vector<std::string> mappings(const char* start, size_t bytes) {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::string> found;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t low = 0, high = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> low >> dash >> high;
    const auto first = reinterpret_cast<uintptr_t>(start);
    if (low < first + bytes && high > first) found.push_back(line);
  }
  return found;
}

/// Machine code of a function that returns `number`.
void write_function(const CodeMemory::Block& block, int32_t number) {
  const unsigned char move = 0xb8, ret = 0xc3;
  std::memcpy(block.start, &move, 1);
  std::memcpy(block.start + 1, &number, sizeof number);
  std::memcpy(block.start + 1 + sizeof number, &ret, 1);
}

int call(const CodeMemory::Block& block) { return reinterpret_cast<int (*)()>(block.start)(); }

CodeMemory::Block make_function(CodeMemory& memory, size_t bytes, int32_t number) {
  const CodeMemory::Block block = memory.allocate(bytes);
  EXPECT_TRUE(block.start);
  write_function(block, number);
  EXPECT_EQ(CodeMemory::make_executable(block), 0);
  return block;
}

TEST(CodeMemory, ManyBlocksShareAMapping) {
  CodeMemory memory;
  std::vector<CodeMemory::Block> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(make_function(memory, 100, i));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(call(blocks[i]), i);
  EXPECT_EQ(memory.usage().chunks, 1u);
  const std::vector<std::string> found = mappings(blocks[0].start, 200 * kPage);
  EXPECT_EQ(found.size(), 1u);
  for (const CodeMemory::Block& block : blocks) memory.free(block);
}

TEST(CodeMemory, NothingIsWritableAndExecutable) {
  CodeMemory memory;
  const CodeMemory::Block done = make_function(memory, 100, 1);
  const CodeMemory::Block block = memory.allocate(100);
  EXPECT_NE(mappings(block.start, kPage).at(0).find(" rw-p "), std::string::npos);
  EXPECT_NE(mappings(done.start, kPage).at(0).find(" r-xp "), std::string::npos);
  EXPECT_EQ(call(done), 1);
  memory.free(block);
  memory.free(done);
}

TEST(CodeMemory, FreedMemoryIsReusedAndEmptyChunksAreUnmapped) {
  CodeMemory memory;
  std::mt19937 random(7);
  std::vector<std::pair<CodeMemory::Block, int>> blocks;
  size_t max_mapped = 0;
  for (int i = 0; i < 5000; ++i) {
    if (blocks.size() > 300) {
      const size_t chosen = random() % blocks.size();
      EXPECT_EQ(call(blocks[chosen].first), blocks[chosen].second);
      memory.free(blocks[chosen].first);
      blocks[chosen] = blocks.back();
      blocks.pop_back();
    }
    blocks.emplace_back(make_function(memory, 1 + random() % (4 * kPage), i), i);
    if (i == 1000) max_mapped = memory.usage().mapped;
  }
  EXPECT_LE(memory.usage().mapped, max_mapped + CodeMemory::kChunkBytes);
  const size_t chunks = memory.usage().chunks;
  size_t lines = 0;
  // A chunk has at most two mappings: pages that are or were in use, and pages that never were.
  lines = mappings(reinterpret_cast<char*>(kPage), UINTPTR_MAX / 2).size();
  for (const auto& [block, number] : blocks) {
    EXPECT_EQ(call(block), number);
    memory.free(block);
  }
  EXPECT_LE(memory.usage().chunks, 1u);
  EXPECT_EQ(memory.usage().used, 0u);
  EXPECT_LE(lines - mappings(reinterpret_cast<char*>(kPage), UINTPTR_MAX / 2).size(), 2 * chunks);
}

TEST(CodeMemory, LargeBlocksHaveTheirOwnChunk) {
  CodeMemory memory;
  const CodeMemory::Block block = make_function(memory, 3 * CodeMemory::kChunkBytes + 1, 5);
  EXPECT_EQ(call(block), 5);
  EXPECT_EQ(memory.usage().mapped, 3 * CodeMemory::kChunkBytes + kPage);
  memory.free(block);
  EXPECT_EQ(memory.usage().mapped, 0u);
}

TEST(CodeMemory, AForkedChildHasItsOwnMemory) {
  CodeMemory memory;
  std::vector<CodeMemory::Block> blocks;
  for (int i = 0; i < 40; ++i) blocks.push_back(make_function(memory, 100, i));
  int both[2];
  ASSERT_EQ(::pipe(both), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // The parent replaces these blocks concurrently.
    char token = 0;
    bool good = ::read(both[0], &token, 1) == 1;
    for (int i = 0; i < 40; ++i) good &= call(blocks[i]) == i;
    const size_t before = mappings(blocks[0].start, 256 * kPage).size();
    for (int i = 0; i < 40; i += 2) memory.free(blocks[i]);
    for (int i = 0; i < 40; i += 2) good &= call(make_function(memory, 100, 1000 + i)) == 1000 + i;
    for (int i = 1; i < 40; i += 2) good &= call(blocks[i]) == i;
    good &= mappings(blocks[0].start, 256 * kPage).size() <= before + 1;
    ::_exit(good ? 0 : 1);
  }
  for (const CodeMemory::Block& block : blocks) memory.free(block);
  for (int i = 0; i < 40; ++i) blocks[i] = make_function(memory, 100, -i);
  EXPECT_EQ(::write(both[1], "x", 1), 1);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(call(blocks[i]), -i);
  for (const CodeMemory::Block& block : blocks) memory.free(block);
  ::close(both[0]);
  ::close(both[1]);
}

TEST(CodeMemory, ThreadsRunCodeWhileOthersAllocateAndFree) {
  CodeMemory memory;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      const CodeMemory::Block own = make_function(memory, 100, t);
      for (int i = 0; i < 500; ++i) {
        const CodeMemory::Block passing = make_function(memory, kPage * (1 + i % 3), i);
        EXPECT_EQ(call(passing), i);
        EXPECT_EQ(call(own), t);
        memory.free(passing);
      }
      memory.free(own);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.usage().used, 0u);
}

}  // namespace
}  // namespace lucid
