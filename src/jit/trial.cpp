#include "jit/trial.h"

#include <cstring>

#include "base/error.h"
#include "jit/program_frame.h"
#include "jit/wrong_node.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"

namespace lucid::jit {

Trial::Trial(const Program& program, const Program::Handles& handles)
    : program_(program),
      handles_(handles),
      frame_(std::make_unique<Program::Frame>(program, handles, Program::Frame::Purpose::kTrial)) {}

Trial::~Trial() = default;

bool Trial::run(Program::Branch& branch) {
  const int64_t error = frame_->run();
  if (error == Plan::kOtherOutput) branch = frame_->branch(program_.outcome_->cells().size(), program_.branch_);
  frame_->give_back_numbers(generators_);
  return error == 0;
}

bool Trial::is_disturbed() const {
  for (size_t i = 0; i < generators_.size(); ++i) {
    const Program::GeneratorUse& use = program_.generators_[i];
    GeneratorState::Words expected = generators_[i];
    expected[1] += use.count;
    const auto& state = static_cast<const GeneratorState&>(*handles_.all[use.handle]);
    if (!use.sets_state && state.words() != expected) return true;
  }
  return false;
}

Outcome::Contents& Trial::contents() {
  if (contents_) return *contents_;
  contents_.emplace();
  program_.outcome_->find_contents({handles_.all.data(), handles_.all.size()}, frame_->cells(),
                                   frame_->make_own_cells(), handles_.sized ? &handles_.sized->sizes : nullptr,
                                   *contents_);
  return *contents_;
}

std::optional<Trial::Difference> Trial::difference() {
  const std::vector<size_t>& written = frame_->call().written;
  for (size_t i = 0; i < written.size(); ++i) {
    if (program_.generator_use_of(written[i])) continue;
    const Storage& expected = frame_->written(i);
    const Ref<Storage> now = handles_.all[written[i]]->cell()->storage();
    if (now->bytes() != expected.bytes() || std::memcmp(now->data(), expected.data(), now->bytes()) != 0)
      return Difference{.handle = written[i]};
  }
  for (const auto& [handle, expected] : contents().gradients) {
    const TensorRef now = gradient(*handles_.all[handle]);
    const bool is_same = now && expected ? !first_difference(expected, now) : now == expected;
    if (!is_same) return Difference{.handle = handle, .is_gradient = true};
  }
  return std::nullopt;
}

void Trial::fail(const std::string& where, const PassList* passes) const {
  std::string node;
  if (const std::shared_ptr<const CallGraph>& recorded = program_.call_.recorded) {
    const auto& sized = handles_.sized;
    const CallGraph call = with_sizes(*recorded, sized ? SizeReplacer(sized->sizes) : SizeReplacer());
    std::vector<void*> inputs;
    for (size_t i = 0; i < frame_->inputs().size(); ++i)
      if (frame_->call().inputs[i].kind != GraphInput::Kind::kConstant) inputs.push_back(frame_->inputs()[i]);
    const std::optional<size_t> wrong = find_wrong_node(call, passes, inputs);
    node = wrong ? "The first node that is compiled wrong is " + to_text(call.graph, call.graph.nodes[*wrong])
                 : "Each node is compiled right: the function did something else than when it was recorded";
  }
  throw RuntimeError("{}: the compiled call differs from the function in {}. {}", program_.graph().name, where, node);
}

std::optional<int64_t> first_difference(const TensorRef& a, const TensorRef& b) {
  if (a->dtype() != b->dtype() || a->sizes() != b->sizes()) return 0;
  const GradModeScope mode(false);
  const TensorRef left = contiguous(a), right = contiguous(b);
  const Ref<Storage> left_memory = left->cell()->storage(), right_memory = right->cell()->storage();
  const auto bytes = static_cast<int64_t>(size_of(a->dtype()));
  const char* const left_data = static_cast<const char*>(left_memory->data()) + left->offset() * bytes;
  const char* const right_data = static_cast<const char*>(right_memory->data()) + right->offset() * bytes;
  for (int64_t i = 0; i < numel(a->sizes()); ++i)
    if (std::memcmp(left_data + i * bytes, right_data + i * bytes, static_cast<size_t>(bytes)) != 0) return i;
  return std::nullopt;
}

}  // namespace lucid::jit
