#pragma once

#include "optim/rule.h"

namespace lucid::optim {

// One function for each optimizer; rules.cpp lists them.
Rule sgd_rule();
Rule adam_rule();
Rule adamw_rule();
Rule rmsprop_rule();
Rule adagrad_rule();
Rule adamax_rule();
Rule nadam_rule();
Rule radam_rule();
Rule adadelta_rule();
Rule rprop_rule();
Rule asgd_rule();
Rule lion_rule();
Rule muon_rule();
Rule lbfgs_rule();

}  // namespace lucid::optim
