// Guards of Lucid's own modules and optimizers.

#include "capture/libraries.h"

#include <lucid/nn/fields.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "base/error.h"
#include "bindings/optim.h"
#include "capture/object_guards.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"

namespace lucid::python {
namespace {

using Parts = std::vector<ModuleGuard::Part>;

Parts parts_of(const std::vector<nn::NamedSlot>& slots) {
  Parts parts;
  for (const nn::NamedSlot& named : slots)
    parts.push_back({named.name, TensorRef(named.slot.impl()), named.persistent});
  return parts;
}

PyObject* weak_reference(PyObject* object) { return checked(PyWeakref_NewRef(object, nullptr)).release().ptr(); }

/// The object, or null if it is gone. Borrowed.
PyObject* object_behind(PyObject* reference) {
  PyObject* object = PyWeakref_GET_OBJECT(reference);
  return object == Py_None ? nullptr : object;
}

bool is_same(const std::weak_ptr<nn::HookEntry>& before, const std::shared_ptr<nn::HookEntry>& now) {
  return !before.owner_before(now) && !now.owner_before(before);
}

/// The Python function of a hook; None if it has none.
nb::object function_of(const nn::HookEntry& entry) {
  const PythonHook* hook =
      std::visit([](const auto& function) { return function.template target<PythonHook>(); }, entry.function);
  return hook ? hook->function.get() : nb::none();
}

/// The functions of hooks around forward, or of the others, which run during backward.
nb::list hook_functions(const nn::Module& module, bool around_forward) {
  nb::list functions;
  for (const auto& entry : module.hooks()) {
    const bool is_around_forward = std::holds_alternative<nn::ForwardPreHook>(entry->function) ||
                                   std::holds_alternative<nn::ForwardHook>(entry->function);
    if (is_around_forward == around_forward) functions.append(function_of(*entry));
  }
  return functions;
}

}  // namespace

// Tensors.

namespace {

/// The class of the tensor's gradient as Python sees it; null if there is no gradient.
PyTypeObject* gradient_class_of(TensorImpl& tensor) {
  const TensorRef found = gradient(tensor);
  if (!found) return nullptr;
  if (const auto* object = static_cast<const PyObject*>(found->python_object)) return Py_TYPE(object);
  return found->is_parameter() && parameter_type ? parameter_type : tensor_type;
}

}  // namespace

TensorGuard::TensorGuard(PyObject* object, std::string source, bool reads_grad)
    : object(Py_NewRef(object)),
      tensor(&tensor_in(object)),
      source(std::move(source)),
      reads_grad(reads_grad),
      gradient_class(reads_grad ? gradient_class_of(*tensor) : nullptr) {
  dtype = tensor->dtype();
  shape = tensor->sizes();
  strides = tensor->strides();
  device = tensor->device();
  wants_grad = requires_grad(*tensor);
}

bool TensorGuard::holds() const {
  return tensor->dtype() == dtype && tensor->sizes() == shape && tensor->strides() == strides &&
         tensor->device() == device && requires_grad(*tensor) == wants_grad &&
         (!reads_grad || gradient_class_of(*tensor) == gradient_class);
}

std::optional<Difference> TensorGuard::difference() const {
  if (holds()) return std::nullopt;
  const auto differ = [&](const char* name, const std::string& before, const std::string& now) {
    return Difference{source + "." + name, source + "." + name, before, now};
  };
  const auto text = [](bool value) { return std::string(value ? "True" : "False"); };
  if (tensor->dtype() != dtype || tensor->sizes() != shape)
    return differ("shape", to_string(TensorType{dtype, shape}), to_string(tensor->type()));
  if (requires_grad(*tensor) != wants_grad) return differ("requires_grad", text(wants_grad), text(!wants_grad));
  if (tensor->device() != device) return differ("device", to_string(device), to_string(tensor->device()));
  if (tensor->strides() != strides) return differ("strides", "some", "others");
  const auto name = [](PyTypeObject* type) {
    return !type ? "None" : type == tensor_type ? "a tensor" : type->tp_name;
  };
  return differ("grad", name(gradient_class), name(gradient_class_of(*tensor)));
}

// Modules.

ModuleGuard::ModuleGuard(PyObject* object, std::string source)
    : reference(nullptr), type(nullptr), attributes(nullptr), source(std::move(source)) {
  nn::Module& module = module_in(object);
  training = module.training();
  version = module.version();
  parameters = parts_of(module.parameter_slots());
  buffers = parts_of(module.buffer_slots());
  for (const nn::NamedChild& child : module.child_slots()) children.emplace_back(child.name, child.module.get());
  for (const auto& entry : module.hooks()) hooks.emplace_back(entry);
  settings = nn::Fields::list(module);
  attributes = Py_XNewRef(attributes_of(object));
  type = Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(object)));
  reference = weak_reference(object);
}

