#include <lucid/export.h>
#include <lucid/ops.h>

#include <algorithm>

#include "base/error.h"
#include "data/output_file.h"
#include "program/example_calls.h"
#include "tensor/api.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

using TensorNames = std::map<const TensorImpl*, std::string>;

/// Records calls of a function with examples. The Python counterpart is python/lucid/_export.py.
class FunctionExporter {
 public:
  FunctionExporter(const ExportedFunction& function, const ExportOptions& options, TensorNames names)
      : function_(function), options_(options), names_(std::move(names)) {
    request_.name = options.name;
    if (!options.targets) request_.levels = {chosen_level()};
    for (const std::string& target : options.targets.value_or(std::vector<std::string>()))
      request_.add_level(program::level_named(target));
  }

  std::string run(const std::vector<Tensor>& inputs) {
    describe(inputs);
    std::vector<program::ExampleCalls::Example> examples = {tensors_of(inputs)};
    for (const std::vector<Tensor>& example : options_.examples) examples.push_back(tensors_of(example));
    calls_.record(examples, [this](size_t, const auto& tensors, const std::string&) { return record(tensors); });
    return program::export_program(request_);
  }

 private:
  static program::ExampleCalls::Example tensors_of(const std::vector<Tensor>& handles) {
    program::ExampleCalls::Example tensors;
    for (const Tensor& handle : handles) tensors.push_back(ref_of(handle));
    return tensors;
  }

  void describe(const std::vector<Tensor>& inputs) {
    const std::vector<std::string>& names = options_.input_names;
    if (!names.empty() && names.size() != inputs.size())
      throw ValueError("export_program: {} names for {} inputs", names.size(), inputs.size());
    if (options_.dynamic.size() > inputs.size())
      throw ValueError("export_program: dynamic sizes of {} inputs, but there are {}", options_.dynamic.size(),
                       inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      std::map<int64_t, program::Symbol> dynamic;
      if (i < options_.dynamic.size())
        for (const auto& [dim, size] : options_.dynamic[i]) dynamic[dim] = {size.name, size.min, size.max};
      calls_.add_input(!names.empty()       ? names[i]
                       : inputs.size() == 1 ? "input"
                                            : fmt::format("input_{}", i),
                       unwrap(inputs[i]), dynamic);
    }
  }

  program::ExportedCall record(const std::vector<TensorRef>& given) {
    program::ExportedCall call{.program = record_call(given)};
    for (const TensorRef& tensor : call.program->recorded().captured) {
      const auto name = names_.find(tensor.get());
      call.state_names.push_back(name == names_.end() ? "state" : name->second);
    }
    return call;
  }

  /// A recording of a call on handles of the inputs, with traced sizes.
  Ref<jit::Program> record_call(const std::vector<TensorRef>& given) {
    jit::Recorder recorder({.keeps_contents = true});
    std::vector<TensorRef> inputs;
    for (size_t i = 0; i < given.size(); ++i) {
      const std::vector<jit::TracedSizes::Dimension> dims = calls_.traced_dims(i);
      inputs.push_back(dims.empty() ? given[i] : recorder.trace_sizes(*given[i], i, dims));
    }
    const std::vector<TensorRef> results = call(recorder, inputs);
    calls_.check(recorder);
    std::string obstacle = recorder.obstacle();
    std::vector<const TensorImpl*> pointers;
    for (const TensorRef& result : results) pointers.push_back(result.get());
    if (obstacle.empty() && recorder.context().keeps_tensors(pointers))
      obstacle = "keeps a tensor that it creates, such as in a captured variable";
    if (!obstacle.empty()) throw ValueError("export_program: the call {}", obstacle);
    auto recorded = recorder.finish(inputs, results, options_.name, obstacle);
    Ref<jit::Program> program;
    if (recorded) {
      program = make_ref<jit::Program>(std::move(*recorded));
      obstacle = program->compile_now();
    }
    if (!obstacle.empty()) throw ValueError("export_program: the call cannot be compiled: {}", obstacle);
    return program;
  }

  std::vector<TensorRef> call(jit::Recorder& recorder, const std::vector<TensorRef>& inputs) const {
    std::vector<Tensor> wrapped;
    for (const TensorRef& input : inputs) wrapped.push_back(wrap(input));
    std::vector<TensorRef> results;
    const GradModeScope mode(options_.gradients && GradMode::enabled());
    recorder.start();
    const auto end = [&] {
      recorder.stop();
      recorder.restore_contents();
    };
    try {
      for (const Tensor& result : function_(wrapped)) results.push_back(ref_of(result.detach().contiguous()));
    } catch (...) {
      end();
      throw;
    }
    end();
    return results;
  }

  const ExportedFunction& function_;
  const ExportOptions& options_;
  const TensorNames names_;
  program::ExportRequest request_;
  program::ExampleCalls calls_{"export_program", request_};
};

}  // namespace

void export_program(const ExportedFunction& function, const std::vector<Tensor>& inputs, const std::string& path,
                    const ExportOptions& options) {
  on_external_effect("exports a program");
  write_file("export_program", path, FunctionExporter(function, options, {}).run(inputs));
}

void export_program(const nn::Ptr<nn::Module>& module, const Tensor& input, const std::string& path,
                    const ExportOptions& options) {
  on_external_effect("exports a program");
  if (!module) throw ValueError("export_program: the module is a null pointer");
  TensorNames names;
  for (const auto& [name, parameter] : module->named_parameters()) names.emplace(&unwrap(parameter), name);
  for (const auto& [name, buffer] : module->named_buffers()) names.emplace(&unwrap(buffer), name);
  const ExportedFunction call = [&](const std::vector<Tensor>& inputs) -> std::vector<Tensor> {
    return {module(inputs[0])};
  };
  write_file("export_program", path, FunctionExporter(call, options, std::move(names)).run({input}));
}

}  // namespace lucid
