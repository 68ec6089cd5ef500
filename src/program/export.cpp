#include "program/export.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "compiler/compile_plan.h"
#include "ir/evaluate.h"
#include "ir/node_call.h"
#include "passes/may_raise.h"
#include "program/export_code.h"
#include "program/object_writer.h"

namespace lucid::program {
namespace {

/// Writes the calls of a request to a file.
class Exporter {
 public:
  explicit Exporter(const ExportRequest& request) : request_(request) {
    file_.name = request.name;
    file_.symbols = request.symbols;
    file_.inputs = request.inputs;
    file_.structure = request.structure;
  }

  std::optional<std::vector<int64_t>> missing() {
    for (const ExportedCall& call : request_.calls) add_sizes(call);
    std::optional<std::vector<int64_t>> found;
    for_each_size(request_.symbols, [&](std::span<const int64_t> values) {
      const bool is_known = std::ranges::any_of(file_.calls, [&](const Call& call) { return takes(call, values); });
      if (!is_known) found.emplace(values.begin(), values.end());
      return is_known;
    });
    return found;
  }

  std::string file() {
    add_calls();
    std::vector<WrittenCode> codes;
    ExportedCode code(request_, file_);
    for (const CpuLevel level : request_.levels) codes.push_back(code.for_level(level));
    return to_bytes(file_, codes);
  }

  std::string object(const std::string& symbol) {
    LUCID_CHECK(request_.levels.size() == 1, "an object file for {} levels", request_.levels.size());
    add_calls();
    ExportedCode code(request_, file_);
    WrittenCode written = code.for_level(request_.levels.front());
    const std::vector<KernelCode> kernels = written.kernels;
    for (KernelCode& kernel : written.kernels) kernel.object = {};
    return write_object(symbol, to_bytes(file_, {&written, 1}), kernels);
  }

 private:
  /// Numbers of a call, as text that depends on its symbols.
  class Formulas {
   public:
    explicit Formulas(const jit::CallPlan& call) : trace_(call.source ? call.source->record.sizes->trace : plain_) {}
    SizeFormula operator()(SymInt dim) const { return {trace_, dim}; }
    std::vector<SizeFormula> operator()(const Dims& dims) const {
      std::vector<SizeFormula> result;
      for (const SymInt dim : dims) result.push_back((*this)(dim));
      return result;
    }
    View operator()(const Geometry& geometry) const {
      return {(*this)(geometry.sizes), (*this)(geometry.strides), (*this)(geometry.offset)};
    }

   private:
    const SizeTrace plain_;  // of a call without sizes that vary
    const SizeTrace& trace_;
  };

  void add_calls() {
    for (const ExportedCall& call : request_.calls) add_call(call);
    describe_outputs();
  }

  /// Whether the call serves these sizes of the symbols.
  bool takes(const Call& call, std::span<const int64_t> values) const {
    std::vector<int64_t> sizes;
    for (const Call::Size& size : call.sizes)
      sizes.push_back(values[static_cast<size_t>(file_.inputs[size.input].shape[size.dim].symbol)]);
    for (size_t i = 0; i < file_.inputs.size(); ++i)
      for (size_t dim = 0; dim < file_.inputs[i].shape.size(); ++dim) {
        const int32_t symbol = file_.inputs[i].shape[dim].symbol;
        if (symbol >= 0 && call.shapes[i][dim].evaluate(sizes) != values[static_cast<size_t>(symbol)]) return false;
      }
    return all_hold(call.conditions, sizes);
  }

  /// Adds a call that has only what says which sizes it serves.
  Call& add_sizes(const ExportedCall& exported) {
    const jit::CallPlan& plan = exported.program->call();
    check(*exported.program);
    Call& call = file_.calls.emplace_back();
    if (plan.source) {
      const jit::TracedSizes& sizes = *plan.source->record.sizes;
      for (const jit::TracedSizes::Symbol& symbol : sizes.symbols)
        call.sizes.push_back({static_cast<uint32_t>(symbol.argument), static_cast<uint32_t>(symbol.dim)});
      call.conditions = conditions_of(sizes.trace);
    }
    add_bounds(call);
    add_shapes(exported, call);
    return call;
  }

