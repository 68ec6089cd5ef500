#pragma once

#include <memory>
#include <string>

#include "program/loaded_program.h"

namespace lucid::program {

/// Reads a program. Throws FileError (RuntimeError) if the file cannot be read, otherwise as ProgramFile::read() and
/// ProgramCode.
std::shared_ptr<ProgramCode> open_program(const std::string& path, Trust trust, std::unique_ptr<PlanMaker> maker);

}  // namespace lucid::program
