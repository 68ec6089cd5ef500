#include "jit/gradient_template.h"

#include <algorithm>

#include "base/error.h"
#include "jit/backward_copy.h"
#include "tensor/autograd_meta.h"

namespace lucid::jit {
namespace {

/// A placeholder for the position of one of the call's handles in the caller's gradient graph.
class HandleNode : public GradNode {
 public:
  HandleNode(const TensorType& type, uint32_t outputs) : GradNode({}, std::vector<TensorType>(outputs, type)) {}
  std::string_view name() const override { return "handle"; }
  void run(BackwardPass&, Values) override { LUCID_CHECK(false, "a template was run"); }
};

std::vector<const GradNode*> reachable(std::span<const Edge> roots, uint64_t first) {
  std::unordered_map<const GradNode*, bool> seen;
  std::vector<const GradNode*> found;
  std::vector<const GradNode*> stack;
  for (const Edge& root : roots)
    if (root) stack.push_back(root.node.get());
  while (!stack.empty()) {
    const GradNode* node = stack.back();
    stack.pop_back();
    const bool is_end = node->order().number < first || dynamic_cast<const AccumulateNode*>(node);
    if (is_end || !seen.emplace(node, true).second) continue;
    found.push_back(node);
    for (const Edge& edge : node->edges())
      if (edge) stack.push_back(edge.node.get());
    for (const Edge& edge : node->saved_edges()) stack.push_back(edge.node.get());
  }
  std::sort(found.begin(), found.end(), [](const GradNode* a, const GradNode* b) { return a->order() < b->order(); });
  return found;
}

/// The destination of a tensor's gradient. Empty for a leaf that no recorded op has used: backward runs accumulators in
/// the order in which they were created, so that recording a call must not create any.
Edge known_edge(TensorImpl& tensor) {
  const AutogradMeta* meta = tensor.autograd();
  const bool has_destination = !is_leaf(tensor) || (meta && meta->accumulator);
  return has_destination ? gradient_edge(tensor) : Edge();
}

/// The position of a handle in the gradient graph when the call began.
Edge edge_before(const TracingContext& context, const TensorRef& handle) {
  for (const TracingContext::Rebased& rebased : context.rebased())
    if (rebased.root == handle) return rebased.before;
  return requires_grad(*handle) ? known_edge(*handle) : Edge();
}

/// Copies the hooks that have not been removed.
void copy_hooks(const GradNode& from, GradNode& to) {
  for (const HookList::Entry& entry : from.hooks())
    if (GradientHook function = entry.hook->get())
      to.add_hook(entry.output, std::make_shared<RegisteredHook>(std::move(function)), entry.may_copy);
}

}  // namespace

/// Copies recorded nodes into the template.
class GradientTemplate::TemplateCloner : public NodeCloner {
 public:
  TemplateCloner(GradientTemplate& result, TracingContext& context, std::span<const TensorRef> handles,
                 std::span<const TensorRef> results)
      : result_(result), context_(context) {
    result_.saved_by_.push_back(0);
    for (const TensorRef& handle : handles) ends_.emplace_back(handle, edge_before(context, handle));
    // Results that are leaves. A result that is also a handle is found among the handles first.
    for (const TensorRef& leaf : results)
      ends_.emplace_back(leaf, is_leaf(*leaf) && requires_grad(*leaf) ? known_edge(*leaf) : Edge());
  }

  Edge edge(const Edge& original) override {
    if (const auto found = copies_.find(original.node.get()); found != copies_.end())
      return {found->second, original.output};
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (ends_[i].second != original) continue;
      auto end = make_ref<HandleNode>(ends_[i].first->type(), original.output + 1);
      end->join(nullptr, kFirstEnd + static_cast<uint32_t>(i));
      return {end, original.output};
    }
    if (context_.is_own_leaf(*original.node)) {
      copy(*original.node);
      return copy_of(original);
    }
    refuse("leads to gradients of a tensor that is neither an argument nor reachable from the function");
    return {};
  }

  void refuse(const std::string& why) override {
    if (obstacle_.empty()) obstacle_ = why;
  }

  void save(const Snapshot& from, Snapshot& to) override {
    if (from.empty()) return;
    result_.slots_[&to] = result_.saved_.size();
    const TracedView& view = result_.saved_.emplace_back(context_.current_view(from));
    result_.is_computed_.push_back(!context_.trace().cells[static_cast<size_t>(view.cell)].outside);
  }

  void copy(const GradNode& node) {
    if (node.retains()) refuse("retains the gradient of a tensor that is not a leaf");
    Ref<GradNode> copied = node.clone(*this);
    if (!copied) return refuse("uses " + std::string(node.name()) + ", whose gradient is not defined by an op");
    copy_hooks(node, *copied);
    for (const HookList::Entry& entry : copied->hooks())
      if (!entry.may_copy) refuse("registers a gradient hook, which may hold tensors of the call");
    copies_[&node] = copied;
    copied->join(nullptr, static_cast<uint32_t>(result_.nodes_.size()));
    result_.nodes_.push_back(std::move(copied));
    result_.saved_by_.push_back(result_.saved_.size());
  }

