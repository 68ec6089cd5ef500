#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)

namespace lucid {

/// An object that only the surrounding language understands, such as a Python object.
class Foreign {
 public:
  virtual ~Foreign() = default;
};

/// Nested plain data that may contain tensors, as returned by state_dict() and written by save(). A tree is none, a
/// bool, a number, a string, a tensor, a list, a tuple, or an ordered dict whose keys are strings or integers.
class Tree {
 public:
  using List = std::vector<Tree>;
  struct Tuple {
    List items;
  };
  using Key = std::variant<int64_t, std::string>;
  struct Item;
  class Dict;

  // Constructors and copies are not inline: those of a variant take long to compile.
  Tree() noexcept;
  Tree(const Tree& other);
  Tree(Tree&& other) noexcept;
  Tree& operator=(const Tree& other);
  Tree& operator=(Tree&& other) noexcept;
  ~Tree();
  Tree(bool value);                                                  // NOLINT
  Tree(int value);                                                   // NOLINT
  Tree(int64_t value);                                               // NOLINT
  Tree(double value);                                                // NOLINT
  Tree(const char* value);                                           // NOLINT
  Tree(std::string value);                                           // NOLINT
  Tree(Tensor value);                                                // NOLINT
  Tree(List items);                                                  // NOLINT
  Tree(Tuple items);                                                 // NOLINT
  Tree(Dict items);                                                  // NOLINT
  Tree(const std::vector<std::pair<std::string, Tensor>>& tensors);  // NOLINT
  Tree(std::shared_ptr<Foreign> value);                              // NOLINT

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  /// The value, or null if the tree has another type. For dicts use dict_or_null().
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
  /// The items of a list or a tuple; null for any other type.
  const List* items_or_null() const;

  // These throw TypeError if the tree has another type. The message starts with `what`, the name of the value.
  bool as_bool(const char* what) const;
  int64_t as_integer(const char* what) const;
  /// Accepts integers too.
  double as_real(const char* what) const;
  const std::string& as_text(const char* what) const;
  const Tensor& as_tensor(const char* what) const;
  const List& as_items(const char* what) const;
  const Dict& as_dict(const char* what) const;
  /// The items of a dict that maps names to tensors, such as the state of a module.
  std::vector<std::pair<std::string, Tensor>> as_named_tensors(const char* what) const;

  /// Whether it is an integer or a float. Bools do not count.
  bool is_number() const { return get_if<int64_t>() || get_if<double>(); }
  /// The type for messages: "a tensor", "a list".
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

/// An ordered dict. Items keep the order in which their keys were first set.
class Tree::Dict {
 public:
  Dict() = default;
  /// If a key occurs more than once, the last item counts.
  Dict(std::initializer_list<Item> items);  // NOLINT
  /// The keys must be unique.
  explicit Dict(std::vector<Item> items);

  /// Null if the key is missing.
  const Tree* find(const Key& key) const;
  Tree* find(const Key& key);
  bool has(const Key& key) const { return find(key) != nullptr; }
  /// Throws ValueError if the key is missing.
  const Tree& at(const Key& key) const;
  /// Inserts none if the key is missing.
  Tree& operator[](const Key& key);
  /// The old value is destroyed last: that may run code which changes the dict.
  void set(const Key& key, Tree value);
  /// Returns whether the key was present. The value is destroyed last.
  bool erase(const Key& key);

  const std::vector<Item>& items() const { return items_; }
  size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  std::vector<Item>::const_iterator begin() const { return items_.begin(); }
  std::vector<Item>::const_iterator end() const { return items_.end(); }

 private:
  std::vector<Item> items_;
};

/// A key as shown in messages.
std::string to_string(const Tree::Key& key);

}  // namespace lucid

#pragma GCC visibility pop
