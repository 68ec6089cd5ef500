#include "tensor/indexing.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"
#include "tensor/item.h"
#include "tensor/transfer.h"

namespace lucid {
namespace {

bool is_mask(const Index& item) {
  const TensorRef* tensor = std::get_if<TensorRef>(&item);
  return tensor && is_bool((*tensor)->dtype());
}

/// How many dimensions of the indexed tensor an item consumes.
int64_t consumed_by(const Index& item) {
  if (std::holds_alternative<SymInt>(item) || std::holds_alternative<SliceIndex>(item)) return 1;
  if (const TensorRef* tensor = std::get_if<TensorRef>(&item))
    return is_bool((*tensor)->dtype()) ? (*tensor)->sizes().rank() : 1;
  return 0;
}

Value select(const Value& x, int64_t axis, SymInt index) {
  const SymInt size = x.size(axis);
  if (index < -size || index >= size)
    throw IndexError("index: index {} is out of bounds for dimension {} of size {} (expected -{} <= index < {})", index,
                     axis, size, size, size);
  return eager().select(x, axis, index < 0 ? index + size : index);
}

/// Applies an index item by item: basic items are applied to `view` immediately, tensors are collected.
class Indexer {
 public:
  /// What the indexed elements are for. An integer in a tensor without dimensions is read to get a view. An assignment
  /// needs no view: it takes such an integer as it takes other index tensors, so that compiled calls do not depend on
  /// its value.
  enum class Purpose : uint8_t { kGet, kSet };

  Indexer(Value x, std::span<const Index> items, Purpose purpose) : view_(std::move(x)), purpose_(purpose) {
    const int64_t rank = view_.rank();
    int64_t consumed = 0;
    int ellipses = 0;
    for (const Index& item : items) {
      consumed += consumed_by(item);
      ellipses += std::holds_alternative<EllipsisIndex>(item);
    }
    if (ellipses > 1) throw IndexError("index: an index can have only one ellipsis ('...')");
    if (consumed > rank)
      throw IndexError("index: {} indices are too many for {}, which has {} dimension{}", consumed,
                       to_string(view_.type()), rank, rank == 1 ? "" : "s");
    skipped_ = rank - consumed;
    for (const Index& item : items) {
      std::visit([&](const auto& value) { apply(value); }, item);
      ++ordinal_;
    }
  }

  const Value& view() const { return view_; }
  bool is_basic() const { return tensors_.empty(); }

  /// Moves the indexed dimensions to the front and broadcasts the index tensors to one shape.
  void gather_indices() {
    Emitter& e = eager();
    Dims shape;
    for (const auto& [axis, tensor] : tensors_) {
      try {
        shape = broadcast("index", shape, tensor.shape());
      } catch (const ValueError& error) {
        throw IndexError(error.what());
      }
    }
    index_rank_ = shape.rank();
    Dims order;
    for (auto& [axis, tensor] : tensors_) {
      order.push_back(axis);
      tensor = to_device(TensorRef(tensor_of(tensor)), view_.device());
      tensor = e.cast(tensor, Dtype::kI64);
      if (tensor.shape() != shape) tensor = e.expand(tensor, shape);
      indices_.push_back(tensor);
    }
    for (int64_t d = 0; d < view_.rank(); ++d)
      if (std::find(order.begin(), order.end(), d) == order.end()) order.push_back(d);
    position_ = together() ? tensors_.front().first : 0;
    bool in_order = true;
    for (int64_t d = 0; d < view_.rank(); ++d) in_order &= order[static_cast<size_t>(d)] == d;
    if (!in_order) view_ = e.permute(view_, order);
    index_shape_ = shape;
  }

  const Values& indices() const { return indices_; }

  /// The permutation from the gathered result, whose index dimensions come first, to the final result.
  Dims to_result_order() const {
    const int64_t rank = index_rank_ + view_.rank() - static_cast<int64_t>(tensors_.size());
    Dims order;
    for (int64_t d = 0; d < position_; ++d) order.push_back(index_rank_ + d);
    for (int64_t d = 0; d < index_rank_; ++d) order.push_back(d);
    for (int64_t d = index_rank_ + position_; d < rank; ++d) order.push_back(d);
    return order;
  }

