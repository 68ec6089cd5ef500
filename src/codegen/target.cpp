#include "codegen/target.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <initializer_list>
#include <string>

#include "base/error.h"
#include "base/options.h"

namespace lucid::codegen {

namespace {

// Fixed levels, never the host's own features: a machine with AVX512-FP16 or BF16 would round differently.
const char* cpu_of(Target target) {
  switch (target) {
    case Target::kScalar:
      return "x86-64";
    case Target::kAvx2:
      return "x86-64-v3";
    case Target::kAvx512:
      return "x86-64-v4";
  }
  throw InternalError("no target numbered {}", static_cast<int>(target));
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(Target target) {
  static std::once_flag initialized;
  std::call_once(initialized, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  });
  llvm::Triple triple("x86_64-unknown-linux-gnu");
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(triple, message);
  LUCID_CHECK(found, "LLVM has no x86-64: {}", message);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  std::unique_ptr<llvm::TargetMachine> machine(
      found->createTargetMachine(triple, cpu_of(target), "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                 llvm::CodeGenOptLevel::Default, /*JIT=*/true));
  LUCID_CHECK(machine, "LLVM makes no target machine for {}", cpu_of(target));
  return machine;
}

Target detect_host() {
  const auto features = llvm::sys::getHostCPUFeatures();
  auto has_all = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (!features.lookup(name)) return false;
    }
    return true;
  };
  if (!has_all({"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2", "avx", "avx2", "bmi", "bmi2", "f16c",
                "fma", "lzcnt", "movbe", "xsave"})) {
    return Target::kScalar;
  }
  if (!has_all({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"})) return Target::kAvx2;
  return Target::kAvx512;
}

}  // namespace

std::string_view name_of(Target target) {
  switch (target) {
    case Target::kScalar:
      return "scalar";
    case Target::kAvx2:
      return "avx2";
    case Target::kAvx512:
      return "avx512";
  }
  throw InternalError("no target numbered {}", static_cast<int>(target));
}

Target host_target() {
  static const Target target = detect_host();
  return target;
}

Target chosen_target() {
  static_assert(static_cast<int>(Target::kScalar) == static_cast<int>(CpuLevel::kScalar) &&
                static_cast<int>(Target::kAvx2) == static_cast<int>(CpuLevel::kAvx2) &&
                static_cast<int>(Target::kAvx512) == static_cast<int>(CpuLevel::kAvx512));
  const auto named = options().target;
  if (!named) return host_target();
  const auto target = static_cast<Target>(*named);
  if (target > host_target()) {
    throw ValueError("LUCID_TARGET is {}, but this machine runs {} at most; unset it or choose a lower one",
                     name_of(target), name_of(host_target()));
  }
  return target;
}

int vector_bits(Target target) {
  switch (target) {
    case Target::kScalar:
      return 128;
    case Target::kAvx2:
      return 256;
    case Target::kAvx512:
      return 512;
  }
  throw InternalError("no target numbered {}", static_cast<int>(target));
}

TargetMachinePool::Lease TargetMachinePool::borrow(Target target) {
  std::unique_ptr<llvm::TargetMachine> machine;
  {
    std::lock_guard lock(mutex_);
    auto& idle = idle_[static_cast<int>(target)];
    if (!idle.empty()) {
      machine = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (!machine) machine = make_target_machine(target);
  return Lease(this, target, std::move(machine));
}

void TargetMachinePool::give_back(Target target, std::unique_ptr<llvm::TargetMachine> machine) {
  std::lock_guard lock(mutex_);
  idle_[static_cast<int>(target)].push_back(std::move(machine));
}

}  // namespace lucid::codegen
