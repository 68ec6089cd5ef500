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
  /// Another order in each epoch, drawn from the default generator: after the same seed the same as Python's.
  bool shuffle = false;
  /// Leaves out a last batch that is not full.
  bool drop_last = false;
};

/// Batches of tensors that have the same first size; an epoch is one pass over it.
///
///     DataLoader loader({images, labels}, {.batch_size = 64, .shuffle = true});
///     for (const std::vector<Tensor>& batch : loader) step(batch[0], batch[1]);
class DataLoader {
 public:
  explicit DataLoader(std::vector<Tensor> tensors, const DataLoaderOptions& options = {});

  /// How many batches an epoch has.
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
    Tensor order_;  // none when the samples are taken as they lie
    int64_t batch_;
  };
  /// Begins an epoch.
  Iterator begin() const;
  Iterator end() const { return {*this, Tensor(), size()}; }

 private:
  std::vector<Tensor> tensors_;
  DataLoaderOptions options_;
  int64_t count_ = 0;
};

/// Reads an array in the IDX format, that of MNIST and Fashion-MNIST; compressed with gzip too, which is recognised by
/// its first bytes. Throws ValueError for files that are damaged or something else, RuntimeError when the file cannot
/// be read.
Tensor read_idx(const std::string& path);

/// The same from memory.
Tensor parse_idx(std::span<const char> bytes);

}  // namespace lucid

#pragma GCC visibility pop
