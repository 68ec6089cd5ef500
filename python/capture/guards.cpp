#include "capture/guards.h"

#include <algorithm>
#include <string_view>

namespace lucid::python {

bool GuardSet::check(const CallArguments& arguments) const {
  if (cleared_) return false;
  if (!compares_identity_) return hold(arguments);
  const IdentityScope scope(true);
  return hold(arguments);
}

bool GuardSet::hold(const CallArguments& arguments) const {
  const bool holds = std::apply(
      [](const auto&... kinds) {
        // Most kinds are empty.
        return ((kinds.empty() ||
                 std::all_of(kinds.begin(), kinds.end(), [](const auto& guard) { return guard.holds(); })) &&
                ...);
      },
      guards_);
  return holds && (arguments_.empty() || arguments_.hold(arguments, known_));
}

std::optional<Difference> GuardSet::difference() const {
  const IdentityScope scope(compares_identity_);
  std::optional<Difference> found;
  const auto search = [&](const auto& kind) {
    for (const auto& guard : kind) {
      if (found) return;
      found = guard.difference();
    }
  };
  std::apply([&](const auto&... kinds) { (search(kinds), ...); }, guards_);
  return found;
}

std::optional<Difference> GuardSet::argument_difference(const CallArguments& arguments) const {
  if (arguments_.empty()) return std::nullopt;
  const IdentityScope scope(compares_identity_);
  return arguments_.difference(arguments, known_);
}

std::string GuardSet::site_of(const std::string& place) const {
  if (!sites_.is_valid()) return {};
  // Names that occur in code come before the first bracket; the last one is tried first.
  std::string_view rest = std::string_view(place).substr(0, place.find('['));
  while (!rest.empty()) {
    const size_t start = rest.find_last_of(". ");
    const std::string name(start == rest.npos ? rest : rest.substr(start + 1));
    PyObject* site = PyDict_GetItemString(sites_.ptr(), name.c_str());
    const char* text = site && PyUnicode_Check(site) ? PyUnicode_AsUTF8(site) : nullptr;
    PyErr_Clear();
    if (text) return text;
    rest = start == rest.npos ? std::string_view() : rest.substr(0, start);
  }
  return {};
}

std::string GuardSet::failed(const CallArguments& arguments) const {
  if (cleared_) return "the plan's guards were cleared";
  std::optional<Difference> found = difference();
  if (!found) found = argument_difference(arguments);
  if (!found) return {};
  std::string text = found->place + ": was " + found->before + ", is ";
  text += found->before == found->now ? "another" : found->now;
  if (const std::string site = site_of(found->name); !site.empty()) text += " (" + site + ")";
  return text;
}

size_t GuardSet::size() const {
  size_t total = arguments_.size();
  const auto count = [&](const auto& kind) {
    for (const auto& guard : kind) total += guard.size();
  };
  std::apply([&](const auto&... kinds) { (count(kinds), ...); }, guards_);
  return total;
}

int GuardSet::traverse(visitproc visit, void* arg) const {
  int status = 0;
  const auto visit_one = [&](PyObject* object) {
    if (object && status == 0) status = visit(object, arg);
  };
  const auto visit_kind = [&](const auto& kind) {
    for (const auto& guard : kind) const_cast<std::remove_cvref_t<decltype(guard)>&>(guard).each(visit_one);
  };
  std::apply([&](const auto&... kinds) { (visit_kind(kinds), ...); }, guards_);
  visit_one(sites_.ptr());
  return status ? status : arguments_.traverse(visit, arg);
}

void GuardSet::clear() {
  cleared_ = true;
  // Code that runs when an object is destroyed must not find the object here.
  const auto clear_kind = [](auto& kind) {
    auto dropped = std::move(kind);
    kind.clear();
    for (auto& guard : dropped) guard.each([](PyObject* object) { Py_XDECREF(object); });
  };
  std::apply([&](auto&... kinds) { (clear_kind(kinds), ...); }, guards_);
  arguments_.clear();
  known_.clear();
  sites_.reset();
}

}  // namespace lucid::python
