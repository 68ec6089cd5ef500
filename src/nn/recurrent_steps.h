#pragma once

#include <lucid/nn/rnn.h>

namespace lucid::nn {

// One step of each kind of layer, from the input's contribution to the gates and the previous state.

RecurrentState rnn_step(const std::string& nonlinearity, const Tensor& from_input, const RecurrentState& state,
                        const Tensor& weight_hh, const Tensor& bias_hh);
RecurrentState lstm_step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                         const Tensor& bias_hh, const Tensor& weight_hr);
RecurrentState gru_step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                        const Tensor& bias_hh);
void check_nonlinearity(const std::string& module, const std::string& nonlinearity);
/// Samples all parameters uniformly from +-1 / sqrt(hidden_size).
void initialize_recurrent(const Module& module, int64_t hidden_size);

}  // namespace lucid::nn
