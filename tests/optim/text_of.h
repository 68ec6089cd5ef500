#pragma once

#include <lucid/tree.h>

#include <string>

namespace lucid {

/// Plain data as text, for comparison.
inline std::string text_of(const Tree& value) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (const auto* flag = value.get_if<bool>()) return *flag ? "true" : "false";
  if (value.is_number()) return std::to_string(value.as_real("a number") * 1e12);
  std::string text = value.kind();
  if (const Tree::List* items = value.items_or_null())
    for (const Tree& item : *items) text += " " + text_of(item);
  if (const Tree::Dict* dict = value.dict_or_null())
    for (const auto& [key, item] : *dict) text += " " + to_string(key) + "=" + text_of(item);
  return text;
}

}  // namespace lucid
