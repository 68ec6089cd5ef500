#include "bindings/autograd.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/stack.h"
#include "bindings/convert.h"
#include "bindings/gil.h"
#include "bindings/pure.h"
#include "tensor/autograd_meta.h"
#include "tensor/engine.h"
#include "tensor/function.h"
#include "tensor/grad_mode.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// The tensors of a sequence. With `allow_none`, None becomes a null reference.
std::vector<TensorRef> to_tensors(const char* function, nb::handle sequence, bool allow_none) {
  std::vector<TensorRef> tensors;
  const nb::object items = checked(PySequence_Tuple(sequence.ptr()));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(items.ptr()); ++i) {
    PyObject* item = PyTuple_GET_ITEM(items.ptr(), i);
    if (allow_none && item == Py_None)
      tensors.emplace_back();
    else
      tensors.emplace_back(&expect_tensor(function, item));
  }
  return tensors;
}

nb::object to_tuple(std::span<const TensorRef> tensors) {
  nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(tensors.size())));
  for (size_t i = 0; i < tensors.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), to_python_or_none(tensors[i]));
  return tuple;
}

/// A Python function as a gradient hook. May be called and destroyed on any thread.
struct PythonHook {
  SharedObject function;

  Value operator()(const Value& gradient) const {
    const GilAcquire lock;
    const nb::object result = function.get()(nb::steal(to_python(gradient)));
    if (result.is_none()) return {};
    return Value(TensorRef(&expect_tensor("hook", result.ptr())));
  }
};

GradientHook to_hook(nb::object function) { return PythonHook{SharedObject(std::move(function))}; }

/// The Python function of a hook if `hook` is its only owner; null otherwise.
PyObject* owned_function(const HookRef& hook) {
  if (hook.use_count() != 1) return nullptr;
  const auto* python = hook->peek().target<PythonHook>();
  return python && python->function.is_unique() ? python->function.get().ptr() : nullptr;
}

/// The `ctx` of a custom function. Its methods act on the forward or backward call that is running.
struct FunctionCtx {
  FunctionContext* active = nullptr;

  FunctionContext& context() const {
    if (!active) throw RuntimeError("ctx: can be used only while forward or backward runs");
    return *active;
  }
};

class ActiveContext {
 public:
  ActiveContext(FunctionCtx& ctx, FunctionContext& context)
      : ctx_(ctx), previous_(std::exchange(ctx.active, &context)) {}
  ActiveContext(const ActiveContext&) = delete;
  ActiveContext& operator=(const ActiveContext&) = delete;
  ~ActiveContext() { ctx_.active = previous_; }

 private:
  FunctionCtx& ctx_;
  FunctionContext* previous_;
};

nb::object call_with(const nb::object& function, const nb::object& first, nb::handle rest) {
  const nb::object arguments = checked(PyTuple_New(PyTuple_GET_SIZE(rest.ptr()) + 1));
  PyTuple_SET_ITEM(arguments.ptr(), 0, Py_NewRef(first.ptr()));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(rest.ptr()); ++i)
    PyTuple_SET_ITEM(arguments.ptr(), i + 1, Py_NewRef(PyTuple_GET_ITEM(rest.ptr(), i)));
  return checked(PyObject_Call(function.ptr(), arguments.ptr(), nullptr));
}

/// Converts the return value of a custom function: one or several tensors, or None with `allow_none`.
std::vector<TensorRef> to_results(const std::string& name, const nb::object& returned, bool allow_none) {
  if (PyTuple_Check(returned.ptr()) || PyList_Check(returned.ptr()))
    return to_tensors(name.c_str(), returned, allow_none);
  if (allow_none && returned.is_none()) return {TensorRef()};
  return {TensorRef(&expect_tensor(name.c_str(), returned.ptr()))};
}