  void add_call(const ExportedCall& exported) {
    const jit::Program& program = *exported.program;
    const jit::CallPlan& plan = program.call();
    const Formulas formulas(plan);
    const std::vector<jit::GraphInput>& inputs = plan.source ? plan.source->call.inputs : plan.inputs;
    const std::vector<jit::OutputCell>& outputs = plan.source ? plan.source->call.outputs : plan.outputs;
    Call& call = add_sizes(exported);
    const IRGraph graph = jit::plan_graph(plan);
    for (const jit::GraphInput& input : inputs)
      call.operands.push_back(operand_of(exported, input, graph.type(input.id), formulas));
    for (const jit::OutputCell& output : outputs) {
      check_device(output.device);
      call.output_bytes.push_back(formulas(output.bytes));
    }
    for (const ExpectedOutput& expected : plan.expected) {
      const size_t index = call.reads.size();
      call.reads.push_back(
          {static_cast<uint32_t>(expected.output), expected.expected, program.recorded().branch_sources[index]});
    }
    add_results(exported, call, formulas);
    add_writes(exported, call);
    for (const PlanUpdate& update : plan.updates)
      if (std::ranges::find(call.writes, update.output, &Call::Write::output) != call.writes.end())
        call.updates.emplace_back(static_cast<uint32_t>(update.input), static_cast<uint32_t>(update.output));
    add_errors(graph, call);
    call.graph = to_text(graph);
  }

  static void check_device(Device device) {
    if (device.is_gpu()) throw ValueError("export: the program uses a gpu; move the model to the CPU first");
  }

  void check(const jit::Program& program) const {
    if (program.recorded().argument_count() != request_.inputs.size())
      throw ValueError(
          "export: the call uses {} tensors, but has {} arguments that are tensors: it finds further tensors in places "
          "that may change; pass them as arguments",
          program.recorded().argument_count(), request_.inputs.size());
    if (program.numbers() > 0) throw ValueError("export: a number of the call varies; pass a tensor instead");
    if (!program.recorded().gradient_handles.empty())
      throw ValueError(
          "export: the call reads gradients from before it; call zero_grad(), which sets them to None, in it before "
          "backward()");
  }

  /// What a call does with sizes between the bounds is not noted, so it serves no others. Sizes with one name are
  /// equal.
  void add_bounds(Call& call) const {
    const size_t count = call.sizes.size();
    std::map<int32_t, size_t> first;
    for (size_t i = 0; i < count; ++i) {
      const int32_t name = request_.inputs[call.sizes[i].input].shape[call.sizes[i].dim].symbol;
      const Symbol& symbol = request_.symbols[static_cast<size_t>(name)];
      const int64_t low = std::max(symbol.low, SizeTrace::kMinSize);
      call.conditions.emplace_back(fmt::format("s{}-{} >= 0", i, low), count);
      call.conditions.emplace_back(fmt::format("s{}-{} < 0", i, symbol.high + 1), count);
      const auto [found, is_new] = first.try_emplace(name, i);
      if (!is_new) call.conditions.emplace_back(fmt::format("s{}-s{} == 0", i, found->second), count);
    }
  }

  /// Sizes that the call does not trace are as recorded.
  void add_shapes(const ExportedCall& exported, Call& call) const {
    for (size_t i = 0; i < request_.inputs.size(); ++i) {
      std::vector<SizeFormula>& shape = call.shapes.emplace_back();
      for (const int64_t size : exported.shapes[i]) shape.emplace_back(size);
    }
    for (size_t symbol = 0; symbol < call.sizes.size(); ++symbol)
      call.shapes[call.sizes[symbol].input][call.sizes[symbol].dim] =
          SizeFormula(fmt::format("s{}", symbol), call.sizes.size());
  }

  /// The index of the memory of a captured tensor.
  uint32_t state_of(const TensorImpl& tensor, const std::string& name) {
    const Ref<Storage> storage = tensor.cell()->storage();
    const auto [found, is_new] = state_indices_.try_emplace(storage->data(), file_.state.size());
    if (is_new) {
      State& state = file_.state.emplace_back();
      state.name = unique(name);
      state.dtype = tensor.dtype();
      state.contents = storage;
      const auto whole = static_cast<size_t>(int64_t{numel(tensor.sizes())}) * size_of(tensor.dtype());
      if (tensor.is_contiguous() && tensor.offset() == 0 && whole == storage->bytes()) {
        state.shape = tensor.sizes();
      } else if (storage->bytes() % size_of(state.dtype) == 0) {
        state.shape = {static_cast<int64_t>(storage->bytes() / size_of(state.dtype))};
      } else {
        state.dtype = Dtype::kU8;
        state.shape = {static_cast<int64_t>(storage->bytes())};
      }
    }
    return static_cast<uint32_t>(found->second);
  }

