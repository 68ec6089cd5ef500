#pragma once

#include "data/json.h"
#include "program/program_file.h"

/// The JSON in program files. Readers throw ValueError for whatever writers do not write.
namespace lucid::program {

Json to_json(const ProgramFile& file);
/// Everything but the contents of the state and the text of the graphs. The state has names only.
void read_program(const Json& json, ProgramFile& file);

/// `code` without the objects, which are written to `objects` one after the other.
Json to_json(const TargetCode& code, std::string& objects);
TargetCode read_code(const Json& json, std::string_view objects, std::span<const Call> calls);

}  // namespace lucid::program
