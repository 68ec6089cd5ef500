#include "tensor/tensor_impl.h"

#include <mutex>

#include "base/lock.h"
#include "tensor/autograd_meta.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

std::atomic<uint64_t> g_rebinds = 0;
constinit thread_local uint64_t t_rebinds = 0;

}  // namespace

TensorImpl::TensorImpl(Dtype dtype, const Dims& sizes, const Dims& strides, SymInt offset, Ref<Cell> cell)
    : ValueBase(dtype, sizes, cell->device()),
      strides_(strides),
      offset_(offset),
      numel_(lucid::numel(sizes)),
      cell_(std::move(cell)) {}

TensorImpl::~TensorImpl() {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->destroyed(*this);
}

AutogradMeta& TensorImpl::ensure_autograd() {
  if (!autograd_) autograd_ = make_ref<AutogradMeta>();
  return *autograd_;
}

void TensorImpl::share_autograd(const TensorImpl& other) {
  autograd_ = other.autograd_;
  set_graph_version(other.graph_version());
}

void TensorImpl::trace_sizes(const Geometry& geometry) {
  shape_ = geometry.sizes;
  strides_ = geometry.strides;
  offset_ = geometry.offset;
  numel_ = lucid::numel(shape_);
}

void TensorImpl::rebind(Dtype dtype, const Dims& sizes, const Dims& strides, SymInt offset, Ref<Cell> cell) {
  g_rebinds.fetch_add(1, std::memory_order_relaxed);
  ++t_rebinds;
  const std::lock_guard lock(mutex_of(LockRank::kHandle, this));
  dtype_ = dtype;
  shape_ = sizes;
  strides_ = strides;
  offset_ = offset;
  numel_ = lucid::numel(shape_);
  device_ = cell->device();
  std::swap(cell_, cell);  // the old one is destroyed after the lock is released
}

uint64_t rebinds_by_other_threads() { return g_rebinds.load(std::memory_order_relaxed) - t_rebinds; }

void TensorImpl::set_view_of(Ref<TensorImpl> root, ViewKind kind) {
  graph_version_ = root->graph_version();
  root_ = std::move(root);
  view_kind_ = kind;
}

void TensorImpl::become_root() {
  root_ = nullptr;
  view_kind_ = ViewKind::kRecorded;
}

TensorRef make_tensor(Dtype dtype, const Dims& sizes, const Dims& strides, Device device) {
  // The extent of the strides, computed without building a Geometry.
  int64_t elements = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i].unguarded() == 0) {
      elements = 0;
      break;
    }
    elements += (sizes[i].unguarded() - 1) * strides[i].unguarded();
  }
  Ref<Cell> cell = make_ref<Cell>(Storage::allocate(static_cast<size_t>(elements) * size_of(dtype), device));
  TensorRef tensor = make_ref<TensorImpl>(dtype, sizes, strides, 0, std::move(cell));
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->made(*tensor);
  return tensor;
}

TensorRef make_tensor(Dtype dtype, const Dims& sizes) { return make_tensor(dtype, sizes, contiguous_strides(sizes)); }

TensorRef alias_of(const TensorImpl& tensor) {
  TensorRef alias;
  {
    const std::lock_guard lock(mutex_of(LockRank::kHandle, &tensor));
    alias = make_ref<TensorImpl>(tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.offset(), tensor.cell());
  }
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->made_handle(*alias, &tensor);
  return alias;
}

TensorRef alias_of(const TensorImpl& tensor, const Geometry& geometry) {
  TensorRef alias =
      make_ref<TensorImpl>(tensor.dtype(), geometry.sizes, geometry.strides, geometry.offset, tensor.cell());
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->made_handle(*alias, &tensor);
  return alias;
}

bool is_exclusive(const TensorImpl& tensor, uint32_t references) {
  return tensor.use_count() == references && tensor.cell()->is_exclusive() && !tensor.is_view();
}

}  // namespace lucid
