#include <algorithm>

#include "base/blocking.h"
#include "base/error.h"
#include "program/elements.h"
#include "program/loaded_program.h"

namespace lucid::program {
namespace {

std::string names_of(const std::vector<CpuLevel>& levels) {
  std::string names;
  for (const CpuLevel level : levels) names += (names.empty() ? "" : ", ") + std::string(name_of(level));
  return names.empty() ? "no CPU" : names;
}

/// Compares a call with what the file says about the program and its memory, for certain sizes. Throws ValueError
/// unless everything that a run accesses is inside its memory, and everything that it takes and returns is as the
/// signature says.
class CallCheck {
 public:
  CallCheck(const ProgramFile& file, const Call& call, std::span<const int64_t> sizes)
      : file_(file), call_(call), sizes_(sizes), symbols_(file.symbols.size()) {}

  void run() {
    for (size_t i = 0; i < file_.inputs.size(); ++i) check_shape(file_.inputs[i], values_of(call_.shapes[i]));
    for (const Call::Operand& operand : call_.operands) check_operand(operand);
    for (const Call::Read& read : call_.reads) require(read.expected.size() <= output_bytes(read.output));
    for (size_t i = 0; i < call_.results.size(); ++i) {
      const Call::Result& result = call_.results[i];
      const size_t element_bytes = size_of(result.dtype);
      check_shape(file_.outputs[i], elements_of(result.view, sizes_, element_bytes, output_bytes(result.output)).shape);
    }
    for (const Call::Write& write : call_.writes) check_write(write);
    for (const auto& [operand, output] : call_.updates) check_update(operand, output);
    for (const Call::Generator& generator : call_.generators) {
      const State& state = file_.state[generator.state];
      require(state.is_written && state.bytes() >= 2 * sizeof(int64_t));
    }
  }

 private:
  static void require(bool holds, const char* reason = "a call does not fit into its memory") {
    if (!holds) throw ValueError("load_program: the file is damaged: {}", reason);
  }

  std::vector<int64_t> values_of(std::span<const SizeFormula> formulas) const {
    std::vector<int64_t> values;
    for (const SizeFormula& formula : formulas) values.push_back(value_of(formula, sizes_));
    return values;
  }

  CheckedInt output_bytes(uint32_t output) const {
    const CheckedInt bytes = value_of(call_.output_bytes[output], sizes_);
    require(bytes >= 0);
    return bytes;
  }

  /// The first size of a symbol, in an input, is that of all others. Both have the same rank.
  void check_shape(const Signature& signature, std::span<const int64_t> shape) {
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      const auto& [number, symbol] = signature.shape[dim];
      bool is_same = number < 0 || shape[dim] == number;
      if (symbol >= 0) {
        std::optional<int64_t>& known = symbols_[static_cast<size_t>(symbol)];
        if (!known) known = shape[dim];
        is_same = shape[dim] == *known;
      }
      require(is_same, "a call takes or returns other sizes than the program");
    }
  }

  void check_operand(const Call::Operand& operand) const {
    const size_t element_bytes = size_of(operand.dtype);
    if (operand.is_state) {
      require(operand.first_byte % static_cast<int64_t>(element_bytes) == 0 &&
              operand.first_byte <= file_.state[operand.index].bytes());
      elements_of(operand.view, sizes_, element_bytes, file_.state[operand.index].bytes() - operand.first_byte);
    } else {
      require(operand.dtype == file_.inputs[operand.index].dtype);
      elements_of(operand.view, sizes_, element_bytes,
                  checked_bytes(values_of(call_.shapes[operand.index]), element_bytes));
    }
  }

  void check_write(const Call::Write& write) const {
    require(file_.state[write.state].is_written && output_bytes(write.output) == file_.state[write.state].bytes());
  }

  /// Kernels may write an output to the memory of the operand that it replaces: only if that is the same state, and if
  /// no other operand shows kernels the same memory.
  void check_update(uint32_t index, uint32_t output) const {
    const Call::Operand& operand = call_.operands[index];
    const auto replaces = [&](const Call::Write& write) {
      return write.output == output && write.state == operand.index;
    };
    const auto uses = [&](const Call::Operand& other) { return other.is_state && other.index == operand.index; };
    const auto concerns = [&](const auto& update) { return update.first == index || update.second == output; };
    require(operand.is_state && operand.first_byte == 0 && std::ranges::any_of(call_.writes, replaces) &&
            std::ranges::count_if(call_.operands, uses) == 1 && std::ranges::count_if(call_.updates, concerns) == 1);
    const Elements elements = elements_of(operand.view, sizes_, size_of(operand.dtype), INT64_MAX);
    require(elements.is_contiguous() && elements.bytes == file_.state[operand.index].bytes());
  }

