#include <lucid/nn/functional.h>
#include <lucid/nn/rnn.h>
#include <lucid/ops.h>

#include <algorithm>

#include "base/error.h"
#include "nn/parameters.h"
#include "nn/recurrent_steps.h"
#include "nn/repr.h"
#include "tensor/api.h"

namespace lucid::nn {
namespace {

std::string suffix_of(int64_t layer, bool reverse) {
  return "_l" + std::to_string(layer) + (reverse ? "_reverse" : "");
}

/// Rows `begin` to `end` of each tensor of a state.
RecurrentState rows_of(const RecurrentState& state, int64_t begin, int64_t end) {
  RecurrentState part;
  for (const Tensor& tensor : state) part.push_back(narrow(tensor, 0, begin, end - begin));
  return part;
}

RecurrentState joined(const RecurrentState& upper, const RecurrentState& lower) {
  RecurrentState both;
  for (size_t i = 0; i < upper.size(); ++i) both.push_back(cat({upper[i], lower[i]}, 0));
  return both;
}

}  // namespace

void Recurrent::fields(Fields& visit) {
  visit("input_size", options.input_size);
  visit("hidden_size", options.hidden_size);
  visit("num_layers", options.num_layers);
  visit("bias", options.bias);
  visit("batch_first", options.batch_first);
  visit("dropout", options.dropout);
  visit("bidirectional", options.bidirectional);
  visit("proj_size", options.proj_size);
}

void Recurrent::build(std::optional<Dtype> dtype) {
  const std::string name = type_name();
  if (options.hidden_size <= 0) throw ValueError("{}: hidden_size must be above 0, got {}", name, options.hidden_size);
  if (options.num_layers <= 0) throw ValueError("{}: num_layers must be above 0, got {}", name, options.num_layers);
  if (!(options.dropout >= 0 && options.dropout <= 1))
    throw ValueError("{}: dropout must be between 0 and 1, got {}", name, options.dropout);
  if (options.proj_size < 0 || options.proj_size >= options.hidden_size)
    throw ValueError("{}: proj_size must be below hidden_size {}, got {}", name, options.hidden_size,
                     options.proj_size);
  if (options.proj_size > 0 && !projects()) throw ValueError("{}: only LSTM supports proj_size", name);
  const int64_t rows = gates() * options.hidden_size;
  for (int64_t layer = 0; layer < options.num_layers; ++layer)
    for (int64_t direction = 0; direction < directions(); ++direction) {
      const std::string suffix = suffix_of(layer, direction == 1);
      const int64_t columns = layer == 0 ? options.input_size : output_size() * directions();
      add_parameter(*this, ("weight_ih" + suffix).c_str(), {rows, columns}, dtype);
      add_parameter(*this, ("weight_hh" + suffix).c_str(), {rows, output_size()}, dtype);
      if (options.bias) {
        add_parameter(*this, ("bias_ih" + suffix).c_str(), {rows}, dtype);
        add_parameter(*this, ("bias_hh" + suffix).c_str(), {rows}, dtype);
      }
      if (options.proj_size > 0)
        add_parameter(*this, ("weight_hr" + suffix).c_str(), {options.proj_size, options.hidden_size}, dtype);
    }
  reset_parameters();
}

void Recurrent::reset_parameters() { initialize_recurrent(*this, options.hidden_size); }

Recurrent::Weights Recurrent::weights(int64_t layer, bool reverse) const {
  const std::string suffix = suffix_of(layer, reverse);
  Weights found;
  found.ih = parameter("weight_ih" + suffix);
  found.hh = parameter("weight_hh" + suffix);
  if (options.bias) {
    found.bias_ih = parameter("bias_ih" + suffix);
    found.bias_hh = parameter("bias_hh" + suffix);
  }
  if (options.proj_size > 0) found.hr = parameter("weight_hr" + suffix);
  return found;
}

RecurrentState Recurrent::first_state(const RecurrentState& given, int64_t batch, Dtype dtype) const {
  RecurrentState state;
  for (size_t i = 0; i < states(); ++i) {
    const Shape shape = {options.num_layers * directions(), batch, i == 0 ? output_size() : options.hidden_size};
    if (given.empty()) {
      state.push_back(zeros(shape, dtype));
    } else {
      if (given.size() != states())
        throw ValueError("{}: the initial state must be {} tensors, got {}", type_name(), states(), given.size());
      if (given[i].shape() != shape)
        throw ValueError("{}: the initial state must have the shape {}, got {}", type_name(), tuple_text(shape),
                         tuple_text(given[i].shape()));
      state.push_back(given[i]);
    }
  }
  return state;
}

Recurrent::Result Recurrent::run_direction(const Tensor& data, const std::vector<int64_t>& batch_sizes,
                                           const Weights& weights, RecurrentState state, bool reverse) const {
  const Tensor from_input = linear(data, weights.ih, weights.bias_ih);
  const RecurrentState first = state;
  const size_t steps = batch_sizes.size();
  std::vector<int64_t> begins(steps);
  for (size_t t = 1; t < steps; ++t) begins[t] = begins[t - 1] + batch_sizes[t - 1];
  std::vector<Tensor> outputs(steps);
  // In reverse, shorter sequences join at their last step; forward, they leave after it.
  int64_t size = reverse ? batch_sizes.back() : batch_sizes.front();
  if (size < first[0].size(0)) state = rows_of(first, 0, size);
  std::vector<RecurrentState> finished;
  for (size_t i = 0; i < steps; ++i) {
    const size_t t = reverse ? steps - 1 - i : i;
    if (batch_sizes[t] > size) {
      state = joined(state, rows_of(first, size, batch_sizes[t]));
    } else if (batch_sizes[t] < size) {
      finished.push_back(rows_of(state, batch_sizes[t], size));
      state = rows_of(state, 0, batch_sizes[t]);
    }
    size = batch_sizes[t];
    state = step(narrow(from_input, 0, begins[t], size), state, weights.hh, weights.bias_hh, weights.hr);
    outputs[t] = state[0];
  }
  while (!finished.empty()) {
    state = joined(state, finished.back());
    finished.pop_back();
  }
  return {cat(outputs, 0), state};
}

Recurrent::Result Recurrent::run_packed(const Tensor& data, const std::vector<int64_t>& batch_sizes,
                                        const RecurrentState& first) {
  if (data.size(-1) != options.input_size)
    throw ValueError("{}: expected inputs of size {}, got {}", type_name(), options.input_size,
                     to_string(unwrap(data).type()));
  if (batch_sizes.empty()) throw ValueError("{}: the sequence is empty", type_name());
  const DeviceScope device(unwrap(data).device());
  const RecurrentState start = first_state(first, batch_sizes.front(), data.dtype());
  Tensor layer_input = data;
  std::vector<std::vector<Tensor>> last(states());
  for (int64_t layer = 0; layer < options.num_layers; ++layer) {
    if (layer > 0 && options.dropout > 0) layer_input = functional::dropout(layer_input, options.dropout, training());
    std::vector<Tensor> outputs;
    for (int64_t direction = 0; direction < directions(); ++direction) {
      RecurrentState state;
      for (const Tensor& tensor : start) state.push_back(tensor[layer * directions() + direction]);
      const bool reverse = direction == 1;
      const Result result = run_direction(layer_input, batch_sizes, weights(layer, reverse), state, reverse);
      outputs.push_back(result.output);
      for (size_t i = 0; i < states(); ++i) last[i].push_back(result.state[i]);
    }
    layer_input = outputs.size() == 1 ? outputs[0] : cat(outputs, -1);
  }
  RecurrentState state;
  for (const std::vector<Tensor>& parts : last) state.push_back(stack(parts, 0));
  return {layer_input, state};
}

Recurrent::Result Recurrent::run(const Tensor& input, const RecurrentState& first) {
  if (input.dim() != 2 && input.dim() != 3)
    throw ValueError("{}: expected 2 or 3 dimensions, got {}", type_name(), to_string(unwrap(input).type()));
  const bool batched = input.dim() == 3;
  Tensor x = batched ? input : unsqueeze(input, 1);
  if (batched && options.batch_first) x = transpose(x, 0, 1);
  RecurrentState given = first;
  if (!batched)
    for (Tensor& tensor : given) tensor = unsqueeze(tensor, 1);
  const int64_t steps = x.size(0);
  const int64_t batch = x.size(1);
  Result result = run_packed(reshape(x, {steps * batch, x.size(2)}),
                             std::vector<int64_t>(static_cast<size_t>(steps), batch), given);
  result.output = reshape(result.output, {steps, batch, result.output.size(-1)});
  if (batched && options.batch_first) result.output = transpose(result.output, 0, 1);
  if (!batched) {
    result.output = squeeze(result.output, Shape{1});
    for (Tensor& tensor : result.state) tensor = squeeze(tensor, Shape{1});
  }
  return result;
}

Tree Recurrent::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind(type_name() + ".forward", {"input", "hx"}, 1);
  RecurrentState first;
  if (items[1].is_sequence())
    for (const Tree& item : items[1].as_items()) first.push_back(item.as_tensor("hx"));
  else if (!items[1].is_none())
    first.push_back(items[1].as_tensor("hx"));
  Result result;
  if (items[0].is_sequence()) {
    const Tree::List packed = items[0].as_items();
    if (packed.size() != 2)
      throw TypeError("{}: a packed sequence must be a tuple of data and batch sizes", type_name());
    result = run_packed(packed[0].as_tensor("data"), packed[1].as_tensor("batch_sizes").to_vector<int64_t>(), first);
  } else {
    result = run(items[0].as_tensor("input"), first);
  }
  Tree state = result.state[0];
  if (states() > 1) state = Tree::Tuple{{result.state.begin(), result.state.end()}};
  return {result.output, state};
}

