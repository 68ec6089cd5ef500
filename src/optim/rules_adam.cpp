// Stochastic gradient descent, Adam and AdamW.

#include "base/error.h"
#include "optim/rules.h"

namespace lucid::optim {
namespace {

void check_sgd(const Options& options) {
  for (const char* name : {"lr", "momentum", "weight_decay"}) require_at_least("SGD", options, name, 0);
  if (options.flag("nesterov") && (options.real("momentum") <= 0 || options.real("dampening") != 0))
    throw ValueError("SGD: nesterov needs a momentum above 0 and a dampening of 0, got {} and {}",
                     options.real("momentum"), options.real("dampening"));
}

void update_sgd(const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
  static const Op& op = op_table().at("sgd_step");
  const Tensor momentum = options.cell_unless_zero("momentum");
  const Tree* buffer = state.find("momentum_buffer");
  const bool first = !buffer || buffer->is_none();
  Tensor momentum_buffer;
  if (momentum.defined()) momentum_buffer = zeros_state(state, "momentum_buffer", param);
  apply_update(op, {param, momentum_buffer},
               {grad, options.cell("lr"), momentum, momentum.defined() ? options.cell("dampening") : Tensor(),
                options.cell_unless_zero("weight_decay")},
               {options.flag("nesterov"), options.flag("maximize"), momentum.defined() && first});
}

void check_adam(const Options& options) {
  const char* who = options.flag("decoupled_weight_decay") ? "AdamW" : "Adam";
  for (const char* option : {"lr", "eps", "weight_decay"}) require_at_least(who, options, option, 0);
  require_betas(who, options);
}

void update_adam(const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
  static const Op& op = op_table().at("adam_step");
  const Tensor step = number_state(state, "step", 0);
  const Tensor exp_avg = zeros_state(state, "exp_avg", param);
  const Tensor exp_avg_sq = zeros_state(state, "exp_avg_sq", param);
  Tensor max_exp_avg_sq;
  if (options.flag("amsgrad")) max_exp_avg_sq = zeros_state(state, "max_exp_avg_sq", param);
  apply_update(op, {step, param, exp_avg, exp_avg_sq, max_exp_avg_sq},
               {grad, options.cell("lr"), options.cell("betas", 0), options.cell("betas", 1), options.cell("eps"),
                options.cell_unless_zero("weight_decay")},
               {options.flag("decoupled_weight_decay"), options.flag("maximize")});
}

}  // namespace

Rule sgd_rule() {
  return {.name = "SGD",
          .signature =
              "(lr: rate = 1e-3, momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0, "
              "nesterov: bool = False, *, maximize: bool = False, python foreach: bool? = None, "
              "python differentiable: bool = False, python fused: bool? = None)",
          .check = check_sgd,
          .update = update_sgd};
}

Rule adam_rule() {
  return {.name = "Adam",
          .signature =
              "(lr: rate = 1e-3, betas: pair = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, "
              "amsgrad: bool = False, *, python foreach: bool? = None, maximize: bool = False, "
              "python capturable: bool = False, python differentiable: bool = False, python fused: bool? = None, "
              "decoupled_weight_decay: bool = False)",
          .check = check_adam,
          .update = update_adam};
}

Rule adamw_rule() {
  return {.name = "AdamW",
          .signature =
              "(lr: rate = 1e-3, betas: pair = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2, "
              "amsgrad: bool = False, *, maximize: bool = False, python foreach: bool? = None, "
              "python capturable: bool = False, python differentiable: bool = False, python fused: bool? = None)",
          .fixed = {{"decoupled_weight_decay", true}},
          .check = check_adam,
          .update = update_adam};
}

}  // namespace lucid::optim
