#include "code/debuggers.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <system_error>

#include "base/lock.h"
#include "base/log.h"

// gdb's JIT interface: gdb sets a breakpoint in the function and reads the list.
extern "C" {

struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};

struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};

// Marked used and noinline, because only gdb refers to them, by name.
// NOLINTBEGIN(bugprone-reserved-identifier)
__attribute__((used, visibility("default"))) jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};

__attribute__((used, noinline, visibility("default"))) void __jit_debug_register_code() {
  asm volatile("" ::: "memory");
}
// NOLINTEND(bugprone-reserved-identifier)
}

namespace lucid {

namespace {

constexpr uint32_t kRegister = 1;
constexpr uint32_t kUnregister = 2;

bool is_one(const char* variable) {
  const char* value = std::getenv(variable);
  return value && std::strcmp(value, "1") == 0;
}

template <typename T>
T* at(std::string& object, uint64_t offset) {
  return reinterpret_cast<T*>(object.data() + offset);
}

/// Writes the load address of the section that contains `symbol` into the object code.
void set_section_address(std::string& object, const std::string& symbol, const void* address) {
  auto* header = at<Elf64_Ehdr>(object, 0);
  auto* sections = at<Elf64_Shdr>(object, header->e_shoff);
  for (int index = 0; index < header->e_shnum; ++index) {
    const Elf64_Shdr& section = sections[index];
    if (section.sh_type != SHT_SYMTAB) continue;
    const uint64_t names = sections[section.sh_link].sh_offset;
    for (uint64_t entry = 0; entry < section.sh_size / sizeof(Elf64_Sym); ++entry) {
      const auto* found = at<Elf64_Sym>(object, section.sh_offset + entry * sizeof(Elf64_Sym));
      if (symbol != at<char>(object, names + found->st_name) || found->st_shndx >= header->e_shnum) continue;
      sections[found->st_shndx].sh_addr = reinterpret_cast<uint64_t>(address) - found->st_value;
    }
  }
}

/// Logs once why perf will not see the kernels.
void warn_about_map(const std::string& path, const std::string& reason) {
  static std::atomic_flag warned;
  if (!warned.test_and_set()) log("perf", fmt::format("LUCID_PERF: cannot write {}: {}; remove it", path, reason));
}

}  // namespace

DebuggerOptions debugger_options_from_environment() { return {is_one("LUCID_PERF"), is_one("LUCID_GDB")}; }

void register_with_perf(const std::string& symbol, const void* address, size_t bytes) {
  // The path that perf reads. The directory is world-writable, so the file may have been planted by another user.
  const std::string path = fmt::format("/tmp/perf-{}.map", ::getpid());
  const int file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  if (file < 0) {
    const bool is_link = errno == ELOOP;
    return warn_about_map(path, is_link ? "it is a symbolic link" : std::generic_category().message(errno));
  }
  struct stat found{};
  const bool is_own =
      ::fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == ::geteuid() && found.st_nlink == 1;
  if (is_own) {
    // One write, so that the lines of several threads do not mix.
    const std::string line = fmt::format("{:x} {:x} {}\n", reinterpret_cast<uintptr_t>(address), bytes, symbol);
    if (::write(file, line.data(), line.size()) < 0) warn_about_map(path, std::generic_category().message(errno));
  } else {
    warn_about_map(path, "it is not a regular file of this user with a single link");
  }
  ::close(file);
}

struct GdbRegistration::Entry {
  std::string object;
  jit_code_entry link{};
};

GdbRegistration::GdbRegistration(std::string_view object, const std::string& symbol, const void* address)
    : entry_(std::make_unique<Entry>()) {
  entry_->object = object;
  set_section_address(entry_->object, symbol, address);
  jit_code_entry* link = &entry_->link;
  link->symfile_addr = entry_->object.data();
  link->symfile_size = entry_->object.size();
  const std::lock_guard lock(mutex_of(LockRank::kDebugger));
  link->next_entry = __jit_debug_descriptor.first_entry;
  if (link->next_entry) link->next_entry->prev_entry = link;
  __jit_debug_descriptor.first_entry = link;
  __jit_debug_descriptor.relevant_entry = link;
  __jit_debug_descriptor.action_flag = kRegister;
  __jit_debug_register_code();
}

GdbRegistration::~GdbRegistration() {
  jit_code_entry* link = &entry_->link;
  const std::lock_guard lock(mutex_of(LockRank::kDebugger));
  if (link->next_entry) link->next_entry->prev_entry = link->prev_entry;
  (link->prev_entry ? link->prev_entry->next_entry : __jit_debug_descriptor.first_entry) = link->next_entry;
  __jit_debug_descriptor.relevant_entry = link;
  __jit_debug_descriptor.action_flag = kUnregister;
  __jit_debug_register_code();
}

}  // namespace lucid
