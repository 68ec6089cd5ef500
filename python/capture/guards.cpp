#include "capture/guards.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace lucid::python {

bool GuardSet::check(const PassedArguments& arguments) const {
  Inputs inputs;
  return hold(arguments, inputs);
}

bool GuardSet::check(const PassedArguments& arguments, std::span<TensorImpl* const> tensors, Inputs& inputs) const {
  inputs.clear();
  return hold(arguments, inputs) && stores_.find_inputs(inputs) && input_identity_.holds(tensors, inputs.pointers());
}

void GuardSet::set_inputs(std::span<TensorImpl* const> tensors, std::span<TensorImpl* const> inputs) {
  input_identity_.set(tensors, inputs);
}

bool GuardSet::hold(const PassedArguments& arguments, Inputs& inputs) const {
  if (cleared_) return false;
  const IdentityScope scope(compares_identity_);
  // Arguments come first: they are few, and differ most often.
  is_stale_ = false;
  if (!arguments_.empty() && !arguments_.hold(arguments, known_, inputs)) return false;
  const bool holds = std::apply(
      [](const auto&... kinds) {
        // Most kinds are empty.
        return ((kinds.empty() ||
                 std::all_of(kinds.begin(), kinds.end(), [](const auto& guard) { return guard.holds(); })) &&
                ...);
      },
      guards_);
  is_stale_ = !holds;
  return holds;
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
  return found ? found : stores_.difference();
}

namespace {

using Objects = std::unordered_set<PyObject*>;

template <typename Guard>
bool add_writes_of(const Guard& guard, std::vector<Write>&, const Objects&) {
  // Not holds(), which relies on versions that change at the next call.
  return !guard.difference();
}
bool add_writes_of(const DictGuard& guard, std::vector<Write>& writes, const Objects& made) {
  return guard.add_writes(writes, made);
}
bool add_writes_of(const SequenceGuard& guard, std::vector<Write>& writes, const Objects&) {
  return guard.add_writes(writes);
}
bool add_writes_of(const ModuleGuard& guard, std::vector<Write>& writes, const Objects&) {
  return guard.add_writes(writes);
}
bool add_writes_of(const SlotGuard& guard, std::vector<Write>& writes, const Objects&) {
  if (guard.holds()) return true;
  if (!guard.now()) return false;
  writes.push_back({guard.where(), guard.source, nb::borrow(guard.expected), nb::borrow(guard.now())});
  return true;
}

}  // namespace

std::optional<std::vector<Write>> GuardSet::writes(const std::unordered_set<PyObject*>& made) const {
  const IdentityScope scope(compares_identity_);
  std::vector<Write> writes;
  const auto add = [&](const auto& kind) {
    return std::all_of(kind.begin(), kind.end(), [&](const auto& guard) { return add_writes_of(guard, writes, made); });
  };
  const bool is_all = std::apply([&](const auto&... kinds) { return (add(kinds) && ...); }, guards_);
  return is_all ? std::optional(std::move(writes)) : std::nullopt;
}

namespace {

/// Removes guards and releases what they own.
template <typename Guard, typename Condition>
void drop_if(std::vector<Guard>& guards, const Condition& is_dropped) {
  for (size_t i = guards.size(); i-- > 0;) {
    if (!is_dropped(guards[i])) continue;
    Guard guard = std::move(guards[i]);
    guards.erase(guards.begin() + static_cast<std::ptrdiff_t>(i));
    guard.each([](PyObject* object) { Py_XDECREF(object); });
  }
}

}  // namespace

void GuardSet::release_items(PyObject* list) {
  drop_if(std::get<std::vector<SequenceGuard>>(guards_),
          [&](const SequenceGuard& guard) { return guard.holder == list; });
}

void GuardSet::release(const Location& location) {
  switch (location.kind) {
    case Location::Kind::kEntry:
      for (DictGuard& guard : std::get<std::vector<DictGuard>>(guards_))
        if (guard.dict == location.holder) guard.release(location.key);
      break;
    case Location::Kind::kItem:
      for (SequenceGuard& guard : std::get<std::vector<SequenceGuard>>(guards_))
        if (guard.holder == location.holder) guard.release(location.offset);
      break;
    case Location::Kind::kCell:
    case Location::Kind::kSlot:
      drop_if(std::get<std::vector<SlotGuard>>(guards_),
              [&](const SlotGuard& guard) { return guard.where() == location; });
      break;
    case Location::Kind::kBuffer:
      for (ModuleGuard& guard : std::get<std::vector<ModuleGuard>>(guards_))
        guard.release(location.holder, location.key);
      break;
    case Location::Kind::kEnd:
      release_items(location.holder);
  }
}

