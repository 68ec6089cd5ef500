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

/// Throws ValueError unless everything that a run accesses is inside its memory.
void check_memory(const ProgramFile& file, const Call& call, std::span<const int64_t> sizes) {
  const auto require = [](bool holds) {
    if (!holds) throw ValueError("load_program: the file is damaged: a call does not fit into its memory");
  };
  for (const Call::Operand& operand : call.operands) {
    const size_t element_bytes = size_of(operand.dtype);
    if (operand.is_state) {
      const size_t bytes = file.state[operand.index].bytes();
      require(static_cast<uint64_t>(operand.first_byte) <= bytes);
      elements_of(operand.view, sizes, element_bytes, bytes - static_cast<size_t>(operand.first_byte));
    } else {
      int64_t bytes = static_cast<int64_t>(element_bytes);
      require(operand.dtype == file.inputs[operand.index].dtype);
      for (const SizeFormula& size : call.shapes[operand.index])
        require(!__builtin_mul_overflow(bytes, value_of(size, sizes), &bytes) && bytes >= 0);
      elements_of(operand.view, sizes, element_bytes, static_cast<size_t>(bytes));
    }
  }
  const auto output_bytes = [&](uint32_t output) {
    const int64_t bytes = value_of(call.output_bytes[output], sizes);
    require(bytes >= 0);
    return static_cast<uint64_t>(bytes);
  };
  for (const Call::Read& read : call.reads) require(read.expected.size() <= output_bytes(read.output));
  for (const Call::Result& result : call.results)
    elements_of(result.view, sizes, size_of(result.dtype), output_bytes(result.output));
  for (const Call::Write& write : call.writes)
    require(file.state[write.state].is_written && output_bytes(write.output) == file.state[write.state].bytes());
  // Kernels may write an output to the memory of the operand that it replaces: only if that is the same state.
  for (const auto& [index, output] : call.updates) {
    const Call::Operand& operand = call.operands[index];
    const auto replaces = [&, output = output](const Call::Write& write) {
      return write.output == output && write.state == operand.index;
    };
    require(operand.is_state && operand.first_byte == 0 && std::ranges::any_of(call.writes, replaces));
    const Elements elements = elements_of(operand.view, sizes, size_of(operand.dtype), SIZE_MAX);
    require(elements.is_contiguous() &&
            static_cast<uint64_t>(elements.count) * size_of(operand.dtype) == file.state[operand.index].bytes());
  }
  for (const Call::Generator& generator : call.generators) {
    const State& state = file.state[generator.state];
    require(state.is_written && state.bytes() >= 2 * sizeof(int64_t));
  }
}

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
  check_memory(file_, file_.calls[call], sizes);
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
