#include "program/loaded_program.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/throw_error.h"
#include "program/elements.h"

namespace lucid::program {
namespace {

std::string shape_text(std::span<const int64_t> shape) {
  return lucid::to_string(DimsView(Dims(shape.begin(), shape.end())));
}

}  // namespace

std::string to_string(const ProgramFile& file, const Signature& signature) {
  std::string sizes;
  for (const Signature::Size& size : signature.shape) {
    if (!sizes.empty()) sizes += ',';
    if (size.symbol >= 0)
      sizes += file.symbols[static_cast<size_t>(size.symbol)].name;
    else
      sizes += size.number < 0 ? "?" : std::to_string(size.number);
  }
  return fmt::format("{}: {}[{}]", signature.name, name_of(signature.dtype), sizes);
}

/// One run of one call.
class LoadedProgram::Run {
 public:
  Run(LoadedProgram& program, size_t call, std::span<const Array> inputs, Ref<Plan> plan, std::vector<int64_t> sizes)
      : program_(program),
        call_(program.file().calls[call]),
        plan_(std::move(plan)),
        sizes_(std::move(sizes)),
        has_forms_(!plan_->packed_bytes.empty()) {
    for (const Call::Operand& operand : call_.operands) add_operand(operand, inputs);
    for (size_t i = 0; i < call_.output_bytes.size(); ++i) {
      const int32_t donor = plan_->donors.empty() ? -1 : plan_->donors[i];
      const bool is_in_place = donor >= 0 && is_state_written_by(i);
      storages_.push_back(is_in_place ? nullptr : Storage::allocate(bytes_of(i)));
      outputs_.push_back(is_in_place ? operands_[static_cast<size_t>(donor)] : storages_[i]->data());
    }
    for (const Call::Result& result : call_.results) add_result(result);
  }

  int64_t run() { return plan_->run(operands_, outputs_, forms_); }

  /// The values that the call reads, up to the first that is not as expected.
  std::vector<std::string> reads() const {
    std::vector<std::string> found;
    for (const Call::Read& read : call_.reads) {
      found.emplace_back(static_cast<const char*>(outputs_[read.output]), read.expected.size());
      if (found.back() != read.expected) break;
    }
    return found;
  }

  /// Needs no memory that could be missing: the state may have been written.
  std::vector<Array> finish() {
    for (const Copy& copy : copies_)
      copy_elements(copy.elements, static_cast<const char*>(outputs_[copy.output]),
                    size_of(results_[copy.result].dtype), static_cast<char*>(results_[copy.result].data));
    for (const Call::Write& write : call_.writes)
      if (storages_[write.output]) program_.state_[write.state] = std::move(storages_[write.output]);
    for (const Call::Generator& generator : call_.generators) {
      auto* const words = static_cast<int64_t*>(program_.state_[generator.state]->data());
      words[1] = static_cast<int64_t>(static_cast<uint64_t>(words[1]) + static_cast<uint64_t>(generator.count));
    }
    return std::move(results_);
  }

 private:
  size_t bytes_of(size_t output) const {
    const int64_t bytes = value_of(call_.output_bytes[output], sizes_);
    if (bytes < 0) throw ValueError("a size is negative");
    return static_cast<size_t>(bytes);
  }
  bool is_state_written_by(size_t output) const {
    return std::ranges::any_of(call_.writes, [&](const Call::Write& write) { return write.output == output; });
  }

  void add_operand(const Call::Operand& operand, std::span<const Array> inputs) {
    const size_t i = operand.index;
    PackedForms* forms = nullptr;
    if (!operand.is_state) {
      operands_.push_back(inputs[i].data);
    } else {
      const State& state = program_.file().state[i];
      // Held, because a run in another thread may replace it.
      held_.push_back(state.is_written ? program_.state_[i] : state.contents);
      operands_.push_back(static_cast<char*>(held_.back()->data()) + operand.first_byte);
      if (!state.is_written) forms = &program_.code_->forms_of(i);
    }
    if (has_forms_) forms_.push_back(forms);
  }

  /// Adds a result on the memory of its output or, if that has another layout or other uses, on memory for a copy.
  void add_result(const Call::Result& result) {
    Elements elements = elements_of(result.view, sizes_, size_of(result.dtype), bytes_of(result.output));
    Array& array = results_.emplace_back(Array{.dtype = result.dtype, .shape = elements.shape});
    const bool is_shared = is_state_written_by(result.output) ||
                           std::ranges::count(call_.results, result.output, &Call::Result::output) > 1;
    if (elements.is_contiguous() && elements.offset == 0 && !is_shared) {
      array.memory = storages_[result.output];
    } else {
      array.memory = Storage::allocate(static_cast<size_t>(std::max<int64_t>(elements.bytes, 1)));
      copies_.push_back({results_.size() - 1, result.output, std::move(elements)});
    }
    array.data = array.memory->data();
  }

