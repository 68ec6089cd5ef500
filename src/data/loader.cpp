#include <lucid/data.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "data/epoch.h"

namespace lucid::data {

std::vector<Tensor> Dataset::get_batch(std::span<const int64_t> indices) const {
  std::vector<std::vector<Tensor>> columns;
  for (const int64_t& index : indices) {
    const std::vector<Tensor> sample = get(index);
    if (&index == indices.data()) columns.resize(sample.size());
    if (sample.size() != columns.size())
      throw ValueError("DataLoader: sample {} has {} tensors, but sample {} has {}", index, sample.size(), indices[0],
                       columns.size());
    for (size_t i = 0; i < sample.size(); ++i) columns[i].push_back(sample[i]);
  }
  std::vector<Tensor> batch;
  for (const std::vector<Tensor>& column : columns) batch.push_back(stack(column));
  return batch;
}

TensorDataset::TensorDataset(std::vector<Tensor> tensors) : tensors_(std::move(tensors)) {
  if (tensors_.empty()) throw ValueError("TensorDataset: pass at least one tensor");
  for (const Tensor& tensor : tensors_) {
    if (tensor.dim() == 0) throw ValueError("TensorDataset: tensors must have at least one dimension");
    if (tensor.size(0) != tensors_[0].size(0))
      throw ValueError("TensorDataset: the tensors must have the same first size, got {} and {}", tensors_[0].size(0),
                       tensor.size(0));
  }
}

std::vector<Tensor> TensorDataset::get(int64_t index) const {
  std::vector<Tensor> sample;
  for (const Tensor& tensor : tensors_) sample.push_back(tensor[index]);
  return sample;
}

std::vector<Tensor> TensorDataset::get_batch(std::span<const int64_t> indices) const {
  const Tensor chosen = from_data(indices.data(), {static_cast<int64_t>(indices.size())}, kInt64);
  std::vector<Tensor> batch;
  for (const Tensor& tensor : tensors_) batch.push_back(tensor.index_select(0, chosen));
  return batch;
}

DataLoader::DataLoader(std::shared_ptr<const Dataset> dataset, const DataLoaderOptions& options)
    : dataset_(std::move(dataset)), options_(options) {
  if (!dataset_) throw ValueError("DataLoader: the dataset is null");
  if (options.batch_size <= 0) throw ValueError("DataLoader: batch_size must be above 0, got {}", options.batch_size);
  if (options.num_workers < 0)
    throw ValueError("DataLoader: num_workers must be at least 0, got {}", options.num_workers);
  if (options.prefetch_factor <= 0)
    throw ValueError("DataLoader: prefetch_factor must be above 0, got {}", options.prefetch_factor);
}

int64_t DataLoader::size() const { return batch_count(dataset_->size(), options_); }

DataLoader::Iterator DataLoader::begin() const { return Iterator(std::make_shared<Epoch>(dataset_, options_)); }

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  if (auto batch = epoch_->next())
    batch_ = *std::move(batch);
  else
    epoch_.reset();
  return *this;
}

}  // namespace lucid::data
