#include "ops/loss_rules.h"

namespace lucid {

Reduction reduction_of(const Call& call, bool takes_batchmean) {
  const std::string& text = call.text("reduction");
  if (text == "none") return Reduction::kNone;
  if (text == "mean") return Reduction::kMean;
  if (text == "sum") return Reduction::kSum;
  if (takes_batchmean && text == "batchmean") return Reduction::kBatchMean;
  throw ValueError("{}: reduction must be 'none', 'mean'{} or 'sum', got '{}'", call.name(),
                   takes_batchmean ? ", 'batchmean'" : "", text);
}

Value reduced_losses(Emitter& e, const Call& call, const Value& losses) {
  switch (reduction_of(call)) {
    case Reduction::kMean:
      return e.mean(losses);
    case Reduction::kSum:
      return e.sum(losses);
    default:
      return losses;
  }
}

Value spread_gradient(Emitter& e, const Call& call, const Value& g, int64_t count) {
  return reduction_of(call) == Reduction::kMean ? e.div(g, count) : g;
}

std::vector<Sample> with_reductions(const std::vector<Sample>& samples) {
  return samples + with(samples, {{"reduction", std::string("sum")}}) +
         with(samples, {{"reduction", std::string("none")}});
}

}  // namespace lucid
