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
    for (IRNode& node : graph_.nodes) {
      same_.apply(node);
      if (node.outputs.size() == 1) changed |= rewrite(node);
      layouts_.define(node);
      context_.define(node);
    }
    if (!changed) return false;
    std::erase_if(graph_.nodes, [&](const IRNode& node) {
      return node.outputs.size() == 1 && same_(node.outputs[0]) != node.outputs[0];
    });
    same_.apply_to_results(graph_);
    drop_undefined(graph_, constants_);
    return true;
  }

 private:
  /// Applies rules until none matches: one rewrite may enable another.
  bool rewrite(IRNode& node) {
    bool changed = false;
    while (const auto found = first_rewrite(node)) {
      changed = true;
      if (found->same_as >= 0) {
        same_.add(node.outputs.front(), found->same_as);
        break;
      }
      node = *found->instead;
    }
    return changed;
  }

  std::optional<Rewrite> first_rewrite(const IRNode& node) {
    for (const auto rules : {view_rules(), element_rules()})
      for (const IdentityRule& rule : rules)
        if (auto found = rule.apply(context_, node); found && is_safe(node, *found)) return found;
    return std::nullopt;
  }

  bool is_safe(const IRNode& node, const Rewrite& rewrite) {
    const ValueId result = node.outputs.front();
    if (!rewrite.instead && !same_.allows(result, rewrite.same_as)) return false;
    if (rewrite.keeps_strides || !visible_.contains(result)) return true;
    const LayoutFact before = layouts_.of(node).front();
    const LayoutFact after = rewrite.instead ? layouts_.of(*rewrite.instead).front() : layouts_.of(rewrite.same_as);
    if (before.strides) return before.strides == after.strides;
    return !rewrite.instead && after.kept_by_elementwise && reads_only(node, rewrite.same_as) &&
           node.op->is_pointwise();
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
};

}  // namespace

bool ExactIdentityPass::run(IRGraph& graph, ConstantPool& constants) { return Identities(graph, constants).run(); }

}  // namespace lucid
