#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)

namespace lucid {

class Tree;

/// An object of another language, such as Python. It passes through unchanged.
class Foreign {
 public:
  virtual ~Foreign() = default;
  /// The type for messages: "a str".
  virtual std::string kind() const = 0;
  /// The object as a number, string, dtype, tensor, or a list or tuple of objects; itself if it is none of these.
  virtual Tree convert() const = 0;
  /// Calls the object. Throws TypeError if it is not a function.
  virtual Tree call(const std::vector<Tree>& arguments) const = 0;
};

/// A value of any type: none, a bool, a number, a string, a dtype, a tensor, a list, a tuple, an ordered dict whose
/// keys are strings or integers, or an object of another language. Modules take and return trees, options are trees,
/// and save() writes them. Braces make a tuple: `.stride = {2, 1}`.
class Tree {
 public:
  using List = std::vector<Tree>;
  struct Tuple {
    List items;
  };
  using Key = std::variant<int64_t, std::string>;
  struct Item;
  class Dict;
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, Dtype, Tensor, List, Tuple,
                             std::shared_ptr<Dict>, std::shared_ptr<const Foreign>>;

  // Constructors and copies are not inline: those of a variant take long to compile.
  Tree() noexcept;
  Tree(const Tree& other);
  Tree(Tree&& other) noexcept;
  Tree& operator=(const Tree& other);
  Tree& operator=(Tree&& other) noexcept;
  ~Tree();
  Tree(std::nullopt_t) noexcept;                                     // NOLINT
  Tree(bool value);                                                  // NOLINT
  Tree(int value);                                                   // NOLINT
  Tree(int64_t value);                                               // NOLINT
  Tree(double value);                                                // NOLINT
  Tree(const char* value);                                           // NOLINT
  Tree(std::string value);                                           // NOLINT
  Tree(Dtype value);                                                 // NOLINT
  Tree(Tensor value);                                                // NOLINT, none if it is undefined
  Tree(List items);                                                  // NOLINT
  Tree(Tuple items);                                                 // NOLINT
  Tree(std::initializer_list<Tree> tuple);                           // NOLINT
  Tree(const Shape& tuple);                                          // NOLINT
  Tree(const std::vector<double>& tuple);                            // NOLINT
  Tree(Dict items);                                                  // NOLINT
  Tree(const std::vector<std::pair<std::string, Tensor>>& tensors);  // NOLINT
  Tree(std::shared_ptr<const Foreign> value);                        // NOLINT

  const Value& value() const { return value_; }
  /// The value, or null if the tree has another type. For dicts use dict_or_null().
  template <typename T>
  const T* get_if() const {
    return std::get_if<T>(&value_);
  }
  const Dict* dict_or_null() const;
  Dict* dict_or_null();
  /// The items of a list or a tuple; null for any other type.
  const List* items_or_null() const;
  /// The object of another language; null if it is not one.
  const Foreign* foreign() const;

  // The functions below convert an object of another language first.

  bool is_none() const { return get_if<std::monostate>() != nullptr; }
  bool is_tensor() const { return get_if<Tensor>() != nullptr; }
  bool is_text() const;
  /// Whether it is an integer or a float. Bools do not count.
  bool is_number() const;
  /// Whether it is a list or a tuple.
  bool is_sequence() const;

  // These throw TypeError if the tree has another type. The message starts with `what`, the name of the value.

  /// Accepts integers too, as Python does.
  bool as_bool(const char* what = "the value") const;
  /// Accepts bools too.
  int64_t as_integer(const char* what = "the value") const;
  /// Accepts integers and bools too.
  double as_real(const char* what = "the value") const;
  std::string as_text(const char* what = "the value") const;
  Dtype as_dtype(const char* what = "the value") const;
  Tensor as_tensor(const char* what = "the value") const;
  /// An undefined tensor for none.
  Tensor as_optional_tensor(const char* what = "the value") const;
  /// The items of a list or a tuple.
  List as_items(const char* what = "the value") const;
  /// From one integer, or a list or tuple of integers.
  Shape as_shape(const char* what = "the value") const;
  const Dict& as_dict(const char* what = "the value") const;
  /// The items of a dict that maps names to tensors, such as the state of a module.
  std::vector<std::pair<std::string, Tensor>> as_named_tensors(const char* what = "the value") const;

  /// Whether both hold equal values and the same tensors and objects. Floats are compared by their bits.
  bool is_same(const Tree& other) const;
  /// The type for messages: "a tensor", "a list".
  std::string kind() const;

 private:
  /// Throws TypeError.
  [[noreturn]] void fail(const char* what, const char* expected) const;

  Value value_;
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

/// An option as a tree: none if it is not given.
template <typename T>
Tree tree_of(const T& value) {
  return value;
}
template <typename T>
Tree tree_of(const std::optional<T>& value) {
  return value ? Tree(*value) : Tree();
}

}  // namespace lucid

#pragma GCC visibility pop
