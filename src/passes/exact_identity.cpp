#include "passes/exact_identity.h"

#include "passes/identity_rules.h"
#include "passes/layout_facts.h"

namespace lucid {
namespace {

class Identities {
 public:
  Identities(IRGraph& graph, ConstantPool& constants)
      : graph_(graph),
        constants_(constants),
        same_(graph),
        visible_(values_with_visible_layout(graph)),
        layouts_(graph),
        context_(graph, constants) {}

  bool run() {
    bool changed = false;
    std::vector<IRNode> kept;
    for (IRNode& node : graph_.nodes) {
      same_.apply(node);
      facts_ = layouts_.of(node);
      if (node.outputs.size() == 1) changed |= rewrite(node);
      if (same_(node.outputs.front()) != node.outputs.front()) continue;
      layouts_.set(node, std::move(facts_));
      context_.define(node);
      kept.push_back(std::move(node));
    }
    graph_.nodes = std::move(kept);
    same_.apply_to_results(graph_);
    if (changed) drop_undefined(graph_, constants_);
    return changed;
  }

 private:
  /// Applies rules until none fits: the node may become one that another rule takes on.
  bool rewrite(IRNode& node) {
    bool changed = false;
    while (true) {
      const auto found = first_rewrite(node);
      if (!found) return changed;
      changed = true;
      if (found->instead) {
        node = *found->instead;
        facts_ = layouts_.of(node);
        continue;
      }
      same_.add(node.outputs.front(), found->same_as);
      return true;
    }
  }

  std::optional<Rewrite> first_rewrite(const IRNode& node) const {
    for (const auto rules : {view_rules(), element_rules()})
      for (const IdentityRule& rule : rules)
        if (auto found = rule.apply(context_, node); found && is_safe(node, *found)) return found;
    return std::nullopt;
  }

  bool is_safe(const IRNode& node, const Rewrite& rewrite) const {
    const ValueId result = node.outputs.front();
    if (!rewrite.instead && !same_.allows(result, rewrite.same_as)) return false;
    if (rewrite.keeps_strides || !visible_.contains(result)) return true;
    const LayoutFact& before = facts_.front();
    const LayoutFact after = rewrite.instead ? layouts_.of(*rewrite.instead).front() : layouts_.of(rewrite.same_as);
    if (before.strides) return before.strides == after.strides;
    return !rewrite.instead && after.settled && reads_only(node, rewrite.same_as) && node.op->is_pointwise();
  }

  static bool reads_only(const IRNode& node, ValueId id) {
    for (const IROperand& input : node.inputs)
      if (input.id >= 0 && input.id != id) return false;
    return true;
  }

  IRGraph& graph_;
  ConstantPool& constants_;
  Substitution same_;
  std::set<ValueId> visible_;
  LayoutFacts layouts_;
  IdentityContext context_;
  std::vector<LayoutFact> facts_;  // of the node at hand
};

}  // namespace

bool ExactIdentityPass::run(IRGraph& graph, ConstantPool& constants) { return Identities(graph, constants).run(); }

}  // namespace lucid
