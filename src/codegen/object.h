#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <string>

namespace lucid::codegen {

/// Returns relocatable object code of a module. Throws InternalError with LLVM's message on failure.
std::string emit_object(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace lucid::codegen
