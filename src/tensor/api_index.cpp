#include <algorithm>

#include "base/error.h"
#include "tensor/api.h"
#include "tensor/indexing.h"

namespace lucid {
namespace {

Index index_of(const IndexItem& item) {
  switch (item.kind()) {
    case IndexItem::Kind::kInteger:
      return item.integer();
    case IndexItem::Kind::kSlice:
      return SliceIndex{item.slice().start, item.slice().stop, item.slice().step};
    case IndexItem::Kind::kNewAxis:
      return NewAxis();
    case IndexItem::Kind::kEllipsis:
      return EllipsisIndex();
    case IndexItem::Kind::kBool:
      return item.integer() != 0;
    case IndexItem::Kind::kTensor:
      return TensorRef(&unwrap(item.tensor()));
  }
  LUCID_CHECK(false, "unknown kind of index item");
  return {};
}

std::vector<Index> indices_of(std::span<const IndexItem> items) {
  std::vector<Index> indices;
  for (const IndexItem& item : items) indices.push_back(index_of(item));
  return indices;
}

}  // namespace

IndexedTensor Tensor::operator[](std::initializer_list<IndexItem> items) const {
  const Tensor part = wrap(get_item(Value(TensorRef(&unwrap(*this))), indices_of({items.begin(), items.size()})));
  return {part, *this, items};
}

IndexedTensor Tensor::operator[](const IndexItem& item) const { return (*this)[{item}]; }

void IndexedTensor::write(const Tensor& part) {
  const bool is_view = std::none_of(items_.begin(), items_.end(), [](const IndexItem& item) {
    return item.kind() == IndexItem::Kind::kBool || item.kind() == IndexItem::Kind::kTensor;
  });
  if (!is_view) set_item(unwrap(whole_), indices_of(items_), operand_of(part));
}

void IndexedTensor::operator=(const Argument& value) && {
  set_item(unwrap(whole_), indices_of(items_), operand_of(value));
}

}  // namespace lucid
