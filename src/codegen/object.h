#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace lucid::codegen {

/// Relocatable object code of a module. Throws InternalError with LLVM's words when it cannot be made.
std::string emit_object(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace lucid::codegen