  uint32_t constant_of(const Ref<Storage>& storage) {
    const auto [found, is_new] = state_indices_.try_emplace(storage->data(), file_.state.size());
    if (is_new)
      file_.state.push_back({.name = unique("constant"),
                             .dtype = Dtype::kU8,
                             .shape = {static_cast<int64_t>(storage->bytes())},
                             .contents = storage});
    return static_cast<uint32_t>(found->second);
  }

  std::string unique(const std::string& wanted) {
    // Names that mean something else in the file.
    const bool is_reserved = wanted.starts_with("lucid.") || wanted.starts_with("__");
    const std::string name = is_reserved ? "state." + wanted : wanted;
    std::string result = name;
    for (int number = 1; !names_.insert(result).second; ++number) result = fmt::format("{}.{}", name, number);
    return result;
  }

  /// The captured tensor with this handle.
  static const TensorImpl& captured(const ExportedCall& exported, size_t handle) {
    return *exported.program->recorded().captured[handle - exported.program->recorded().argument_count()];
  }
  uint32_t state_of(const ExportedCall& exported, size_t handle) {
    const auto is_same = [&](const jit::RecordedCall::GeneratorUse& use) {
      return captured(exported, use.handle).cell() == captured(exported, handle).cell();
    };
    const bool is_generator = std::ranges::any_of(exported.program->recorded().generators, is_same);
    const std::string& name = exported.state_names[handle - exported.program->recorded().argument_count()];
    return state_of(captured(exported, handle), is_generator ? "generator" : name);
  }

  Call::Operand operand_of(const ExportedCall& exported, const jit::GraphInput& input, const TensorType& type,
                           const Formulas& formulas) {
    check_device(type.device);
    Call::Operand operand{.dtype = type.dtype, .view = formulas(input.geometry)};
    if (input.kind == jit::GraphInput::Kind::kConstant) {
      operand.is_state = true;
      operand.index = constant_of(input.constant);
    } else if (input.handle < exported.program->recorded().argument_count()) {
      operand.index = static_cast<uint32_t>(input.handle);
    } else {
      operand.is_state = true;
      operand.index = state_of(exported, input.handle);
      if (input.kind == jit::GraphInput::Kind::kHandle)
        operand.first_byte = captured(exported, input.handle).offset().unguarded() *
                             static_cast<int64_t>(size_of(captured(exported, input.handle).dtype()));
    }
    return operand;
  }

  void add_results(const ExportedCall& exported, Call& call, const Formulas& formulas) {
    const std::vector<jit::Outcome::Source> sources = exported.program->recorded().outcome->sources();
    for (size_t i = 0; i < sources.size(); ++i) {
      const jit::Outcome::Source& source = sources[i];
      if (source.handle >= 0)
        throw ValueError("export: result {} shares the memory of {}; return a copy, x.clone()", i,
                         source.handle < static_cast<int64_t>(request_.inputs.size())
                             ? "input " + request_.inputs[static_cast<size_t>(source.handle)].name
                             : exported.state_names[static_cast<size_t>(source.handle) - request_.inputs.size()]);
      call.results.push_back({static_cast<uint32_t>(source.cell), source.dtype, formulas(source.geometry)});
      check_output(call, i);
    }
    if (sources.size() != file_.outputs.size())
      throw ValueError("export: the examples return different numbers of results");
  }

  /// Checks that a call returns what the first one does.
  void check_output(const Call& call, size_t i) {
    const Call::Result& result = call.results[i];
    if (i == file_.outputs.size() && file_.calls.size() == 1) {
      const bool has_name = i < request_.output_names.size() && !request_.output_names[i].empty();
      file_.outputs.push_back({has_name ? request_.output_names[i] : fmt::format("output{}", i), result.dtype,
                               std::vector<Signature::Size>(result.view.shape.size())});
    }
    if (i >= file_.outputs.size() || file_.outputs[i].dtype != result.dtype ||
        file_.outputs[i].shape.size() != result.view.shape.size())
      throw ValueError("export: the examples return results of different dtypes, ranks or numbers");
  }

