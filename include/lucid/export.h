#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lucid/nn/module.h"

#pragma GCC visibility push(default)

namespace lucid {

/// A size that differs from call to call: its name and its bounds. It is `lucid.Dim` in Python.
struct Dim {
  std::string name;
  int64_t min = 1;
  int64_t max = 64;
};

struct ExportOptions {
  std::string name = "program";
  /// By default "input", or "input_0", "input_1", ...
  std::vector<std::string> input_names = {};
  /// For each input, the sizes that vary, by dimension: `{{{0, {"batch"}}}}`.
  std::vector<std::map<int64_t, Dim>> dynamic = {};
  /// The CPUs to write machine code for: "scalar", "avx2", "avx512". By default that of this machine.
  std::optional<std::vector<std::string>> targets = std::nullopt;
  /// Whether the function runs a backward pass, as a training step does. Otherwise gradients are not recorded.
  bool gradients = false;
  /// Further example inputs, for which the function takes other branches.
  std::vector<std::vector<Tensor>> examples = {};
};

/// A function of tensors that returns tensors.
using ExportedFunction = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// Writes a function to a file that Program::load() and the C interface (lucid.h) read. It is called with the inputs
/// and recorded, as compile() records it. State that it writes becomes state of the program, and is left as it was.
/// Other values that it reads, except tensors, are fixed at the export.
///
/// Throws ValueError with the reason if the function cannot be exported, RuntimeError if the file cannot be written.
void export_program(const ExportedFunction& function, const std::vector<Tensor>& inputs, const std::string& path,
                    const ExportOptions& options = {});

/// The same for a module, whose parameters and buffers keep their names. Call eval() first.
void export_program(const nn::Ptr<nn::Module>& module, const Tensor& input, const std::string& path,
                    const ExportOptions& options = {});

}  // namespace lucid

#pragma GCC visibility pop