bool ModuleGuard::is_there() const {
  PyObject* object = object_behind(reference);
  return object && reinterpret_cast<PyObject*>(Py_TYPE(object)) == type && module_object(object).module &&
         module_object(object).attributes == attributes;
}

bool ModuleGuard::holds() const {
  if (!is_there()) return false;
  const uint64_t now = module_object(object_behind(reference)).module->version();
  if (now == version) return true;
  if (compare()) return false;
  version = now;
  return true;
}

std::optional<Difference> ModuleGuard::compare() const {
  nn::Module& module = *module_object(object_behind(reference)).module;
  const auto differ = [&](const std::string& name, std::string before, std::string now) {
    return Difference{source + "." + name, name, std::move(before), std::move(now)};
  };
  const auto text = [](bool value) { return value ? "True" : "False"; };
  if (module.training() != training) return differ("training", text(training), text(module.training()));
  const auto compare_parts = [&](const Parts& before, const std::vector<nn::NamedSlot>& now, const char* kind) {
    for (size_t i = 0; i < std::max(before.size(), now.size()); ++i) {
      if (i >= before.size()) return std::optional(differ(now[i].name, "missing", kind));
      if (i >= now.size() || now[i].name != before[i].name)
        return std::optional(differ(before[i].name, kind, "missing, or at another position"));
      const bool is_other = before[i].is_free ? !now[i].slot.impl() : now[i].slot.impl() != before[i].tensor.get();
      if (is_other || now[i].persistent != before[i].persistent)
        return std::optional(differ(before[i].name, std::string("one ") + kind, "another"));
    }
    return std::optional<Difference>();
  };
  if (auto found = compare_parts(parameters, module.parameter_slots(), "parameter")) return found;
  if (auto found = compare_parts(buffers, module.buffer_slots(), "buffer")) return found;
  const auto& modules = module.child_slots();
  for (size_t i = 0; i < std::max(children.size(), modules.size()); ++i) {
    if (i >= children.size()) return differ(modules[i].name, "missing", "a module");
    if (i >= modules.size() || modules[i].name != children[i].first)
      return differ(children[i].first, "a module", "missing, or at another position");
    if (modules[i].module.get() != children[i].second) return differ(children[i].first, "one module", "another");
  }
  const auto same_hook = [](const auto& before, const auto& now) { return is_same(before, now); };
  if (!std::equal(hooks.begin(), hooks.end(), module.hooks().begin(), module.hooks().end(), same_hook))
    return differ("hooks", std::to_string(hooks.size()) + " hooks",
                  std::to_string(module.hooks().size()) + " different hooks");
  for (const auto& [name, item] : nn::Fields::list(module)) {
    const auto before =
        std::find_if(settings.begin(), settings.end(), [&](const auto& entry) { return entry.first == name; });
    if (before != settings.end() && before->second.is_same(item)) continue;
    const nb::object now = from_tree(item);
    const nb::object old = before != settings.end() ? from_tree(before->second) : nb::none();
    return differ(name, value_text(old.ptr()), value_text(now.ptr()));
  }
  return std::nullopt;
}

std::optional<Difference> ModuleGuard::difference() const {
  PyObject* object = object_behind(reference);
  if (!object) return Difference{source, source, "a module", "gone"};
  if (reinterpret_cast<PyObject*>(Py_TYPE(object)) != type)
    return Difference{source + ".__class__", source, reinterpret_cast<PyTypeObject*>(type)->tp_name,
                      Py_TYPE(object)->tp_name};
  if (!is_there()) return Difference{source + ".__dict__", source, "one dict", "another"};
  return compare();
}

