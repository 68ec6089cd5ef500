#pragma once

#include "data/json.h"
#include "program/program_file.h"

/// The JSON in program files. Readers throw ValueError for whatever writers do not write.
namespace lucid::program {

Json to_json(const ProgramFile& file);
/// Everything but the contents of the state and the text of the graphs. The state has names only.
void read_program(const Json& json, ProgramFile& file);

/// An index of the plans and objects, which are written to `plans` and `objects` one after the other.
Json to_json(const WrittenCode& code, std::string& plans, std::string& objects);
TargetCode read_index(const Json& json, std::string_view plans, std::string_view objects, std::span<const Call> calls);
PlanForm read_form(const Json& json, const Call& call, size_t kernels);

}  // namespace lucid::program
