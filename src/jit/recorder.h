#pragma once

#include <memory>
#include <optional>

#include "base/error.h"
#include "base/number_trace.h"
#include "jit/recorded_call.h"

namespace lucid::jit {

/// Records one run of a function: what it does to tensors and, of arguments whose numbers and sizes are traced, what is
/// computed from them and asked about them.
///
///   Recorder recorder;
///   TensorRef x = recorder.trace_sizes(tensor, 0, dims);   // passed in place of argument 0
///   recorder.start();
///   ...                                                    // the function runs
///   recorder.stop();
///   std::optional<RecordedCall> call = recorder.finish(arguments, results, "f", obstacle);
class Recorder {
 public:
  struct Options {
    /// Names the current line of the user's code.
    TracingContext::Source source = {};
    /// Keeps what memory from outside holds before the run writes to it, for restore_contents().
    bool keeps_contents = false;
    /// Collects what the run depends on other than tensors.
    bool collects_dependencies = false;
  };
  Recorder() : Recorder(Options()) {}
  explicit Recorder(Options options) : options_(std::move(options)) {}

  // What the function is given in place of its arguments. See TracedSizes and NumberTrace.

  TensorRef trace_sizes(const TensorImpl& tensor, size_t argument, std::span<const TracedSizes::Dimension> dims) {
    return sizes_->add(tensor, argument, dims);
  }
  SymInt trace_size(SymInt size, size_t index) { return sizes_->add_given(size, index); }
  Number trace_number(const Number& number, size_t index) { return numbers_->add_argument(number, index); }

  void start();
  /// Ends the run. Does nothing if it has ended.
  void stop();
  /// After the run: gives memory from outside its old contents. Does nothing if there was no run.
  void restore_contents() {
    if (context_) context_->restore_contents();
  }

  /// The recording of the run, from start() on.
  TracingContext& context() {
    LUCID_CHECK(context_, "the recording has not been started");
    return *context_;
  }
  const TracingContext& context() const { return const_cast<Recorder*>(this)->context(); }
  bool traces_sizes() const { return !sizes_->symbols.empty(); }
  const std::shared_ptr<TracedSizes>& sizes() const { return sizes_; }
  const std::shared_ptr<NumberTrace>& numbers() const { return numbers_; }
  /// The traced numbers whose values the library has read.
  const std::vector<uint32_t>& read_numbers() const { return read_; }

  /// Why another call may do something else, although it does the same with tensors; empty if none is known.
  std::string obstacle() const;
  /// The recorded call. `state` are tensors that it may have captured; see RecordedCall::finish().
  std::optional<RecordedCall> finish(std::span<const TensorRef> arguments, std::span<const TensorRef> results,
                                     std::span<const TensorRef> state, const std::string& name, std::string& obstacle);
  /// The same with all tensors that it has captured.
  std::optional<RecordedCall> finish(std::span<const TensorRef> arguments, std::span<const TensorRef> results,
                                     const std::string& name, std::string& obstacle);

 private:
  const Options options_;
  const std::shared_ptr<TracedSizes> sizes_ = std::make_shared<TracedSizes>();
  const std::shared_ptr<NumberTrace> numbers_ = std::make_shared<NumberTrace>();
  std::optional<TracingContext> context_;
  // While the function runs.
  std::optional<TracedReads> reads_;
  std::optional<NumberTrace::Scope> number_scope_;
  std::optional<SizeTrace::Scope> size_scope_;
  std::vector<uint32_t> read_;
};

/// An example of an argument with other sizes: its elements are repeated or left out. `sizes` are pairs of a dimension
/// and its size.
TensorRef resized(const TensorRef& example, std::span<const std::pair<int64_t, int64_t>> sizes);

}  // namespace lucid::jit