  LoadedProgram& program_;
  const Call& call_;
  const Ref<Plan> plan_;
  const std::vector<int64_t> sizes_;
  const bool has_forms_;
  std::vector<Ref<Storage>> held_;
  std::vector<void*> operands_;
  std::vector<PackedForms*> forms_;
  std::vector<Ref<Storage>> storages_;
  std::vector<void*> outputs_;
  std::vector<Array> results_;
  /// A result that is copied from an output after the run.
  struct Copy {
    size_t result = 0;
    size_t output = 0;
    Elements elements;
  };
  std::vector<Copy> copies_;
};

LoadedProgram::LoadedProgram(std::shared_ptr<ProgramCode> code)
    : code_(std::move(code)), writes_state_(std::ranges::any_of(code_->file().state, &State::is_written)) {
  reset();
}

void LoadedProgram::reset() {
  std::vector<Ref<Storage>> state;
  for (const State& each : file().state) state.push_back(each.is_written ? each.contents->copy() : nullptr);
  const BusyScope alone(busy_);
  state_ = std::move(state);
}

Ref<Storage> LoadedProgram::state(size_t index) {
  const State& state = file().state[index];
  if (!state.is_written) return state.contents->copy();
  const BusyScope alone(busy_);
  return state_[index]->copy();
}

namespace {

/// Throws if the program takes no such inputs, whatever their sizes are.
void check_inputs(const ProgramFile& file, std::span<const Array> inputs) {
  if (inputs.size() != file.inputs.size())
    throw TypeError("{}: expected {} inputs, got {}", file.name, file.inputs.size(), inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Signature& expected = file.inputs[i];
    if (inputs[i].dtype != expected.dtype)
      throw TypeError("{}: input {} has dtype {}, expected {}", file.name, i, name_of(inputs[i].dtype),
                      to_string(file, expected));
    if (inputs[i].shape.size() != expected.shape.size())
      throw ValueError("{}: input {} has shape {}, expected {}", file.name, i, shape_text(inputs[i].shape),
                       to_string(file, expected));
  }
}

std::vector<int64_t> sizes_in(const Call& call, std::span<const Array> inputs) {
  std::vector<int64_t> sizes;
  for (const Call::Size& size : call.sizes) sizes.push_back(inputs[size.input].shape[size.dim]);
  return sizes;
}

bool takes(const Call& call, std::span<const Array> inputs, std::span<const int64_t> sizes) {
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t dim = 0; dim < call.shapes[i].size(); ++dim)
      if (call.shapes[i][dim].evaluate(sizes) != inputs[i].shape[dim]) return false;
  return all_hold(call.conditions, sizes);
}

[[noreturn]] void fail_for_sizes(const ProgramFile& file, std::span<const Array> inputs) {
  std::string expected, given, bounds;
  for (size_t i = 0; i < inputs.size(); ++i) {
    expected += (i ? ", " : "") + to_string(file, file.inputs[i]);
    given += (i ? ", " : "") + shape_text(inputs[i].shape);
  }
  for (const Symbol& symbol : file.symbols)
    bounds += fmt::format("{} {} from {} to {}", bounds.empty() ? " with" : ",", symbol.name, symbol.low, symbol.high);
  throw ValueError("{}: it was exported for inputs ({}){}, got shapes {}", file.name, expected, bounds, given);
}

[[noreturn]] void fail_for_values(const ProgramFile& file, const Call& call, int64_t code) {
  std::string reasons;
  std::optional<ErrorClass> found;
  for (const Call::Errors& errors : call.errors) {
    if (code < 1 || static_cast<size_t>(code) > errors.messages.size()) continue;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; or ", errors.op,
                           errors.messages[static_cast<size_t>(code - 1)]);
    // Which of several ops has failed is not known.
    found = found.value_or(errors.error_class) == errors.error_class ? errors.error_class : ErrorClass::kValue;
  }
  throw_error(found.value_or(ErrorClass::kValue),
              fmt::format("{}: an input has a value that the program cannot use: {}", file.name, reasons));
}

}  // namespace

std::vector<Array> LoadedProgram::run(std::span<const Array> inputs) {
  const ProgramFile& file = code_->file();
  check_inputs(file, inputs);
  std::optional<BusyScope> alone;
  if (writes_state_) alone.emplace(busy_);
  std::vector<std::string> known;  // the values that the program reads, as far as a call has shown them
  const Call* tried = nullptr;
  for (size_t i = 0; i < file.calls.size(); ++i) {
    const Call& call = file.calls[i];
    std::vector<int64_t> sizes = sizes_in(call, inputs);
    if (!takes(call, inputs, sizes)) continue;
    bool is_possible = true;
    for (size_t read = 0; read < std::min(known.size(), call.reads.size()); ++read)
      is_possible = is_possible && call.reads[read].expected == known[read];
    if (!is_possible) continue;
    Ref<Plan> plan = code_->plan_for(i, sizes);
    if (!plan) continue;
    Run run(*this, i, inputs, std::move(plan), std::move(sizes));
    const int64_t error = run.run();
    if (error == 0) return run.finish();
    if (error != Plan::kOtherOutput) fail_for_values(file, call, error);
    tried = &call;
    known = run.reads();
  }
  if (!tried) fail_for_sizes(file, inputs);
  std::string place;
  if (!known.empty() && known.size() <= tried->reads.size()) place = tried->reads[known.size() - 1].source;
  throw RuntimeError(
      "{}: the branch that these inputs take was not exported: the program reads another value than in any exported "
      "call{}{}; export it with an example that takes this branch",
      file.name, place.empty() ? "" : " at ", place);
}

}  // namespace lucid::program
