// Fuzzes the loading of programs with arbitrary bytes, whose digest is made to match. A file is rejected with
// ValueError, or its graphs, plans and object code can be read, and a call with its smallest inputs ends. No machine
// code runs.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "code/object_file.h"
#include "program/graph_plans.h"
#include "program/loaded_program.h"

namespace {

using namespace lucid;
using namespace lucid::program;

/// Reads graphs, and makes no plan.
class Reader : public PlanMaker {
 public:
  Ref<Plan> make(const Call& call, std::span<const int64_t> sizes) override {
    check_graph(call, sizes);
    return nullptr;
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

void call(LoadedProgram& loaded) {
  std::vector<Array> inputs;
  std::string memory(1 << 16, '\0');
  for (const Signature& input : loaded.file().inputs) {
    Array& array = inputs.emplace_back();
    array.dtype = input.dtype;
    array.data = memory.data();
    for (const Signature::Size& size : input.shape) array.shape.push_back(size.symbol >= 0 ? 2 : size.number);
  }
  loaded.run(inputs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  set_digest(bytes);
  try {
    ProgramFile file = ProgramFile::read(std::move(bytes));
    read_code(file);
    LoadedProgram loaded(std::make_shared<ProgramCode>(std::move(file), Trust::kNone, std::make_unique<Reader>()));
    call(loaded);
  } catch (const Error& error) {
    const ErrorClass found = error.error_class();
    if (found != ErrorClass::kValue && found != ErrorClass::kType && found != ErrorClass::kMemory) std::abort();
  }
  return 0;
}
