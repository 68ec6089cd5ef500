#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)

namespace lucid {
namespace data {

/// Samples that are found by their index. Derive from it and override size() and get():
///
///     class Squares : public data::Dataset {
///      public:
///       int64_t size() const override { return 100; }
///       std::vector<Tensor> get(int64_t i) const override { return {scalar(i), scalar(i * i)}; }
///     };
///
/// A DataLoader with workers calls get() and get_batch() from several threads at the same time.
class Dataset {
 public:
  virtual ~Dataset() = default;
  /// Number of samples.
  virtual int64_t size() const = 0;
  /// The tensors of one sample. Every sample has the same number of tensors, with the same shapes and dtypes.
  virtual std::vector<Tensor> get(int64_t index) const = 0;
  /// The tensors of several samples, stacked along a new first dimension.
  virtual std::vector<Tensor> get_batch(std::span<const int64_t> indices) const;
};

/// Tensors that have the same first size; sample i is element i of each.
class TensorDataset : public Dataset {
 public:
  explicit TensorDataset(std::vector<Tensor> tensors);
  int64_t size() const override { return tensors_[0].size(0); }
  std::vector<Tensor> get(int64_t index) const override;
  std::vector<Tensor> get_batch(std::span<const int64_t> indices) const override;

 private:
  std::vector<Tensor> tensors_;
};

struct DataLoaderOptions {
  /// Samples per batch.
  int64_t batch_size = 1;
  /// Shuffles the samples in each epoch with the default generator. The order equals that of Python for the same seed.
  bool shuffle = false;
  /// Drops the last batch if it is not full.
  bool drop_last = false;
  /// Number of threads that prepare batches. With 0 the loop itself prepares them.
  int64_t num_workers = 0;
  /// Number of batches that each worker prepares in advance.
  int64_t prefetch_factor = 2;
};

/// Batches of the samples of a dataset. One pass over the loader is an epoch.
///
///     data::DataLoader loader({images, labels}, {.batch_size = 64, .shuffle = true, .num_workers = 2});
///     for (const std::vector<Tensor>& batch : loader) step(batch[0], batch[1]);
///
/// Batches come in the same order and have the same bits for any number of workers. An exception of the dataset is
/// rethrown by the loop when it reaches the batch. Leaving the loop stops the workers, after the batches that they are
/// preparing.
///
/// Each batch has its own random numbers: while the dataset prepares it, the default generator of the thread is one
/// that is seeded from the epoch's seed and the number of the batch, as in the workers of Python's loader. Workers use
/// the gradient mode and the default device that the loop's thread has when the epoch starts.
class DataLoader {
 public:
  explicit DataLoader(std::shared_ptr<const Dataset> dataset, const DataLoaderOptions& options = {});
  /// The loader owns the dataset: `DataLoader(Squares(), {.batch_size = 8})`.
  template <std::derived_from<Dataset> D>
  explicit DataLoader(D dataset, const DataLoaderOptions& options = {})
      : DataLoader(std::make_shared<const D>(std::move(dataset)), options) {}
  /// The samples of a TensorDataset.
  explicit DataLoader(std::vector<Tensor> tensors, const DataLoaderOptions& options = {})
      : DataLoader(TensorDataset(std::move(tensors)), options) {}

  /// Number of batches in an epoch.
  int64_t size() const;

  class Epoch;
  /// Copies share their position in the epoch.
  class Iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = std::vector<Tensor>;
    using difference_type = std::ptrdiff_t;

    /// Valid until the next batch.
    const std::vector<Tensor>& operator*() const { return batch_; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !epoch_; }

   private:
    friend class DataLoader;
    explicit Iterator(std::shared_ptr<Epoch> epoch) : epoch_(std::move(epoch)) { ++*this; }
    std::shared_ptr<Epoch> epoch_;  // null after the last batch
    std::vector<Tensor> batch_;
  };
  /// Starts an epoch, and its workers.
  Iterator begin() const;
  std::default_sentinel_t end() const { return {}; }

 private:
  std::shared_ptr<const Dataset> dataset_;
  DataLoaderOptions options_;
};

}  // namespace data

/// Reads an array in the IDX format, the format of MNIST and Fashion-MNIST. Files compressed with gzip are recognized
/// by their first bytes. Throws ValueError if the file is damaged or not an IDX file, RuntimeError if it cannot be
/// read.
Tensor read_idx(const std::string& path);

/// The same from memory.
Tensor parse_idx(std::span<const char> bytes);

}  // namespace lucid

#pragma GCC visibility pop
