#include "codegen/loader.h"

#include <llvm/ExecutionEngine/JITLink/ELF_x86_64.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/SymbolStringPool.h>
#include <llvm/Support/Alignment.h>
#include <llvm/Support/MemoryBuffer.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "codegen/code_memory.h"
#include "codegen/debuggers.h"
#include "codegen/library_calls.h"
#include "codegen/translator.h"

namespace lucid::codegen {

namespace {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

// NOLINTNEXTLINE(misc-unused-using-decls): the check misses its use for memory protections
using llvm::BitmaskEnumDetail::operator&;

using Allocation = jitlink::JITLinkMemoryManager::FinalizedAlloc;

class LinkedCode : public LoadedCode {
 public:
  LinkedCode(loop::KernelFunction function, size_t code_bytes, size_t scratch_bytes, CodeMemory::Block memory,
             std::unique_ptr<GdbRegistration> gdb, LoadedParts parts)
      : memory_(memory), gdb_(std::move(gdb)), parts_(std::move(parts)) {
    function_ = function;
    code_bytes_ = code_bytes;
    memory_bytes_ = memory.bytes;
    scratch_bytes_ = scratch_bytes;
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

/// The result of linking one object.
struct LinkResult {
  std::string error;
  /// The errno value if the system had no memory or did not allow it to be executed.
  int system_error = 0;
  orc::ExecutorAddr function;
  size_t code_bytes = 0;
  CodeMemory::Block memory;  // owned by the result
};

llvm::Error no_memory(LinkResult* result, int error) {
  result->system_error = error;
  return llvm::createStringError(std::error_code(error, std::generic_category()), "no executable memory");
}

/// Places all sections of one object in one block. None is written after linking, so constants may share pages with
/// code.
class BlockManager : public jitlink::JITLinkMemoryManager {
 public:
  explicit BlockManager(LinkResult* result) : result_(result) {}

  void allocate(const jitlink::JITLinkDylib* /*library*/, jitlink::LinkGraph& graph,
                OnAllocatedFunction then) override {
    jitlink::BasicLayout layout(graph);
    if (!layout.graphAllocActions().empty()) return then(unexpected("actions"));
    size_t bytes = 0;
    std::vector<size_t> offsets;
    for (auto& [group, segment] : layout.segments()) {
      if ((group.getMemProt() & orc::MemProt::Write) != orc::MemProt::None) return then(unexpected("variables"));
      bytes = llvm::alignTo(bytes, segment.Alignment);
      offsets.push_back(bytes);
      bytes += segment.ContentSize + segment.ZeroFillSize;
    }
    const CodeMemory::Block block = code_memory().allocate(bytes);
    if (!block.start) return then(no_memory(result_, block.error));
    auto offset = offsets.begin();
    for (auto& [_, segment] : layout.segments()) {
      // Zero-fill is not needed: the pages are new, or their contents were discarded when they were freed.
      segment.WorkingMem = block.start + *offset++;
      segment.Addr = orc::ExecutorAddr::fromPtr(segment.WorkingMem);
    }
    if (llvm::Error error = layout.apply()) {
      code_memory().free(block);
      return then(std::move(error));
    }
    then(std::make_unique<Linking>(block, result_));
  }

  void deallocate(std::vector<Allocation> /*allocations*/, OnDeallocatedFunction then) override {
    then(llvm::Error::success());
  }

 private:
  /// A block that is being linked and is not executable yet.
  class Linking : public InFlightAlloc {
   public:
    Linking(CodeMemory::Block block, LinkResult* result) : block_(block), result_(result) {}

    void abandon(OnAbandonedFunction then) override {
      code_memory().free(block_);
      then(llvm::Error::success());
    }
    void finalize(OnFinalizedFunction then) override {
      if (const int error = CodeMemory::make_executable(block_)) {
        code_memory().free(block_);
        return then(no_memory(result_, error));
      }
      result_->memory = block_;
      then(Allocation(orc::ExecutorAddr::fromPtr(block_.start)));
    }

   private:
    CodeMemory::Block block_;
    LinkResult* result_;
  };

  static llvm::Error unexpected(const char* what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "the object code has %s", what);
  }

  LinkResult* result_;
};

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(std::string symbol, const LoadedParts& parts, jitlink::JITLinkMemoryManager* memory, LinkResult* result)
      : JITLinkContext(nullptr), symbol_(std::move(symbol)), parts_(parts), memory_(memory), result_(result) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return *memory_; }

