#include "bindings/op_function.h"

#include <structmember.h>

#include "base/error.h"
#include "bindings/arguments.h"
#include "bindings/random.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"
#include "tensor/random.h"
#include "tensor/transfer.h"

namespace lucid::python {
namespace {

struct OpObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  const Op* op;
  const ArgumentReader* reader;  // never freed, like the op table
  OpForm form;
};

PyTypeObject* function_type = nullptr;
PyTypeObject* method_type = nullptr;
PyTypeObject* result_types[1 << 12] = {};  // by op id; null for ops with one result

OpObject& self_of(PyObject* self) { return *reinterpret_cast<OpObject*>(self); }

/// The tensor that `make` returns, on the device that the caller asked for. Functions such as zeros_like() make it on
/// the device of their operand.
template <typename Make>
TensorRef on_device(const CallArguments& call, const Make& make) {
  if (!call.device) return TensorRef(tensor_of(make()));
  const DeviceScope scope(*call.device);
  return to_device(TensorRef(tensor_of(make())), *call.device);
}

PyObject* call_op(PyObject* callable, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    const OpObject& self = self_of(callable);
    CallArguments call;
    self.reader->read(arguments, PyVectorcall_NARGS(flagged_count), keyword_names, call);
    return results_to_python(*self.op, eager().emit(*self.op, call.operands, call.attributes));
  });
}

/// y * alpha in the dtype of the result of `op` on x and y, as PyTorch computes it.
Value scaled(const Op& op, std::span<const Operand> operands, const Operand& alpha) {
  const Dtype dtype = infer_types(Call(op, operands, {}))[0].dtype;
  const Dtype given = alpha.dtype();
  if (is_float(given) && !is_float(dtype))
    throw TypeError("{}: alpha is a float, but the tensors hold {}; convert them to a float", op.name(),
                    name_of(dtype));
  if (given == Dtype::kBool && dtype != Dtype::kBool)
    throw TypeError("{}: alpha is a bool, but the tensors hold {}", op.name(), name_of(dtype));
  const Operand& y = operands[1];
  const Value value = y.is_scalar() ? eager().full(Dims{}, y, dtype) : eager().to(y, dtype);
  if (dtype == Dtype::kBool && alpha.is_scalar()) return eager().mul(value, alpha.scalar().to_int() != 0);
  return eager().mul(value, dtype == Dtype::kBool ? Operand(eager().to(alpha, dtype)) : alpha);
}

PyObject* call_scaled(PyObject* callable, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    const OpObject& self = self_of(callable);
    CallArguments call;
    self.reader->read(arguments, PyVectorcall_NARGS(flagged_count), keyword_names, call);
    if (!call.alpha.present()) return to_python(eager().emit_one(*self.op, call.operands, call.attributes));
    const Value second = scaled(*self.op, call.operands, call.alpha);
    call.operands[1] = Operand(second);
    return to_python(eager().emit_one(*self.op, call.operands, call.attributes));
  });
}

PyObject* call_factory(PyObject* callable, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    const OpObject& self = self_of(callable);
    CallArguments call;
    self.reader->read(arguments, PyVectorcall_NARGS(flagged_count), keyword_names, call);
    TensorRef result = on_device(call, [&] { return eager().emit_one(*self.op, call.operands, call.attributes); });
    if (call.requires_grad) {
      result = detach(*result);
      set_requires_grad(*result, true);
    }
    return to_python(std::move(result));
  });
}

PyObject* call_random(PyObject* callable, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    const OpObject& self = self_of(callable);
    CallArguments call;
    self.reader->read(arguments, PyVectorcall_NARGS(flagged_count), keyword_names, call);
    GeneratorImpl& generator = generator_or_default(self.reader->name().c_str(), call.generator);
    const TensorRef result =
        on_device(call, [&] { return generator.sample(*self.op, call.operands, call.attributes).front(); });
    if (call.requires_grad) set_requires_grad(*result, true);
    return results_to_python(*self.op, {Value(result)});
  });
}

PyObject* call_in_place(PyObject* callable, PyObject* const* arguments, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    const OpObject& self = self_of(callable);
    const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
    if (count == 0 || !tensor_or_null(arguments[0]))
      throw TypeError("{}: the first argument must be the tensor to write{}", self.reader->name(),
                      count == 0 ? "" : ", not " + describe(arguments[0]));
    CallArguments call;
    self.reader->read(arguments, count, keyword_names, call);
    Value second;
    if (call.alpha.present()) {
      second = scaled(*self.op, call.operands, call.alpha);
      call.operands[1] = Operand(second);
    }
    const std::span<const Operand> operands = call.operands;
    in_place(*self.op, tensor_in(arguments[0]), operands.subspan(1), call.attributes);
    return Py_NewRef(arguments[0]);
  });
}

