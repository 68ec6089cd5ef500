#include "passes/runner.h"

#include <iterator>

#include "base/error.h"
#include "base/options.h"
#include "passes/graph_edit.h"
#include "passes/pipeline.h"

namespace lucid {
namespace {

/// The names of the disabled passes. Throws for an unknown name, because a misspelled one would have no effect.
PassNames disabled_names(const PassList& passes, const PassOptions& options) {
  PassNames known;
  for (const auto& pass : passes) known.insert(pass->name());
  for (const auto& pass : standard_passes()) known.insert(pass->name());
  known.insert(std::begin(kPlanPasses), std::end(kPlanPasses));
  const auto check = [&](std::string_view source, std::string_view name) {
    if (!known.contains(name))
      throw ValueError("{} names {}, which is not a pass; passes are {}", source, name, fmt::join(known, ", "));
  };
  PassNames disabled = parse_pass_names(lucid::options().disable_passes);
  for (const std::string& name : options.disabled) check("PassOptions::disabled", canonical_pass_name(name));
  for (const std::string& name : disabled) check("LUCID_DISABLE_PASSES", name);
  for (const std::string& name : options.disabled) disabled.emplace(canonical_pass_name(name));
  return disabled;
}

class GraphSubject : public PassSubject {
 public:
  GraphSubject(const IRGraph& graph, const ConstantPool& constants)
      : graph_(graph), constants_(constants), effects_(effects_of(graph)) {}
  std::string_view name() const override { return graph_.name; }
  size_t size() const override { return graph_.nodes.size(); }
  std::string text() const override { return to_text(graph_); }
  void verify() const override {
    lucid::verify(graph_);
    verify_constants(graph_, constants_);
    LUCID_CHECK(effects_of(graph_) == effects_, "{}: nodes with effects were added, removed or reordered", graph_.name);
  }

 private:
  const IRGraph& graph_;
  const ConstantPool& constants_;
  const std::vector<ValueId> effects_;
};

}  // namespace

PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassList& passes, const PassOptions& options) {
  const GraphSubject subject(graph, constants);
  PassRunner runner(subject, disabled_names(passes, options), options.verify);
  for (const auto& pass : passes) runner.run(pass->name(), [&] { return pass->run(graph, constants); });
  return std::move(runner.report());
}

PassReport run_passes(IRGraph& graph, ConstantPool& constants, const PassOptions& options) {
  return run_passes(graph, constants, standard_passes(), options);
}

}  // namespace lucid
