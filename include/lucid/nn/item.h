#pragma once

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

class Item;

/// An object of another language that passes through unchanged, and can say what it is to us.
class Foreign {
 public:
  virtual ~Foreign() = default;
  /// The object as a number, a string, a tensor, none or a tuple of objects. Throws TypeError for anything else.
  virtual Item convert() const = 0;
  /// Calls it, if it is a function. Throws TypeError otherwise.
  virtual Item call(const std::vector<Item>& arguments) const = 0;
};

/// What modules take and give besides single tensors: nothing, a number, a string, a dtype, a tensor, a tuple of such,
/// or an object of another language. The readers convert, and throw TypeError when they cannot.
class Item {
 public:
  using Tuple = std::vector<Item>;

  Item() = default;
  Item(bool value) : value_(value) {}                                       // NOLINT
  Item(int value) : value_(static_cast<int64_t>(value)) {}                  // NOLINT
  Item(int64_t value) : value_(value) {}                                    // NOLINT
  Item(double value) : value_(value) {}                                     // NOLINT
  Item(const char* value) : value_(std::string(value)) {}                   // NOLINT
  Item(std::string value) : value_(std::move(value)) {}                     // NOLINT
  Item(Dtype value) : value_(value) {}                                      // NOLINT
  Item(Tensor value);                                                       // NOLINT
  Item(Tuple value) : value_(std::move(value)) {}                           // NOLINT
  Item(const Shape& shape);                                                 // NOLINT
  Item(std::shared_ptr<const Foreign> value) : value_(std::move(value)) {}  // NOLINT

  bool is_none() const;
  bool is_tensor() const;
  bool is_string() const;
  bool is_number() const;
  /// A tuple, also one of another language.
  bool is_tuple() const;
  bool to_bool() const;
  int64_t to_int() const;
  double to_double() const;
  std::string to_string() const;
  Dtype to_dtype() const;
  /// None gives no tensor.
  Tensor to_tensor() const;
  Tuple to_tuple() const;
  /// One integer or a tuple of them.
  Shape to_shape() const;

  /// The object of another language, if it is one.
  const Foreign* foreign() const;

  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, Dtype, Tensor, Tuple,
                             std::shared_ptr<const Foreign>>;
  const Value& value() const { return value_; }

 private:
  /// Itself, or what a foreign object converts to.
  Item native() const;
  [[noreturn]] void fail(const char* wanted) const;

  Value value_;
};

/// The arguments of a call.
struct Arguments {
  std::vector<Item> positional;
  std::vector<std::pair<std::string, Item>> named;

  Arguments() = default;
  Arguments(std::vector<Item> items) : positional(std::move(items)) {}  // NOLINT

  /// The arguments in the order of these names, none where one is missing. Throws TypeError, naming the function, for
  /// unknown and repeated arguments, and when one of the first `required` is missing.
  std::vector<Item> bind(const std::string& function, const std::vector<std::string>& names, size_t required) const;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
