#include "tensor/tensor_impl.h"

#include "tensor/autograd_meta.h"

namespace lucid {

TensorImpl::TensorImpl(Dtype dtype, Dims sizes, Dims strides, int64_t offset, Ref<Cell> cell)
    : ValueBase(dtype, std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      numel_(lucid::numel(shape_)),
      cell_(std::move(cell)) {}

TensorImpl::~TensorImpl() = default;

AutogradMeta& TensorImpl::ensure_autograd() {
  if (!autograd_) autograd_ = std::make_unique<AutogradMeta>();
  return *autograd_;
}

void TensorImpl::rebind(Dtype dtype, Dims sizes, Dims strides, int64_t offset, Ref<Cell> cell) {
  dtype_ = dtype;
  shape_ = std::move(sizes);
  strides_ = std::move(strides);
  offset_ = offset;
  numel_ = lucid::numel(shape_);
  cell_ = std::move(cell);
}

void TensorImpl::set_view_of(Ref<TensorImpl> root, ViewKind kind) {
  graph_version_ = root->graph_version();
  root_ = std::move(root);
  view_kind_ = kind;
}

TensorRef make_tensor(Dtype dtype, Dims sizes, Dims strides) {
  const int64_t elements = element_range({sizes, strides, 0}).second;
  Ref<Cell> cell = make_ref<Cell>(Storage::allocate(static_cast<size_t>(elements) * size_of(dtype)));
  return make_ref<TensorImpl>(dtype, std::move(sizes), std::move(strides), 0, std::move(cell));
}

TensorRef make_tensor(Dtype dtype, Dims sizes) {
  Dims strides = contiguous_strides(sizes);
  Ref<Cell> cell = make_ref<Cell>(Storage::allocate(static_cast<size_t>(numel(sizes)) * size_of(dtype)));
  return make_ref<TensorImpl>(dtype, std::move(sizes), std::move(strides), 0, std::move(cell));
}

TensorRef alias_of(const TensorImpl& tensor) {
  return make_ref<TensorImpl>(tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset(), tensor.cell());
}

TensorRef alias_of(const TensorImpl& tensor, Geometry geometry) {
  return make_ref<TensorImpl>(tensor.dtype(), std::move(geometry.sizes), std::move(geometry.strides), geometry.offset,
                              tensor.cell());
}

bool is_exclusive(const TensorRef& tensor) {
  return tensor->use_count() == 1 && tensor->cell()->use_count() == 1 && !tensor->cell()->has_snapshots() &&
         tensor->cell()->storage()->use_count() == 1 && !tensor->cell()->storage()->borrowed() && !tensor->is_view();
}

}  // namespace lucid
