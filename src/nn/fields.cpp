#include <lucid/nn/fields.h>

#include "base/error.h"

namespace lucid::nn {

void from_tree(const Tree& tree, const char* name, bool& value) { value = tree.as_bool(name); }
void from_tree(const Tree& tree, const char* name, int64_t& value) { value = tree.as_integer(name); }
void from_tree(const Tree& tree, const char* name, double& value) { value = tree.as_real(name); }
void from_tree(const Tree& tree, const char* name, std::string& value) { value = tree.as_text(name); }
void from_tree(const Tree& tree, const char* name, Shape& value) { value = tree.as_shape(name); }
void from_tree(const Tree& tree, const char* name, std::vector<double>& value) {
  value.clear();
  if (!tree.is_sequence())
    value.push_back(tree.as_real(name));
  else
    for (const Tree& item : tree.as_items()) value.push_back(item.as_real(name));
}
void from_tree(const Tree& tree, const char* name, Tensor& value) { value = tree.as_optional_tensor(name); }
void from_tree(const Tree& tree, const char*, Tree& value) {
  const auto* list = tree.get_if<Tree::List>();
  value = list ? Tree(Tree::Tuple{*list}) : tree;
}

bool Fields::set(Module& module, std::string_view name, const Tree& value) {
  Fields visitor(Mode::kSet, name);
  visitor.value_ = value;
  try {
    module.fields(visitor);
  } catch (const TypeError& error) {
    throw TypeError("{}: {}", module.type_name(), error.what());
  }
  if (visitor.found_) module.changed();
  return visitor.found_;
}

}  // namespace lucid::nn