namespace {

/// A name as a Python object that lives for ever; modules have few.
PyObject* name_object(const std::string& name) {
  static auto* const objects = new std::unordered_map<std::string, PyObject*>();
  PyObject*& object = (*objects)[name];
  if (!object) object = checked(PyUnicode_FromStringAndSize(name.data(), std::ssize(name))).release().ptr();
  return object;
}

}  // namespace

bool ModuleGuard::add_writes(std::vector<Write>& writes) const {
  if (!difference()) return true;
  PyObject* const object = object_behind(reference);
  if (!is_there()) return false;
  const auto& now = module_object(object).module->buffer_slots();
  ModuleGuard others = *this;
  if (now.size() != buffers.size()) return false;
  for (size_t i = 0; i < now.size(); ++i) {
    const Part& before = buffers[i];
    if (before.is_free || now[i].name != before.name || now[i].slot.impl() == before.tensor.get()) continue;
    if (!now[i].slot.impl() || !before.tensor) return false;
    others.buffers[i].is_free = true;
    const Location location{Location::Kind::kBuffer, object, name_object(before.name)};
    writes.push_back(
        {location, source + "." + before.name, nb::steal(to_python(before.tensor)), nb::borrow(location.now())});
  }
  return !others.difference();
}

void ModuleGuard::release(PyObject* module, PyObject* name) {
  if (object_behind(reference) != module) return;
  for (Part& buffer : buffers) buffer.is_free |= buffer.name == PyUnicode_AsUTF8(name);
}

std::optional<Difference> GlobalHooksGuard::difference() const {
  if (holds()) return std::nullopt;
  return Difference{"the hooks of all modules", "hooks", "some functions", "others"};
}

nb::tuple describe_module(nb::handle object) {
  nn::Module& module = module_in(object.ptr());
  nb::list parameters;
  nb::list buffers;
  nb::list modules;
  for (const auto& [slots, list] :
       {std::pair(&module.parameter_slots(), &parameters), {&module.buffer_slots(), &buffers}})
    for (const nn::NamedSlot& named : *slots)
      if (named.slot.impl())
        list->append(nb::make_tuple(named.name.c_str(), nb::steal(object_in(const_cast<nn::TensorSlot&>(named.slot)))));
  for (const nn::NamedChild& child : module.child_slots())
    if (child.module) modules.append(nb::make_tuple(child.name.c_str(), nb::steal(to_python(*child.module))));
  return nb::make_tuple(parameters, buffers, modules, hook_functions(module, true), hook_functions(module, false));
}

nb::tuple global_hook_functions() {
  return nb::make_tuple(hook_functions(nn::global_hooks(), true), hook_functions(nn::global_hooks(), false));
}

// Optimizers.

OptimizerGuard::OptimizerGuard(PyObject* object, std::string source, std::vector<FoundTensor>& tensors)
    : reference(nullptr), source(std::move(source)) {
  const std::shared_ptr<optim::Optimizer> optimizer = optimizer_in(object);
  const auto found = [&](const Tensor& tensor, const std::string& where) {
    tensors.push_back({to_object(ref_of(tensor)), where});
  };
  version = optimizer->version();
  // Creating Python objects may run any Python code, which may change the optimizer.
  const auto now = optimizer->param_groups();
  for (const auto& group : now) {
    const std::string where = this->source + ".param_groups[" + std::to_string(groups.size()) + "]";
    Group& entry = groups.emplace_back();
    entry.group = group.get();
    entry.version = group->options.version();
    for (const Tensor& param : group->params) {
      found(param, where + "['params'][" + std::to_string(entry.params.size()) + "]");
      entry.params.emplace_back(param.impl());
      State& state = states.emplace_back();
      if (!optimizer->has_state(param)) continue;
      state.state = optimizer->state(param);
      state.has_values = state.state->empty();
      const Tree::Dict values = *state.state;
      for (const auto& [key, value] : values) {
        const auto& name = std::get<std::string>(key);
        state.entries.emplace_back(name, value);
        if (const auto* tensor = value.get_if<Tensor>())
          found(*tensor, this->source + ".state[" + std::to_string(states.size() - 1) + "]['" + name + "']");
        else
          state.has_values = true;
      }
    }
    for (const std::string& name : group->options.names()) {
      Option& option = entry.options.emplace_back();
      option.name = name;
      const Tree value = group->options.get(name);
      const Tree::List* items = value.items_or_null();
      const size_t cells = value.get_if<double>() || value.get_if<Tensor>() ? 1 : items ? items->size() : 0;
      try {
        for (size_t i = 0; i < cells; ++i) {
          const Tensor& cell = group->options.cell(name, i);
          option.cells.emplace_back(cell.impl());
          found(cell, where + "['" + name + "']");
        }
      } catch (const Error&) {
        // A tuple whose items are not numbers is guarded by value.
      }
      if (option.cells.empty())
        option.value = value;
      else
        option.is_zero = !group->options.cell_unless_zero(name).defined();
    }
  }
  reference = weak_reference(object);
}

