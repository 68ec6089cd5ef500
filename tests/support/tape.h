#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "ops/interpreter.h"

namespace lucid::test {

/// Runs ops in the interpreter and records them, so that gradient rules can be tested in isolation. Ops emitted by
/// backward are recorded too, so they can be differentiated again.
class Tape : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    const Call call(op, operands, attributes);
    Values inputs;
    for (const Operand& operand : operands) {
      inputs.push_back(operand.is_value() ? Value(Ref<ValueBase>(const_cast<ValueBase*>(operand.value()))) : Value());
    }
    if (op.decompose && !op.gradient) {
      return op.decompose(*this, call, inputs);
    }
    Record record{&op, std::vector<Operand>(operands.begin(), operands.end()), inputs, attributes,
                  interpreter_.emit(op, operands, attributes)};
    records_.push_back(record);
    return record.outputs;
  }

  /// The gradients of all values that `result` depends on, for a gradient of ones.
  std::map<const ValueBase*, Value> backward(const Value& result) {
    std::map<const ValueBase*, Value> gradients{{result.get(), ones_of(result)}};
    for (size_t i = records_.size(); i-- > 0;) {
      const Record record = records_[i];
      if (std::ranges::none_of(record.outputs, [&](const Value& v) { return gradients.contains(v.get()); })) continue;
      Values grads;
      for (const Value& output : record.outputs) {
        const auto found = gradients.find(output.get());
        grads.push_back(found != gradients.end()   ? found->second
                        : is_float(output.dtype()) ? zeros_of(output)
                                                   : Value());
      }
      const Values of_inputs = apply(record, grads);
      for (size_t k = 0; k < record.inputs.size(); ++k) {
        const Value& input = record.inputs[k];
        if (k >= of_inputs.size() || !of_inputs[k] || !input || !is_float(input.dtype())) continue;
        const Value gradient = cast(sum_to(of_inputs[k], input.shape()), input.dtype());
        Value& held = gradients[input.get()];
        held = held ? add(held, gradient) : gradient;
      }
    }
    return gradients;
  }

 private:
  struct Record {
    const Op* op;
    std::vector<Operand> operands;
    Values inputs;
    Attributes attributes;
    Values outputs;
  };

  Values apply(const Record& record, const Values& grads) {
    const Gradient& gradient = record.op->gradient;
    LUCID_CHECK(gradient, "{} has no gradient", record.op->name());
    // Only the values that the rule declares to read.
    Values saved(record.inputs.size());
    std::vector<bool> needed;
    uint64_t wanted = 0;
    for (size_t i = 0; i < record.inputs.size(); ++i) {
      needed.push_back(record.inputs[i] && is_float(record.inputs[i].dtype()));
      if (needed.back()) wanted |= SavedInput::bit(i);
    }
    for (const SavedInput& input : gradient.saved_inputs) {
      const auto i = static_cast<size_t>(input.operand);
      if (i < saved.size() && input.is_read(wanted)) saved[i] = record.inputs[i];
    }
    Values results(record.outputs.size());
    for (size_t i = 0; i < results.size(); ++i)
      if (gradient.saves_output(i)) results[i] = record.outputs[i];
    const Call call(*record.op, record.operands, record.attributes);
    return gradient.rule(*this, GradientCall(call, saved, std::move(results), needed), grads);
  }

  Interpreter interpreter_;
  std::vector<Record> records_;
};

}  // namespace lucid::test
