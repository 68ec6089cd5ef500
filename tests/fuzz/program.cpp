// Fuzzes the loading of programs with arbitrary bytes, whose digest is made to match. A file is rejected with
// ValueError, or its graphs, plans and object code can be read, and calls end. No machine code runs: calls have plans
// without kernels.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "code/object_file.h"
#include "program/graph_plans.h"
#include "program/loaded_program.h"
#include "program_mutator.h"
#include "runtime/plan.h"
#include "small_machine.h"

namespace {

using namespace lucid;
using namespace lucid::program;

/// Reads graphs, and makes plans that run no kernel. Outputs take the memory of the operands that they replace.
class Reader : public PlanMaker {
 public:
  Ref<Plan> make(const Call& call, std::span<const int64_t> sizes) override {
    check_graph(call, sizes);
    auto plan = make_ref<Plan>();
    plan->donors.assign(call.output_bytes.size(), -1);
    for (const auto& [operand, output] : call.updates) plan->donors[output] = static_cast<int32_t>(operand);
    plan->finish();
    return plan;
  }
};

void read_code(const ProgramFile& file) {
  for (const CpuLevel level : file.levels()) {
    const TargetCode code = file.code_for(level);
    for (const KernelCode& kernel : code.kernels) {
      try {
        const ObjectFile object(kernel.object);
      } catch (const InternalError&) {
      }
    }
    for (size_t call = 0; call < code.forms.size(); ++call)
      for (const TargetCode::StoredForm& form : code.forms[call]) file.form_of(call, code, form);
  }
}

/// No kernel reads the inputs.
void call(LoadedProgram& loaded, int64_t varying) {
  std::vector<Array> inputs;
  for (const Signature& input : loaded.file().inputs) {
    Array& array = inputs.emplace_back();
    array.dtype = input.dtype;
    for (const Signature::Size& size : input.shape) array.shape.push_back(size.symbol >= 0 ? varying : size.number);
  }
  for (const Array& result : loaded.run(inputs)) {
    size_t bytes = size_of(result.dtype);
    for (const int64_t size : result.shape)
      if (size < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes)) std::abort();
    if (bytes > 0) static_cast<char*>(result.data)[0] = static_cast<char*>(result.data)[bytes - 1] = 1;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  ProgramParts::seal(bytes);
  try {
    ProgramFile file = ProgramFile::read(std::move(bytes));
    read_code(file);
    LoadedProgram loaded(std::make_shared<ProgramCode>(std::move(file), Trust::kNone, std::make_unique<Reader>()));
    for (const int64_t varying : {2, 3}) call(loaded, varying);
  } catch (const Error& error) {
    const ErrorClass found = error.error_class();
    if (found != ErrorClass::kValue && found != ErrorClass::kType && found != ErrorClass::kMemory) std::abort();
  }
  return 0;
}
