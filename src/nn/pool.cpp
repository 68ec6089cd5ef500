#include <lucid/nn/pool.h>

#include <algorithm>

#include "base/error.h"
#include "nn/call_op.h"
#include "nn/dependency.h"
#include "nn/repr.h"

namespace lucid::nn {
namespace {

/// The number of dimensions of the windows, which is part of the op's name: "max_unpool2d".
int64_t dimensions_of(const std::string& op) { return op[op.find("pool") + 4] - '0'; }

std::string shown(const Settings& settings, std::initializer_list<std::string_view> names) {
  std::string text;
  for (const auto& [name, item] : settings) {
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    if (!text.empty()) text += ", ";
    text += name + "=" + tree_text(item);
  }
  return text;
}

}  // namespace

Tensor MaxPool::forward(const Tensor& input) { return apply(op_name(), {input}).front(); }

Tree MaxPool::forward_with(const Arguments& arguments) {
  if (!setting("return_indices").as_bool("return_indices")) return OpModule::forward_with(arguments);
  const auto items = arguments.bind(type_name() + ".forward", {"input"}, 1);
  const std::vector<Tensor> both = apply(op_name() + "_with_indices", {items[0].as_tensor("input")});
  return {both[0], both[1]};
}

std::string MaxPool::extra_repr() const {
  return shown(settings_, {"kernel_size", "stride", "padding", "dilation", "ceil_mode"});
}

std::string AvgPool::extra_repr() const { return shown(settings_, {"kernel_size", "stride", "padding"}); }

std::vector<Tensor> AdaptivePool::pooled(const Tensor& input) {
  const int64_t dimensions = dimensions_of(op_name());
  const Tree wanted = setting("output_size");
  Shape size;
  if (wanted.is_sequence()) {
    const Tree::List items = wanted.as_items();
    if (static_cast<int64_t>(items.size()) != dimensions)
      throw ValueError("{}: output_size must be one number or {}, got {}", type_name(), dimensions, items.size());
    for (int64_t d = 0; d < dimensions; ++d) {
      const Tree& item = items[static_cast<size_t>(d)];
      size.push_back(item.is_none() ? int64_t{input.size(d - dimensions)} : item.as_integer("output_size"));
    }
  } else {
    size = Shape(static_cast<size_t>(dimensions), wanted.as_integer("output_size"));
  }
  return call_ops(op_name(), {input}, {{"output_size", size}});
}

Tensor AdaptivePool::forward(const Tensor& input) { return pooled(input).front(); }

Tree AdaptivePool::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind(type_name() + ".forward", {"input"}, 1);
  const std::vector<Tensor> results = pooled(items[0].as_tensor("input"));
  if (!setting("return_indices").as_bool("return_indices")) return results[0];
  if (results.size() < 2) throw ValueError("{}: there are no indices to return", type_name());
  return {results[0], results[1]};
}

std::string AdaptivePool::extra_repr() const { return shown(settings_, {"output_size"}); }

Tree MaxUnpool::forward_with(const Arguments& arguments) {
  on_use(*this);
  const auto items = arguments.bind(type_name() + ".forward", {"input", "indices", "output_size"}, 2);
  Settings settings = settings_;
  if (!items[2].is_none()) {
    Shape size = items[2].as_shape("output_size");
    const int64_t dimensions = dimensions_of(op_name());
    if (std::ssize(size) > dimensions) size.erase(size.begin(), size.end() - dimensions);
    settings.emplace_back("output_size", size);
  }
  return call_op(op_name(), {items[0].as_tensor("input"), items[1].as_tensor("indices")}, settings);
}

}  // namespace lucid::nn
