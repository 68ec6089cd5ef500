// The less common optimizers.

#include <lucid/ops.h>

#include "base/error.h"
#include "optim/rules.h"

namespace lucid::optim {
namespace {

void require_all(const char* optimizer, const Options& options, std::initializer_list<const char*> names) {
  for (const char* name : names) require_at_least(optimizer, options, name, 0);
}

}  // namespace

Rule rmsprop_rule() {
  return {.name = "RMSprop",
          .signature =
              "(lr: rate = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0.0, "
              "momentum: float = 0.0, centered: bool = False, python capturable: bool = False, "
              "python foreach: bool? = None, maximize: bool = False, python differentiable: bool = False)",
          .check =
              [](const Options& options) {
                require_all("RMSprop", options, {"lr", "eps", "momentum", "weight_decay", "alpha"});
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("rmsprop_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor square_avg = zeros_state(state, "square_avg", param);
                const Tensor momentum = options.cell_unless_zero("momentum");
                Tensor buffer;
                Tensor grad_avg;
                if (momentum.defined()) buffer = zeros_state(state, "momentum_buffer", param);
                if (options.flag("centered")) grad_avg = zeros_state(state, "grad_avg", param);
                apply_update(op, {step, param, square_avg, grad_avg, buffer},
                             {grad, options.cell("lr"), options.cell("alpha"), options.cell("eps"), momentum,
                              options.cell_unless_zero("weight_decay")},
                             {options.flag("maximize")});
              }};
}

Rule adagrad_rule() {
  return {.name = "Adagrad",
          .signature =
              "(lr: rate = 1e-2, lr_decay: float = 0.0, weight_decay: float = 0.0, "
              "initial_accumulator_value: float = 0.0, eps: float = 1e-10, python foreach: bool? = None, *, "
              "maximize: bool = False, python differentiable: bool = False, python fused: bool? = None)",
          .check =
              [](const Options& options) {
                require_all("Adagrad", options, {"lr", "lr_decay", "weight_decay", "initial_accumulator_value", "eps"});
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("adagrad_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor sum = zeros_state(state, "sum", param);
                apply_update(op, {step, param, sum},
                             {grad, options.cell("lr"), options.cell("lr_decay"), options.cell("eps"),
                              options.cell_unless_zero("weight_decay")},
                             {options.flag("maximize")});
              },
          .prepare =
              [](const Options& options, const Tensor& param, Tree::Dict& state) {
                number_state(state, "step", 0);
                state_tensor(state, "sum",
                             [&] { return full_like(param.detach(), options.real("initial_accumulator_value")); });
              }};
}

Rule adamax_rule() {
  return {.name = "Adamax",
          .signature =
              "(lr: rate = 2e-3, betas: pair = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, "
              "python foreach: bool? = None, *, maximize: bool = False, python differentiable: bool = False, "
              "python capturable: bool = False)",
          .check =
              [](const Options& options) {
                require_all("Adamax", options, {"lr", "eps", "weight_decay"});
                require_betas("Adamax", options);
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("adamax_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor exp_avg = zeros_state(state, "exp_avg", param);
                const Tensor exp_inf = zeros_state(state, "exp_inf", param);
                apply_update(op, {step, param, exp_avg, exp_inf},
                             {grad, options.cell("lr"), options.cell("betas", 0), options.cell("betas", 1),
                              options.cell("eps"), options.cell_unless_zero("weight_decay")},
                             {options.flag("maximize")});
              }};
}

Rule nadam_rule() {
  return {.name = "NAdam",
          .signature =
              "(lr: rate = 2e-3, betas: pair = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, "
              "momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, python foreach: bool? = None, "
              "maximize: bool = False, python capturable: bool = False, python differentiable: bool = False)",
          .check =
              [](const Options& options) {
                require_all("NAdam", options, {"lr", "eps", "weight_decay", "momentum_decay"});
                require_betas("NAdam", options);
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("nadam_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor product = number_state(state, "mu_product", 1);
                const Tensor exp_avg = zeros_state(state, "exp_avg", param);
                const Tensor exp_avg_sq = zeros_state(state, "exp_avg_sq", param);
                apply_update(
                    op, {step, product, param, exp_avg, exp_avg_sq},
                    {grad, options.cell("lr"), options.cell("betas", 0), options.cell("betas", 1), options.cell("eps"),
                     options.cell("momentum_decay"), options.cell_unless_zero("weight_decay")},
                    {options.flag("decoupled_weight_decay"), options.flag("maximize")});
              }};
}

Rule radam_rule() {
  return {.name = "RAdam",
          .signature =
              "(lr: rate = 1e-3, betas: pair = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0.0, "
              "decoupled_weight_decay: bool = False, *, python foreach: bool? = None, maximize: bool = False, "
              "python capturable: bool = False, python differentiable: bool = False)",
          .check =
              [](const Options& options) {
                require_all("RAdam", options, {"lr", "eps", "weight_decay"});
                require_betas("RAdam", options);
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("radam_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor exp_avg = zeros_state(state, "exp_avg", param);
                const Tensor exp_avg_sq = zeros_state(state, "exp_avg_sq", param);
                apply_update(op, {step, param, exp_avg, exp_avg_sq},
                             {grad, options.cell("lr"), options.cell("betas", 0), options.cell("betas", 1),
                              options.cell("eps"), options.cell_unless_zero("weight_decay")},
                             {options.flag("decoupled_weight_decay"), options.flag("maximize")});
              }};
}

Rule adadelta_rule() {
  return {.name = "Adadelta",
          .signature =
              "(lr: rate = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0.0, "
              "python foreach: bool? = None, *, python capturable: bool = False, maximize: bool = False, "
              "python differentiable: bool = False)",
          .check =
              [](const Options& options) {
                require_all("Adadelta", options, {"lr", "eps", "weight_decay", "rho"});
                if (options.real("rho") > 1)
                  throw ValueError("Adadelta: rho must be at most 1, got {}", options.real("rho"));
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("adadelta_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor square_avg = zeros_state(state, "square_avg", param);
                const Tensor acc_delta = zeros_state(state, "acc_delta", param);
                apply_update(op, {step, param, square_avg, acc_delta},
                             {grad, options.cell("lr"), options.cell("rho"), options.cell("eps"),
                              options.cell_unless_zero("weight_decay")},
                             {options.flag("maximize")});
              }};
}

Rule rprop_rule() {
  return {.name = "Rprop",
          .signature =
              "(lr: rate = 1e-2, etas: pair = (0.5, 1.2), step_sizes: pair = (1e-6, 50.0), *, "
              "python capturable: bool = False, python foreach: bool? = None, maximize: bool = False, "
              "python differentiable: bool = False)",
          .check =
              [](const Options& options) {
                require_all("Rprop", options, {"lr"});
                if (!(options.real("etas", 0) > 0 && options.real("etas", 0) < 1 && options.real("etas", 1) > 1))
                  throw ValueError("Rprop: etas must be one factor between 0 and 1 and one above 1, got ({}, {})",
                                   options.real("etas", 0), options.real("etas", 1));
              },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("rprop_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor prev = zeros_state(state, "prev", param);
                const Tensor size =
                    state_tensor(state, "step_size", [&] { return full_like(param.detach(), options.real("lr")); });
                apply_update(op, {step, param, prev, size},
                             {grad, options.cell("etas", 0), options.cell("etas", 1), options.cell("step_sizes", 0),
                              options.cell("step_sizes", 1)},
                             {options.flag("maximize")});
              }};
}

Rule asgd_rule() {
  return {.name = "ASGD",
          .signature =
              "(lr: rate = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, "
              "weight_decay: float = 0.0, python foreach: bool? = None, maximize: bool = False, "
              "python differentiable: bool = False, python capturable: bool = False)",
          .check = [](const Options& options) { require_all("ASGD", options, {"lr", "weight_decay"}); },
          .update =
              [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
                static const Op& op = op_table().at("asgd_step");
                const Tensor step = number_state(state, "step", 0);
                const Tensor eta = state_tensor(state, "eta", [&] { return full({}, options.real("lr")); });
                const Tensor mu = number_state(state, "mu", 1);
                const Tensor average = zeros_state(state, "ax", param);
                apply_update(op, {step, eta, mu, param, average},
                             {grad, options.cell("lr"), options.cell("lambd"), options.cell("alpha"),
                              options.cell("t0"), options.cell_unless_zero("weight_decay")},
                             {options.flag("maximize")});
              }};
}

Rule lion_rule() {
  return {
      .name = "Lion",
      .signature = "(lr: rate = 1e-4, betas: pair = (0.9, 0.99), weight_decay: float = 0.0, *, maximize: bool = False)",
      .check =
          [](const Options& options) {
            require_all("Lion", options, {"lr", "weight_decay"});
            require_betas("Lion", options);
          },
      .update =
          [](const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
            static const Op& op = op_table().at("lion_step");
            apply_update(op, {param, zeros_state(state, "exp_avg", param)},
                         {grad, options.cell("lr"), options.cell("betas", 0), options.cell("betas", 1),
                          options.cell_unless_zero("weight_decay")},
                         {options.flag("maximize")});
          }};
}

}  // namespace lucid::optim
