#pragma once

#include <memory>

#include "code/code_generator.h"

namespace lucid::codegen {

/// Thread safe: several threads may compile at once.
std::unique_ptr<CodeGenerator> make_llvm_generator();

}  // namespace lucid::codegen
