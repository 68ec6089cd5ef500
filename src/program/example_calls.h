#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/recorder.h"
#include "program/export.h"

namespace lucid::program {

/// Records a function with examples until there is a call for all sizes that its inputs may have. The exports of both
/// languages say what the inputs are and record single calls.
class ExampleCalls {
 public:
  /// The tensors that the function is called with.
  using Example = std::vector<TensorRef>;
  /// Records a call of example `index` with copies of its tensors. `sizes` names the sizes, such as "batch=3", if they
  /// are not those of the user's example.
  using Record = std::function<ExportedCall(size_t index, const Example& tensors, const std::string& sizes)>;

  /// `caller` is the function that the user called, for messages.
  ExampleCalls(std::string caller, ExportRequest& request) : caller_(std::move(caller)), request_(request) {}

  /// The next input. `dynamic` has the dimensions whose sizes vary; inputs may share symbols.
  void add_input(const std::string& name, const TensorImpl& example, const std::map<int64_t, Symbol>& dynamic);
  /// The dimensions of an input whose sizes vary, with their bounds.
  std::vector<jit::TracedSizes::Dimension> traced_dims(size_t input) const;

  /// Records a call for each example, then further ones for sizes for which the function does something else. Throws
  /// ValueError if there are too many; `hint`, which a call may have set, ends the message.
  void record(std::span<const Example> examples, const Record& record);
  std::string hint;

  /// Throws ValueError if a recorded call is not typical of later ones.
  void check(const jit::Recorder& recorder) const;
  /// In row-major order, so that each input has memory of its own.
  static Example copies_of(const Example& example);
  /// An example with other sizes: its elements are repeated or left out.
  Example resized(const Example& example, std::span<const int64_t> sizes) const;
  /// Such as "batch=3, length=5".
  std::string named(std::span<const int64_t> sizes) const;
  /// The sizes that the symbols have in a recorded call.
  std::vector<int64_t> sizes_of(const ExportedCall& call) const;

 private:
  int32_t symbol_of(const Symbol& symbol);
  /// Throws ValueError unless the tensors of an example are as the inputs say.
  void check(const Example& example) const;
  /// The same for a size that varies. `known` is its size elsewhere in the example, or 0.
  void check_size(int64_t size, const Symbol& symbol, int64_t& known, const Signature& input) const;
  void record_one(size_t index, const Example& example, const std::string& sizes, const Record& record);

  const std::string caller_;
  ExportRequest& request_;
};

}  // namespace lucid::program
