#include "program/open_program.h"

#include "data/byte_source.h"

namespace lucid::program {

std::shared_ptr<ProgramCode> open_program(const std::string& path, Trust trust, std::unique_ptr<PlanMaker> maker) {
  const FileSource source("load_program", path);
  std::string bytes(source.size(), '\0');
  source.read(0, bytes.data(), bytes.size());
  return std::make_shared<ProgramCode>(ProgramFile::read(std::move(bytes)), trust, std::move(maker));
}

}  // namespace lucid::program
