#include "codegen/target.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Triple.h>

#include <mutex>
#include <string>

#include "base/error.h"
#include "base/lock.h"

namespace lucid::codegen {

namespace {

// Fixed levels, never the host's own features, because a machine with AVX512-FP16 or BF16 would round differently.
const char* cpu_of(CpuLevel target) {
  switch (target) {
    case CpuLevel::kScalar:
      return "x86-64";
    case CpuLevel::kAvx2:
      return "x86-64-v3";
    case CpuLevel::kAvx512:
      return "x86-64-v4";
  }
  throw InternalError("no target numbered {}", static_cast<int>(target));
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(CpuLevel target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    // Loop strength reduction takes a third of the compile time, and Translator::element_address makes it unnecessary.
    // A target machine has no other switch for it.
    if (llvm::cl::Option* without = llvm::cl::getRegisteredOptions().lookup("disable-lsr"))
      static_cast<llvm::cl::opt<bool>*>(without)->setValue(true);
  });
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  LUCID_CHECK(found, "LLVM has no x86-64 target: {}", message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, cpu_of(target), "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                 llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  LUCID_CHECK(machine, "LLVM cannot create a target machine for {}", cpu_of(target));
  return machine;
}

}  // namespace

int vector_bits(CpuLevel target) {
  switch (target) {
    case CpuLevel::kScalar:
      return 128;
    case CpuLevel::kAvx2:
      return 256;
    case CpuLevel::kAvx512:
      return 512;
  }
  throw InternalError("no target numbered {}", static_cast<int>(target));
}

TargetMachinePool::Lease TargetMachinePool::borrow(CpuLevel target) {
  std::unique_ptr<llvm::TargetMachine> machine;
  {
    const std::lock_guard lock(mutex_of(LockRank::kTargetMachines, this));
    auto& idle = idle_[static_cast<int>(target)];
    if (!idle.empty()) {
      machine = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (!machine) machine = make_target_machine(target);
  return Lease(this, target, std::move(machine));
}

void TargetMachinePool::return_machine(CpuLevel target, std::unique_ptr<llvm::TargetMachine> machine) {
  const std::lock_guard lock(mutex_of(LockRank::kTargetMachines, this));
  idle_[static_cast<int>(target)].push_back(std::move(machine));
}

}  // namespace lucid::codegen
