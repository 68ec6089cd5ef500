#pragma once

#include <string>
#include <vector>

#include "program/program_file.h"

namespace lucid::program {

/// An ELF object file for x86-64 that defines `symbol`, a lucid_linked_program (include/lucid.h): the bytes of a
/// program and the kernels, which are ordinary functions there.
std::string write_object(const std::string& symbol, const std::string& program, const std::vector<KernelCode>& kernels);

}  // namespace lucid::program
