// Fuzzes include/lucid.h, as liblucid_runtime.so implements it, with files whose digest is made to match. A file that
// is not trusted is refused. Then it is loaded with plans that run no kernel, so that whatever goes wrong is the fault
// of the library: a call fails, or its results are as the program's outputs say and have memory of that size.

#include <lucid.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

#include "program_mutator.h"
#include "small_machine.h"

namespace {

using lucid::ProgramParts;
using Json = ProgramParts::Json;

void require(bool holds) {
  if (!holds) std::abort();
}

/// A file that has a path.
class File {
 public:
  explicit File(const std::string& bytes) : descriptor_(memfd_create("program", MFD_CLOEXEC)) {
    require(descriptor_ >= 0);
    require(write(descriptor_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(descriptor_); }
  const char* path() const { return path_.c_str(); }

 private:
  int descriptor_;
  std::string path_;
};

size_t count_of(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_array() ? object[name].size() : 0;
}

/// A plan of a call. Outputs take the memory of the operands that they replace.
Json plan_of(const Json& call) {
  Json outputs = Json::array();
  for (size_t i = 0; i < count_of(call, "outputs"); ++i) {
    Json donor = -1;
    for (size_t k = 0; k < count_of(call, "updates"); ++k) {
      const Json& update = call["updates"][k];
      if (update.is_object() && update.value("output", Json()) == i) donor = update.value("operand", donor);
    }
    outputs.push_back({{"donor", donor}, {"safe", true}});
  }
  Json plan = {{"outputs", outputs}};
  for (const char* const name : {"blocks", "packed", "regions", "reuses", "steps"}) plan[name] = Json::array();
  return plan;
}

/// Gives each call a plan without kernels.
void add_plans(ProgramParts& parts) {
  std::erase_if(parts.parts, [](const ProgramParts::Part& part) {
    return part.name.starts_with("lucid.index.") || part.name.starts_with("lucid.plans.");
  });
  const Json program = parts.program();
  std::string plans;
  Json calls = Json::array();
  for (size_t i = 0; i < count_of(program, "calls"); ++i) {
    const std::string plan = plan_of(program["calls"][i]).dump();
    calls.push_back({{{"conditions", Json::array()}, {"first", plans.size()}, {"bytes", plan.size()}}});
    plans += plan;
  }
  parts.set("lucid.plans.scalar", plans);
  parts.set("lucid.index.scalar", Json{{"kernels", Json::array()}, {"calls", calls}}.dump());
  parts.set("lucid.code.scalar", "");
}

/// The size in bytes of a tensor. SIZE_MAX if that does not fit.
size_t bytes_of(const lucid_tensor& tensor) {
  size_t bytes = lucid_dtype_size(tensor.dtype);
  for (int32_t i = 0; i < tensor.rank; ++i) {
    require(tensor.shape[i] >= 0);
    if (tensor.shape[i] == 0) return 0;
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(tensor.shape[i]), &bytes)) bytes = SIZE_MAX;
  }
  return bytes;
}

void check_result(const lucid_tensor& result, const lucid_spec& spec) {
  require(result.dtype == spec.dtype && result.rank == spec.rank && spec.rank <= LUCID_MAX_RANK);
  for (int32_t i = 0; i < spec.rank; ++i) require(spec.shape[i] < 0 || result.shape[i] == spec.shape[i]);
  // What a caller does with a result. The sanitizer knows how large its memory is.
  const size_t bytes = bytes_of(result);
  require(bytes != SIZE_MAX);
  for (size_t i = 0; i < bytes; i += i < 4096 ? 1 : 4096) static_cast<char*>(result.data)[i] ^= 1;
  if (bytes > 0) static_cast<char*>(result.data)[bytes - 1] = 1;
}

/// Runs a program twice with inputs whose sizes vary have the size `varying`.
void run(lucid_program* program, int64_t varying) {
  constexpr size_t kMaxBytes = 1 << 16;
  static char memory[kMaxBytes];
  std::vector<lucid_tensor> inputs(lucid_program_input_count(program));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const lucid_spec& spec = *lucid_program_input(program, i);
    inputs[i] = {.dtype = spec.dtype, .rank = spec.rank, .shape = {}, .data = memory, .owner = nullptr};
    for (int32_t dim = 0; dim < spec.rank; ++dim)
      inputs[i].shape[dim] = spec.shape[dim] < 0 ? varying : spec.shape[dim];
    if (bytes_of(inputs[i]) > kMaxBytes) return;
  }
  const size_t output_count = lucid_program_output_count(program);
  // Exactly as many as there are, so that writing more is detected.
  const auto outputs = std::make_unique<lucid_tensor[]>(output_count);
  for (int repeat = 0; repeat < 2; ++repeat) {
    if (lucid_program_run(program, inputs.data(), inputs.size(), outputs.get(), output_count) != 0) {
      require(lucid_error()[0] != '\0');
      continue;
    }
    for (size_t i = 0; i < output_count; ++i) check_result(outputs[i], *lucid_program_output(program, i));
    lucid_tensor_release(outputs.get(), output_count);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  ProgramParts::seal(bytes);
  // Both ways to load a file read it, so few inputs go both.
  if (size % 8 == 0) require(!lucid_program_load(File(bytes).path(), 0) && lucid_error()[0] != '\0');
  std::optional<ProgramParts> parts = ProgramParts::of(bytes);
  if (!parts) return 0;
  add_plans(*parts);
  const std::string sealed = parts->sealed();
  const lucid_linked_program linked = {sealed.data(), sealed.size(), nullptr, 0};
  lucid_program* const program = lucid_program_open(&linked);
  if (!program) {
    require(lucid_error()[0] != '\0');
    return 0;
  }
  for (const int64_t varying : {1, 3}) run(program, varying);
  lucid_program* const copy = lucid_program_copy(program);
  require(copy && lucid_program_reset(program) == 0);
  lucid_program_free(program);
  run(copy, 2);
  lucid_program_free(copy);
  return 0;
}
