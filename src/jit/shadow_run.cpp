#include "jit/shadow_run.h"

#include <algorithm>

#include "base/error.h"
#include "jit/first_divergent_node.h"
#include "jit/program_frame.h"
#include "passes/graph_edit.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/grad_mode.h"

namespace lucid::jit {

bool ShadowRun::is_possible(const Program& program, const Program::Handles& handles) {
  // The overlaps follow an entry for each handle.
  return program.recorded_.sharing.size() <= handles.all.size() && effects_of(program.graph()).empty();
}

ShadowRun::ShadowRun(const Program& program, const Program::Handles& handles)
    : program_(program),
      handles_(handles),
      frame_(std::make_unique<Program::Frame>(program, handles, Program::Frame::Purpose::kShadow)) {}

ShadowRun::~ShadowRun() = default;

bool ShadowRun::run(Program::Branch& branch) {
  const int64_t error = frame_->run();
  if (error == Plan::kOtherOutput)
    branch = frame_->branch(program_.recorded_.outcome->cells().size(), program_.recorded_.branch);
  frame_->give_back_numbers(generators_);
  return error == 0;
}

std::string ShadowRun::text_with_times(const Program& program, const Program::Handles& handles) {
  constexpr int kRuns = 4;
  const auto fail = [&] {
    throw RuntimeError("{}: this call runs eagerly, so it has no steps to measure", program.graph().name);
  };
  if (!effects_of(program.graph()).empty())
    throw RuntimeError("{}: this call has effects, so its steps cannot be measured", program.graph().name);
  if (!is_possible(program, handles)) fail();
  std::vector<double> shortest;
  Ref<const Plan> plan;
  const uint64_t rebinds = rebinds_by_other_threads();
  for (int i = 0; i < kRuns; ++i) {
    if (rebinds_by_other_threads() != rebinds) fail();
    Program::Frame frame(program, handles, Program::Frame::Purpose::kShadow);
    plan = frame.call().plan;
    std::vector<double> times(plan->steps.size());
    if (frame.run(times) != 0) fail();
    if (shortest.empty()) shortest = times;
    for (size_t step = 0; step < times.size(); ++step) shortest[step] = std::min(shortest[step], times[step]);
  }
  return to_text(*plan, shortest);
}

bool ShadowRun::is_invalidated() const {
  for (size_t i = 0; i < generators_.size(); ++i) {
    const RecordedCall::GeneratorUse& use = program_.recorded_.generators[i];
    GeneratorState::Words expected = generators_[i];
    expected[1] += use.count;
    const auto& state = static_cast<const GeneratorState&>(*handles_.all[use.handle]);
    if (!use.sets_state && state.words() != expected) return true;
  }
  return false;
}

Outcome::Contents& ShadowRun::contents() {
  if (contents_) return *contents_;
  contents_.emplace();
  program_.recorded_.outcome->find_contents({handles_.all.data(), handles_.all.size()}, frame_->handle_memory(),
                                            frame_->make_own_cells(), handles_.sized ? &handles_.sized->sizes : nullptr,
                                            *contents_);
  return *contents_;
}

std::optional<ShadowRun::Difference> ShadowRun::difference() {
  const std::vector<size_t>& written = frame_->call().written;
  for (size_t i = 0; i < written.size(); ++i) {
    if (program_.recorded_.generator_use_of(written[i])) continue;
    const Storage& expected = frame_->written(i);
    const TensorImpl& handle = *handles_.all[written[i]];
    const Ref<Storage> now = handle.cell()->storage();
    const auto count = static_cast<int64_t>(expected.bytes() / size_of(handle.dtype()));
    if (now->bytes() != expected.bytes() ||
        first_difference(handle.dtype(), handle.device(), now->data(), expected.data(), count) >= 0)
      return Difference{.handle = written[i]};
  }
  for (const auto& [handle, expected] : contents().gradients) {
    const TensorRef now = gradient(*handles_.all[handle]);
    const bool is_same = now && expected ? !first_difference(expected, now) : now == expected;
    if (!is_same) return Difference{.handle = handle, .is_gradient = true};
  }
  return std::nullopt;
}

void ShadowRun::fail(const std::string& where, const PassList* passes) const {
  std::string node;
  if (const std::shared_ptr<const CallGraph>& recorded = program_.call_.recorded) {
    const auto& sized = handles_.sized;
    const CallGraph call = with_sizes(*recorded, sized ? SizeReplacer(sized->sizes) : SizeReplacer());
    std::vector<void*> inputs;
    for (size_t i = 0; i < frame_->inputs().size(); ++i)
      if (frame_->call().inputs[i].kind != GraphInput::Kind::kConstant) inputs.push_back(frame_->inputs()[i]);
    const std::optional<size_t> wrong = find_first_divergent_node(call, passes, inputs);
    node = wrong ? "The first node that is compiled wrong is " + to_text(call.graph, call.graph.nodes[*wrong])
                 : "Each node is compiled right: the function did something else than when it was recorded";
  }
  throw RuntimeError("{}: the compiled call differs from the function in {}. {}", program_.graph().name, where, node);
}

std::optional<int64_t> first_difference(const TensorRef& a, const TensorRef& b) {
  if (a->type() != b->type()) return 0;
  const GradModeScope mode(false);
  const TensorRef left = contiguous(a), right = contiguous(b);
  const Ref<Storage> left_memory = left->cell()->storage(), right_memory = right->cell()->storage();
  const auto address = [](const TensorImpl& tensor, const Storage& memory) {
    return static_cast<const char*>(memory.data()) + tensor.offset() * static_cast<int64_t>(size_of(tensor.dtype()));
  };
  const int64_t found = first_difference(a->dtype(), a->device(), address(*left, *left_memory),
                                         address(*right, *right_memory), numel(a->sizes()));
  return found < 0 ? std::nullopt : std::optional(found);
}

}  // namespace lucid::jit