/// Copies lists, dicts and tuples (exact types only) recursively. Returns other objects unchanged.
nb::object copy_containers(nb::handle value) {
  check_stack("autograd.Function");
  if (PyList_CheckExact(value.ptr())) {
    nb::list copy;
    for (nb::handle item : nb::borrow<nb::list>(value)) copy.append(copy_containers(item));
    return copy;
  }
  if (PyDict_CheckExact(value.ptr())) {
    nb::dict copy;
    for (auto [name, item] : nb::borrow<nb::dict>(value)) copy[name] = copy_containers(item);
    return copy;
  }
  if (PyTuple_CheckExact(value.ptr())) return nb::tuple(copy_containers(nb::list(nb::borrow(value))));
  return nb::borrow(value);
}

/// The state that a custom function's forward passes to its backward.
struct FunctionParts {
  std::string name;
  SharedObject function;
  /// The attributes of ctx.
  SharedObject attributes;
};

/// Runs `function.backward` with the ctx of forward, or with a new ctx for a copied node. May be copied without holding
/// the GIL.
class PythonBackward {
 public:
  PythonBackward(std::shared_ptr<const FunctionParts> parts, std::optional<SharedObject> ctx)
      : parts_(std::move(parts)), ctx_(std::make_shared<std::optional<SharedObject>>(std::move(ctx))) {}

  const FunctionParts& parts() const { return *parts_; }

  std::vector<TensorRef> operator()(FunctionContext& context, std::span<const TensorRef> gradients) const {
    const GilAcquire lock;
    if (!*ctx_) {
      nb::object made = nb::cast(FunctionCtx());
      for (auto [name, value] : nb::borrow<nb::dict>(copy_containers(parts_->attributes.get())))
        check_status(PyObject_SetAttr(made.ptr(), name.ptr(), value.ptr()));
      *ctx_ = SharedObject(std::move(made));
    }
    const nb::object ctx = (*ctx_)->get();
    const ActiveContext active(nb::cast<FunctionCtx&>(ctx), context);
    const nb::object backward = parts_->function.get().attr("backward");
    return to_results(parts_->name, call_with(backward, ctx, to_tuple(gradients)), true);
  }

  /// The backward function for another call with the same recording.
  CustomFunction copy() const {
    CustomFunction function;
    function.name = parts_->name;
    PythonBackward backward = *ctx_ ? PythonBackward(frozen(), std::nullopt) : PythonBackward(parts_, std::nullopt);
    function.copy = [backward](NodeCloner&) { return backward.copy(); };
    function.backward = std::move(backward);
    return function;
  }

 private:
  /// The parts with a copy of ctx's current attributes.
  std::shared_ptr<const FunctionParts> frozen() const {
    const GilAcquire lock;
    const nb::object attributes = (*ctx_)->get().attr("__dict__");
    return std::make_shared<const FunctionParts>(
        FunctionParts{parts_->name, parts_->function, SharedObject(copy_containers(attributes))});
  }

  std::shared_ptr<const FunctionParts> parts_;
  std::shared_ptr<std::optional<SharedObject>> ctx_;
};

/// Runs `function.forward` and registers `function.backward` for the gradients of its results.
nb::object apply(nb::object function, nb::object arguments) {
  const std::string name = nb::cast<std::string>(function.attr("__name__"));
  nb::object ctx = nb::cast(FunctionCtx());
  std::vector<TensorRef> inputs;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments.ptr()); ++i)
    inputs.emplace_back(tensor_or_null(PyTuple_GET_ITEM(arguments.ptr(), i)));
  const bool separate_setup = nb::hasattr(function, "setup_context");
  bool single = true;

  CustomFunction custom;
  custom.name = name;
  // Called once, before this function returns.
  custom.forward = [&](FunctionContext& context, std::span<const TensorRef>) {
    const ActiveContext active(nb::cast<FunctionCtx&>(ctx), context);
    const nb::object forward = function.attr("forward");
    nb::object returned;
    if (separate_setup) {
      returned = checked(PyObject_Call(forward.ptr(), arguments.ptr(), nullptr));
      function.attr("setup_context")(ctx, arguments, returned);
    } else {
      returned = call_with(forward, ctx, arguments);
    }
    single = !PyTuple_Check(returned.ptr()) && !PyList_Check(returned.ptr());
    return to_results(name, returned, false);
  };
  const PythonBackward backward(
      std::make_shared<const FunctionParts>(FunctionParts{name, SharedObject(function), SharedObject()}),
      SharedObject(ctx));
  custom.backward = backward;
  custom.copy = [backward](NodeCloner&) { return backward.copy(); };
  const std::vector<TensorRef> results = apply_function(custom, inputs);
  return single ? to_object(results.front()) : to_tuple(results);
}