  /// The shape of the gathered elements, index dimensions first.
  Dims gathered_shape() const {
    Dims shape = index_shape_;
    for (size_t d = tensors_.size(); d < view_.shape().size(); ++d) shape.push_back(view_.shape()[d]);
    return shape;
  }

  bool moves_result() const { return position_ > 0 && index_rank_ > 0; }

 private:
  void apply(SymInt index) {
    mark_advanced();
    view_ = select(view_, axis_, index);
  }

  void apply(const SliceIndex& slice) {
    const SymInt size = view_.size(axis_);
    const int64_t step = slice.step.value_or(1);
    if (step <= 0) throw ValueError("index: the step of a slice must be positive, got {}; use flip() to reverse", step);
    const auto bound = [&](SymInt value) { return std::clamp<SymInt>(value < 0 ? value + size : value, 0, size); };
    const SymInt start = bound(slice.start.value_or(0));
    const SymInt stop = std::max(start, bound(slice.stop.value_or(size)));
    if (start != 0 || stop != size || step != 1) view_ = eager().slice(view_, axis_, start, stop, step);
    ++axis_;
  }

  void apply(const NewAxis&) { view_ = eager().unsqueeze(view_, axis_++); }
  void apply(const EllipsisIndex&) { axis_ += skipped_; }

  /// True inserts a dimension of size 1, false one of size 0.
  void apply(bool keep) {
    mark_advanced();
    view_ = eager().unsqueeze(view_, axis_);
    const int64_t zero = 0;
    tensors_.emplace_back(axis_++, Value(tensor_from(&zero, Dtype::kI64, Dims{keep ? 1 : 0})));
  }

  void apply(const TensorRef& tensor) {
    if (is_bool(tensor->dtype())) return apply_mask(tensor);
    if (!is_integer(tensor->dtype()))
      throw IndexError("index: tensors used as indices must hold integers or bools, got {}", to_string(tensor->type()));
    if (tensor->sizes().empty() && purpose_ == Purpose::kGet) return apply(SymInt(item(*tensor).to_int()));
    mark_advanced();
    tensors_.emplace_back(axis_++, Value(tensor));
  }

  void apply_mask(const TensorRef& mask) {
    if (mask->sizes().empty()) return apply(truth(*mask));
    mark_advanced();
    for (size_t d = 0; d < mask->sizes().size(); ++d)
      if (mask->sizes()[d] != view_.size(axis_ + static_cast<int64_t>(d)))
        throw IndexError(
            "index: the mask {} does not fit {}: dimension {} of the mask has size {}, the indexed dimension {}",
            to_string(mask->type()), to_string(view_.type()), d, mask->sizes()[d],
            view_.size(axis_ + static_cast<int64_t>(d)));
    const Value found = eager().nonzero(Value(mask));
    for (int64_t d = 0; d < mask->sizes().rank(); ++d) tensors_.emplace_back(axis_++, select(found, 1, d));
  }

  // Integers count as tensor indices when deciding whether these are adjacent.
  void mark_advanced() {
    if (first_ < 0) first_ = ordinal_;
    last_ = ordinal_;
    ++advanced_;
  }
  bool together() const { return last_ - first_ + 1 == advanced_; }

