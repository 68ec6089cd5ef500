#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "jit/program.h"
#include "program/program_file.h"

namespace lucid::program {

/// A recorded call to be exported, and the names of the tensors that it captured.
struct ExportedCall {
  Ref<jit::Program> program;
  std::vector<std::string> state_names;
  /// Of the arguments in the recorded call.
  std::vector<std::vector<int64_t>> shapes;
};

struct ExportRequest {
  std::string name;
  std::vector<Symbol> symbols;
  /// As in the file. The arguments of the calls are the inputs.
  std::vector<Signature> inputs;
  std::vector<std::string> output_names;
  std::string structure;
  std::vector<ExportedCall> calls;
  /// The CPUs to write machine code for.
  std::vector<CpuLevel> levels;

  void add_level(CpuLevel level) {
    if (std::ranges::find(levels, level) == levels.end()) levels.push_back(level);
  }
};

/// "scalar", "avx2" or "avx512". Throws ValueError for other names.
CpuLevel level_named(const std::string& name);

/// Sizes of the symbols for which no call was recorded, if there are any.
std::optional<std::vector<int64_t>> missing_sizes(const ExportRequest& request);

/// The bytes of a program file. Throws ValueError with the reason if a call cannot be exported.
std::string export_program(const ExportRequest& request);

/// The bytes of an object file that has the program as the variable `symbol`, a lucid_linked_program, for the one level
/// of the request.
std::string export_object(const ExportRequest& request, const std::string& symbol);

}  // namespace lucid::program
