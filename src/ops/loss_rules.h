#pragma once

#include "ops/rules.h"

/// What the files of losses share.
namespace lucid {

/// How attribute "reduction" makes one number of many losses.
enum class Reduction : uint8_t { kNone, kMean, kSum, kBatchMean };

/// Throws ValueError for another word; "batchmean" is for losses that say so.
Reduction reduction_of(const Call& call, bool takes_batchmean = false);

/// Losses as they are, their mean or their sum, as attribute "reduction" asks.
Value reduced_losses(Emitter& e, const Call& call, const Value& losses);

/// The gradient of each of `count` losses, from that of what reduced_losses made of them.
Value spread_gradient(Emitter& e, const Call& call, const Value& g, int64_t count);

/// The samples, each with every reduction.
std::vector<Sample> with_reductions(const std::vector<Sample>& samples);

}  // namespace lucid