  /// Whether a size of a result is that of a symbol in a call: it is traced, or both are fixed and the same.
  bool is_size_of(const Call& call, const SizeFormula& size, int32_t symbol) const {
    for (size_t i = 0; i < call.shapes.size(); ++i)
      for (size_t dim = 0; dim < call.shapes[i].size(); ++dim) {
        if (file_.inputs[i].shape[dim].symbol != symbol) continue;
        const SizeFormula& own = call.shapes[i][dim];
        if (own.is_constant() ? size.is_constant() && size.constant() == own.constant() : size.text() == own.text())
          return true;
      }
    return false;
  }

  /// Describes the sizes of outputs as far as they are the same in all calls.
  void describe_outputs() {
    for (size_t i = 0; i < file_.outputs.size(); ++i)
      for (size_t dim = 0; dim < file_.outputs[i].shape.size(); ++dim) {
        const auto size_in = [&](const Call& call) -> const SizeFormula& { return call.results[i].view.shape[dim]; };
        Signature::Size& size = file_.outputs[i].shape[dim];
        const SizeFormula& first = size_in(file_.calls.front());
        const auto is_first = [&](const Call& call) {
          return size_in(call).is_constant() && size_in(call).constant() == first.constant();
        };
        size.number = first.is_constant() && std::ranges::all_of(file_.calls, is_first) ? first.constant() : -1;
        if (size.number >= 0) continue;
        for (size_t symbol = 0; symbol < file_.symbols.size(); ++symbol) {
          const auto index = static_cast<int32_t>(symbol);
          const auto has_it = [&](const Call& call) { return is_size_of(call, size_in(call), index); };
          if (std::ranges::all_of(file_.calls, has_it)) size.symbol = index;
        }
      }
  }

  void add_writes(const ExportedCall& exported, Call& call) {
    const jit::CallPlan& plan = exported.program->call();
    const size_t own = plan.outputs.size() - plan.written.size();
    const auto generators = exported.program->recorded().generators;
    for (size_t i = 0; i < plan.written.size(); ++i) {
      const size_t handle = plan.written[i];
      if (handle < exported.program->recorded().argument_count())
        throw ValueError("export: the call writes to its input {}; return the new value instead",
                         request_.inputs[handle].name);
      // The sampled numbers are counted below.
      const auto only_counts = [&](const jit::RecordedCall::GeneratorUse& use) {
        return !use.sets_state && captured(exported, use.handle).cell() == captured(exported, handle).cell();
      };
      if (std::ranges::any_of(generators, only_counts)) continue;
      const uint32_t state = state_of(exported, handle);
      file_.state[state].is_written = true;
      call.writes.push_back({static_cast<uint32_t>(own + i), state});
    }
    for (const jit::RecordedCall::GeneratorUse& use : generators) {
      if (use.sets_state || use.count == 0) continue;
      const uint32_t state = state_of(exported, use.handle);
      file_.state[state].is_written = true;
      call.generators.push_back({state, use.count});
    }
  }

  /// The ops that may reject values, as the function calls them.
  static void add_errors(const IRGraph& graph, Call& call) {
    const Op* part = nullptr;  // the first of the primitives that composites consist of that has errors
    for (const IRNode& node : expand_to_primitives(graph).nodes)
      if (!part && !node.op->errors.empty()) part = node.op;
    std::set<std::string> seen;
    for (const IRNode& node : graph.nodes) {
      const Op* const source = node.op->errors.empty() ? part : node.op;
      if (source && may_raise(NodeCall(graph, node).call()) && seen.insert(node.op->name()).second)
        call.errors.push_back({node.op->name(), source->error_class, source->errors});
    }
  }

  const ExportRequest& request_;
  ProgramFile file_;
  std::map<const void*, size_t> state_indices_;
  std::set<std::string> names_;
};

}  // namespace

CpuLevel level_named(const std::string& name) {
  for (const CpuLevel level : {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512})
    if (name_of(level) == name) return level;
  throw ValueError("export: '{}' is not a target; targets are 'scalar', 'avx2' and 'avx512'", name);
}

std::optional<std::vector<int64_t>> missing_sizes(const ExportRequest& request) { return Exporter(request).missing(); }

std::string export_program(const ExportRequest& request) { return Exporter(request).file(); }

std::string export_object(const ExportRequest& request, const std::string& symbol) {
  return Exporter(request).object(symbol);
}

}  // namespace lucid::program
