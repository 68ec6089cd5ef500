#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

class Item;

/// An object of another language that passes through unchanged and can convert itself to an Item.
class Foreign {
 public:
  virtual ~Foreign() = default;
  /// The object as a number, string, tensor, none or tuple of objects. Throws TypeError for any other object.
  virtual Item convert() const = 0;
  /// Calls the object if it is a function. Throws TypeError otherwise.
  virtual Item call(const std::vector<Item>& arguments) const = 0;
};

/// An argument or result of a module: none, a number, a string, a dtype, a tensor, a tuple of items, or an object of
/// another language. The to_* functions convert, and throw TypeError if they cannot.
class Item {
 public:
  using Tuple = std::vector<Item>;

  // Constructors and copies are not inline: those of a variant take long to compile.
  Item() noexcept;
  Item(const Item& other);
  Item(Item&& other) noexcept;
  Item& operator=(const Item& other);
  Item& operator=(Item&& other) noexcept;
  ~Item();
  Item(std::nullopt_t) noexcept;               // NOLINT
  Item(bool value);                            // NOLINT
  Item(int value);                             // NOLINT
  Item(int64_t value);                         // NOLINT
  Item(double value);                          // NOLINT
  Item(const char* value);                     // NOLINT
  Item(std::string value);                     // NOLINT
  Item(Dtype value);                           // NOLINT
  Item(Tensor value);                          // NOLINT
  Item(Tuple value);                           // NOLINT
  Item(const Shape& shape);                    // NOLINT
  Item(std::shared_ptr<const Foreign> value);  // NOLINT

  bool is_none() const;
  bool is_tensor() const;
  bool is_string() const;
  bool is_number() const;
  /// Whether it is a tuple, of this or of another language.
  bool is_tuple() const;
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  std::string to_string() const;
  Dtype to_dtype() const;
  /// Returns an undefined tensor for none.
  Tensor to_tensor() const;
  Tuple to_tuple() const;
  /// From one integer or a tuple of integers.
  Shape to_shape() const;

  /// The object of another language; null if it is not one.
  const Foreign* foreign() const;

  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, Dtype, Tensor, Tuple,
                             std::shared_ptr<const Foreign>>;
  const Value& value() const { return value_; }

 private:
  /// The item itself, or the conversion of a foreign object.
  Item native() const;
  [[noreturn]] void fail(const char* wanted) const;

  Value value_;
};

/// An option that is an item; braces make a tuple: `.padding = "same"`, `.stride = 2`, `.output_size = {kNone, 7}`.
class Setting : public Item {
 public:
  using Item::Item;
  Setting(const Item& item) : Item(item) {}                           // NOLINT
  Setting(std::initializer_list<Item> items) : Item(Tuple(items)) {}  // NOLINT
};

/// An option that is one number or a list of numbers: `.kernel_size = 5`, `.kernel_size = {5, 3}`.
class Sizes : public Shape {
 public:
  Sizes() = default;
  Sizes(WholeNumber auto number) : Shape{static_cast<int64_t>(number)} {}  // NOLINT
  Sizes(std::initializer_list<int64_t> numbers) : Shape(numbers) {}        // NOLINT
  Sizes(Shape numbers) : Shape(std::move(numbers)) {}                      // NOLINT
};

/// The arguments of a call.
struct Arguments {
  std::vector<Item> positional;
  std::vector<std::pair<std::string, Item>> named;

  Arguments() = default;
  Arguments(std::vector<Item> items) : positional(std::move(items)) {}  // NOLINT

  /// The arguments in the order of `names`, none for missing ones. Throws TypeError, naming the function, for unknown
  /// or repeated arguments, or if one of the first `required` is missing.
  std::vector<Item> bind(const std::string& function, const std::vector<std::string>& names, size_t required) const;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
