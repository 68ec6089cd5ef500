#include <lucid/data.h>
#include <lucid/ops.h>
#include <lucid/random.h>

#include <algorithm>

#include "base/error.h"

namespace lucid {

DataLoader::DataLoader(std::vector<Tensor> tensors, const DataLoaderOptions& options)
    : tensors_(std::move(tensors)), options_(options) {
  if (tensors_.empty()) throw ValueError("DataLoader: pass at least one tensor");
  if (options.batch_size <= 0) throw ValueError("DataLoader: batch_size must be above 0, got {}", options.batch_size);
  for (const Tensor& tensor : tensors_) {
    if (tensor.dim() == 0) throw ValueError("DataLoader: tensors must have at least one dimension");
    if (tensor.size(0) != tensors_[0].size(0))
      throw ValueError("DataLoader: the tensors must have the same first size, got {} and {}", tensors_[0].size(0),
                       tensor.size(0));
  }
  count_ = tensors_[0].size(0);
}

int64_t DataLoader::size() const {
  return options_.drop_last ? count_ / options_.batch_size : (count_ + options_.batch_size - 1) / options_.batch_size;
}

DataLoader::Iterator DataLoader::begin() const {
  // Python's loader samples a seed for its workers first. Both must leave the generator in the same state.
  randint(0, int64_t{1} << 62, {});
  return {*this, options_.shuffle ? randperm(count_) : Tensor(), 0};
}

std::vector<Tensor> DataLoader::Iterator::operator*() const {
  const int64_t start = batch_ * loader_->options_.batch_size;
  const int64_t length = std::min(loader_->options_.batch_size, loader_->count_ - start);
  std::vector<Tensor> batch;
  for (const Tensor& tensor : loader_->tensors_) {
    if (order_.defined())
      batch.push_back(index_select(tensor, 0, narrow(order_, 0, start, length)));
    else
      batch.push_back(narrow(tensor, 0, start, length));
  }
  return batch;
}

}  // namespace lucid
