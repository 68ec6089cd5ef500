#include "codegen/loader.h"

#include <llvm/ExecutionEngine/JITLink/ELF_x86_64.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h>
#include <llvm/ExecutionEngine/Orc/SymbolStringPool.h>
#include <llvm/Support/MemoryBuffer.h>
#include <unistd.h>

#include "base/error.h"
#include "codegen/debuggers.h"
#include "codegen/library_calls.h"
#include "codegen/translator.h"

namespace lucid::codegen {

namespace {

namespace jitlink = llvm::jitlink;
namespace orc = llvm::orc;

using Allocation = jitlink::JITLinkMemoryManager::FinalizedAlloc;

class LinkedCode : public LoadedCode {
 public:
  LinkedCode(loop::KernelFunction function, size_t code_bytes, Allocation allocation,
             std::shared_ptr<jitlink::InProcessMemoryManager> memory, std::unique_ptr<GdbRegistration> gdb,
             LoadedParts parts)
      : allocation_(std::move(allocation)), memory_(std::move(memory)), gdb_(std::move(gdb)), parts_(std::move(parts)) {
    function_ = function;
    code_bytes_ = code_bytes;
  }

 private:
  ~LinkedCode() override {
    gdb_.reset();
    llvm::consumeError(memory_->deallocate(std::move(allocation_)));
  }

  Allocation allocation_;
  std::shared_ptr<jitlink::InProcessMemoryManager> memory_;
  std::unique_ptr<GdbRegistration> gdb_;
  LoadedParts parts_;  // which this code calls
};

/// What linking one object came to.
struct Outcome {
  std::string error;
  bool is_out_of_memory = false;
  orc::ExecutorAddr function;
  size_t code_bytes = 0;
  Allocation allocation;
};

class LinkContext : public jitlink::JITLinkContext {
 public:
  LinkContext(std::string symbol, const LoadedParts& parts, jitlink::JITLinkMemoryManager* memory, Outcome* outcome)
      : JITLinkContext(nullptr), symbol_(std::move(symbol)), parts_(parts), memory_(memory), outcome_(outcome) {}

  jitlink::JITLinkMemoryManager& getMemoryManager() override { return *memory_; }

  void notifyFailed(llvm::Error error) override {
    llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase& info) {
      outcome_->is_out_of_memory = info.convertToErrorCode() == std::errc::not_enough_memory;
      outcome_->error = info.message();
    });
  }

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

  void notifyFinalized(Allocation allocation) override { outcome_->allocation = std::move(allocation); }

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

}  // namespace

Loader::Loader()
    : memory_(std::make_shared<jitlink::InProcessMemoryManager>(static_cast<uint64_t>(sysconf(_SC_PAGESIZE)))),
      names_(std::make_shared<orc::SymbolStringPool>()),
      debuggers_(debugger_options_from_environment()) {}

Loader::~Loader() = default;

Ref<LoadedCode> Loader::load(const std::string& symbol, std::string_view object, LoadedParts parts) {
  auto graph = jitlink::createLinkGraphFromELFObject_x86_64(llvm::MemoryBufferRef(object, symbol), names_);
  if (!graph) throw InternalError("codegen: cannot load {}: {}", symbol, llvm::toString(graph.takeError()));
  Outcome outcome;
  // Everything here is done when this returns: nothing in the context waits for another thread.
  jitlink::link_ELF_x86_64(std::move(*graph), std::make_unique<LinkContext>(symbol, parts, memory_.get(), &outcome));
  if (outcome.is_out_of_memory) throw MemoryError("codegen: out of memory for the machine code of {}", symbol);
  if (!outcome.error.empty()) throw InternalError("codegen: cannot load {}: {}", symbol, outcome.error);
  const void* address = outcome.function.toPtr<const void*>();
  std::unique_ptr<GdbRegistration> gdb;
  if (debuggers_.perf) tell_perf(symbol, address, outcome.code_bytes);
  if (debuggers_.gdb) gdb = std::make_unique<GdbRegistration>(object, symbol, address);
  return make_ref<LinkedCode>(outcome.function.toPtr<loop::KernelFunction>(), outcome.code_bytes,
                              std::move(outcome.allocation), memory_, std::move(gdb), std::move(parts));
}

}  // namespace lucid::codegen
