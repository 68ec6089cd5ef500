#include "bindings/python_plan.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/gil.h"
#include "bindings/jit.h"
#include "bindings/recorded_call.h"
#include "bindings/tensor_object.h"
#include "capture/reachability.h"

namespace lucid::python {

namespace {

std::vector<uint32_t> varying_positions(nb::handle numbers) {
  return numbers.is_none() ? std::vector<uint32_t>() : nb::cast<std::vector<uint32_t>>(numbers[1]);
}

}  // namespace

PythonPlan::PythonPlan(const jit::CallKey& key, nb::handle made, nb::list classes)
    : TablePlan(take_program(nb::cast<RecordedCallHandle&>(made.attr("call"))), key,
                varying_positions(made.attr("varying"))),
      shown_key_(made.attr("key")),
      guards_object_(made.attr("guards")),
      make_result_(made.attr("make_result")),
      classes_(std::move(classes)),
      guard_set_(&guards_in(guards_object_)) {
  sources = nb::cast<std::vector<std::string>>(made.attr("sources"));
  guards = guard_set_->size();
  const nb::object numbers = made.attr("varying");
  if (const nb::object calls = made.attr("repeat"); !calls.is_none()) {
    repeat_ = calls[0];
    replayed = nb::cast<std::vector<std::string>>(calls[1]);
  }
  if (numbers.is_none()) return;
  numbers_object_ = numbers[0];
  if (!numbers_object_.is_none()) numbers_ = &nb::cast<NumberProgram&>(numbers_object_);
  varying = nb::cast<std::vector<std::string>>(numbers[2]);
}

PythonPlan::~PythonPlan() {
  nb::object* const held[] = {&shown_key_, &guards_object_, &make_result_, &classes_, &numbers_object_, &repeat_};
  if (!Py_IsInitialized()) {
    for (nb::object* object : held) object->release();
    return;
  }
  const GilAcquire lock;
  for (nb::object* object : held) object->reset();
}

nb::object PythonPlan::make(jit::CallResults& results) const {
  if (make_result_.is_none()) return nb::steal(to_python(results.take(0)));
  const nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), to_python(results.take(i)));
  return checked(PyObject_CallOneArg(make_result_.ptr(), list.ptr()));
}

std::vector<PyObject*> PythonPlan::stored_in(nb::handle made) const {
  const Py_ssize_t end = PyTuple_GET_SIZE(made.ptr()) - (repeat_.is_valid() ? 1 : 0);
  std::vector<PyObject*> values;
  for (Py_ssize_t i = 1; i < end; ++i) values.push_back(PyTuple_GET_ITEM(made.ptr(), i));
  return values;
}

PyObject* PythonPlan::rebuild(jit::CallResults& results) const {
  if (make_result_.is_none()) [[likely]]
    return to_python(results.take(0));
  nb::object made = make(results);
  if (!makes_tuple()) return made.release().ptr();
  guard_set_->stores().set(stored_in(made));
  if (repeat_.is_valid()) repeat_(nb::handle(PyTuple_GET_ITEM(made.ptr(), PyTuple_GET_SIZE(made.ptr()) - 1)));
  return Py_NewRef(PyTuple_GET_ITEM(made.ptr(), 0));
}

nb::list PythonPlan::compared(jit::CallResults& results, const nb::object& result) const {
  const nb::object made = make(results);
  nb::list list;
  list.append(nb::make_tuple("the result", makes_tuple() ? nb::borrow(PyTuple_GET_ITEM(made.ptr(), 0)) : made, result));
  if (makes_tuple()) list.extend(guard_set_->stores().compared(stored_in(made)));
  return list;
}

nb::tuple PythonPlan::description() const {
  return nb::make_tuple(shown_key_, ProgramHandle{program}, guards_object_, sources);
}

int PythonPlan::traverse(visitproc visit, void* arg) const {
  Py_VISIT(shown_key_.ptr());
  Py_VISIT(guards_object_.ptr());
  Py_VISIT(make_result_.ptr());
  Py_VISIT(classes_.ptr());
  Py_VISIT(repeat_.ptr());
  return 0;
}

void PythonPlan::visit_references(ReferenceVisitor& visitor) const {
  using Role = ReferenceVisitor::Role;
  guard_set_->visit_references(visitor);
  visitor.object(make_result_.ptr(), Role::kPart);
  if (repeat_.is_valid()) visitor.object(repeat_.ptr(), Role::kPart);
  for (nb::handle type : classes_) visitor.object(type.ptr());
}

namespace {

void visit_plan(const jit::TablePlan& plan, ReferenceVisitor& visitor) {
  for (const TensorRef& tensor : plan.program->recorded().captured) visitor.tensor(tensor.get());
  // Those of calls from C++ have nothing else.
  if (const auto* python = dynamic_cast<const PythonPlan*>(&plan)) python->visit_references(visitor);
}

}  // namespace

void drop_unreachable_plans(jit::PlanTable& table) {
  std::vector<Ref<jit::TablePlan>> gone, suspects;
  for (Ref<jit::TablePlan>& plan : table.plans_now()) {
    const GuardSet& guards = as_python(*plan).guard_set();
    if (guards.is_obsolete())
      gone.push_back(std::move(plan));
    else if (!guards.holds_state() || !guards.arguments().empty())
      suspects.push_back(std::move(plan));
  }
  if (!suspects.empty()) {
    const auto visiting = [](const Ref<jit::TablePlan>& plan) {
      return [&plan](ReferenceVisitor& visitor) { visit_plan(*plan, visitor); };
    };
    Reachability reachability;
    for (const Ref<jit::TablePlan>& plan : suspects) reachability.add(visiting(plan));
    reachability.find_references();
    for (const Ref<jit::TablePlan>& plan : jit::plans_of_all_tables()) reachability.subtract(visiting(plan));
    reachability.spread();
    for (Ref<jit::TablePlan>& plan : suspects)
      if (!reachability.reaches(visiting(plan))) gone.push_back(std::move(plan));
  }
  if (!gone.empty()) table.remove(gone);
}

}  // namespace lucid::python
