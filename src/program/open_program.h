#pragma once

#include <memory>
#include <string>

#include "program/loaded_program.h"

namespace lucid::program {

/// Reads a program. Throws FileError (RuntimeError) if the file cannot be read, otherwise as ProgramFile::read() and
/// ProgramCode.
std::shared_ptr<ProgramCode> open_program(const std::string& path, Trust trust, std::unique_ptr<PlanMaker> maker);

/// Opens a program that was linked into this process: the bytes of its file, without object code, and its kernels.
std::shared_ptr<ProgramCode> open_linked(std::string_view bytes, std::span<void* const> kernels);

}  // namespace lucid::program