void GuardSet::release(PyObject* tensor) {
  drop_if(std::get<std::vector<TensorGuard>>(guards_),
          [&](const TensorGuard& guard) { return guard.object == tensor; });
}

void GuardSet::accept_numbers(PyObject* dict, PyObject* name) {
  for (DictGuard& guard : std::get<std::vector<DictGuard>>(guards_))
    if (guard.dict == dict && guard.names) guard.accept_numbers(name);
}

void GuardSet::vary(const Location& location, std::string name) {
  add<NumberGuard>(location, std::move(name));
  release(location);
}

std::optional<Difference> GuardSet::argument_difference(const PassedArguments& arguments) const {
  if (arguments_.empty()) return std::nullopt;
  const IdentityScope scope(compares_identity_);
  return arguments_.difference(arguments, known_);
}

std::string GuardSet::site_of(const std::string& source) const {
  if (!sites_.is_valid()) return {};
  // Names that occur in code come before the first bracket; the last one is tried first.
  std::string_view rest = std::string_view(source).substr(0, source.find('['));
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

std::string GuardSet::failed(const PassedArguments& arguments) const {
  if (cleared_) return "the plan's guards were cleared";
  std::optional<Difference> found = difference();
  if (!found) found = argument_difference(arguments);
  if (!found) return {};
  std::string text = found->source + ": was " + found->before + ", is ";
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
  stores_.each([&](const Location& location) { visit_one(location.holder), visit_one(location.key); });
  visit_one(sites_.ptr());
  visit_one(memory_.ptr());
  for (PyObject* object : remembered_) visit_one(object);
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
  stores_.clear();
  known_.clear();
  sites_.reset();
  memory_.reset();
  for (PyObject* object : std::exchange(remembered_, {})) Py_DECREF(object);
}

void GuardSet::remember(nb::object memory, const std::vector<nb::object>& objects) {
  memory_ = std::move(memory);
  std::vector<PyObject*> before = std::exchange(remembered_, {});
  remembered_.reserve(objects.size());
  for (const nb::object& object : objects) remembered_.push_back(Py_NewRef(object.ptr()));
  for (PyObject* object : before) Py_DECREF(object);
}

namespace {

PyObject* copy_of_tuple(PyObject* tuple) {
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  PyObject* const copy = checked(PyTuple_New(size)).release().ptr();
  for (Py_ssize_t i = 0; i < size; ++i) PyTuple_SET_ITEM(copy, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  return copy;
}

/// Makes a copied guard an owner of what it refers to.
template <typename Guard>
void own(Guard& guard) {
  guard.each([](PyObject* object) { Py_XINCREF(object); });
}
// The guard alone owns `expected`.
void own(DictGuard& guard) {
  guard.expected = guard.names ? checked(PyDict_Copy(guard.expected)).release().ptr() : copy_of_tuple(guard.expected);
  Py_INCREF(guard.dict);
  Py_XINCREF(guard.names);
}
void own(SequenceGuard& guard) {
  guard.expected = copy_of_tuple(guard.expected);
  Py_INCREF(guard.holder);
}

}  // namespace

void GuardSet::add_state_of(const GuardSet& other) {
  const auto add_kind = [&](const auto& kind) {
    using Kind = std::remove_cvref_t<decltype(kind)>;
    Kind& own_kind = std::get<Kind>(guards_);
    own_kind.reserve(own_kind.size() + kind.size());
    for (auto guard : kind) {
      own(guard);
      own_kind.push_back(std::move(guard));
    }
  };
  std::apply([&](const auto&... kinds) { (add_kind(kinds), ...); }, other.guards_);
  known_.insert(other.known_.begin(), other.known_.end());
  sites_ = other.sites_;
  compares_identity_ = other.compares_identity_;
}

}  // namespace lucid::python