  void notifyFailed(llvm::Error error) override { result_->error = llvm::toString(std::move(error)); }

  void lookup(const LookupMap& symbols, std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> then) override {
    jitlink::AsyncLookupResult found;
    for (const auto& [name, flags] : symbols) {
      void* address = function_named(std::string_view(*name));
      if (!address) {
        return then->run(
            llvm::createStringError(llvm::inconvertibleErrorCode(), "calls the unknown function " + (*name).str()));
      }
      found[name] = {orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    }
    then->run(std::move(found));
  }

  llvm::Error notifyResolved(jitlink::LinkGraph& graph) override {
    for (jitlink::Symbol* symbol : graph.defined_symbols()) {
      if (symbol->hasName() && *symbol->getName() == symbol_) {
        result_->function = symbol->getAddress();
        result_->code_bytes = symbol->getSize();
      }
    }
    if (!result_->function) {
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "the object code has no function " + symbol_);
    }
    return llvm::Error::success();
  }

  // The result owns the memory.
  void notifyFinalized(Allocation allocation) override { allocation.release(); }

 private:
  void* function_named(std::string_view name) const {
    for (size_t i = 0; i < parts_.size(); ++i)
      if (name == part_symbol(i)) return reinterpret_cast<void*>(parts_[i]->function());
    return library_function(name);
  }

  std::string symbol_;
  const LoadedParts& parts_;
  jitlink::JITLinkMemoryManager* memory_;
  LinkResult* result_;
};

/// Throws the exception for a failed link.
[[noreturn]] void fail(const std::string& symbol, const LinkResult& result) {
  switch (result.system_error) {
    case 0:
      throw InternalError("codegen: cannot load {}: {}", symbol, result.error);
    case ENOMEM:
    case EAGAIN:
      throw MemoryError("no memory for the machine code of a kernel ({}): {}", symbol,
                        std::generic_category().message(ENOMEM));
    default:
      throw RuntimeError(
          "the system does not let this process make memory executable ({}), but Lucid needs it to run the machine "
          "code "
          "that it generates: allow it (systemd: MemoryDenyWriteExecute=no; prctl: no PR_SET_MDWE; SELinux: execmem; "
          "seccomp: "
          "mprotect with PROT_EXEC)",
          std::generic_category().message(result.system_error));
  }
}

}  // namespace

// Creates the code memory before the owner of the loader registers its fork handlers, so that the owner's locks are
// taken before the lock of the code memory.
Loader::Loader() : debuggers_(debugger_options_from_environment()) { code_memory(); }

Ref<LoadedCode> Loader::load(const std::string& symbol, std::string_view object, LoadedParts parts,
                             size_t scratch_bytes) {
  // One pool per object, because names are never removed from a shared pool.
  auto names = std::make_shared<orc::SymbolStringPool>();
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(llvm::MemoryBufferRef(object, symbol), names);
  if (!graph) throw InternalError("codegen: cannot load {}: {}", symbol, llvm::toString(graph.takeError()));
  LinkResult result;
  BlockManager memory(&result);
  // Linking is complete when this returns: nothing in the context is asynchronous.
  jitlink::link_ELF_x86_64(std::move(*graph), std::make_unique<LinkContext>(symbol, parts, &memory, &result));
  if (!result.error.empty()) fail(symbol, result);
  const void* address = result.function.toPtr<const void*>();
  std::unique_ptr<GdbRegistration> gdb;
  if (debuggers_.perf) register_with_perf(symbol, address, result.code_bytes);
  if (debuggers_.gdb) gdb = std::make_unique<GdbRegistration>(object, symbol, address);
  return make_ref<LinkedCode>(result.function.toPtr<loop::KernelFunction>(), result.code_bytes, scratch_bytes,
                              result.memory, std::move(gdb), std::move(parts));
}

}  // namespace lucid::codegen
