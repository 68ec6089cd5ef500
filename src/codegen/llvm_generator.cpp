#include "codegen/llvm_generator.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "base/error.h"
#include "base/memory_reserve.h"
#include "code/loader.h"
#include "codegen/object.h"
#include "codegen/scratch.h"
#include "codegen/target.h"
#include "codegen/translator.h"

namespace lucid::codegen {

namespace {

/// More than twice what LLVM was measured to allocate: up to 2.7 MiB for kernels of 300 instructions, and less than
/// 3 KiB per instruction for longer ones.
size_t reserve_for_compiling(const loop::Kernel& kernel) {
  return (size_t{6} << 20) + kernel.instructions.size() * (size_t{8} << 10);
}

class LlvmGenerator : public CodeGenerator {
 public:
  std::string compile(const loop::Kernel& kernel, CpuLevel target) override {
    const MemoryReserve reserve(reserve_for_compiling(kernel), "compiling a kernel");
    TargetMachinePool::Lease machine = machines_.borrow(target);
    llvm::LLVMContext context;
    context.setDiscardValueNames(true);
    llvm::Module module("lucid", context);
    module.setTargetTriple(machine->getTargetTriple());
    module.setDataLayout(machine->createDataLayout());
    Translator(kernel, target, &module).run();
    return emit_object(module, *machine);
  }

  Ref<LoadedCode> load(const loop::Kernel& kernel, std::string_view object, LoadedParts parts) override {
    return loader_.load(symbol_of(kernel), object, std::move(parts), scratch_layout(kernel).bytes);
  }

  std::string version() const override {
    return fmt::format("lucid codegen {} with LLVM {}", LUCID_CODEGEN_DIGEST, LLVM_VERSION_STRING);
  }

 private:
  TargetMachinePool machines_;
  Loader loader_;
};

}  // namespace

std::unique_ptr<CodeGenerator> make_llvm_generator() { return std::make_unique<LlvmGenerator>(); }

}  // namespace lucid::codegen