std::string node_name(const Edge& edge) { return class_name_of(*edge.node); }

void bind_nodes(nb::module_& module) {
  nb::class_<Edge>(module, "Node", "A recorded operation.")
      .def("name", node_name, "The name of the operation.")
      .def("__repr__", [](const Edge& edge) { return "<" + node_name(edge) + ">"; })
      .def("__eq__", [](const Edge& edge, const Edge& other) { return edge == other; })
      .def("__hash__", [](const Edge& edge) { return std::hash<const void*>()(edge.node.get()); })
      .def_prop_ro(
          "next_functions",
          [](const Edge& edge) {
            nb::list nodes;
            for (const Edge& next : edge.node->edges())
              nodes.append(nb::make_tuple(next ? nb::cast(next) : nb::none(), next.output));
            return nb::tuple(nodes);
          },
          "The nodes that receive the gradients: (node, index of its result) for each operand.");
  nb::class_<HookHandle>(module, "HookHandle", "Removes a registered hook.")
      .def("remove", &HookHandle::remove, "Removes the hook. Further calls have no effect.")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](HookHandle& self, const nb::args&) { self.remove(); });
  declare_pure(module, module.attr("Node"));
  declare_pure(module, module.attr("HookHandle"));
}

void bind_function(nb::module_& module) {
  nb::class_<FunctionCtx>(module, "FunctionCtx", nb::dynamic_attr(),
                          "State that a custom function carries from forward to backward.")
      .def(
          "save_for_backward",
          [](FunctionCtx& self, const nb::args& tensors) {
            self.context().save_for_backward(to_tensors("save_for_backward", tensors, true));
          },
          "Saves tensors, with their current values, for backward.")
      .def_prop_ro(
          "saved_tensors", [](FunctionCtx& self) { return to_tuple(self.context().saved_tensors()); },
          "The tensors passed to save_for_backward.")
      .def_prop_ro(
          "needs_input_grad",
          [](FunctionCtx& self) {
            nb::list needed;
            for (const bool needs : self.context().needed()) needed.append(needs);
            return nb::tuple(needed);
          },
          "For each argument, whether its gradient is needed.")
      .def(
          "mark_non_differentiable",
          [](FunctionCtx& self, const nb::args& tensors) {
            self.context().mark_non_differentiable(to_tensors("mark_non_differentiable", tensors, false));
          },
          "Marks results that have no gradient.")
      .def(
          "set_materialize_grads", [](FunctionCtx& self, bool on) { self.context().set_materialize_grads(on); },
          "value"_a, "Whether backward receives zeros (the default) or None for results without a gradient.");
  module.def("apply_function", apply, "function"_a, "arguments"_a);
}

}  // namespace

void list_shared_objects(const GradNode& node, nb::list& objects) {
  for (const HookList::Entry& entry : node.hooks())
    if (const auto* python = entry.hook->peek().target<PythonHook>())
      objects.append(nb::make_tuple("a gradient hook", python->function.get()));
  const CustomFunction* custom = custom_function_of(node);
  const auto* backward = custom ? custom->backward.target<PythonBackward>() : nullptr;
  if (!backward) return;
  for (auto [name, value] : nb::borrow<nb::dict>(backward->parts().attributes.get()))
    objects.append(nb::make_tuple("ctx." + nb::cast<std::string>(name) + " of " + backward->parts().name, value));
}

