#include "bindings/parts.h"

#include <nanobind/stl/string.h>

#include <algorithm>

#include "tensor/observer.h"

namespace lucid::python {

Parts::Scope::Scope(Parts* parts, nb::handle recorder, Use use)
    : before_(t_scope), parts_(parts), recorder_(recorder), use_(use), call_(parts ? ++parts->calls_ : 0) {
  t_scope = this;
}

Parts::Scope::~Scope() {
  t_scope = before_;
  if (parts_ && !parts_->parts_.empty()) parts_->drop_unused(call_);
}

Parts::Part* Parts::find(PyObject* owner) {
  const auto found = std::ranges::find(parts_, owner, &Part::owner);
  return found == parts_.end() ? nullptr : &*found;
}

bool Parts::runs(PyObject* owner) {
  if (owner == owner_) return false;
  Part* part = find(owner);
  // Another thread may make a later call of the function.
  if (part) part->used = std::max(part->used, t_scope->call_);
  if (t_scope->use_ == Use::kNote || eager_observer()) return false;
  if (!part) {
    if (parts_.size() == kMaxParts)
      std::erase_if(parts_, [](const Part& each) { return !each.compiled.is_valid() && !each.is_given_up; });
    if (parts_.size() == kMaxParts) return false;
    part = &parts_.emplace_back(Part{.owner = owner, .used = t_scope->call_});
  }
  if (part->is_given_up || ++part->calls == 1) return false;
  if (part->calls % kCallsUntilMeasured == 0 && part->compiled.is_valid() && is_small(part->compiled)) {
    part->is_given_up = true;
    const nb::object small = std::move(part->compiled);
    return false;
  }
  return true;
}

void Parts::drop_unused(uint64_t call) {
  std::vector<nb::object> dropped;  // destroyed once the list is complete: that may run any code
  for (Part& part : parts_) {
    if (!part.compiled.is_valid() || part.used >= call) continue;
    dropped.push_back(std::move(part.compiled));
    part.is_given_up = ++part.drops == kMaxDrops;
  }
}

int Parts::traverse(visitproc visit, void* arg) const {
  for (const Part& part : parts_) Py_VISIT(part.compiled.ptr());
  return 0;
}

std::string Parts::explain() const {
  std::string text;
  for (const Part& part : parts_)
    if (part.compiled.is_valid()) text += "\npart " + nb::cast<std::string>(part.compiled.attr("explain_plans")());
  return text;
}

}  // namespace lucid::python
