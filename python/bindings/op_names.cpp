// Which ops of the table Python shows, and how.

#include <algorithm>
#include <string_view>

#include "bindings/op_function.h"

namespace lucid::python {
namespace {

// Parts that public ops are made of.
constexpr std::string_view kInternal[] = {
    "arange_from",
    "cat_same",
    "constant_pad",
    "convolution",
    "convolution_weight",
    "embedding_bag_offsets",
    "max_pool",
    "max_pool_back",
    "max_position",
    "mean_pool",
    "mean_pool_back",
    "index",
    "index_put_add",
    "index_put_set",
    "iota",
    "power",
    "roll_one",
    "scatter_amax",
    "scatter_amin",
    "scatter_mul",
    "scatter_set",
    "standardize",
    "standardize_backward",
    "class_loss",
    "class_loss_backward",
    "resample",
    "attention",
    "attention_backward",
};

// Updates, which belong to the classes of lucid.optim.
constexpr std::string_view kOptimizers[] = {
    "adadelta_step", "adagrad_step", "adam_step",    "adamax_step", "asgd_step", "lion_step",
    "nadam_step",    "radam_step",   "rmsprop_step", "rprop_step",  "sgd_step",
};

// Functions of layers, which are no methods of tensors.
constexpr std::string_view kFunctions[] = {
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "fold",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "unfold",
};

constexpr std::string_view kFactories[] = {
    "arange",   "empty",    "empty_like", "eye",       "full",  "full_like",
    "linspace", "logspace", "ones",       "ones_like", "zeros", "zeros_like",
};

// Ops with an in-place form beside those that compute each element from those at its place.
constexpr std::string_view kInPlace[] = {
    "celu",      "clamp",      "clip",        "cumprod",        "cumsum",         "elu",
    "gelu",      "hardshrink", "hardsigmoid", "hardswish",      "hardtanh",       "index_add",
    "index_put", "leaky_relu", "logsigmoid",  "masked_fill",    "mish",           "nan_to_num",
    "pow",       "relu6",      "scatter",     "scatter_add",    "scatter_reduce", "selu",
    "silu",      "softplus",   "softshrink",  "softsign",       "threshold",      "tril",
    "triu",      "index_copy", "index_fill",  "masked_scatter", "softmax",        "addmm",
    "baddbmm",   "renorm",     "squeeze",     "unsqueeze",      "transpose",      "swapaxes",
    "swapdims",
};

// Computed element by element, but no way to write a tensor.
constexpr std::string_view kNotInPlace[] = {"clone", "contiguous", "isclose", "isfinite", "isinf", "isnan"};

template <size_t kCount>
bool contains(const std::string_view (&names)[kCount], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool first_is_tensor(const Op& op) {
  const auto& parameters = op.schema.parameters;
  return !parameters.empty() && parameters.front().kind == ParameterKind::kTensor && !parameters.front().optional;
}

}  // namespace

bool is_public(const Op& op) {
  return !op.name().starts_with('_') && !contains(kInternal, op.name()) && !contains(kOptimizers, op.name());
}

bool is_random(const Op& op) { return !op.schema.parameters.empty() && op.schema.parameters.front().name == "state"; }

bool is_factory(const Op& op) { return contains(kFactories, op.name()); }

// The method `to` also takes devices and tensors.
bool has_method(const Op& op) {
  return first_is_tensor(op) && !is_random(op) && !is_factory(op) && !contains(kFunctions, op.name()) &&
         op.name() != "to";
}

bool has_in_place_method(const Op& op) {
  if (!has_method(op) || op.schema.returns_list || !op.schema.results.empty()) return false;
  if (contains(kInPlace, op.name())) return true;
  const bool by_element = op.is_pointwise() || op.promote != Promote::kNone;
  // A condition is no place for the result.
  return by_element && op.promote != Promote::kTail && !contains(kNotInPlace, op.name());
}

}  // namespace lucid::python