nb::list gradient_hook_functions(const TensorImpl& tensor) {
  nb::list functions;
  const auto add = [&](const std::vector<HookList::Entry>& entries) {
    for (const HookList::Entry& entry : entries) {
      const GradientHook hook = entry.hook->get();
      if (const auto* python = hook.target<PythonHook>()) functions.append(python->function.get());
    }
  };
  const AutogradMeta* meta = tensor.autograd();
  if (meta && meta->accumulator) add(meta->accumulator->hooks());
  if (meta && meta->slot) add(meta->slot->after_accumulate.entries());
  return functions;
}

int traverse_tensor(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const TensorImpl& tensor = tensor_in(self);
  const AutogradMeta* meta = tensor.autograd();
  if (!meta || tensor.use_count() != 1) return 0;
  const auto visit_hook = [&](const HookList::Entry& entry) {
    Py_VISIT(owned_function(entry.hook));
    return 0;
  };
  for (GradNode* node : {meta->edge.node.get(), static_cast<GradNode*>(meta->accumulator.get())}) {
    if (!node || node->use_count() != 1 || !node->is_observed()) continue;
    if (!node->hook_list()) continue;
    if (const int status = node->hook_list()->for_each(visit_hook)) return status;
  }
  const bool shares_slot = meta->slot && meta->slot->use_count() > (meta->accumulator ? 2u : 1u);
  const bool shares_accumulator = meta->accumulator && meta->accumulator->use_count() != 1;
  if (!meta->slot || shares_slot || shares_accumulator) return 0;
  return meta->slot->after_accumulate.for_each(visit_hook);
}

void bind_autograd(nb::module_& module) {
  bind_nodes(module);
  bind_function(module);
  module.def("is_grad_enabled", &GradMode::enabled, "Whether operations are recorded for gradients.");
  module.def("is_inference_mode_enabled", &GradMode::inference, "Whether inference_mode is on.");
  module.def("set_grad_mode", [](bool enabled, bool inference) {
    GradMode::set_enabled(enabled);
    GradMode::set_inference(inference);
  });
  module.def(
      "backward",
      [](nb::handle outputs, nb::handle gradients, bool retain_graph, bool create_graph, nb::handle inputs) {
        const std::vector<TensorRef> from = to_tensors("backward", outputs, false);
        const std::vector<TensorRef> weights = to_tensors("backward", gradients, true);
        const std::vector<TensorRef> to = to_tensors("backward", inputs, false);
        backward(from, weights, {.retain_graph = retain_graph, .create_graph = create_graph}, to);
      },
      "outputs"_a, "gradients"_a, "retain_graph"_a, "create_graph"_a, "inputs"_a);
  module.def(
      "grad",
      [](nb::handle outputs, nb::handle inputs, nb::handle gradients, bool retain_graph, bool create_graph,
         bool allow_unused) {
        const std::vector<TensorRef> from = to_tensors("grad", outputs, false);
        const std::vector<TensorRef> to = to_tensors("grad", inputs, false);
        const std::vector<TensorRef> weights = to_tensors("grad", gradients, true);
        return to_tuple(
            grad(from, to, weights, {.retain_graph = retain_graph, .create_graph = create_graph}, allow_unused));
      },
      "outputs"_a, "inputs"_a, "gradients"_a, "retain_graph"_a, "create_graph"_a, "allow_unused"_a);
  module.def(
      "register_hook",
      [](nb::handle tensor, nb::object hook) {
        // The objects it holds are checked before a copy runs: see list_shared_objects().
        return register_hook(expect_tensor("register_hook", tensor.ptr()), to_hook(std::move(hook)), true);
      },
      "tensor"_a, "hook"_a);
  module.def(
      "register_post_accumulate_hook",
      [](nb::handle tensor, nb::object hook) {
        return register_post_accumulate_hook(expect_tensor("register_post_accumulate_grad_hook", tensor.ptr()),
                                             to_hook(std::move(hook)));
      },
      "tensor"_a, "hook"_a);
  module.def("live_nodes", &GradNode::live, "The number of gradient nodes of this thread that are alive. For tests.");
}

}  // namespace lucid::python