std::optional<Difference> OptimizerGuard::compare(optim::Optimizer& optimizer) const {
  const auto differ = [&](const std::string& part, std::string before, std::string now) {
    return Difference{source + part, source, std::move(before), std::move(now)};
  };
  const auto& now = optimizer.param_groups();
  if (now.size() != groups.size())
    return differ(".param_groups", std::to_string(groups.size()), std::to_string(now.size()));
  const bool same_version = optimizer.version() == version;
  size_t number = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    const std::string where = ".param_groups[" + std::to_string(i) + "]";
    if (now[i].get() != group.group) return differ(where, "one group", "another");
    if (!std::equal(group.params.begin(), group.params.end(), now[i]->params.begin(), now[i]->params.end(),
                    [](const TensorRef& a, const Tensor& b) { return a.get() == b.impl(); }))
      return differ(where + "['params']", "some tensors", "others");
    const optim::Options& options = now[i]->options;
    if (options.version() != group.version) {
      const std::vector<std::string> names = options.names();
      if (names.size() != group.options.size()) return differ(where, "some options", "others");
      for (size_t k = 0; k < names.size(); ++k) {
        const Option& option = group.options[k];
        bool equal = names[k] == option.name;
        try {
          for (size_t c = 0; equal && c < option.cells.size(); ++c)
            equal = options.cell(option.name, c).impl() == option.cells[c].get();
        } catch (const Error&) {
          equal = false;
        }
        if (equal && option.cells.empty()) equal = options.get(option.name).is_same(option.value);
        if (equal && !option.cells.empty()) equal = option.is_zero == !options.cell_unless_zero(option.name).defined();
        if (!equal) return differ(where + "['" + option.name + "']", "one value", "another");
      }
      group.version = options.version();
    }
    for (const Tensor& param : now[i]->params) {
      const State& before = states[number++];
      if (!same_version) {
        const optim::Optimizer::State state = optimizer.has_state(param) ? optimizer.state(param) : nullptr;
        if (state != before.state) return differ(".state", "one dict", "another");
      }
    }
  }
  for (const State& before : states)
    if (!before.holds()) return differ(".state", "some values", "others");
  // Only now: from here on an unchanged version means unchanged state.
  version = optimizer.version();
  return std::nullopt;
}

bool OptimizerGuard::State::holds() const {
  if (!state) return true;
  const auto& items = state->items();
  return std::equal(entries.begin(), entries.end(), items.begin(), items.end(),
                    [](const auto& before, const Tree::Item& now) {
                      return std::get<std::string>(now.key) == before.first && before.second.is_same(now.value);
                    });
}

bool OptimizerGuard::holds() const {
  PyObject* object = object_behind(reference);
  if (!object) return false;
  const std::shared_ptr<optim::Optimizer> optimizer = optimizer_in(object);
  bool unchanged = optimizer->version() == version;
  for (const Group& group : groups) {
    if (!unchanged) break;
    unchanged = group.group->options.version() == group.version;
  }
  if (!unchanged) return !compare(*optimizer);
  return std::none_of(states.begin(), states.end(),
                      [](const State& before) { return before.has_values && !before.holds(); });
}

std::optional<Difference> OptimizerGuard::difference() const {
  PyObject* object = object_behind(reference);
  if (!object) return Difference{source, source, "an optimizer", "gone"};
  return compare(*optimizer_in(object));
}

}  // namespace lucid::python
