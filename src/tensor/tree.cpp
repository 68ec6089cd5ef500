#include "lucid/tree.h"

#include <algorithm>

#include "base/error.h"

namespace lucid {
namespace {

[[noreturn]] void fail(const char* what, const char* expected, const Tree& got) {
  throw TypeError("{} must be {}, not {}", what, expected, got.kind());
}

}  // namespace

Tree::Tree() noexcept = default;
Tree::Tree(const Tree& other) = default;
Tree::Tree(Tree&& other) noexcept = default;
Tree& Tree::operator=(const Tree& other) = default;
Tree& Tree::operator=(Tree&& other) noexcept = default;
Tree::~Tree() = default;

Tree::Tree(bool value) : value_(value) {}
Tree::Tree(int value) : value_(int64_t{value}) {}
Tree::Tree(int64_t value) : value_(value) {}
Tree::Tree(double value) : value_(value) {}
Tree::Tree(const char* value) : value_(std::string(value)) {}
Tree::Tree(std::string value) : value_(std::move(value)) {}
Tree::Tree(Tensor value) : value_(std::move(value)) {}
Tree::Tree(List items) : value_(std::move(items)) {}
Tree::Tree(Tuple items) : value_(std::move(items)) {}
Tree::Tree(std::shared_ptr<Foreign> value) : value_(std::move(value)) {}

// A dict is held by pointer because it contains trees. Copies of a tree must not share it.
Tree::Tree(Dict items) : value_(std::make_shared<Dict>(std::move(items))) {}

Tree::Tree(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<Item> items;
  for (const auto& [name, tensor] : tensors) items.push_back({name, tensor});
  value_ = std::make_shared<Dict>(std::move(items));
}

const Tree::Dict* Tree::dict_or_null() const {
  const auto* dict = std::get_if<std::shared_ptr<Dict>>(&value_);
  return dict ? dict->get() : nullptr;
}

Tree::Dict* Tree::dict_or_null() {
  auto* dict = std::get_if<std::shared_ptr<Dict>>(&value_);
  if (!dict) return nullptr;
  if (dict->use_count() > 1) *dict = std::make_shared<Dict>(**dict);
  return dict->get();
}

const Tree::List* Tree::items_or_null() const {
  if (const auto* tuple = get_if<Tuple>()) return &tuple->items;
  return get_if<List>();
}

bool Tree::as_bool(const char* what) const {
  if (const bool* value = get_if<bool>()) return *value;
  fail(what, "a bool", *this);
}

int64_t Tree::as_integer(const char* what) const {
  if (const int64_t* value = get_if<int64_t>()) return *value;
  fail(what, "an integer", *this);
}

double Tree::as_real(const char* what) const {
  if (const double* value = get_if<double>()) return *value;
  if (const int64_t* value = get_if<int64_t>()) return static_cast<double>(*value);
  fail(what, "a number", *this);
}

const std::string& Tree::as_text(const char* what) const {
  if (const auto* value = get_if<std::string>()) return *value;
  fail(what, "text", *this);
}

const Tensor& Tree::as_tensor(const char* what) const {
  if (const auto* value = get_if<Tensor>()) return *value;
  fail(what, "a tensor", *this);
}

const Tree::List& Tree::as_items(const char* what) const {
  if (const List* items = items_or_null()) return *items;
  fail(what, "a list or a tuple", *this);
}

const Tree::Dict& Tree::as_dict(const char* what) const {
  if (const Dict* dict = dict_or_null()) return *dict;
  fail(what, "a dict", *this);
}

std::vector<std::pair<std::string, Tensor>> Tree::as_named_tensors(const char* what) const {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const Item& item : as_dict(what)) {
    const std::string* name = std::get_if<std::string>(&item.key);
    if (!name) throw TypeError("{}: a key is an integer; expected names", what);
    tensors.emplace_back(*name, item.value.as_tensor(what));
  }
  return tensors;
}

const char* Tree::kind() const {
  constexpr const char* kKinds[] = {"None",     "a bool", "an integer", "a float", "text",
                                    "a tensor", "a list", "a tuple",    "a dict",  "an object of another kind"};
  static_assert(std::size(kKinds) == std::variant_size_v<decltype(value_)>);
  return kKinds[value_.index()];
}

Tree::Dict::Dict(std::initializer_list<Item> items) {
  for (const Item& item : items) (*this)[item.key] = item.value;
}
Tree::Dict::Dict(std::vector<Item> items) : items_(std::move(items)) {}

const Tree* Tree::Dict::find(const Key& key) const {
  const auto found = std::find_if(items_.begin(), items_.end(), [&](const Item& item) { return item.key == key; });
  return found != items_.end() ? &found->value : nullptr;
}

Tree* Tree::Dict::find(const Key& key) { return const_cast<Tree*>(std::as_const(*this).find(key)); }

const Tree& Tree::Dict::at(const Key& key) const {
  if (const Tree* value = find(key)) return *value;
  throw ValueError("there is no {} in the dict", to_string(key));
}

Tree& Tree::Dict::operator[](const Key& key) {
  if (Tree* value = find(key)) return *value;
  return items_.emplace_back(Item{key, Tree()}).value;
}

void Tree::Dict::set(const Key& key, Tree value) { std::swap((*this)[key], value); }

bool Tree::Dict::erase(const Key& key) {
  Tree* const found = find(key);
  if (!found) return false;
  const Tree erased = std::move(*found);
  std::erase_if(items_, [&](const Item& item) { return item.key == key; });
  return true;
}

std::string to_string(const Tree::Key& key) {
  if (const auto* number = std::get_if<int64_t>(&key)) return std::to_string(*number);
  return '\'' + std::get<std::string>(key) + '\'';
}

}  // namespace lucid