bool is_method(OpForm form) { return form == OpForm::kMethod || form == OpForm::kInPlace; }

std::string public_name(const OpObject& self) { return self.reader->name(); }

PyObject* op_repr(PyObject* self) {
  return guarded([&] {
    const bool method = is_method(self_of(self).form);
    return PyUnicode_FromFormat(method ? "<method 'Tensor.%s'>" : "<function 'lucid.%s'>",
                                public_name(self_of(self)).c_str());
  });
}

PyObject* op_bind(PyObject* self, PyObject* object, PyObject*) {
  return !object || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

PyObject* op_name(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(public_name(self_of(self)).c_str()); });
}

PyObject* op_qualified_name(PyObject* self, void*) {
  return guarded([&] {
    const bool method = is_method(self_of(self).form);
    return PyUnicode_FromString(((method ? "Tensor." : "") + public_name(self_of(self))).c_str());
  });
}

PyObject* op_module(PyObject*, void*) { return PyUnicode_FromString("lucid"); }

PyObject* op_doc(PyObject* self, void*) {
  return guarded([&] {
    const OpObject& object = self_of(self);
    if (object.form == OpForm::kInPlace)
      return PyUnicode_FromFormat("The in-place form of %s: writes the result into the tensor.",
                                  object.op->name().c_str());
    if (!object.op->takes_alpha()) return PyUnicode_FromString(object.op->doc.c_str());
    return PyUnicode_FromFormat("%s\n\nThe number `alpha`, 1 by default, multiplies `y` first.",
                                object.op->doc.c_str());
  });
}

/// The keywords that the function accepts in addition to the op's parameters.
const char* keywords_of(Extras extras) {
  switch (extras) {
    case Extras::kNone:
      return "";
    case Extras::kFactory:
      return "device=None, requires_grad=False";
    case Extras::kRandom:
      return "generator=None, device=None, requires_grad=False";
    case Extras::kAlpha:
      return "alpha=1";
  }
  return "";
}

/// "(x, dim=None, keepdim=False, *, dtype=None)".
PyObject* op_text_signature(PyObject* self, void*) {
  return guarded([&] {
    const OpObject& object = self_of(self);
    std::string text;
    bool keywords = false;
    const auto& parameters = object.op->schema.parameters;
    for (size_t i = object.form == OpForm::kRandom ? 1 : 0; i < parameters.size(); ++i) {
      const Parameter& parameter = parameters[i];
      if (!text.empty()) text += ", ";
      if (parameter.keyword_only && !std::exchange(keywords, true)) text += "*, ";
      text += parameter.name;
      if (!parameter.has_default && !parameter.optional) continue;
      const std::string value = attribute_text(parameter.default_value);
      text += "=" + (value == "none" ? "None" : value == "true" ? "True" : value == "false" ? "False" : value);
    }
    if (const std::string extras = keywords_of(object.reader->extras()); !extras.empty())
      text += (text.empty() ? "" : ", ") + std::string(keywords ? "" : "*, ") + extras;
    return PyUnicode_FromString(("(" + text + ")").c_str());
  });
}

/// The result of inspect.signature.
PyObject* op_signature(PyObject* self, void*) {
  return guarded([&] {
    const nb::object text = checked(op_text_signature(self, nullptr));
    const nb::object module = checked(PyImport_ImportModule("lucid._signature"));
    return PyObject_CallMethod(module.ptr(), "parse", "O", text.ptr());
  });
}

PyObject* op_schema(PyObject* self, void*) {
  return guarded([&] { return PyUnicode_FromString(self_of(self).op->schema.to_string().c_str()); });
}

PyObject* op_reduce(PyObject* self, PyObject*) { return op_qualified_name(self, nullptr); }

PyGetSetDef op_properties[] = {{"__name__", op_name, nullptr, nullptr, nullptr},
                               {"__qualname__", op_qualified_name, nullptr, nullptr, nullptr},
                               {"__module__", op_module, nullptr, nullptr, nullptr},
                               {"__doc__", op_doc, nullptr, nullptr, nullptr},
                               {"__text_signature__", op_text_signature, nullptr, nullptr, nullptr},
                               {"__signature__", op_signature, nullptr, nullptr, nullptr},
                               {"schema", op_schema, nullptr, "The op's signature in the table.", nullptr},
                               {}};
PyMemberDef op_members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpObject, vectorcall), READONLY, nullptr},
                            {}};
PyMethodDef op_methods[] = {{"__reduce__", op_reduce, METH_NOARGS, nullptr}, {}};

PyType_Slot function_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                                {Py_tp_members, op_members},
                                {Py_tp_getset, op_properties},
                                {Py_tp_methods, op_methods},
                                {0, nullptr}};
