#pragma once

#include "ops/rules.h"

/// Shared by the losses.
namespace lucid {

/// The values of attribute "reduction".
enum class Reduction : uint8_t { kNone, kMean, kSum, kBatchMean };

/// Attribute "reduction". Throws ValueError for unknown values, and for "batchmean" unless `takes_batchmean`.
Reduction reduction_of(const Call& call, bool takes_batchmean = false);

/// The losses, their mean or their sum, according to attribute "reduction".
Value reduced_losses(Emitter& e, const Call& call, const Value& losses);

/// The gradient of each of `count` losses, given the gradient `g` of the result of reduced_losses.
Value spread_gradient(Emitter& e, const Call& call, const Value& g, int64_t count);

/// The samples, each with every reduction.
std::vector<Sample> with_reductions(const std::vector<Sample>& samples);

}  // namespace lucid
