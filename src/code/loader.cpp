#include "code/loader.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "code/code_memory.h"
#include "code/library_calls.h"
#include "code/object_file.h"

namespace lucid {

namespace {

class LinkedCode : public LoadedCode {
 public:
  LinkedCode(loop::KernelFunction function, size_t code_bytes, size_t scratch_bytes, CodeMemory::Block memory,
             LoadedParts parts)
      : memory_(memory), parts_(std::move(parts)) {
    function_ = function;
    code_bytes_ = code_bytes;
    memory_bytes_ = memory.bytes;
    scratch_bytes_ = scratch_bytes;
  }
  void register_with_gdb(std::string_view object, const std::string& symbol) {
    gdb_ = std::make_unique<GdbRegistration>(object, symbol, reinterpret_cast<const void*>(function_));
  }

 private:
  ~LinkedCode() override {
    gdb_.reset();
    code_memory().free(memory_);
  }

  CodeMemory::Block memory_;
  std::unique_ptr<GdbRegistration> gdb_;
  LoadedParts parts_;  // keeps the callees alive
};

/// Throws the exception for memory that could not be had or made executable.
[[noreturn]] void fail(const std::string& symbol, int error) {
  if (error == ENOMEM || error == EAGAIN)
    throw MemoryError("no memory for the machine code of a kernel ({}): {}", symbol,
                      std::generic_category().message(ENOMEM));
  throw RuntimeError(
      "the system does not let this process make memory executable ({}), but Lucid needs it to run machine code: allow "
      "it (systemd: MemoryDenyWriteExecute=no; prctl: no PR_SET_MDWE; SELinux: execmem; seccomp: mprotect with "
      "PROT_EXEC)",
      std::generic_category().message(error));
}

/// `jmp *address(%rip)`, then the address: calls reach only 2 GiB.
constexpr size_t kJumpBytes = 16;
constexpr unsigned char kJump[] = {0xFF, 0x25, 0, 0, 0, 0};

/// An object file, placed in memory.
class Link {
 public:
  Link(const std::string& symbol, const ObjectFile& object, const LoadedParts& parts)
      : symbol_(symbol), object_(object) {
    for (const ObjectFile::Section& section : object.sections()) {
      bytes_ = (bytes_ + section.alignment - 1) / section.alignment * section.alignment;
      starts_.push_back(bytes_);
      bytes_ += section.contents.size();
    }
    bytes_ = (bytes_ + kJumpBytes - 1) / kJumpBytes * kJumpBytes;
    for (const ObjectFile::Symbol& found : object.symbols()) {
      if (found.section >= 0 && found.name == symbol) function_ = &found;
      offsets_.push_back(found.section >= 0 ? starts_[static_cast<size_t>(found.section)] + found.offset : 0);
    }
    if (!function_) throw InternalError("object code: it has no function {}", symbol);
    for (const ObjectFile::Reference& reference : object.references()) add_jump(reference.symbol, parts);
  }

  /// Copies everything to memory, which it owns afterwards, and makes it executable.
  CodeMemory::Block place() const {
    const CodeMemory::Block block = code_memory().allocate(bytes_);
    if (!block.start) fail(symbol_, block.error);
    for (size_t i = 0; i < starts_.size(); ++i) {
      const std::string_view contents = object_.sections()[i].contents;
      if (!contents.empty()) std::memcpy(block.start + starts_[i], contents.data(), contents.size());
    }
    for (const auto& [offset, address] : jumps_) {
      std::memcpy(block.start + offset, kJump, sizeof(kJump));
      std::memcpy(block.start + offset + sizeof(kJump), &address, sizeof(address));
    }
    for (const ObjectFile::Reference& reference : object_.references()) {
      const uint64_t at = starts_[reference.section] + reference.offset;
      const auto distance =
          static_cast<int64_t>(offsets_[reference.symbol] + static_cast<uint64_t>(reference.addend) - at);
      const auto stored = static_cast<int32_t>(distance);
      if (stored != distance) {
        code_memory().free(block);
        throw InternalError("object code: a reference of {} is too far", symbol_);
      }
      std::memcpy(block.start + at, &stored, sizeof(stored));
    }
    if (const int error = CodeMemory::make_executable(block)) {
      code_memory().free(block);
      fail(symbol_, error);
    }
    return block;
  }

  size_t function_offset() const { return starts_[static_cast<size_t>(function_->section)] + function_->offset; }
  size_t function_bytes() const { return function_->bytes; }

 private:
  /// Adds a jump to a function that is defined elsewhere, once.
  void add_jump(size_t index, const LoadedParts& parts) {
    const ObjectFile::Symbol& called = object_.symbols()[index];
    if (called.section >= 0 || offsets_[index] != 0) return;
    void* address = nullptr;
    for (size_t i = 0; i < parts.size(); ++i)
      if (called.name == part_symbol(i)) address = reinterpret_cast<void*>(parts[i]->function());
    if (!address) address = library_function(called.name);
    if (!address) throw InternalError("object code: {} calls the unknown function {}", symbol_, called.name);
    offsets_[index] = bytes_;
    jumps_.emplace_back(bytes_, address);
    bytes_ += kJumpBytes;
  }

  const std::string& symbol_;
  const ObjectFile& object_;
  const ObjectFile::Symbol* function_ = nullptr;
  std::vector<size_t> starts_;     // of each section
  std::vector<uint64_t> offsets_;  // of each symbol; that of a function defined elsewhere is the offset of its jump
  std::vector<std::pair<size_t, void*>> jumps_;
  size_t bytes_ = 0;
};

}  // namespace

std::string part_symbol(size_t part) { return "part_" + std::to_string(part); }

// Creates the code memory before the owner of the loader registers its fork handlers, so that the owner's locks are
// taken before the lock of the code memory.
Loader::Loader() : debuggers_(debugger_options_from_environment()) { code_memory(); }

Ref<LoadedCode> Loader::load(const std::string& symbol, std::string_view bytes, LoadedParts parts,
                             size_t scratch_bytes) {
  const ObjectFile object(bytes);
  const Link link(symbol, object, parts);
  const CodeMemory::Block block = link.place();
  const auto function = reinterpret_cast<loop::KernelFunction>(block.start + link.function_offset());
  Ref<LinkedCode> code;
  try {
    code = make_ref<LinkedCode>(function, link.function_bytes(), scratch_bytes, block, std::move(parts));
  } catch (...) {
    code_memory().free(block);
    throw;
  }
  if (debuggers_.perf) register_with_perf(symbol, reinterpret_cast<const void*>(function), link.function_bytes());
  if (debuggers_.gdb) code->register_with_gdb(bytes, symbol);
  return code;
}

}  // namespace lucid