std::string Recurrent::extra_repr() const {
  std::string text = fmt::format("{}, {}", options.input_size, options.hidden_size);
  if (options.proj_size != 0) text += fmt::format(", proj_size={}", options.proj_size);
  if (options.num_layers != 1) text += fmt::format(", num_layers={}", options.num_layers);
  if (!options.bias) text += ", bias=False";
  if (options.batch_first) text += ", batch_first=True";
  if (options.dropout != 0) text += ", dropout=" + number_text(options.dropout);
  if (options.bidirectional) text += ", bidirectional=True";
  return text;
}

void RNN::fields(Fields& visit) {
  Recurrent::fields(visit);
  visit("nonlinearity", options.nonlinearity);
}
void RNN::build(std::optional<Dtype> dtype) {
  check_nonlinearity("RNN", options.nonlinearity);
  Recurrent::build(dtype);
}
RecurrentState RNN::step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                         const Tensor& bias_hh, const Tensor&) const {
  return rnn_step(options.nonlinearity, from_input, state, weight_hh, bias_hh);
}
RecurrentState LSTM::step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                          const Tensor& bias_hh, const Tensor& weight_hr) const {
  return lstm_step(from_input, state, weight_hh, bias_hh, weight_hr);
}
RecurrentState GRU::step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                         const Tensor& bias_hh, const Tensor&) const {
  return gru_step(from_input, state, weight_hh, bias_hh);
}

}  // namespace lucid::nn
