// Hooks of modules that Python code adds.

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/module_object.h"
#include "bindings/pure.h"
#include "nn/hooks.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

template <typename Hook>
void set_function(nn::HookEntry& entry, PythonHook hook) {
  entry.function.emplace<Hook>(std::move(hook));
}

/// Indexed by hook kind, in the order of the alternatives of HookEntry::function.
constexpr void (*kSetters[])(nn::HookEntry&, PythonHook) = {
    set_function<nn::ForwardPreHook>,       set_function<nn::ForwardHook>,          set_function<nn::BackwardHook>,
    set_function<nn::BackwardPreHook>,      set_function<nn::StateDictPreHook>,     set_function<nn::StateDictHook>,
    set_function<nn::LoadStateDictPreHook>, set_function<nn::LoadStateDictPostHook>};

}  // namespace

nb::object add_hook(nn::Module& module, PyObject* const* arguments) {
  const int64_t kind = to_int({"hook", "kind"}, arguments[0]);
  if (!PyCallable_Check(arguments[1])) throw TypeError("hook: expected a function, not {}", describe(arguments[1]));
  if (kind < 0 || kind >= static_cast<int64_t>(std::size(kSetters))) throw ValueError("hook: unknown kind {}", kind);
  auto entry = std::make_shared<nn::HookEntry>();
  kSetters[kind](*entry, PythonHook{SharedObject(nb::borrow(arguments[1])), flag(arguments[2])});
  entry->always_call = flag(arguments[3]);
  return nb::cast(module.add_hook(std::move(entry), flag(arguments[4])));
}

nb::list hooks_of(const nn::Module& module) {
  nb::list list;
  for (const auto& entry : module.hooks()) {
    const PythonHook* hook =
        std::visit([](const auto& function) { return function.template target<PythonHook>(); }, entry->function);
    if (hook)
      list.append(
          nb::make_tuple(entry->function.index(), hook->function.get(), hook->with_kwargs, entry->always_call, false));
  }
  return list;
}

void bind_module_hooks(nb::module_& module) {
  nb::class_<nn::HookRemover>(module, "ModuleHookHandle", "Removes a registered hook.")
      .def("remove", &nn::HookRemover::remove, "Removes the hook. Further calls have no effect.")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](nn::HookRemover& self, const nb::args&) { self.remove(); });
  declare_pure(module, module.attr("ModuleHookHandle"));
  module.def("add_module_hook", [](const nb::args& arguments) {
    std::vector<PyObject*> given;
    for (const nb::handle argument : arguments) given.push_back(argument.ptr());
    check_count(5, static_cast<Py_ssize_t>(given.size()));
    return add_hook(nn::global_hooks(), given.data());
  });
}

}  // namespace lucid::python
