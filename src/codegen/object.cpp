#include "codegen/object.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

#include "base/error.h"

namespace lucid::codegen {

namespace {

// Collects errors. LLVM's default handler would terminate the process.
class DiagnosticCollector : public llvm::DiagnosticHandler {
 public:
  explicit DiagnosticCollector(std::string* errors) : errors_(errors) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo& diagnostic) override {
    if (diagnostic.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(*errors_);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      diagnostic.print(printer);
      stream << '\n';
    }
    return true;
  }

 private:
  std::string* errors_;
};

}  // namespace

std::string emit_object(llvm::Module& module, llvm::TargetMachine& machine) {
  std::string errors;
  {
    llvm::raw_string_ostream stream(errors);
    if (llvm::verifyModule(module, &stream)) throw InternalError("codegen: LLVM rejects the module: {}", errors);
  }
  module.getContext().setDiagnosticHandler(std::make_unique<DiagnosticCollector>(&errors));
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  // No IR passes: those that were tried took more time than all of code generation and made no kernel faster.
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile, /*DisableVerify=*/true)) {
    throw InternalError("codegen: LLVM cannot emit object files for {}", machine.getTargetCPU().str());
  }
  passes.run(module);
  module.getContext().setDiagnosticHandler(nullptr);
  if (!errors.empty()) throw InternalError("codegen: LLVM failed: {}", errors);
  return std::string(object.data(), object.size());
}

}  // namespace lucid::codegen
