#include "program/open_program.h"

#include "data/byte_source.h"

namespace lucid::program {

std::shared_ptr<ProgramCode> open_program(const std::string& path, Trust trust, std::unique_ptr<PlanMaker> maker) {
  const FileSource source("load_program", path);
  std::string bytes(source.size(), '\0');
  source.read(0, bytes.data(), bytes.size());
  return std::make_shared<ProgramCode>(ProgramFile::read(std::move(bytes)), trust, std::move(maker));
}

std::shared_ptr<ProgramCode> open_linked(std::string_view bytes, std::span<void* const> kernels) {
  ProgramFile file = ProgramFile::read(std::string(bytes));
  if (file.levels().size() != 1) throw ValueError("lucid_program_open: the program has code for other CPUs");
  const CpuLevel level = file.levels().front();
  return std::make_shared<ProgramCode>(std::move(file), LinkedKernels{level, kernels});
}

}  // namespace lucid::program
