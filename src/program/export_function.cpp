#include <lucid/export.h>
#include <lucid/ops.h>

#include <algorithm>

#include "base/error.h"
#include "data/output_file.h"
#include "program/export.h"
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
    std::vector<std::vector<Tensor>> examples = {inputs};
    examples.insert(examples.end(), options_.examples.begin(), options_.examples.end());
    describe(inputs);
    for (const std::vector<Tensor>& example : examples) record(example);
    constexpr size_t kMaxCalls = 64;
    while (const auto missing = request_.symbols.empty() ? std::nullopt : missing_sizes(request_)) {
      if (request_.calls.size() >= kMaxCalls)
        throw ValueError("export_program: the function does something else for each of {} sizes; export smaller ranges",
                         kMaxCalls);
      for (const std::vector<Tensor>& example : examples) record(resized(example, *missing));
    }
    return program::export_program(request_);
  }

 private:
  void describe(const std::vector<Tensor>& inputs) {
    const std::vector<std::string>& names = options_.input_names;
    if (!names.empty() && names.size() != inputs.size())
      throw ValueError("export_program: {} names for {} inputs", names.size(), inputs.size());
    if (options_.dynamic.size() > inputs.size())
      throw ValueError("export_program: dynamic sizes of {} inputs, but there are {}", options_.dynamic.size(),
                       inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      program::Signature& signature = request_.inputs.emplace_back();
      signature.name = !names.empty() ? names[i] : inputs.size() == 1 ? "input" : fmt::format("input_{}", i);
      if (std::ranges::count(request_.inputs, signature.name, &program::Signature::name) > 1)
        throw ValueError("export_program: two inputs are named '{}'", signature.name);
      signature.dtype = unwrap(inputs[i]).dtype();
      for (const Dim size : unwrap(inputs[i]).sizes()) signature.shape.push_back({size, -1});
      if (i >= options_.dynamic.size()) continue;
      for (const auto& [dim, size] : options_.dynamic[i]) {
        if (dim < 0 || dim >= inputs[i].dim())
          throw ValueError("export_program: dimension {} of {}, which has {}", dim, signature.name, inputs[i].dim());
        signature.shape[static_cast<size_t>(dim)].symbol = symbol_of(size);
      }
    }
  }

  int32_t symbol_of(const DynamicSize& size) {
    if (size.name.empty() || size.min < 1 || size.min > size.max)
      throw ValueError("export_program: a size needs a name and 1 <= min <= max, got '{}', {} and {}", size.name,
                       size.min, size.max);
    auto found = std::ranges::find(request_.symbols, size.name, &program::Symbol::name);
    if (found == request_.symbols.end())
      found = request_.symbols.insert(found, {size.name, size.min, size.max});
    else if (found->low != size.min || found->high != size.max)
      throw ValueError("export_program: '{}' has two pairs of bounds", size.name);
    return static_cast<int32_t>(found - request_.symbols.begin());
  }

  /// The example with other sizes: elements are repeated or left out.
  std::vector<Tensor> resized(const std::vector<Tensor>& example, const std::vector<int64_t>& sizes) const {
    std::vector<Tensor> result = example;
    for (size_t i = 0; i < result.size(); ++i)
      for (size_t dim = 0; dim < request_.inputs[i].shape.size(); ++dim) {
        const int32_t symbol = request_.inputs[i].shape[dim].symbol;
        if (symbol < 0) continue;
        const auto axis = static_cast<int64_t>(dim);
        const Tensor indices = arange(sizes[static_cast<size_t>(symbol)]) % result[i].size(axis);
        result[i] = index_select(result[i], axis, indices);
      }
    return result;
  }

  /// Throws ValueError unless the inputs of an example are as described.
  void check(const std::vector<Tensor>& example) const {
    if (example.size() != request_.inputs.size())
      throw ValueError("export_program: an example has {} inputs instead of {}", example.size(),
                       request_.inputs.size());
    std::vector<std::optional<int64_t>> sizes(request_.symbols.size());
    for (size_t i = 0; i < example.size(); ++i) {
      const program::Signature& input = request_.inputs[i];
      const TensorType type = unwrap(example[i]).type();
      bool fits = type.dtype == input.dtype && type.shape.size() == input.shape.size();
      for (size_t dim = 0; fits && dim < type.shape.size(); ++dim) {
        const auto& [number, symbol] = input.shape[dim];
        const int64_t size = type.shape[dim];
        if (symbol < 0) {
          fits = size == number;
        } else {
          const auto at = static_cast<size_t>(symbol);
          fits =
              size >= request_.symbols[at].low && size <= request_.symbols[at].high && size == sizes[at].value_or(size);
          sizes[at] = size;
        }
      }
      if (!fits)
        throw ValueError(
            "export_program: {} of an example is {}, which is not what the first example and `dynamic` say", input.name,
            to_string(type));
    }
  }

  void record(const std::vector<Tensor>& example) {
    check(example);
    std::vector<TensorRef> given;
    program::ExportedCall call;
    for (const Tensor& input : example) {
      // Copies, so that each input has memory of its own, in row-major order.
      given.push_back(ref_of(input.detach().contiguous().clone()));
      std::vector<int64_t>& shape = call.shapes.emplace_back();
      for (const Dim size : given.back()->sizes()) shape.push_back(size);
    }
    call.program = record_call(given);
    for (const TensorRef& tensor : call.program->state()) {
      const auto name = names_.find(tensor.get());
      call.state_names.push_back(name == names_.end() ? "state" : name->second);
    }
    request_.calls.push_back(std::move(call));
  }

  /// A traced recording of a call on handles of the inputs.
  Ref<jit::Program> record_call(const std::vector<TensorRef>& given) {
    auto sizes = std::make_shared<jit::TracedSizes>();
    std::vector<TensorRef> inputs;
    for (size_t i = 0; i < given.size(); ++i) {
      std::vector<jit::TracedSizes::Dimension> dims;
      for (size_t dim = 0; dim < request_.inputs[i].shape.size(); ++dim) {
        const int32_t symbol = request_.inputs[i].shape[dim].symbol;
        if (symbol < 0) continue;
        const program::Symbol& bounds = request_.symbols[static_cast<size_t>(symbol)];
        dims.push_back({dim, {bounds.low, bounds.high}});
      }
      inputs.push_back(dims.empty() ? given[i] : sizes->add(*given[i], i, dims));
    }
    jit::TracingContext context;
    context.keep_contents();
    std::vector<TensorRef> results;
    std::string obstacle;
    Ref<jit::Program> program;
    {
      std::optional<SizeTrace::Scope> scope;
      if (!sizes->symbols.empty()) {
        context.set_sizes(sizes);
        scope.emplace(&sizes->trace);
      }
      results = call(context, inputs);
      if (context.trace().sets_up)
        throw ValueError(
            "export_program: the call creates state that later calls use, such as an optimizer's; call the function "
            "once before it is exported");
      if (context.caught_error())
        throw ValueError("export_program: the call catches an error, which may be another one for other inputs");
      if (context.uses_tensors_of_other_threads())
        throw ValueError("export_program: the call uses a tensor that another thread made during it");
      std::vector<const TensorImpl*> pointers;
      for (const TensorRef& result : results) pointers.push_back(result.get());
      if (context.keeps_tensors(pointers))
        throw ValueError("export_program: the call keeps a tensor that it creates, such as in a captured variable");
      program =
          jit::Program::record(context, inputs, results, context.captured(inputs, results), options_.name, obstacle);
    }
    if (program) obstacle = program->compile_now();
    if (!obstacle.empty()) throw ValueError("export_program: the call cannot be compiled: {}", obstacle);
    return program;
  }

  std::vector<TensorRef> call(jit::TracingContext& context, const std::vector<TensorRef>& inputs) const {
    std::vector<Tensor> wrapped;
    for (const TensorRef& input : inputs) wrapped.push_back(wrap(input));
    std::vector<TensorRef> results;
    const GradModeScope mode(options_.gradients && GradMode::enabled());
    try {
      for (const Tensor& result : function_(wrapped)) results.push_back(ref_of(result.detach().contiguous()));
    } catch (...) {
      context.stop();
      context.restore_contents();
      throw;
    }
    context.stop();
    context.restore_contents();
    return results;
  }

  const ExportedFunction& function_;
  const ExportOptions& options_;
  const TensorNames names_;
  program::ExportRequest request_;
};

}  // namespace

void export_program(const ExportedFunction& function, const std::vector<Tensor>& inputs, const std::string& path,
                    const ExportOptions& options) {
  note_act_outside("exports a program");
  write_file("export_program", path, FunctionExporter(function, options, {}).run(inputs));
}

void export_program(const nn::Ptr<nn::Module>& module, const Tensor& input, const std::string& path,
                    const ExportOptions& options) {
  note_act_outside("exports a program");
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
