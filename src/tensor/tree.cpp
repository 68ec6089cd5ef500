#include "lucid/tree.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "tensor/api.h"

namespace lucid {

Tree::Tree() noexcept = default;
Tree::Tree(const Tree& other) = default;
Tree::Tree(Tree&& other) noexcept = default;
Tree& Tree::operator=(const Tree& other) = default;
Tree& Tree::operator=(Tree&& other) noexcept = default;
Tree::~Tree() = default;

Tree::Tree(std::nullopt_t) noexcept {}
Tree::Tree(bool value) : value_(value) {}
Tree::Tree(int value) : value_(int64_t{value}) {}
Tree::Tree(int64_t value) : value_(value) {}
Tree::Tree(double value) : value_(value) {}
Tree::Tree(const char* value) : value_(std::string(value)) {}
Tree::Tree(std::string value) : value_(std::move(value)) {}
Tree::Tree(Dtype value) : value_(value) {}
Tree::Tree(List items) : value_(std::move(items)) {}
Tree::Tree(Tuple items) : value_(std::move(items)) {}
Tree::Tree(std::initializer_list<Tree> tuple) : value_(Tuple{tuple}) {}
Tree::Tree(const Shape& tuple) : value_(Tuple{{tuple.begin(), tuple.end()}}) {}
Tree::Tree(const std::vector<double>& tuple) : value_(Tuple{{tuple.begin(), tuple.end()}}) {}
Tree::Tree(std::shared_ptr<const Foreign> value) : value_(std::move(value)) {}

Tree::Tree(Tensor value) {
  if (value.defined()) value_ = std::move(value);
}

// A dict is held by pointer because it contains trees. Copies of a tree must not share it.
Tree::Tree(Dict items) : value_(std::make_shared<Dict>(std::move(items))) {}

Tree::Tree(const std::vector<std::pair<std::string, Tensor>>& tensors) {
  std::vector<Item> items;
  for (const auto& [name, tensor] : tensors) items.push_back({name, tensor});
  value_ = std::make_shared<Dict>(std::move(items));
}

const Tree::Dict* Tree::dict_or_null() const {
  const auto* dict = get_if<std::shared_ptr<Dict>>();
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

const Foreign* Tree::foreign() const {
  const auto* object = get_if<std::shared_ptr<const Foreign>>();
  return object ? object->get() : nullptr;
}

void Tree::fail(const char* what, const char* expected) const {
  throw TypeError("{} must be {}, not {}", what, expected, kind());
}

namespace {

/// Calls `read` with the tree, or with what an object of another language converts to.
template <typename Read>
auto read_native(const Tree& tree, const Read& read) {
  const Foreign* object = tree.foreign();
  return object ? read(object->convert()) : read(tree);
}

template <typename T>
std::optional<T> copy_of(const T* value) {
  return value ? std::optional<T>(*value) : std::nullopt;
}

}  // namespace

bool Tree::is_text() const {
  return read_native(*this, [](const Tree& tree) { return tree.get_if<std::string>() != nullptr; });
}

bool Tree::is_number() const {
  return read_native(*this, [](const Tree& tree) { return tree.get_if<int64_t>() || tree.get_if<double>(); });
}

bool Tree::is_sequence() const {
  return read_native(*this, [](const Tree& tree) { return tree.items_or_null() != nullptr; });
}

bool Tree::as_bool(const char* what) const {
  const auto read = [](const Tree& tree) -> std::optional<bool> {
    if (const int64_t* value = tree.get_if<int64_t>()) return *value != 0;
    return copy_of(tree.get_if<bool>());
  };
  if (const auto value = read_native(*this, read)) return *value;
  fail(what, "a bool");
}

int64_t Tree::as_integer(const char* what) const {
  const auto read = [](const Tree& tree) -> std::optional<int64_t> {
    if (const bool* value = tree.get_if<bool>()) return *value ? 1 : 0;
    return copy_of(tree.get_if<int64_t>());
  };
  if (const auto value = read_native(*this, read)) return *value;
  fail(what, "an integer");
}

double Tree::as_real(const char* what) const {
  const auto read = [](const Tree& tree) -> std::optional<double> {
    if (const int64_t* value = tree.get_if<int64_t>()) return static_cast<double>(*value);
    if (const bool* value = tree.get_if<bool>()) return *value ? 1 : 0;
    return copy_of(tree.get_if<double>());
  };
  if (const auto value = read_native(*this, read)) return *value;
  fail(what, "a number");
}

std::string Tree::as_text(const char* what) const {
  const auto read = [](const Tree& tree) { return copy_of(tree.get_if<std::string>()); };
  if (auto value = read_native(*this, read)) return *std::move(value);
  fail(what, "text");
}

Dtype Tree::as_dtype(const char* what) const {
  const auto read = [](const Tree& tree) { return copy_of(tree.get_if<Dtype>()); };
  if (const auto value = read_native(*this, read)) return *value;
  fail(what, "a dtype");
}

Tensor Tree::as_tensor(const char* what) const {
  if (const auto* value = get_if<Tensor>()) return *value;
  fail(what, "a tensor");
}

Tensor Tree::as_optional_tensor(const char* what) const { return is_none() ? Tensor() : as_tensor(what); }

Tree::List Tree::as_items(const char* what) const {
  const auto read = [](const Tree& tree) { return copy_of(tree.items_or_null()); };
  if (auto items = read_native(*this, read)) return *std::move(items);
  fail(what, "a list or a tuple");
}

Shape Tree::as_shape(const char* what) const {
  return read_native(*this, [&](const Tree& tree) {
    const List* items = tree.items_or_null();
    if (!items) return Shape{as_integer(what)};
    Shape shape;
    for (const Tree& item : *items) shape.push_back(item.as_integer(what));
    return shape;
  });
}

const Tree::Dict& Tree::as_dict(const char* what) const {
  if (const Dict* dict = dict_or_null()) return *dict;
  fail(what, "a dict");
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

namespace {

template <typename T>
bool are_same(const T& a, const T& b) {
  return a == b;
}
bool are_same(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
/// Guards compare trees while a call is recorded: nothing is reported to the recording.
bool are_same(const Tensor& a, const Tensor& b) { return ref_of(a) == ref_of(b); }
bool are_same(const Tree::List& a, const Tree::List& b) { return std::ranges::equal(a, b, &Tree::is_same); }
bool are_same(const Tree::Tuple& a, const Tree::Tuple& b) { return are_same(a.items, b.items); }
bool are_same(const std::shared_ptr<Tree::Dict>& a, const std::shared_ptr<Tree::Dict>& b) {
  return std::ranges::equal(
      *a, *b, [](const Tree::Item& x, const Tree::Item& y) { return x.key == y.key && x.value.is_same(y.value); });
}

}  // namespace

bool Tree::is_same(const Tree& other) const {
  return value_.index() == other.value_.index() &&
         std::visit([&]<typename T>(const T& value) { return are_same(value, *other.get_if<T>()); }, value_);
}

std::string Tree::kind() const {
  constexpr const char* kKinds[] = {"None",     "a bool", "an integer", "a float", "text",     "a dtype",
                                    "a tensor", "a list", "a tuple",    "a dict",  "an object"};
  static_assert(std::size(kKinds) == std::variant_size_v<Value>);
  const Foreign* object = foreign();
  return object ? object->kind() : kKinds[value_.index()];
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
