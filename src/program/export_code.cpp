#include "program/export_code.h"

#include <algorithm>

#include "base/error.h"
#include "code/code_generator.h"
#include "codegen/scratch.h"
#include "runtime/kernel_cache.h"

namespace lucid::program {
namespace {

constexpr size_t kMaxForms = 512;

}  // namespace

class ExportedCode::Kernels {
 public:
  Kernels(CpuLevel level, std::vector<std::unique_ptr<std::string>>& objects) : level_(level), objects_(objects) {}

  uint32_t index_of(const loop::Kernel& kernel) {
    const std::string key = loop::key_of(kernel);
    if (const auto found = indices_.find(key); found != indices_.end()) return found->second;
    KernelCode code{.symbol = symbol_of(kernel), .scratch_bytes = codegen::scratch_layout(kernel).bytes};
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

WrittenCode ExportedCode::for_level(CpuLevel level) {
  WrittenCode code{.level = level};
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
  size_t last = 0;
  for_each_size(file_.symbols, [&](std::span<const int64_t> values) {
    std::vector<int64_t> sizes;
    for (const Call::Size& size : call.sizes)
      sizes.push_back(values[static_cast<size_t>(file_.inputs[size.input].shape[size.dim].symbol)]);
    // Sizes come in order, so the form that served the last ones mostly serves these.
    if (last < forms.size() && forms[last].serves(sizes)) return true;
    if (!std::ranges::all_of(sizes, &SizeTrace::is_traceable) || !all_hold(call.conditions, sizes)) return true;
    const auto found = std::ranges::find_if(forms, [&](const PlanForm& form) { return form.serves(sizes); });
    last = static_cast<size_t>(found - forms.begin());
    if (found == forms.end()) add(sizes);
    return true;
  });
  return forms;
}

}  // namespace lucid::program
