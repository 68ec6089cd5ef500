#include <lucid/nn/init.h>
#include <lucid/nn/rnn.h>
#include <lucid/ops.h>

#include <cmath>

#include "base/error.h"
#include "nn/parameters.h"
#include "nn/recurrent_steps.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {

RecurrentState rnn_step(const std::string& nonlinearity, const Tensor& from_input, const RecurrentState& state,
                        const Tensor& weight_hh, const Tensor& bias_hh) {
  const Tensor sum = from_input + linear(state[0], weight_hh, bias_hh);
  return {nonlinearity == "relu" ? relu(sum) : tanh(sum)};
}

RecurrentState lstm_step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                         const Tensor& bias_hh, const Tensor& weight_hr) {
  const std::vector<Tensor> gates = chunk(from_input + linear(state[0], weight_hh, bias_hh), 4, -1);
  const Tensor cell = sigmoid(gates[1]) * state[1] + sigmoid(gates[0]) * tanh(gates[2]);
  Tensor hidden = sigmoid(gates[3]) * tanh(cell);
  if (weight_hr.defined()) hidden = linear(hidden, weight_hr);
  return {hidden, cell};
}

RecurrentState gru_step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                        const Tensor& bias_hh) {
  const std::vector<Tensor> input = chunk(from_input, 3, -1);
  const std::vector<Tensor> hidden = chunk(linear(state[0], weight_hh, bias_hh), 3, -1);
  const Tensor reset = sigmoid(input[0] + hidden[0]);
  const Tensor update = sigmoid(input[1] + hidden[1]);
  const Tensor fresh = tanh(input[2] + reset * hidden[2]);
  return {fresh + update * (state[0] - fresh)};
}

void check_nonlinearity(const std::string& module, const std::string& nonlinearity) {
  if (nonlinearity != "tanh" && nonlinearity != "relu")
    throw ValueError("{}: nonlinearity must be 'tanh' or 'relu', got '{}'", module, nonlinearity);
}

void initialize_recurrent(const Module& module, int64_t hidden_size) {
  const double bound = hidden_size > 0 ? 1 / std::sqrt(static_cast<double>(hidden_size)) : 0;
  for (const NamedSlot& named : module.parameter_slots())
    if (const Tensor tensor = named.slot.get(); tensor.defined()) init::uniform_(tensor, -bound, bound);
}

void RecurrentCell::fields(Fields& visit) {
  visit("input_size", options.input_size);
  visit("hidden_size", options.hidden_size);
  visit("bias", options.bias);
}

void RecurrentCell::build(std::optional<Dtype> dtype) {
  const int64_t rows = gates() * options.hidden_size;
  add_parameter(*this, "weight_ih", {rows, options.input_size}, dtype);
  add_parameter(*this, "weight_hh", {rows, options.hidden_size}, dtype);
  add_parameter(*this, "bias_ih", {rows}, dtype, options.bias);
  add_parameter(*this, "bias_hh", {rows}, dtype, options.bias);
  reset_parameters();
}

void RecurrentCell::reset_parameters() { initialize_recurrent(*this, options.hidden_size); }

RecurrentState RecurrentCell::run(const Tensor& input, const RecurrentState& state) {
  if (input.dim() != 1 && input.dim() != 2)
    throw ValueError("{}: expected 1 or 2 dimensions, got {}", type_name(), to_string(unwrap(input).type()));
  const bool batched = input.dim() == 2;
  const Tensor x = batched ? input : unsqueeze(input, 0);
  RecurrentState before;
  const DeviceScope device(unwrap(x).device());
  for (size_t i = 0; i < states(); ++i) {
    if (i >= state.size() || !state[i].defined())
      before.push_back(zeros({x.size(0), options.hidden_size}, x.dtype()));
    else
      before.push_back(batched ? state[i] : unsqueeze(state[i], 0));
  }
  RecurrentState after = step(linear(x, parameter("weight_ih"), parameter("bias_ih")), before);
  if (!batched)
    for (Tensor& tensor : after) tensor = squeeze(tensor, Shape{0});
  return after;
}

Tree RecurrentCell::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind(type_name() + ".forward", {"input", "hx"}, 1);
  RecurrentState state;
  if (items[1].is_sequence())
    for (const Tree& item : items[1].as_items()) state.push_back(item.as_tensor("hx"));
  else if (!items[1].is_none())
    state.push_back(items[1].as_tensor("hx"));
  const RecurrentState after = run(items[0].as_tensor("input"), state);
  if (states() == 1) return after[0];
  return Tree::Tuple{{after.begin(), after.end()}};
}

std::string RecurrentCell::extra_repr() const {
  std::string text = fmt::format("{}, {}", options.input_size, options.hidden_size);
  if (!options.bias) text += ", bias=False";
  return text;
}

void RNNCell::fields(Fields& visit) {
  RecurrentCell::fields(visit);
  visit("nonlinearity", options.nonlinearity);
}
void RNNCell::build(std::optional<Dtype> dtype) {
  check_nonlinearity("RNNCell", options.nonlinearity);
  RecurrentCell::build(dtype);
}
std::string RNNCell::extra_repr() const {
  return RecurrentCell::extra_repr() + (options.nonlinearity == "tanh" ? "" : ", nonlinearity=" + options.nonlinearity);
}
RecurrentState RNNCell::step(const Tensor& from_input, const RecurrentState& state) const {
  return rnn_step(options.nonlinearity, from_input, state, parameter("weight_hh"), parameter("bias_hh"));
}
RecurrentState LSTMCell::step(const Tensor& from_input, const RecurrentState& state) const {
  return lstm_step(from_input, state, parameter("weight_hh"), parameter("bias_hh"), Tensor());
}
RecurrentState GRUCell::step(const Tensor& from_input, const RecurrentState& state) const {
  return gru_step(from_input, state, parameter("weight_hh"), parameter("bias_hh"));
}

}  // namespace lucid::nn
