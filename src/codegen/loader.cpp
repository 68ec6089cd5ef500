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

// NOLINTNEXTLINE(misc-unused-using-decls): the check overlooks its use, for memory protections
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
  LoadedParts parts_;  // which this code calls
};

/// What linking one object came to.
struct Outcome {
  std::string error;
  /// Of errno, when the system gave no memory or did not let it be executed.
  int system_error = 0;
  orc::ExecutorAddr function;
  size_t code_bytes = 0;
  CodeMemory::Block memory;  // what the outcome owns
};

llvm::Error no_memory(Outcome* outcome, int error) {
  outcome->system_error = error;
  return llvm::createStringError(std::error_code(error, std::generic_category()), "no executable memory");
}

/// Places all sections of one object in one block: none is written to once it is linked, so constants may share pages
/// with code.
class BlockManager : public jitlink::JITLinkMemoryManager {
 public:
  explicit BlockManager(Outcome* outcome) : outcome_(outcome) {}

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
    if (!block.start) return then(no_memory(outcome_, block.error));
    auto offset = offsets.begin();
    for (auto& [_, segment] : layout.segments()) {
      // Zeros need not be written: the pages are new, or were given back to the system in between.
      segment.WorkingMem = block.start + *offset++;
      segment.Addr = orc::ExecutorAddr::fromPtr(segment.WorkingMem);
    }
    if (llvm::Error error = layout.apply()) {
      code_memory().free(block);
      return then(std::move(error));
    }
    then(std::make_unique<Linking>(block, outcome_));
  }

  void deallocate(std::vector<Allocation> /*allocations*/, OnDeallocatedFunction then) override {
    then(llvm::Error::success());
  }

 private:
  /// A block between being written and being executed.
  class Linking : public InFlightAlloc {
   public:
    Linking(CodeMemory::Block block, Outcome* outcome) : block_(block), outcome_(outcome) {}

    void abandon(OnAbandonedFunction then) override {
      code_memory().free(block_);
      then(llvm::Error::success());
    }
    void finalize(OnFinalizedFunction then) override {
      if (const int error = CodeMemory::make_executable(block_)) {
        code_memory().free(block_);
        return then(no_memory(outcome_, error));
      }
      outcome_->memory = block_;
      then(Allocation(orc::ExecutorAddr::fromPtr(block_.start)));
    }

   private:
    CodeMemory::Block block_;
    Outcome* outcome_;
  };

  static llvm::Error unexpected(const char* what) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "the object code has %s", what);
  }

  Outcome* outcome_;
};

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(std::string symbol, const LoadedParts& parts, jitlink::JITLinkMemoryManager* memory, Outcome* outcome)
      : JITLinkContext(nullptr), symbol_(std::move(symbol)), parts_(parts), memory_(memory), outcome_(outcome) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return *memory_; }

  void notifyFailed(llvm::Error error) override { outcome_->error = llvm::toString(std::move(error)); }

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
        outcome_->function = symbol->getAddress();
        outcome_->code_bytes = symbol->getSize();
      }
    }
    if (!outcome_->function) {
      return llvm::createStringError(llvm::inconvertibleErrorCode(), "the object code has no function " + symbol_);
    }
    return llvm::Error::success();
  }

  // The outcome owns the memory.
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
  Outcome* outcome_;
};

/// Throws for what linking came to if it failed.
[[noreturn]] void fail(const std::string& symbol, const Outcome& outcome) {
  switch (outcome.system_error) {
    case 0:
      throw InternalError("codegen: cannot load {}: {}", symbol, outcome.error);
    case ENOMEM:
    case EAGAIN:
      throw MemoryError("no memory for the machine code of a kernel ({}): {}", symbol,
                        std::generic_category().message(ENOMEM));
    default:
      throw RuntimeError(
          "the system does not let this process make memory executable ({}), and Lucid computes with machine code that "
          "it generates: allow it (systemd: MemoryDenyWriteExecute=no; prctl: no PR_SET_MDWE; SELinux: execmem; "
          "seccomp: "
          "mprotect with PROT_EXEC)",
          std::generic_category().message(outcome.system_error));
  }
}

}  // namespace

// The memory is made before whoever owns the loader registers handlers for fork: their locks are taken before its own.
Loader::Loader() : debuggers_(debugger_options_from_environment()) { code_memory(); }

Ref<LoadedCode> Loader::load(const std::string& symbol, std::string_view object, LoadedParts parts,
                             size_t scratch_bytes) {
  // One for each object: names are never dropped from a pool that others use.
  auto names = std::make_shared<orc::SymbolStringPool>();
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(llvm::MemoryBufferRef(object, symbol), names);
  if (!graph) throw InternalError("codegen: cannot load {}: {}", symbol, llvm::toString(graph.takeError()));
  Outcome outcome;
  BlockManager memory(&outcome);
  // Everything here is done when this returns: nothing in the context waits for another thread.
  jitlink::link_ELF_x86_64(std::move(*graph), std::make_unique<LinkContext>(symbol, parts, &memory, &outcome));
  if (!outcome.error.empty()) fail(symbol, outcome);
  const void* address = outcome.function.toPtr<const void*>();
  std::unique_ptr<GdbRegistration> gdb;
  if (debuggers_.perf) tell_perf(symbol, address, outcome.code_bytes);
  if (debuggers_.gdb) gdb = std::make_unique<GdbRegistration>(object, symbol, address);
  return make_ref<LinkedCode>(outcome.function.toPtr<loop::KernelFunction>(), outcome.code_bytes, scratch_bytes,
                              outcome.memory, std::move(gdb), std::move(parts));
}

}  // namespace lucid::codegen
