#pragma once

#include "lucid/nn/options/rnn.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// The state of one layer in one direction: (h) or, for LSTM, (h, c).
using RecurrentState = std::vector<Tensor>;

/// Recurrent layers over a sequence. Called with the sequence and the initial state, which is zeros if omitted. Returns
/// the sequence of hidden states and the final state, of shape (num_layers * directions, batch, size).
class Recurrent : public Module {
 public:
  using Options = RecurrentOptions;
  Options options;

  struct Result {
    Tensor output;
    RecurrentState state;
  };
  Result run(const Tensor& input, const RecurrentState& first = {});
  /// For sequences of different lengths. `data` holds the time steps one after another; step t has the elements of the
  /// first batch_sizes[t] sequences, which are sorted by decreasing length.
  Result run_packed(const Tensor& data, const std::vector<int64_t>& batch_sizes, const RecurrentState& first);

  Tree forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return false; }
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 protected:
  /// The number of gates: rows of a weight divided by the hidden size.
  virtual int64_t gates() const = 0;
  virtual size_t states() const { return 1; }
  virtual bool projects() const { return false; }
  /// The next state, from the input's contribution to the gates and the previous state.
  virtual RecurrentState step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                              const Tensor& bias_hh, const Tensor& weight_hr) const = 0;

 private:
  struct Weights {
    Tensor ih, hh, bias_ih, bias_hh, hr;
  };
  int64_t directions() const { return options.bidirectional ? 2 : 1; }
  int64_t output_size() const { return options.proj_size > 0 ? options.proj_size : options.hidden_size; }
  Weights weights(int64_t layer, bool reverse) const;
  RecurrentState first_state(const RecurrentState& given, int64_t batch, Dtype dtype) const;
  Result run_direction(const Tensor& data, const std::vector<int64_t>& batch_sizes, const Weights& weights,
                       RecurrentState state, bool reverse) const;
};

/// An Elman network: h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu.
class RNN : public Layer<RNN, Recurrent> {
 public:
  static constexpr const char* kName = "RNN";
  static constexpr const char* kSignature =
      "(input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = 'tanh', bias: bool = True, "
      "batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False, dtype: dtype? = None)";
  using Options = RNNOptions;
  RNN() = default;
  explicit RNN(const Options& given) {
    options = {.input_size = given.input_size,
               .hidden_size = given.hidden_size,
               .num_layers = given.num_layers,
               .bias = given.bias,
               .batch_first = given.batch_first,
               .dropout = given.dropout,
               .bidirectional = given.bidirectional,
               .dtype = given.dtype,
               .nonlinearity = given.nonlinearity};
    build(options.dtype);
  }
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;

 protected:
  int64_t gates() const override { return 1; }
  RecurrentState step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                      const Tensor& bias_hh, const Tensor& weight_hr) const override;
};

/// Long short-term memory. The state is (h, c).
class LSTM : public Layer<LSTM, Recurrent> {
 public:
  static constexpr const char* kName = "LSTM";
  static constexpr const char* kSignature =
      "(input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, "
      "dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, dtype: dtype? = None, "
      "cpp nonlinearity: str = 'tanh')";
  LSTM() = default;
  explicit LSTM(Options given) {
    options = std::move(given);
    build(options.dtype);
  }

 protected:
  int64_t gates() const override { return 4; }
  size_t states() const override { return 2; }
  bool projects() const override { return true; }
  RecurrentState step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                      const Tensor& bias_hh, const Tensor& weight_hr) const override;
};

/// Gated recurrent units.
class GRU : public Layer<GRU, Recurrent> {
 public:
  static constexpr const char* kName = "GRU";
  static constexpr const char* kSignature =
      "(input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False, "
      "dropout: float = 0.0, bidirectional: bool = False, cpp proj_size: int = 0, dtype: dtype? = None, "
      "cpp nonlinearity: str = 'tanh')";
  GRU() = default;
  explicit GRU(Options given) {
    options = std::move(given);
    build(options.dtype);
  }

 protected:
  int64_t gates() const override { return 3; }
  RecurrentState step(const Tensor& from_input, const RecurrentState& state, const Tensor& weight_hh,
                      const Tensor& bias_hh, const Tensor& weight_hr) const override;
};

/// One step of a recurrent layer. Called with the input and the previous state (default: zeros); returns the next
/// state.
class RecurrentCell : public Module {
 public:
  using Options = RecurrentCellOptions;
  Options options;
  RecurrentState run(const Tensor& input, const RecurrentState& state = {});
  Tree forward_with(const Arguments& arguments) override;
  bool returns_one_tensor() const override { return false; }
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;
  void reset_parameters() override;

 protected:
  virtual int64_t gates() const = 0;
  virtual size_t states() const { return 1; }
  virtual RecurrentState step(const Tensor& from_input, const RecurrentState& state) const = 0;
};

class RNNCell : public Layer<RNNCell, RecurrentCell> {
 public:
  static constexpr const char* kName = "RNNCell";
  static constexpr const char* kSignature =
      "(input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = 'tanh', dtype: dtype? = None)";
  RNNCell() = default;
  explicit RNNCell(Options given) {
    options = std::move(given);
    build(options.dtype);
  }
  std::string extra_repr() const override;
  void fields(Fields& visit) override;
  void build(std::optional<Dtype> dtype) override;

 protected:
  int64_t gates() const override { return 1; }
  RecurrentState step(const Tensor& from_input, const RecurrentState& state) const override;
};

class LSTMCell : public Layer<LSTMCell, RecurrentCell> {
 public:
  static constexpr const char* kName = "LSTMCell";
  static constexpr const char* kSignature =
      "(input_size: int, hidden_size: int, bias: bool = True, cpp nonlinearity: str = 'tanh', dtype: dtype? = None)";
  LSTMCell() = default;
  explicit LSTMCell(Options given) {
    options = std::move(given);
    build(options.dtype);
  }

 protected:
  int64_t gates() const override { return 4; }
  size_t states() const override { return 2; }
  RecurrentState step(const Tensor& from_input, const RecurrentState& state) const override;
};

class GRUCell : public Layer<GRUCell, RecurrentCell> {
 public:
  static constexpr const char* kName = "GRUCell";
  static constexpr const char* kSignature = LSTMCell::kSignature;
  GRUCell() = default;
  explicit GRUCell(Options given) {
    options = std::move(given);
    build(options.dtype);
  }

 protected:
  int64_t gates() const override { return 3; }
  RecurrentState step(const Tensor& from_input, const RecurrentState& state) const override;
};

}  // namespace lucid::nn
#pragma GCC visibility pop
