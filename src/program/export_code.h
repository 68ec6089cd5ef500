#pragma once

#include <functional>
#include <map>

#include "program/export.h"

namespace lucid::program {

/// Calls `function` with all sizes of the symbols until it returns false. Throws ValueError if there are very many.
void for_each_size(std::span<const Symbol> symbols, const std::function<bool(std::span<const int64_t>)>& function);

/// The plans and kernels of the calls of a request.
class ExportedCode {
 public:
  ExportedCode(const ExportRequest& request, const ProgramFile& file) : request_(request), file_(file) {}

  /// Plans for all sizes between the bounds of the symbols. Throws ValueError if they need too many plans.
  WrittenCode for_level(CpuLevel level);

 private:
  /// The object code of the kernels of one level, each once.
  class Kernels;

  std::vector<PlanForm> forms_of(size_t call, CpuLevel level, Kernels& kernels);

  const ExportRequest& request_;
  const ProgramFile& file_;
  /// Keeps what KernelCode refers to.
  std::vector<std::unique_ptr<std::string>> objects_;
};

}  // namespace lucid::program
