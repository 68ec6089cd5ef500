#include "capture/op_log.h"

#include "bindings/tensor_object.h"

namespace lucid::python {

void OpLog::start() {
  before_ = set_eager_observer(this);
  running_ = true;
}

void OpLog::stop() {
  if (running_) set_eager_observer(before_);
  running_ = false;
}

OpLog::Given OpLog::given(TensorImpl* tensor) {
  if (const auto found = numbers_.find(tensor); found != numbers_.end()) return {.result = found->second};
  // A tensor that was saved for backward or detached is another tensor on the same memory.
  if (const auto found = addresses_.find(tensor->data()); found != addresses_.end()) return {.result = found->second};
  if (const auto found = copied_.find(tensor->data()); found != copied_.end()) return {.tensor = found->second};
  return {.tensor = TensorRef(tensor)};
}

void OpLog::moved(const TensorImpl& source, const TensorImpl& copy) {
  const Given from = given(const_cast<TensorImpl*>(&source));
  if (from.tensor)
    copied_[copy.data()] = from.tensor;
  else
    addresses_[copy.data()] = from.result;
  made_.emplace_back(const_cast<TensorImpl*>(&copy));
}

OpLog::Entry& OpLog::add(const Call& call, const char* kind) {
  Entry& entry = entries_.emplace_back();
  entry.op = call.name() + kind;
  for (const Operand& operand : call.operands()) {
    if (operand.is_scalar())
      entry.operands.push_back({.number = to_string(operand.scalar())});
    else if (operand.is_value())
      entry.operands.push_back(given(const_cast<TensorImpl*>(static_cast<const TensorImpl*>(operand.value()))));
    else
      entry.operands.emplace_back();
  }
  for (const Attribute& attribute : call.attributes()) entry.attributes.push_back(attribute_text(attribute));
  return entry;
}

void OpLog::make(const TensorImpl* tensor, bool is_view) {
  numbers_[tensor] = static_cast<int64_t>(made_.size());
  if (!is_view) addresses_[tensor->data()] = static_cast<int64_t>(made_.size());
  made_.emplace_back(const_cast<TensorImpl*>(tensor));
}

void OpLog::computed(const Call& call, const Values& results) {
  add(call, "");
  for (const Value& result : results) make(static_cast<const TensorImpl*>(result.get()), false);
}

void OpLog::viewed(const Call& call, const TensorImpl& result) {
  add(call, " view");
  make(&result, true);
}

void OpLog::written(const Call& call, std::span<TensorImpl* const> destinations) {
  Entry& entry = add(call, " write");
  for (TensorImpl* destination : destinations) {
    entry.operands.push_back(given(destination));
    if (!numbers_.contains(destination)) make(destination, false);
  }
}

nb::list OpLog::entries() const {
  nb::list list;
  for (const Entry& entry : entries_) {
    nb::list operands;
    for (const Given& operand : entry.operands) {
      if (operand.result >= 0)
        operands.append(operand.result);
      else if (operand.tensor)
        operands.append(to_object(operand.tensor));
      else
        operands.append(operand.number.empty() ? nb::none() : nb::object(nb::str(operand.number.c_str())));
    }
    nb::list attributes;
    for (const std::string& attribute : entry.attributes) attributes.append(attribute.c_str());
    list.append(nb::make_tuple(entry.op.c_str(), operands, attributes));
  }
  return list;
}

void bind_op_log(nb::module_& module) {
  nb::class_<OpLog>(module, "OpLog", "Logs the ops that this thread computes.")
      .def(nb::init<>())
      .def("start", &OpLog::start)
      .def("stop", &OpLog::stop)
      .def_prop_ro("entries", &OpLog::entries, "(op, operands, attributes) of each.");
}

}  // namespace lucid::python
