#include "program/export_code.h"

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "codegen/code_generator.h"
#include "codegen/scratch.h"
#include "runtime/kernel_cache.h"

namespace lucid::program {
namespace {

constexpr size_t kMaxForms = 512;

/// The sizes of a symbol that are tried: all of a small range. In a large one, all up to kDense and, for each power of
/// two, its neighbours and kSamples sizes up to the next one.
std::vector<int64_t> sizes_between(int64_t low, int64_t high, bool all) {
  constexpr int64_t kDense = 32, kSamples = 8;
  std::vector<int64_t> sizes;
  if (all) {
    for (int64_t size = low; size <= high; ++size) sizes.push_back(size);
    return sizes;
  }
  const auto add = [&](int64_t size) {
    if (size >= low && size <= high) sizes.push_back(size);
  };
  for (int64_t size = 0; size <= kDense; ++size) add(size);
  for (int64_t power = kDense; power > 0 && power <= high; power *= 2) {
    for (int64_t sample = 0; sample < kSamples; ++sample) add(power + power * sample / kSamples);
    add(power - 1);
    add(power + 1);
  }
  add(low);
  add(high);
  std::ranges::sort(sizes);
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

class ExportedCode::Kernels {
 public:
  Kernels(CpuLevel level, std::vector<std::unique_ptr<std::string>>& objects) : level_(level), objects_(objects) {}

  uint32_t index_of(const loop::Kernel& kernel) {
    const std::string key = loop::key_of(kernel);
    if (const auto found = indices_.find(key); found != indices_.end()) return found->second;
    KernelCode code{.symbol = codegen::symbol_of(kernel), .scratch_bytes = codegen::scratch_layout(kernel).bytes};
    for (const loop::Kernel& part : kernel.parts) code.parts.push_back(index_of(part));
    objects_.push_back(std::make_unique<std::string>(kernel_cache().object(kernel, level_)));
    code.object = *objects_.back();
    const auto index = static_cast<uint32_t>(all_.size());
    all_.push_back(std::move(code));
    return indices_[key] = index;
  }

  std::vector<KernelCode> take() { return std::move(all_); }

 private:
  CpuLevel level_;
  std::vector<std::unique_ptr<std::string>>& objects_;
  std::map<std::string, uint32_t> indices_;
  std::vector<KernelCode> all_;
};

TargetCode ExportedCode::for_level(CpuLevel level) {
  TargetCode code;
  Kernels kernels(level, objects_);
  for (size_t call = 0; call < file_.calls.size(); ++call) code.forms.push_back(forms_of(call, level, kernels));
  code.kernels = kernels.take();
  return code;
}

std::vector<PlanForm> ExportedCode::forms_of(size_t index, CpuLevel level, Kernels& kernels) {
  const Call& call = file_.calls[index];
  const jit::CallPlan& plan = request_.calls[index].program->call();
  std::vector<PlanForm> forms;
  const auto add = [&](std::span<const int64_t> sizes) {
    if (forms.size() == kMaxForms)
      throw ValueError("export: sizes in these ranges need more than {} plans; export smaller ranges", kMaxForms);
    PlanSource source = jit::form_of(plan, sizes, level);
    for (PlanForm::Step& step : source.form.steps) step.kernel = kernels.index_of(*source.kernels[step.kernel]);
    forms.push_back(std::move(source.form));
  };
  if (call.sizes.empty()) {
    add({});
    return forms;
  }
  // Sizes that have the same name are equal, so the names are what varies.
  std::vector<int32_t> names;
  for (const Call::Size& size : call.sizes) {
    const int32_t name = file_.inputs[size.input].shape[size.dim].symbol;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  constexpr double kMaxTried = 1 << 16;
  double combinations = 1;
  for (const int32_t name : names) {
    const Symbol& symbol = file_.symbols[static_cast<size_t>(name)];
    combinations *= static_cast<double>(symbol.high - symbol.low + 1);
  }
  std::vector<int64_t> values(file_.symbols.size());
  const std::function<void(size_t)> visit = [&](size_t at) {
    if (at < names.size()) {
      const Symbol& symbol = file_.symbols[static_cast<size_t>(names[at])];
      for (const int64_t size : sizes_between(symbol.low, symbol.high, combinations <= kMaxTried)) {
        values[static_cast<size_t>(names[at])] = size;
        visit(at + 1);
      }
      return;
    }
    std::vector<int64_t> sizes;
    for (const Call::Size& size : call.sizes)
      sizes.push_back(values[static_cast<size_t>(file_.inputs[size.input].shape[size.dim].symbol)]);
    const auto holds = [&](const SizeCondition& condition) { return condition.holds(sizes); };
    if (!std::ranges::all_of(sizes, &SizeTrace::is_traceable) || !std::ranges::all_of(call.conditions, holds)) return;
    if (std::ranges::none_of(forms, [&](const PlanForm& form) { return form.serves(sizes); })) add(sizes);
  };
  visit(0);
  return forms;
}

}  // namespace lucid::program
