#include <lucid/nn/fields.h>

#include "base/error.h"

namespace lucid::nn {

Item to_item(bool value) { return value; }
Item to_item(int64_t value) { return value; }
Item to_item(double value) { return value; }
Item to_item(const std::string& value) { return value; }
Item to_item(const Shape& value) { return value; }
Item to_item(const std::vector<double>& value) { return Item::Tuple(value.begin(), value.end()); }
Item to_item(const Tensor& value) { return value; }
Item to_item(const Item& value) { return value; }

void from_item(const Item& item, bool& value) { value = item.to_bool(); }
void from_item(const Item& item, int64_t& value) { value = item.to_int(); }
void from_item(const Item& item, double& value) { value = item.to_double(); }
void from_item(const Item& item, std::string& value) { value = item.to_string(); }
void from_item(const Item& item, Shape& value) { value = item.to_shape(); }
void from_item(const Item& item, std::vector<double>& value) {
  value.clear();
  if (item.is_tuple())
    for (const Item& part : item.to_tuple()) value.push_back(part.to_double());
  else
    value.push_back(item.to_double());
}
void from_item(const Item& item, Tensor& value) { value = item.to_tensor(); }
void from_item(const Item& item, Item& value) { value = item; }

bool Fields::set(Module& module, std::string_view name, const Item& item) {
  Fields visitor(Mode::kSet, name);
  visitor.item_ = item;
  try {
    module.fields(visitor);
  } catch (const TypeError& error) {
    throw TypeError("{}: '{}': {}", module.type_name(), name, error.what());
  }
  if (visitor.found_) module.changed();
  return visitor.found_;
}

}  // namespace lucid::nn
