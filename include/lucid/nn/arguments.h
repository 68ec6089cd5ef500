#pragma once

#include "lucid/tree.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

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
  std::vector<Tree> positional;
  std::vector<std::pair<std::string, Tree>> named;

  Arguments() = default;
  Arguments(std::vector<Tree> trees) : positional(std::move(trees)) {}  // NOLINT

  /// The arguments in the order of `names`, none for missing ones. Throws TypeError, naming the function, for unknown
  /// or repeated arguments, or if one of the first `required` is missing.
  std::vector<Tree> bind(const std::string& function, const std::vector<std::string>& names, size_t required) const;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
