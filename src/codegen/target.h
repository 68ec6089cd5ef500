#pragma once

#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <vector>

#include "code/code_generator.h"

namespace lucid::codegen {

/// Lends LLVM target machines, which are slow to create and may be used by one thread at a time.
class TargetMachinePool {
 public:
  /// Returns the machine to the pool when it goes out of scope.
  class Lease {
   public:
    Lease(TargetMachinePool* pool, CpuLevel target, std::unique_ptr<llvm::TargetMachine> machine)
        : pool_(pool), target_(target), machine_(std::move(machine)) {}
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() { pool_->return_machine(target_, std::move(machine_)); }
    llvm::TargetMachine& operator*() const { return *machine_; }
    llvm::TargetMachine* operator->() const { return machine_.get(); }

   private:
    TargetMachinePool* pool_;
    CpuLevel target_;
    std::unique_ptr<llvm::TargetMachine> machine_;
  };

  Lease borrow(CpuLevel target);

 private:
  void return_machine(CpuLevel target, std::unique_ptr<llvm::TargetMachine> machine);

  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_[3];
};

/// Width in bits of the widest register that code for `target` should use.
int vector_bits(CpuLevel target);

}  // namespace lucid::codegen
