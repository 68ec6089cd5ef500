#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)

namespace lucid {

struct DataLoaderOptions {
  int64_t batch_size = 1;
  /// Shuffles the samples in each epoch with the default generator. The order equals that of Python for the same seed.
  bool shuffle = false;
  /// Drops the last batch if it is not full.
  bool drop_last = false;
};

/// Batches of tensors that have the same first size. One pass over the loader is an epoch.
///
///     DataLoader loader({images, labels}, {.batch_size = 64, .shuffle = true});
///     for (const std::vector<Tensor>& batch : loader) step(batch[0], batch[1]);
class DataLoader {
 public:
  explicit DataLoader(std::vector<Tensor> tensors, const DataLoaderOptions& options = {});

  /// Number of batches in an epoch.
  int64_t size() const;

  class Iterator {
   public:
    std::vector<Tensor> operator*() const;
    Iterator& operator++() {
      ++batch_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return batch_ == other.batch_; }

   private:
    friend class DataLoader;
    Iterator(const DataLoader& loader, Tensor order, int64_t batch)
        : loader_(&loader), order_(std::move(order)), batch_(batch) {}
    const DataLoader* loader_;
    Tensor order_;  // undefined if the samples are not shuffled
    int64_t batch_;
  };
  /// Starts an epoch.
  Iterator begin() const;
  Iterator end() const { return {*this, Tensor(), size()}; }

 private:
  std::vector<Tensor> tensors_;
  DataLoaderOptions options_;
  int64_t count_ = 0;
};

/// Reads an array in the IDX format, the format of MNIST and Fashion-MNIST. Files compressed with gzip are recognized
/// by their first bytes. Throws ValueError if the file is damaged or not an IDX file, RuntimeError if it cannot be
/// read.
Tensor read_idx(const std::string& path);

/// The same from memory.
Tensor parse_idx(std::span<const char> bytes);

}  // namespace lucid

#pragma GCC visibility pop
