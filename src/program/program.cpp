#include <lucid/program.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "program/graph_plans.h"
#include "program/open_program.h"
#include "tensor/api.h"
#include "tensor/compute.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"

namespace lucid {

struct Program::Implementation {
  explicit Implementation(std::shared_ptr<program::ProgramCode> code) : loaded(std::move(code)) {}
  program::LoadedProgram loaded;
};

namespace {

/// A contiguous tensor on the CPU; of a parameter too, because programs compute no gradients.
TensorRef input_of(const Tensor& tensor) {
  if (unwrap(tensor).device().is_gpu()) throw ValueError("Program: inputs must be on the CPU; call x.cpu() first");
  const GradModeScope no_grad(false);
  return ref_of(tensor.detach().contiguous());
}

Tensor to_tensor(program::Array& array) {
  const Dims shape(array.shape.begin(), array.shape.end());
  return wrap(
      make_ref<TensorImpl>(array.dtype, shape, contiguous_strides(shape), 0, make_ref<Cell>(std::move(array.memory))));
}

}  // namespace

Program Program::load(const std::string& path, const LoadProgramOptions& options) {
  const auto trust = options.trusted ? program::Trust::kCode : program::Trust::kNone;
  return Program(std::make_shared<Implementation>(program::open_program(path, trust, program::make_graph_plans())));
}

Program Program::copy() const {
  return Program(std::make_shared<Implementation>(implementation_->loaded.shared_code()));
}

std::vector<Tensor> Program::run(const std::vector<Tensor>& inputs) const {
  on_external_effect("runs a program from a file");
  std::vector<TensorRef> held;
  std::vector<Ref<Storage>> memory;
  std::vector<program::Array> arrays;
  for (const Tensor& input : inputs) {
    held.push_back(input_of(input));
    const TensorImpl& tensor = *held.back();
    memory.push_back(tensor.cell()->storage());
    program::Array& array = arrays.emplace_back();
    array.dtype = tensor.dtype();
    for (const SymInt size : tensor.sizes()) array.shape.push_back(size);
    array.data = static_cast<char*>(memory.back()->data()) +
                 tensor.offset().unguarded() * static_cast<int64_t>(size_of(tensor.dtype()));
  }
  std::vector<Tensor> results;
  for (program::Array& array : implementation_->loaded.run(arrays)) results.push_back(to_tensor(array));
  return results;
}

void Program::reset() const {
  on_external_effect("resets a program from a file");
  implementation_->loaded.reset();
}

const std::string& Program::name() const { return implementation_->loaded.file().name; }

const std::string& Program::structure() const { return implementation_->loaded.file().structure; }

namespace {

std::vector<std::string> texts_of(const program::ProgramFile& file, const std::vector<program::Signature>& tensors) {
  std::vector<std::string> texts;
  for (const program::Signature& tensor : tensors) texts.push_back(to_string(file, tensor));
  return texts;
}

}  // namespace

std::vector<std::string> Program::inputs() const {
  return texts_of(implementation_->loaded.file(), implementation_->loaded.file().inputs);
}

std::vector<std::string> Program::outputs() const {
  return texts_of(implementation_->loaded.file(), implementation_->loaded.file().outputs);
}

std::vector<std::string> Program::state_names() const {
  std::vector<std::string> names;
  for (const program::State& state : implementation_->loaded.file().state) names.push_back(state.name);
  return names;
}

Tensor Program::state(const std::string& name) const {
  on_external_effect("reads the state of a program from a file");
  const std::vector<program::State>& all = implementation_->loaded.file().state;
  const auto found = std::ranges::find(all, name, &program::State::name);
  if (found == all.end()) throw ValueError("Program: {} has no state named '{}'", this->name(), name);
  program::Array array{.dtype = found->dtype,
                       .memory = implementation_->loaded.state(static_cast<size_t>(found - all.begin()))};
  for (const SymInt size : found->shape) array.shape.push_back(size);
  return to_tensor(array);
}

std::string Program::graph() const {
  std::string text;
  for (const program::Call& call : implementation_->loaded.file().calls) text += call.graph;
  return text;
}

}  // namespace lucid
