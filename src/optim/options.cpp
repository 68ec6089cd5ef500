#include <lucid/ops.h>
#include <lucid/optim.h>

#include <algorithm>

#include "base/error.h"
#include "tensor/api.h"
#include "tensor/host_view.h"

namespace lucid::optim {
namespace {

/// Whether the items are numbers, at least one of them a float.
bool is_tuple_of_reals(const Tree& value) {
  const auto* tuple = value.get_if<Tree::Tuple>();
  if (!tuple || tuple->items.empty()) return false;
  const auto is_real = [](const Tree& item) { return item.get_if<double>() != nullptr; };
  return std::all_of(tuple->items.begin(), tuple->items.end(), [](const Tree& item) { return item.is_number(); }) &&
         std::any_of(tuple->items.begin(), tuple->items.end(), is_real);
}

/// Reads the number in a cell without reporting the read to a recording. Only for facts that version() also covers.
/// Something else than a number counts as 1: a step that uses it raises an error.
double peek(const Tensor& cell) {
  const TensorImpl& tensor = unwrap(cell);
  return tensor.numel() == 1 ? element_of(tensor).to_double() : 1;
}

}  // namespace

const Options::Entry* Options::find(const std::string& name) const {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == name; });
  return found != entries_.end() ? &*found : nullptr;
}

const Options::Entry& Options::at(const std::string& name) const {
  if (const Entry* entry = find(name)) return *entry;
  throw ValueError("the parameter group has no option '{}'", name);
}

Tree Options::get(const std::string& name) const {
  const Entry& entry = at(name);
  if (entry.kind == Kind::kPlain) return entry.value;
  const std::vector<Tensor> cells = entry.cells;
  if (entry.kind == Kind::kNumber) return cells[0].item<double>();
  Tree::Tuple tuple;
  for (const Tensor& cell : cells) tuple.items.emplace_back(cell.item<double>());
  return tuple;
}

// Filling a cell may give up the caller's lock, and destroying a value may run Python code: other threads may change
// the entries meanwhile.

void Options::set(const std::string& name, const Tree& value) {
  const Entry* const known = find(name);
  if (known && known->kind == Kind::kNumber && value.is_number()) {
    Tensor cell = known->cells[0];
    const double number = value.as_real(name.c_str());
    // The ops of a step may depend on whether a number is zero.
    if ((number == 0) != (peek(cell) == 0)) ++version_;
    cell.fill_(number);
    return;
  }
  if (const Tree::List* items = value.items_or_null();
      known && known->kind == Kind::kTuple && items && items->size() == known->cells.size() &&
      std::all_of(items->begin(), items->end(), [](const Tree& item) { return item.is_number(); })) {
    std::vector<Tensor> cells = known->cells;
    for (size_t i = 0; i < cells.size(); ++i) cells[i].fill_((*items)[i].as_real(name.c_str()));
    return;
  }
  Entry entry{name, Kind::kPlain, {}, {}};
  if (const double* number = value.get_if<double>()) {
    entry.kind = Kind::kNumber;
    entry.cells.push_back(scalar(*number));
  } else if (is_tuple_of_reals(value)) {
    entry.kind = Kind::kTuple;
    for (const Tree& item : value.get_if<Tree::Tuple>()->items)
      entry.cells.push_back(scalar(item.as_real(name.c_str())));
  } else {
    entry.value = value;
    if (const Tensor* tensor = value.get_if<Tensor>()) entry.cells.push_back(*tensor);
  }
  ++version_;
  // The old entry is destroyed last.
  if (auto* const place = const_cast<Entry*>(find(name)))
    std::swap(*place, entry);
  else
    entries_.push_back(std::move(entry));
}

bool Options::erase(const std::string& name) {
  ++version_;
  auto* const place = const_cast<Entry*>(find(name));
  if (!place) return false;
  const Entry erased = std::move(*place);
  entries_.erase(entries_.begin() + (place - entries_.data()));
  return true;
}

std::vector<std::string> Options::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

std::vector<Tensor> Options::cells() const {
  std::vector<Tensor> cells;
  for (const Entry& entry : entries_) cells.insert(cells.end(), entry.cells.begin(), entry.cells.end());
  return cells;
}

Tensor Options::cell(const std::string& name, size_t index) const {
  const Entry& entry = at(name);
  if (index >= entry.cells.size())
    throw TypeError("the option '{}' must be {}, not {}", name, index ? "a tuple of numbers" : "a number",
                    entry.value.kind());
  return entry.cells[index];
}

double Options::real(const std::string& name, size_t index) const {
  const Tensor found = cell(name, index);
  if (found.numel() != 1)
    throw ValueError("the option '{}' must be a number, got {}", name, to_string(unwrap(found).type()));
  return found.item<double>();
}

Tensor Options::cell_unless_zero(const std::string& name) const {
  const Tensor found = cell(name);
  return peek(found) != 0 ? found : Tensor();
}

bool Options::flag(const std::string& name) const {
  const Tree& value = at(name).value;
  return !value.is_none() && value.as_bool(name.c_str());
}

}  // namespace lucid::optim