  Edge copy_of(const Edge& original) const {
    const auto found = copies_.find(original.node.get());
    return found == copies_.end() ? Edge() : Edge{found->second, original.output};
  }
  const std::string& obstacle() const { return obstacle_; }

 private:
  GradientTemplate& result_;
  TracingContext& context_;
  std::vector<std::pair<TensorRef, Edge>> ends_;
  std::unordered_map<const GradNode*, Ref<GradNode>> copies_;
  std::string obstacle_;
};

/// Copies the template's nodes for one call.
class GradientTemplate::CallCloner : public NodeCloner {
 public:
  CallCloner(const GradientTemplate& from, std::span<const TensorRef> saved, std::span<TensorImpl* const> handles,
             std::span<TensorImpl* const> results)
      : from_(from), saved_(saved), handles_(handles), results_(results) {
    copies_.reserve(from.nodes_.size());
    for (const Ref<BackwardPart>& part : from.backward_.parts)
      groups_.push_back(part->may_plan() ? make_ref<BackwardCopy>(part) : nullptr);
  }

  Edge edge(const Edge& original) override {
    const uint32_t number = original.node->index_in_group();
    if (number < kFirstEnd) return {copies_[number], original.output};
    const size_t end = number - kFirstEnd;
    return gradient_edge(end < handles_.size() ? *handles_[end] : *results_[end - handles_.size()]);
  }
  void save(const Snapshot& from, Snapshot& to) override {
    const auto found = from_.slots_.find(&from);
    if (found == from_.slots_.end()) return;
    to.take(*saved_[found->second]);
    if (group_) group_->set_saved(found->second - first_saved_, to);
  }
  void copy(const GradNode& node) {
    BackwardParts::Member member;
    group_ = nullptr;
    if (!groups_.empty()) member = from_.backward_.members[copies_.size()];
    if (member.part >= 0) {
      group_ = groups_[static_cast<size_t>(member.part)].get();
      first_saved_ = from_.backward_.first_saved[static_cast<size_t>(member.part)];
    }
    Ref<GradNode> copied = node.clone(*this);
    if (node.is_observed()) copy_hooks(node, *copied);
    if (group_) group_->set_node(member.index, *copied);
    copies_.push_back(std::move(copied));
  }

 private:
  const GradientTemplate& from_;
  std::span<const TensorRef> saved_;
  std::span<TensorImpl* const> handles_;
  std::span<TensorImpl* const> results_;
  std::vector<Ref<GradNode>> copies_;
  std::vector<Ref<BackwardCopy>> groups_;
  /// The group of the node that is being copied, or null, and the index of the first tensor that the group saves.
  BackwardCopy* group_ = nullptr;
  size_t first_saved_ = 0;
};

GradientTemplate::GradientTemplate(TracingContext& context, std::span<const TensorRef> results,
                                   std::span<const TensorRef> handles, std::string& obstacle)
    : edges_(results.size()) {
  std::vector<Edge> roots;
  for (const TensorRef& result : results) {
    const Edge edge = gradient_node(*result);
    roots.push_back(edge && edge.node->order().number >= context.first_node() ? edge : Edge());
  }
  TemplateCloner cloner(*this, context, handles, results);
  for (const GradNode* node : reachable(roots, context.first_node())) cloner.copy(*node);
  for (size_t i = 0; i < roots.size(); ++i)
    if (roots[i]) edges_[i] = cloner.copy_of(roots[i]);
  if (obstacle.empty()) obstacle = cloner.obstacle();
}

void GradientTemplate::plan_backward(const std::string& name) {
  backward_ = find_backward_parts(name, nodes_, saved_, is_computed_, saved_by_,
                                  [](const GradNode& end) { return size_t{end.index_in_group()}; });
}

void GradientTemplate::set_waits(bool waits) {
  for (const Ref<BackwardPart>& part : backward_.parts) part->set_waits(waits);
}

std::vector<BackwardPlanInfo> GradientTemplate::backward_plans() const {
  std::vector<BackwardPlanInfo> plans;
  for (const Ref<BackwardPart>& part : backward_.parts)
    for (BackwardPlanInfo& plan : part->plans()) plans.push_back(std::move(plan));
  return plans;
}

std::vector<Edge> GradientTemplate::instantiate(std::span<const TensorRef> saved, std::span<TensorImpl* const> handles,
                                                std::span<TensorImpl* const> results) const {
  CallCloner cloner(*this, saved, handles, results);
  for (const Ref<GradNode>& node : nodes_) cloner.copy(*node);
  std::vector<Edge> edges;
  for (const Edge& edge : edges_) edges.push_back(edge ? cloner.edge(edge) : Edge());
  return edges;
}

}  // namespace lucid::jit
