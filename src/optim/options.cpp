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
double peek(const Tensor& cell) {
  const TensorImpl& tensor = unwrap(cell);
  return Scalar::load(tensor.dtype(), HostView(tensor).data()).to_double();
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
  if (entry.kind == Kind::kNumber) return entry.cells[0].item<double>();
  Tree::Tuple tuple;
  for (const Tensor& cell : entry.cells) tuple.items.emplace_back(cell.item<double>());
  return tuple;
}

void Options::set(const std::string& name, const Tree& value) {
  auto* entry = const_cast<Entry*>(find(name));
  if (!entry) {
    entries_.push_back({name, Kind::kPlain, {}, {}});
    entry = &entries_.back();
  }
  if (entry->kind == Kind::kNumber && value.is_number()) {
    const double number = value.as_real(name.c_str());
    // The ops of a step may depend on whether a number is zero.
    if ((number == 0) != (peek(entry->cells[0]) == 0)) ++version_;
    entry->cells[0].fill_(number);
    return;
  }
  if (const Tree::List* items = value.items_or_null();
      entry->kind == Kind::kTuple && items && items->size() == entry->cells.size() &&
      std::all_of(items->begin(), items->end(), [](const Tree& item) { return item.is_number(); })) {
    for (size_t i = 0; i < items->size(); ++i) entry->cells[i].fill_((*items)[i].as_real(name.c_str()));
    return;
  }
  ++version_;
  entry->cells.clear();
  entry->value = {};
  if (const double* number = value.get_if<double>()) {
    entry->kind = Kind::kNumber;
    entry->cells.push_back(scalar(*number));
  } else if (is_tuple_of_reals(value)) {
    entry->kind = Kind::kTuple;
    for (const Tree& item : value.get_if<Tree::Tuple>()->items)
      entry->cells.push_back(scalar(item.as_real(name.c_str())));
  } else {
    entry->kind = Kind::kPlain;
    entry->value = value;
    if (const Tensor* tensor = value.get_if<Tensor>()) entry->cells.push_back(*tensor);
  }
}

bool Options::erase(const std::string& name) {
  ++version_;
  return std::erase_if(entries_, [&](const Entry& entry) { return entry.name == name; }) != 0;
}

std::vector<std::string> Options::names() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  return names;
}

const Tensor& Options::cell(const std::string& name, size_t index) const {
  const Entry& entry = at(name);
  if (index >= entry.cells.size())
    throw TypeError("the option '{}' must be {}, not {}", name, index ? "a tuple of numbers" : "a number",
                    entry.value.kind());
  return entry.cells[index];
}

double Options::real(const std::string& name, size_t index) const { return cell(name, index).item<double>(); }

Tensor Options::cell_unless_zero(const std::string& name) const {
  const Tensor& found = cell(name);
  return peek(found) != 0 ? found : Tensor();
}

bool Options::flag(const std::string& name) const {
  const Tree& value = at(name).value;
  return !value.is_none() && value.as_bool(name.c_str());
}

}  // namespace lucid::optim
