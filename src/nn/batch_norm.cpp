// Norms with running statistics.

#include <lucid/autograd.h>
#include <lucid/nn/init.h>
#include <lucid/nn/norm.h>
#include <lucid/ops.h>

#include <algorithm>

#include "base/dtype.h"
#include "base/error.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {

void StatisticsNorm::fields(Fields& visit) { options.fields(visit); }

void StatisticsNorm::build(std::optional<Dtype> dtype) {
  const Dtype stored = dtype.value_or(default_float());
  add_parameter(*this, "weight", {options.num_features}, stored, options.affine);
  add_parameter(*this, "bias", {options.num_features}, stored, options.affine);
  const bool tracks = options.track_running_stats;
  register_buffer("running_mean", tracks ? zeros({options.num_features}, stored) : Tensor());
  register_buffer("running_var", tracks ? ones({options.num_features}, stored) : Tensor());
  register_buffer("num_batches_tracked", tracks ? zeros({}, kInt64) : Tensor());
  reset_parameters();
}

void StatisticsNorm::reset_running_stats() {
  if (!buffer("running_mean").defined()) return;
  init::zeros_(buffer("running_mean"));
  init::ones_(buffer("running_var"));
  buffer("num_batches_tracked").zero_();
}

void StatisticsNorm::reset_parameters() {
  reset_running_stats();
  if (const Tensor weight = parameter("weight"); weight.defined()) init::ones_(weight);
  if (const Tensor bias = parameter("bias"); bias.defined()) init::zeros_(bias);
}

void StatisticsNorm::check_rank(const Tensor& input, std::initializer_list<int64_t> ranks) const {
  if (std::find(ranks.begin(), ranks.end(), input.dim()) != ranks.end()) return;
  std::string text;
  for (const int64_t rank : ranks) text += (text.empty() ? "" : " or ") + std::to_string(rank);
  throw ValueError("{}: expected {} dimensions, got {}", type_name(), text, to_string(unwrap(input).type()));
}

template <typename Op>
Tensor StatisticsNorm::normalized(const Op& op, bool from_input, const Tensor& input) {
  Tensor mean = buffer("running_mean");
  Tensor variance = buffer("running_var");
  const bool updates = training() && options.track_running_stats && mean.defined();
  const double factor = options.momentum.value_or(0);
  Tensor count;
  // Instance norms weight every batch equally, so they do not count batches.
  if (updates && counts_batches()) count = buffer("num_batches_tracked");
  if (count.defined()) count += 1;
  const bool averages = count.defined() && !options.momentum && from_input;
  // Statistics that are not used must not change.
  const bool given = mean.defined() && (updates || !from_input) && !averages;
  const auto results = op(input, given ? mean : Tensor(), given ? variance : Tensor(), parameter("weight"),
                          parameter("bias"), from_input, factor, options.eps);
  if (updates && from_input) {
    const NoGrad no_grad;
    // Ops read the number of batches, so that compiled calls see its current value.
    const Tensor share = averages ? 1.0 / lucid::to(count, Dtype::kF64) : Tensor();
    const auto update = [&](Tensor& running, const Tensor& now) {
      running.copy_(averages ? running * (1.0 - share) + now * share : now);
    };
    update(mean, results.running_mean);
    update(variance, results.running_var);
  }
  return results.output;
}

std::string StatisticsNorm::extra_repr() const {
  return fmt::format("{}, eps={}, momentum={}, affine={}, bias={}, track_running_stats={}", options.num_features,
                     number_text(options.eps), options.momentum ? number_text(*options.momentum) : "None",
                     bool_text(options.affine), bool_text(parameter("bias").defined()),
                     bool_text(options.track_running_stats));
}

Tensor BatchNorm::forward(const Tensor& input) {
  if (spatial() == 1)
    check_rank(input, {2, 3});
  else
    check_rank(input, {spatial() + 2});
  const bool from_input = training() || !buffer("running_mean").defined();
  return normalized(batch_norm, from_input, input);
}

Tensor InstanceNorm::forward(const Tensor& input) {
  check_rank(input, {spatial() + 1, spatial() + 2});
  const bool from_input = training() || !options.track_running_stats;
  if (input.dim() == spatial() + 2) return normalized(instance_norm, from_input, input);
  return squeeze(normalized(instance_norm, from_input, unsqueeze(input, 0)), Shape{0});
}

}  // namespace lucid::nn
