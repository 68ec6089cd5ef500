#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)

namespace lucid {

struct LoadProgramOptions {
  /// Whether the machine code in the file may run. It can do anything that this process can. Otherwise the program is
  /// compiled from its graph.
  bool trusted = false;
};

/// A program from a file that lucid.export() wrote. It is a handle: copies of the handle refer to the same program and
/// its state. Any thread may run it; runs of one program that write its state wait for each other.
///
///     lucid::Program lenet = lucid::Program::load("lenet.lucid", {.trusted = true});
///     lucid::Tensor scores = lenet(images)[0];
class Program {
 public:
  /// Throws ValueError if the file is damaged or not a program, RuntimeError if it cannot be read.
  static Program load(const std::string& path, const LoadProgramOptions& options = {});

  /// Another instance, which shares the weights and the machine code and has its own state, as in the file.
  Program copy() const;
  /// Throws TypeError or ValueError if the program does not take these inputs, and what the function would throw if it
  /// cannot use their values, such as IndexError. The state then stays as it was.
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) const;
  template <std::convertible_to<Tensor>... Inputs>
  std::vector<Tensor> operator()(const Inputs&... inputs) const {
    return run({inputs...});
  }
  /// Gives the state the contents that it had in the file.
  void reset() const;

  const std::string& name() const;
  /// Such as "x: f32[batch,1,28,28]".
  std::vector<std::string> inputs() const;
  std::vector<std::string> outputs() const;
  /// How Python nests the outputs; empty for a tensor or a tuple of tensors.
  const std::string& structure() const;
  /// The names of the weights and other state, and a copy of one of them. Throws ValueError for another name.
  std::vector<std::string> state_names() const;
  Tensor state(const std::string& name) const;
  /// The graphs of its calls.
  std::string graph() const;

 private:
  struct Implementation;
  explicit Program(std::shared_ptr<Implementation> implementation) : implementation_(std::move(implementation)) {}
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lucid

#pragma GCC visibility pop
