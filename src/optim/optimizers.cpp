#include "lucid/optimizers.h"

#include "optim/tree_of.h"

namespace lucid::optim {

Tree::Dict SGDOptions::dict() const {
  return {{"lr", lr},
          {"momentum", momentum},
          {"dampening", dampening},
          {"weight_decay", weight_decay},
          {"nesterov", nesterov},
          {"maximize", maximize}};
}

Tree::Dict AdamOptions::dict() const {
  return {{"lr", lr},
          {"betas", tree_of(betas)},
          {"eps", eps},
          {"weight_decay", weight_decay},
          {"amsgrad", amsgrad},
          {"maximize", maximize},
          {"decoupled_weight_decay", decoupled_weight_decay}};
}

Tree::Dict AdamWOptions::dict() const {
  return {{"lr", lr},           {"betas", tree_of(betas)}, {"eps", eps}, {"weight_decay", weight_decay},
          {"amsgrad", amsgrad}, {"maximize", maximize}};
}

Tree::Dict RMSpropOptions::dict() const {
  return {{"lr", lr},
          {"alpha", alpha},
          {"eps", eps},
          {"weight_decay", weight_decay},
          {"momentum", momentum},
          {"centered", centered},
          {"maximize", maximize}};
}

Tree::Dict AdagradOptions::dict() const {
  return {{"lr", lr},
          {"lr_decay", lr_decay},
          {"weight_decay", weight_decay},
          {"initial_accumulator_value", initial_accumulator_value},
          {"eps", eps},
          {"maximize", maximize}};
}

Tree::Dict AdamaxOptions::dict() const {
  return {{"lr", lr}, {"betas", tree_of(betas)}, {"eps", eps}, {"weight_decay", weight_decay}, {"maximize", maximize}};
}

Tree::Dict NAdamOptions::dict() const {
  return {{"lr", lr},
          {"betas", tree_of(betas)},
          {"eps", eps},
          {"weight_decay", weight_decay},
          {"momentum_decay", momentum_decay},
          {"decoupled_weight_decay", decoupled_weight_decay},
          {"maximize", maximize}};
}

Tree::Dict RAdamOptions::dict() const {
  return {{"lr", lr},
          {"betas", tree_of(betas)},
          {"eps", eps},
          {"weight_decay", weight_decay},
          {"decoupled_weight_decay", decoupled_weight_decay},
          {"maximize", maximize}};
}

Tree::Dict AdadeltaOptions::dict() const {
  return {{"lr", lr}, {"rho", rho}, {"eps", eps}, {"weight_decay", weight_decay}, {"maximize", maximize}};
}

Tree::Dict RpropOptions::dict() const {
  return {{"lr", lr}, {"etas", tree_of(etas)}, {"step_sizes", tree_of(step_sizes)}, {"maximize", maximize}};
}

Tree::Dict ASGDOptions::dict() const {
  return {{"lr", lr},
          {"lambd", lambd},
          {"alpha", alpha},
          {"t0", t0},
          {"weight_decay", weight_decay},
          {"maximize", maximize}};
}

Tree::Dict LionOptions::dict() const {
  return {{"lr", lr}, {"betas", tree_of(betas)}, {"weight_decay", weight_decay}, {"maximize", maximize}};
}

Tree::Dict MuonOptions::dict() const {
  return {{"lr", lr},
          {"weight_decay", weight_decay},
          {"momentum", momentum},
          {"nesterov", nesterov},
          {"ns_coefficients", Tree::Tuple{Tree::List(ns_coefficients.begin(), ns_coefficients.end())}},
          {"eps", eps},
          {"ns_steps", ns_steps},
          {"adjust_lr_fn", tree_of(adjust_lr_fn)}};
}

Tree::Dict LBFGSOptions::dict() const {
  return {{"lr", lr},
          {"max_iter", max_iter},
          {"max_eval", tree_of(max_eval)},
          {"tolerance_grad", tolerance_grad},
          {"tolerance_change", tolerance_change},
          {"history_size", history_size},
          {"line_search_fn", tree_of(line_search_fn)}};
}

}  // namespace lucid::optim