  Value view_;
  Purpose purpose_;
  std::vector<std::pair<int64_t, Value>> tensors_;  // axis of the view, index
  Values indices_;
  Dims index_shape_;
  int64_t axis_ = 0;
  int64_t skipped_ = 0;
  int64_t ordinal_ = 0;
  int64_t first_ = -1;
  int64_t last_ = -1;
  int64_t advanced_ = 0;
  int64_t index_rank_ = 0;
  int64_t position_ = 0;
};

Dims inverse(const Dims& order) {
  Dims result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

/// Removes leading dimensions of size 1 that the target does not have.
Value strip_leading(Value value, int64_t rank) {
  Dims shape = value.shape();
  while (shape.rank() > rank && shape[0] == 1) shape.erase(0);
  return shape.rank() == value.rank() ? value : eager().reshape(value, shape);
}

/// Handles x[mask] = single value as masked_fill, without finding out which elements the mask selects.
bool fill_by_mask(TensorImpl& x, std::span<const Index> items, const Operand& value) {
  if (items.size() != 1 || !is_mask(items[0]) || value.rank() != 0) return false;
  const TensorRef& mask = std::get<TensorRef>(items[0]);
  if (mask->sizes().rank() > x.sizes().rank() ||
      !std::equal(mask->sizes().begin(), mask->sizes().end(), x.sizes().begin()))
    return false;
  Dims shape = mask->sizes();
  shape.resize(x.sizes().size(), 1);
  static const Op& masked_fill = op_table().at("masked_fill");
  const Value moved(to_device(mask, x.device()));
  const Value stretched = shape == mask->sizes() ? moved : eager().reshape(moved, shape);
  const Operand others[] = {stretched, value};
  in_place(masked_fill, x, others, {});
  return true;
}

}  // namespace

Value get_item(const Value& x, std::span<const Index> items) {
  if (items.size() == 1 && x.rank() > 0) {
    if (const SymInt* index = std::get_if<SymInt>(&items[0])) return select(x, 0, *index);
    const TensorRef* mask = std::get_if<TensorRef>(&items[0]);
    if (mask && is_bool((*mask)->dtype()) && (*mask)->sizes() == x.shape())
      return eager().masked_select(x, Value(to_device(*mask, tensor_of(x)->device())));
  }
  Indexer indexer(x, items, Indexer::Purpose::kGet);
  if (indexer.is_basic()) {
    // Even an index that changes nothing returns a view, not the handle itself.
    if (indexer.view() == x) return eager().reshape(x, x.shape());
    return indexer.view();
  }
  indexer.gather_indices();
  Value result = eager().index(indexer.view(), indexer.indices());
  return indexer.moves_result() ? eager().permute(result, indexer.to_result_order()) : result;
}

void set_item(TensorImpl& x, std::span<const Index> items, const Operand& value) {
  if (!value.present()) throw TypeError("x[...] = value: the value is undefined");
  if (fill_by_mask(x, items, value)) return;
  Indexer indexer(Value(TensorRef(&x)), items, Indexer::Purpose::kSet);
  if (indexer.is_basic()) {
    Value target = indexer.view();
    if (value.is_scalar()) return fill_(*tensor_of(target), value);
    const Value source = strip_leading(value_of(value), target.rank());
    // Only the tensor itself may be copied onto itself when its elements overlap; the result of a slice is a view.
    const auto is_slice = [](const Index& item) { return std::holds_alternative<SliceIndex>(item); };
    if (source == target && std::any_of(items.begin(), items.end(), is_slice))
      target = eager().reshape(target, target.shape());
    return copy_(*tensor_of(target), Operand(source));
  }
  indexer.gather_indices();
  Emitter& e = eager();
  Value source = value.is_scalar() ? Value(tensor_from(value.scalar(), x.dtype())) : e.cast(value_of(value), x.dtype());
  // A number and a 0-d tensor on the CPU can be used everywhere.
  if (source.rank() == 0) source = Value(to_device(TensorRef(tensor_of(source)), x.device()));
  const Dims gathered = indexer.gathered_shape();
  const Dims order = indexer.to_result_order();
  Dims shape = gathered;
  for (size_t i = 0; i < order.size(); ++i) shape[i] = gathered[static_cast<size_t>(order[i])];
  source = strip_leading(source, shape.rank());
  if (source.shape() != shape) source = e.expand(source, shape);
  if (indexer.moves_result()) source = e.permute(source, inverse(order));
  static const Op& index_put = op_table().at("index_put");
  std::vector<Operand> others = {source};
  for (const Value& index : indexer.indices()) others.emplace_back(index);
  in_place(index_put, *tensor_of(indexer.view()), others, {false});
}

}  // namespace lucid
