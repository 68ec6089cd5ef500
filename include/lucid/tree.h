#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)

namespace lucid {

/// Something that only the language around the library understands, such as a Python object.
class Foreign {
 public:
  virtual ~Foreign() = default;
};

/// Plain data that may hold tensors: what state_dict() gives and save() writes. None, a bool, a number, text, a tensor,
/// a list, a tuple, or a dict that keeps its order, with text or integers for keys.
class Tree {
 public:
  using List = std::vector<Tree>;
  struct Tuple {
    List items;
  };
  using Key = std::variant<int64_t, std::string>;
  struct Item;
  class Dict;

  Tree() = default;
  Tree(bool value) : value_(value) {}                                 // NOLINT
  Tree(int value) : value_(int64_t{value}) {}                         // NOLINT
  Tree(int64_t value) : value_(value) {}                              // NOLINT
  Tree(double value) : value_(value) {}                               // NOLINT
  Tree(const char* value) : value_(std::string(value)) {}             // NOLINT
  Tree(std::string value) : value_(std::move(value)) {}               // NOLINT
  Tree(Tensor value) : value_(std::move(value)) {}                    // NOLINT
  Tree(List items) : value_(std::move(items)) {}                      // NOLINT
  Tree(Tuple items) : value_(std::move(items)) {}                     // NOLINT
  Tree(Dict items);                                                   // NOLINT
  Tree(std::shared_ptr<Foreign> value) : value_(std::move(value)) {}  // NOLINT

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  /// Null when it is something else. Dicts: dict_or_null().
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }
  template <typename T>
  T* get_if() {
    return std::get_if<T>(&value_);
  }
  const Dict* dict_or_null() const;
  Dict* dict_or_null();
  /// The items of a list or a tuple; null when it is neither.
  const List* items_or_null() const;

  // These throw TypeError when it is something else; `what` says in the message what it stands for.
  bool as_bool(const char* what) const;
  int64_t as_integer(const char* what) const;
  /// Integers too.
  double as_real(const char* what) const;
  const std::string& as_text(const char* what) const;
  const Tensor& as_tensor(const char* what) const;
  const List& as_items(const char* what) const;
  const Dict& as_dict(const char* what) const;

  /// A number that is no bool.
  bool is_number() const { return get_if<int64_t>() || get_if<double>(); }
  /// What messages call it: "a tensor", "a list".
  const char* kind() const;

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, Tensor, List, Tuple, std::shared_ptr<Dict>,
               std::shared_ptr<Foreign>>
      value_;
};

struct Tree::Item {
  Key key;
  Tree value;
};

/// The items of a dict in the order in which they were first set.
class Tree::Dict {
 public:
  Dict() = default;
  Dict(std::initializer_list<Item> items);  // NOLINT
  /// The keys must differ.
  explicit Dict(std::vector<Item> items);

  const Tree* find(const Key& key) const;
  Tree* find(const Key& key);
  bool has(const Key& key) const { return find(key) != nullptr; }
  /// Throws ValueError when there is none.
  const Tree& at(const Key& key) const;
  /// Made if there is none.
  Tree& operator[](const Key& key);
  /// False if there was none.
  bool erase(const Key& key);

  const std::vector<Item>& items() const { return items_; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  std::vector<Item>::const_iterator begin() const { return items_.begin(); }
  std::vector<Item>::const_iterator end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
};

/// A key as messages show it.
std::string to_string(const Tree::Key& key);

}  // namespace lucid

#pragma GCC visibility pop
