#include <lucid/autograd.h>
#include <lucid/nn/embedding.h>
#include <lucid/nn/functional.h>
#include <lucid/nn/init.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "nn/parameters.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {
namespace {

void check_padding(const std::string& name, std::optional<int64_t>& padding_idx, int64_t rows) {
  if (!padding_idx) return;
  if (*padding_idx < -rows || *padding_idx >= rows)
    throw ValueError("{}: padding_idx {} is out of range for {} rows", name, *padding_idx, rows);
  if (*padding_idx < 0) padding_idx = *padding_idx + rows;
}

void initialize_rows(const Tensor& weight, std::optional<int64_t> padding_idx) {
  init::normal_(weight);
  if (!padding_idx) return;
  const NoGrad no_grad;
  weight.detach()[*padding_idx].zero_();
}

}  // namespace

void Embedding::build(std::optional<Dtype> dtype) {
  check_padding("Embedding", options.padding_idx, options.num_embeddings);
  add_parameter(*this, "weight", {options.num_embeddings, options.embedding_dim}, dtype);
  reset_parameters();
}

void Embedding::reset_parameters() { initialize_rows(parameter("weight"), options.padding_idx); }

Tensor Embedding::forward(const Tensor& input) {
  return functional::embedding(input, parameter("weight"), options.padding_idx, options.max_norm, options.norm_type,
                               options.scale_grad_by_freq);
}

std::string Embedding::extra_repr() const {
  std::string text = fmt::format("{}, {}", options.num_embeddings, options.embedding_dim);
  if (options.padding_idx) text += fmt::format(", padding_idx={}", *options.padding_idx);
  if (options.max_norm) text += ", max_norm=" + number_text(*options.max_norm);
  if (options.norm_type != 2) text += ", norm_type=" + number_text(options.norm_type);
  if (options.scale_grad_by_freq) text += ", scale_grad_by_freq=True";
  return text;
}

void EmbeddingBag::build(std::optional<Dtype> dtype) {
  check_padding("EmbeddingBag", options.padding_idx, options.num_embeddings);
  add_parameter(*this, "weight", {options.num_embeddings, options.embedding_dim}, dtype);
  reset_parameters();
}

void EmbeddingBag::reset_parameters() { initialize_rows(parameter("weight"), options.padding_idx); }

Tensor EmbeddingBag::forward(const Tensor& input, const Tensor& offsets, const Tensor& per_sample_weights) {
  return functional::embedding_bag(input, parameter("weight"), offsets, per_sample_weights,
                                   {.mode = options.mode,
                                    .padding_idx = options.padding_idx,
                                    .max_norm = options.max_norm,
                                    .norm_type = options.norm_type,
                                    .scale_grad_by_freq = options.scale_grad_by_freq,
                                    .include_last_offset = options.include_last_offset});
}

Tree EmbeddingBag::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind("EmbeddingBag.forward", {"input", "offsets", "per_sample_weights"}, 1);
  return forward(items[0].as_tensor("input"), items[1].as_optional_tensor("offsets"),
                 items[2].as_optional_tensor("per_sample_weights"));
}

std::string EmbeddingBag::extra_repr() const {
  std::string text = fmt::format("{}, {}", options.num_embeddings, options.embedding_dim);
  if (options.max_norm) text += ", max_norm=" + number_text(*options.max_norm);
  if (options.norm_type != 2) text += ", norm_type=" + number_text(options.norm_type);
  if (options.scale_grad_by_freq) text += ", scale_grad_by_freq=True";
  text += fmt::format(", mode='{}'", options.mode);
  if (options.padding_idx) text += fmt::format(", padding_idx={}", *options.padding_idx);
  return text;
}

}  // namespace lucid::nn
