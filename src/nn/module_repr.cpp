#include <lucid/nn/module.h>

#include <cmath>

#include "base/error.h"
#include "base/stack.h"
#include "nn/bridge.h"
#include "nn/repr.h"

namespace lucid::nn {
namespace {

std::string indented(const std::string& text) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "  ";
  }
  return result;
}

std::string repr_of(const Module& module) {
  Bridge* bridge = Bridge::of(module);
  return bridge ? bridge->repr(module) : module.repr();
}

}  // namespace

std::string Module::repr() const {
  check_stack("repr");
  Bridge* bridge = Bridge::of(*this);
  const std::string extra = bridge ? bridge->extra_repr(*this) : extra_repr();
  const std::string name = bridge ? bridge->type_name(*this) : type_name();
  const bool one_line = children_.empty() && extra.find('\n') == std::string::npos;
  if (one_line) return name + "(" + extra + ")";
  std::string text = name + "(\n";
  if (!extra.empty()) text += "  " + indented(extra) + "\n";
  for (size_t i = 0; i < children_.size();) {
    const std::string child = children_[i].module ? indented(repr_of(*children_[i].module)) : "None";
    size_t end = i + 1;
    if (repeats_in_repr())
      while (end < children_.size() && children_[end].module && indented(repr_of(*children_[end].module)) == child)
        ++end;
    if (end > i + 1)
      text += fmt::format("  ({}-{}): {} x {}\n", children_[i].name, children_[end - 1].name, end - i, child);
    else
      text += fmt::format("  ({}): {}\n", children_[i].name, child);
    i = end;
  }
  return text + ")";
}

std::string number_text(double value) {
  if (value == static_cast<double>(static_cast<int64_t>(value)) && std::abs(value) < 1e15)
    return fmt::format("{:.1f}", value);
  // As Python writes floats: 1e-05, not 1e-5.
  return fmt::format("{}", value);
}

std::string tuple_text(const Shape& values) {
  std::string text = "(";
  for (size_t i = 0; i < values.size(); ++i) text += (i ? ", " : "") + std::to_string(values[i]);
  return text + (values.size() == 1 ? ",)" : ")");
}

}  // namespace lucid::nn