PyType_Slot method_slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                              {Py_tp_repr, reinterpret_cast<void*>(op_repr)},
                              {Py_tp_descr_get, reinterpret_cast<void*>(op_bind)},
                              {Py_tp_members, op_members},
                              {Py_tp_getset, op_properties},
                              {Py_tp_methods, op_methods},
                              {0, nullptr}};
constexpr unsigned kOpFlags =
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE;
PyType_Spec function_spec = {"lucid.op_function", sizeof(OpObject), 0, kOpFlags, function_slots};
PyType_Spec method_spec = {"lucid.op_method", sizeof(OpObject), 0, kOpFlags | Py_TPFLAGS_METHOD_DESCRIPTOR,
                           method_slots};

/// A named tuple for an op with several results: `lucid.return_types.max_dim(values=..., indices=...)`.
void make_result_type(const Op& op, nb::module_& types) {
  if (op.schema.results.empty()) return;
  LUCID_CHECK(op.id < std::size(result_types), "the op table is larger than expected");
  // Never freed: the type refers to the names.
  auto* fields = new std::vector<PyStructSequence_Field>;
  for (const std::string& result : op.schema.results) fields->push_back({result.c_str(), nullptr});
  fields->push_back({nullptr, nullptr});
  auto* name = new std::string("lucid.return_types." + op.name());
  PyStructSequence_Desc description = {name->c_str(), nullptr, fields->data(),
                                       static_cast<int>(op.schema.results.size())};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (!type) nb::detail::raise_python_error();
  result_types[op.id] = type;
  types.attr(op.name().c_str()) = nb::borrow(reinterpret_cast<PyObject*>(type));
}

template <typename F>
nb::tuple names_of(F chooses) {
  nb::list names;
  for (const Op& op : op_table().ops())
    if (chooses(op)) names.append(nb::str(op.name().c_str()));
  return nb::tuple(names);
}

}  // namespace

PyObject* make_op_function(const Op& op, OpForm form) {
  auto* object = PyObject_New(OpObject, is_method(form) ? method_type : function_type);
  if (!object) nb::detail::raise_python_error();
  object->op = &op;
  object->form = form;
  const bool factory = form == OpForm::kFunction && op.names.is_factory;
  const Extras extras = factory                   ? Extras::kFactory
                        : form == OpForm::kRandom ? Extras::kRandom
                        : op.takes_alpha()        ? Extras::kAlpha
                                                  : Extras::kNone;
  object->reader = new ArgumentReader(op, op.name() + (form == OpForm::kInPlace ? "_" : ""), extras);
  object->vectorcall = form == OpForm::kInPlace  ? call_in_place
                       : form == OpForm::kRandom ? call_random
                       : factory                 ? call_factory
                       : op.takes_alpha()        ? call_scaled
                                                 : call_op;
  return reinterpret_cast<PyObject*>(object);
}

PyObject* results_to_python(const Op& op, Values results) {
  if (op.schema.results.empty() && !op.schema.returns_list) return to_python(results.front());
  PyTypeObject* type = result_types[op.id];
  const auto count = static_cast<Py_ssize_t>(results.size());
  nb::object sequence = checked(type ? PyStructSequence_New(type) : PyTuple_New(count));
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(sequence.ptr(), i, to_python(results[static_cast<size_t>(i)]));
  return sequence.release().ptr();
}

void bind_ops(nb::module_& module) {
  function_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&function_spec)).release().ptr());
  method_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&method_spec)).release().ptr());
  nb::module_ types = module.def_submodule("return_types", "The named tuples that ops with several results return.");
  nb::dict functions;
  nb::dict random_ops;
  const nb::handle tensor_class(reinterpret_cast<PyObject*>(tensor_type));
  for (const Op& op : op_table().ops()) {
    make_result_type(op, types);
    functions[op.name().c_str()] = nb::steal(make_op_function(op, OpForm::kFunction));
    if (op.is_random()) random_ops[op.name().c_str()] = nb::steal(make_op_function(op, OpForm::kRandom));
    if (op.has_method()) nb::setattr(tensor_class, op.name().c_str(), nb::steal(make_op_function(op, OpForm::kMethod)));
    if (op.has_in_place_method())
      nb::setattr(tensor_class, (op.name() + "_").c_str(), nb::steal(make_op_function(op, OpForm::kInPlace)));
  }
  module.attr("ops") = functions;
  module.attr("random_ops") = random_ops;
  module.attr("public_ops") = names_of([](const Op& op) { return op.is_public(); });
  module.attr("factories") = names_of([](const Op& op) { return op.names.is_factory; });
  module.attr("inplace_functions") = names_of([](const Op& op) { return op.names.takes_inplace; });
}

}  // namespace lucid::python