  const ProgramFile& file_;
  const Call& call_;
  const std::span<const int64_t> sizes_;
  /// The sizes of the program's symbols, as far as they are known.
  std::vector<std::optional<int64_t>> symbols_;
};

}  // namespace

ProgramCode::ProgramCode(ProgramFile file, Trust trust, std::unique_ptr<PlanMaker> maker)
    : file_(std::move(file)), maker_(std::move(maker)), forms_(file_.state.size()) {
  if (trust == Trust::kCode)
    for (const CpuLevel level : file_.levels())
      if (level <= chosen_level()) level_ = level;
  if (!level_ && !maker_) {
    if (trust == Trust::kNone)
      throw RuntimeError(
          "load_program: the machine code of '{}' may run only if the caller trusts the file, and this library has no "
          "compiler: mark the file as trusted, or load it with the whole library",
          file_.name);
    throw RuntimeError(
        "load_program: '{}' has machine code for {}, but this CPU has {}, and this library has no compiler: export it "
        "with targets=[\"{}\"], or load it with the whole library",
        file_.name, names_of(file_.levels()), name_of(chosen_level()), name_of(chosen_level()));
  }
  if (!level_) return;
  maker_.reset();
  code_ = file_.code_for(*level_);
  codes_.resize(code_.kernels.size());
}

namespace {

class LinkedCode : public LoadedCode {
 public:
  LinkedCode(void* function, size_t scratch_bytes) {
    function_ = reinterpret_cast<loop::KernelFunction>(function);
    scratch_bytes_ = scratch_bytes;
  }
};

}  // namespace

ProgramCode::ProgramCode(ProgramFile file, const LinkedKernels& kernels)
    : file_(std::move(file)), level_(kernels.level), forms_(file_.state.size()) {
  if (kernels.level > host_level())
    throw RuntimeError("'{}' was compiled for {}, but this CPU has {}", file_.name, name_of(kernels.level),
                       name_of(host_level()));
  code_ = file_.code_for(kernels.level);
  if (code_.kernels.size() != kernels.functions.size())
    throw ValueError("'{}' has {} kernels, but {} are linked", file_.name, code_.kernels.size(),
                     kernels.functions.size());
  for (size_t i = 0; i < kernels.functions.size(); ++i)
    codes_.push_back(make_ref<LinkedCode>(kernels.functions[i], code_.kernels[i].scratch_bytes));
}

Ref<LoadedCode> ProgramCode::load(size_t kernel) {
  {
    const std::lock_guard lock(mutex());
    if (codes_[kernel]) return codes_[kernel];
  }
  const KernelCode& code = code_.kernels[kernel];
  LoadedParts parts;
  for (const uint32_t part : code.parts) parts.push_back(load(part));
  Ref<LoadedCode> loaded;
  try {
    loaded = loader_.load(code.symbol, code.object, std::move(parts), code.scratch_bytes);
  } catch (const InternalError& error) {
    throw ValueError("load_program: the file is damaged: {}", error.what());
  }
  const std::lock_guard lock(mutex());
  if (!codes_[kernel]) codes_[kernel] = loaded;
  return codes_[kernel];
}

/// The code of the kernels that a form uses; null for others.
std::vector<Ref<LoadedCode>> ProgramCode::codes_of(const PlanForm& form) {
  std::vector<Ref<LoadedCode>> codes(code_.kernels.size());
  for (const PlanForm::Step& step : form.steps)
    if (!codes[step.kernel]) codes[step.kernel] = load(step.kernel);
  return codes;
}

Ref<Plan> ProgramCode::make(size_t call, std::span<const int64_t> sizes) {
  CallCheck(file_, file_.calls[call], sizes).run();
  if (maker_) {
    const BlockingScope compiling;
    return maker_->make(file_.calls[call], sizes);
  }
  const auto serves = [&](const TargetCode::StoredForm& form) { return all_hold(form.conditions, sizes); };
  const auto found = std::ranges::find_if(code_.forms[call], serves);
  if (found == code_.forms[call].end()) return nullptr;
  const PlanForm form = file_.form_of(call, code_, *found);
  return make_plan(form, sizes, codes_of(form));
}

Ref<Plan> ProgramCode::plan_for(size_t call, const std::vector<int64_t>& sizes) {
  Key key{call, sizes};
  {
    const std::lock_guard lock(mutex());
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
  }
  Ref<Plan> plan = make(call, sizes);
  if (!plan) return nullptr;
  Ref<Plan> evicted;  // destroyed after the lock is released
  const std::lock_guard lock(mutex());
  if (!plans_.try_emplace(key, plan).second) return plans_.at(key);
  order_.push_back(std::move(key));
  if (order_.size() > kMaxPlans) {
    const auto oldest = plans_.find(order_.front());
    evicted = std::move(oldest->second);
    plans_.erase(oldest);
    order_.erase(order_.begin());
  }
  return plan;
}

}  // namespace lucid::program
