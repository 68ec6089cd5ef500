#include <lucid/ops.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "optim/rules.h"

namespace lucid::optim {
namespace {

/// Moves the singular values of a matrix towards 1 by a few steps of a quintic Newton-Schulz iteration, which needs
/// only matrix products.
Tensor orthogonalized(const Tensor& matrix, const Options& options) {
  const bool tall = matrix.size(0) > matrix.size(1);
  Tensor x = tall ? transpose(matrix, 0, 1) : matrix;
  x = x / maximum(sqrt(sum(square(x))), options.real("eps"));
  const double a = options.real("ns_coefficients", 0);
  const double b = options.real("ns_coefficients", 1);
  const double c = options.real("ns_coefficients", 2);
  const int64_t steps = options.get("ns_steps").as_integer("ns_steps");
  for (int64_t i = 0; i < steps; ++i) {
    const Tensor gram = matmul(x, transpose(x, 0, 1));
    const Tensor mixed = addmm(gram, gram, gram, b, c);
    x = addmm(x, mixed, x, a, 1);
  }
  return tall ? transpose(x, 0, 1) : x;
}

double rate_factor(const Tensor& param, const Options& options) {
  const auto rows = static_cast<double>(param.size(0));
  const auto columns = static_cast<double>(param.size(1));
  const Tree kind = options.get("adjust_lr_fn");
  if (const auto* name = kind.get_if<std::string>(); name && *name == "match_rms_adamw")
    return 0.2 * std::sqrt(std::max(rows, columns));
  return std::sqrt(std::max(1.0, rows / columns));
}

void update_muon(const Options& options, const Tensor& param, const Tensor& grad, Tree::Dict& state) {
  if (param.dim() != 2)
    throw ValueError("Muon: parameters must be matrices, got one with {} dimensions; use AdamW for the others",
                     param.dim());
  Tensor buffer = zeros_state(state, "momentum_buffer", param);
  check_state(param, "momentum_buffer", buffer, StateKind::kLikeParameter);
  check_state(param, "gradient", grad, StateKind::kRead);
  const double momentum = options.real("momentum");
  buffer.copy_(buffer + (1 - momentum) * (grad - buffer));
  const Tensor direction = options.flag("nesterov") ? grad + momentum * (buffer - grad) : buffer;
  const Tensor update = orthogonalized(direction, options);
  Tensor target = param.detach();
  const Tensor rate = as_number(options.cell("lr"), "lr");
  target *= 1 - rate * as_number(options.cell("weight_decay"), "weight_decay");
  target -= update * (rate * rate_factor(param, options));
}

}  // namespace

Rule muon_rule() {
  return {.name = "Muon",
          .signature =
              "(lr: rate = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True, "
              "ns_coefficients: triple = (3.4445, -4.775, 2.0315), eps: float = 1e-7, ns_steps: int = 5, "
              "adjust_lr_fn: str? = None)",
          .check =
              [](const Options& options) {
                for (const char* name : {"lr", "momentum", "weight_decay"}) require_at_least("Muon", options, name, 0);
                const Tree kind = options.get("adjust_lr_fn");
                if (kind.is_none()) return;
                if (const std::string& name = kind.as_text("Muon: adjust_lr_fn");
                    name != "original" && name != "match_rms_adamw")
                  throw ValueError("Muon: adjust_lr_fn must be None, 'original' or 'match_rms_adamw', got '{}'", name);
              },
          .update = update_muon};
}

}  // namespace lucid::optim
