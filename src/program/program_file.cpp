#include "program/program_file.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "data/byte_source.h"
#include "data/safetensors.h"
#include "program/program_json.h"

namespace lucid::program {
namespace {

constexpr std::string_view kPrefix = "lucid.";
constexpr const char* kProgram = "lucid.program";
constexpr const char* kDigest = "lucid.digest";
constexpr size_t kDigestBytes = 16;
constexpr CpuLevel kLevels[] = {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512};

std::string graph_name(size_t call) { return fmt::format("lucid.graph.{}", call); }
std::string index_name(CpuLevel level) { return fmt::format("lucid.index.{}", name_of(level)); }
std::string plans_name(CpuLevel level) { return fmt::format("lucid.plans.{}", name_of(level)); }
std::string code_name(CpuLevel level) { return fmt::format("lucid.code.{}", name_of(level)); }

/// The digest of all bytes but the last ones, where it is stored.
std::string digest_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size() - kDigestBytes);
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, hash);
  return {reinterpret_cast<const char*>(canonical.digest), sizeof(canonical.digest)};
}

[[noreturn]] void fail(const std::string& reason) { throw ValueError("load_program: {}", reason); }

Json parse(std::string_view text, const char* what) {
  constexpr size_t kLevelsOfNesting = 16;
  return parse_json(std::string(text), {what, kLevelsOfNesting});
}

}  // namespace

void fail_damaged(const std::string& reason) { fail("the file is damaged: " + reason); }

void set_digest(std::string& bytes) {
  if (bytes.size() >= kDigestBytes) bytes.replace(bytes.size() - kDigestBytes, kDigestBytes, digest_of(bytes));
}

/// Reads the tensors of a file.
class FileReader {
 public:
  explicit FileReader(std::string bytes) { file_.bytes_ = std::move(bytes); }

  ProgramFile read() {
    const std::string& bytes = file_.bytes_;
    const MemorySource source(bytes);
    const SafetensorsHeader header = read_header(source);
    const auto last = std::ranges::find(header.entries, kDigest, &SafetensorsEntry::name);
    if (last == header.entries.end() || last->end - last->begin != kDigestBytes ||
        header.data_start + last->end != bytes.size())
      fail("this is not a program; lucid.export() writes programs, lucid.load() reads other safetensors files");
    if (!bytes.ends_with(digest_of(bytes))) fail_damaged("its digest does not match");
    for (const SafetensorsEntry& entry : header.entries) {
      const size_t first = header.data_start + entry.begin;
      if (entry.name.starts_with(kPrefix)) file_.sections_.push_back({entry.name, first, entry.end - entry.begin});
    }
    read_program(parse(file_.section(kProgram), "the program"), file_);
    for (size_t i = 0; i < file_.calls.size(); ++i) file_.calls[i].graph = file_.section(graph_name(i));
    for (const CpuLevel level : kLevels)
      if (file_.has(index_name(level))) file_.levels_.push_back(level);
    for (State& state : file_.state) read_state(header, state);
    drop_state();
    return std::move(file_);
  }

 private:
  static SafetensorsHeader read_header(const ByteSource& source) {
    try {
      return read_safetensors_header(source);
    } catch (const ValueError& error) {
      const std::string reason = error.what();
      fail(reason.substr(reason.find(": ") + 2));
    }
  }

  /// Keeps the sections only: the state has memory of its own.
  void drop_state() {
    std::string kept;
    for (ProgramFile::Section& section : file_.sections_) {
      const size_t first = kept.size();
      kept += std::string_view(file_.bytes_).substr(section.first, section.bytes);
      section.first = first;
    }
    file_.bytes_ = std::move(kept);
  }

  void read_state(const SafetensorsHeader& header, State& state) {
    const auto found = std::ranges::find(header.entries, state.name, &SafetensorsEntry::name);
    if (found == header.entries.end() || state.name.starts_with(kPrefix))
      fail_damaged(fmt::format("the tensor '{}' is missing", state.name.substr(0, 80)));
    state.dtype = found->dtype;
    state.shape = found->shape;
    state.contents = Storage::allocate(std::max<size_t>(found->end - found->begin, 1));
    std::memcpy(state.contents->data(), file_.bytes_.data() + header.data_start + found->begin,
                found->end - found->begin);
  }

  ProgramFile file_;
};

ProgramFile ProgramFile::read(std::string bytes) { return FileReader(std::move(bytes)).read(); }

bool ProgramFile::has(const std::string& name) const {
  return std::ranges::find(sections_, name, &Section::name) != sections_.end();
}

std::string_view ProgramFile::section(const std::string& name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  if (found == sections_.end()) fail_damaged(fmt::format("'{}' is missing", name));
  return std::string_view(bytes_).substr(found->first, found->bytes);
}

TargetCode ProgramFile::code_for(CpuLevel level) const {
  return read_index(parse(section(index_name(level)), "the list of plans"), section(plans_name(level)),
                    section(code_name(level)), calls);
}

PlanForm ProgramFile::form_of(size_t call, const TargetCode& code, const TargetCode::StoredForm& stored) const {
  return read_form(parse(stored.text, "a plan"), calls[call], code.kernels.size());
}

std::string to_bytes(const ProgramFile& file, std::span<const WrittenCode> codes) {
  SafetensorsHeader header;
  std::vector<std::string_view> contents;
  for (const State& state : file.state) {
    if (state.name.starts_with(kPrefix)) throw ValueError("export: the name '{}' is reserved", state.name);
    header.entries.push_back({.name = state.name, .dtype = state.dtype, .shape = state.shape});
    const auto bytes = static_cast<size_t>(numel(state.shape)) * size_of(state.dtype);
    contents.emplace_back(static_cast<const char*>(state.contents->data()), bytes);
  }
  std::vector<std::pair<std::string, std::string>> sections;
  sections.emplace_back(kProgram, json_text(to_json(file)));
  for (size_t i = 0; i < file.calls.size(); ++i) sections.emplace_back(graph_name(i), file.calls[i].graph);
  for (const WrittenCode& code : codes) {
    std::string plans, objects;
    sections.emplace_back(index_name(code.level), json_text(to_json(code, plans, objects)));
    sections.emplace_back(plans_name(code.level), std::move(plans));
    sections.emplace_back(code_name(code.level), std::move(objects));
  }
  sections.emplace_back(kDigest, std::string(kDigestBytes, '\0'));
  for (const auto& [name, bytes] : sections) {
    header.entries.push_back({.name = name, .dtype = Dtype::kU8, .shape = {static_cast<int64_t>(bytes.size())}});
    contents.emplace_back(bytes);
  }
  header.metadata.emplace_back("format", "lucid program");
  std::string result = write_safetensors_header(header);
  result.resize(header.data_start + contents.back().size() + header.entries.back().begin);
  for (size_t i = 0; i < contents.size(); ++i)
    result.replace(header.data_start + header.entries[i].begin, contents[i].size(), contents[i]);
  set_digest(result);
  return result;
}

}  // namespace lucid::program
