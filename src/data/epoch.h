#pragma once

#include <lucid/data.h>

#include <memory>
#include <optional>
#include <vector>

#include "tensor/random.h"

namespace lucid::data {

/// One pass of a loader over its dataset. It owns the workers.
class DataLoader::Epoch {
 public:
  Epoch(std::shared_ptr<const Dataset> dataset, const DataLoaderOptions& options);
  Epoch(const Epoch&) = delete;
  Epoch& operator=(const Epoch&) = delete;
  ~Epoch();

  /// The next batch; none after the last one. Rethrows what the dataset threw, which ends the epoch.
  std::optional<std::vector<Tensor>> next();

 private:
  class Workers;
  /// Prepares a batch. A batch does not depend on the thread that prepares it.
  std::vector<Tensor> prepare(int64_t batch, GeneratorImpl& generator) const;

  const std::shared_ptr<const Dataset> dataset_;
  const DataLoaderOptions options_;
  int64_t seed_;
  std::vector<int64_t> order_;  // of the samples
  int64_t count_;               // of batches
  int64_t next_ = 0;
  Ref<GeneratorImpl> generator_;  // without workers
  std::unique_ptr<Workers> workers_;
};

/// Number of batches of a dataset of `samples` samples.
int64_t batch_count(int64_t samples, const DataLoaderOptions& options);

}  // namespace lucid::data
