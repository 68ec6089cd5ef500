#include "optim/rules.h"

namespace lucid::optim {
namespace {

const std::vector<Rule>& rules() {
  // Never destroyed: used until the process ends.
  static const auto& list = *new std::vector<Rule>{
      sgd_rule(),   adam_rule(),     adamw_rule(), rmsprop_rule(), adagrad_rule(), adamax_rule(), nadam_rule(),
      radam_rule(), adadelta_rule(), rprop_rule(), asgd_rule(),    lion_rule(),    muon_rule(),   lbfgs_rule()};
  return list;
}

}  // namespace

const Rule* find_rule(std::string_view name) {
  for (const Rule& rule : rules())
    if (rule.name == name) return &rule;
  return nullptr;
}

}  // namespace lucid::optim
