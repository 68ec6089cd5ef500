#include "program/example_calls.h"

#include "base/error.h"
#include "tensor/api.h"
#include "tensor/tensor_impl.h"

namespace lucid::program {
namespace {

/// How many calls are recorded at most.
constexpr size_t kMaxCalls = 64;

}  // namespace

void ExampleCalls::add_input(const std::string& name, const TensorImpl& example,
                             const std::map<int64_t, Symbol>& dynamic) {
  if (std::ranges::find(request_.inputs, name, &Signature::name) != request_.inputs.end())
    throw ValueError("{}: the inputs need different names, but two are named '{}'", caller_, name);
  Signature input{.name = name, .dtype = example.dtype()};
  for (const SymInt size : example.sizes()) input.shape.push_back({size, -1});
  const auto rank = static_cast<int64_t>(input.shape.size());
  for (const auto& [dim, symbol] : dynamic) {
    if (dim < 0 || dim >= rank)
      throw ValueError("{}: dynamic['{}'] has the dimension {}, but {} has {} dimensions", caller_, name, dim, name,
                       rank);
    input.shape[static_cast<size_t>(dim)].symbol = symbol_of(symbol);
  }
  request_.inputs.push_back(std::move(input));
}

int32_t ExampleCalls::symbol_of(const Symbol& symbol) {
  if (symbol.name.empty()) throw ValueError("{}: a size that varies needs a name", caller_);
  if (symbol.low < 1 || symbol.low > symbol.high || symbol.high > INT32_MAX)
    throw ValueError("{}: the size '{}' needs 1 <= min <= max < 2**31, got {} and {}", caller_, symbol.name, symbol.low,
                     symbol.high);
  auto found = std::ranges::find(request_.symbols, symbol.name, &Symbol::name);
  if (found == request_.symbols.end())
    found = request_.symbols.insert(found, symbol);
  else if (found->low != symbol.low || found->high != symbol.high)
    throw ValueError("{}: two sizes have one name, but different bounds: '{}' from {} to {}, and from {} to {}",
                     caller_, symbol.name, found->low, found->high, symbol.low, symbol.high);
  return static_cast<int32_t>(found - request_.symbols.begin());
}

std::vector<jit::TracedSizes::Dimension> ExampleCalls::traced_dims(size_t input) const {
  std::vector<jit::TracedSizes::Dimension> dims;
  const std::vector<Signature::Size>& shape = request_.inputs[input].shape;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim].symbol < 0) continue;
    const Symbol& symbol = request_.symbols[static_cast<size_t>(shape[dim].symbol)];
    dims.push_back({dim, {symbol.low, symbol.high}});
  }
  return dims;
}

void ExampleCalls::check(const Example& example) const {
  if (example.size() != request_.inputs.size())
    throw ValueError("{}: the examples have different numbers of tensors", caller_);
  std::vector<int64_t> sizes(request_.symbols.size());
  for (size_t i = 0; i < example.size(); ++i) {
    const Signature& input = request_.inputs[i];
    const TensorType type = example[i]->type();
    if (type.dtype != input.dtype || type.shape.size() != input.shape.size())
      throw ValueError("{}: the examples of {} have different dtypes or ranks", caller_, input.name);
    if (example[i]->device().is_gpu())
      throw ValueError("{}: {} is on {}; programs run on the CPU", caller_, input.name,
                       to_string(example[i]->device()));
    Dims first;
    for (const Signature::Size& size : input.shape) first.push_back(size.number);
    for (size_t dim = 0; dim < type.shape.size(); ++dim) {
      const int64_t size = type.shape[dim];
      if (const int32_t symbol = input.shape[dim].symbol; symbol >= 0)
        check_size(size, request_.symbols[static_cast<size_t>(symbol)], sizes[static_cast<size_t>(symbol)], input);
      else if (size != first[dim])
        throw ValueError(
            "{}: the examples of {} have the shapes {} and {}; name the dimensions whose sizes vary in `dynamic`",
            caller_, input.name, to_string(first), to_string(type.shape));
    }
  }
}

void ExampleCalls::check(const jit::Recorder& recorder) const {
  if (recorder.context().trace().sets_up)
    throw ValueError(
        "{}: the call creates state that later calls use, such as an optimizer's; call the function once before it is "
        "exported",
        caller_);
}

void ExampleCalls::check_size(int64_t size, const Symbol& symbol, int64_t& known, const Signature& input) const {
  if (size < 1)
    throw ValueError("{}: the size '{}' is 0 in an example of {}, but sizes that vary must be at least 1 there",
                     caller_, symbol.name, input.name);
  if (known != 0 && known != size)
    throw ValueError("{}: the size '{}' is {} and {} in one example; give sizes that differ two names", caller_,
                     symbol.name, known, size);
  known = size;
}

void ExampleCalls::record(std::span<const Example> examples, const Record& record) {
  for (const Example& example : examples) check(example);
  for (size_t i = 0; i < examples.size(); ++i) record_one(i, examples[i], "", record);
  while (const auto missing = request_.symbols.empty() ? std::nullopt : missing_sizes(request_)) {
    if (request_.calls.size() >= kMaxCalls)
      throw ValueError(
          "{}: the function does something else for each of {} sizes, and for {} too; export smaller ranges{}", caller_,
          kMaxCalls, named(*missing), hint);
    for (size_t i = 0; i < examples.size(); ++i) record_one(i, resized(examples[i], *missing), named(*missing), record);
  }
}

void ExampleCalls::record_one(size_t index, const Example& example, const std::string& sizes, const Record& record) {
  ExportedCall call = record(index, copies_of(example), sizes);
  for (const TensorRef& tensor : example) {
    std::vector<int64_t>& shape = call.shapes.emplace_back();
    for (const SymInt size : tensor->sizes()) shape.push_back(size);
  }
  request_.calls.push_back(std::move(call));
}

ExampleCalls::Example ExampleCalls::copies_of(const Example& example) {
  Example copies;
  for (const TensorRef& tensor : example) copies.push_back(ref_of(wrap(tensor).detach().contiguous().clone()));
  return copies;
}

ExampleCalls::Example ExampleCalls::resized(const Example& example, std::span<const int64_t> sizes) const {
  Example result = example;
  for (size_t i = 0; i < result.size(); ++i) {
    std::vector<std::pair<int64_t, int64_t>> dims;
    const std::vector<Signature::Size>& shape = request_.inputs[i].shape;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      if (const int32_t symbol = shape[dim].symbol; symbol >= 0)
        dims.emplace_back(dim, sizes[static_cast<size_t>(symbol)]);
    result[i] = jit::resized(result[i], dims);
  }
  return result;
}

std::string ExampleCalls::named(std::span<const int64_t> sizes) const {
  std::string text;
  for (size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", request_.symbols[i].name, sizes[i]);
  return text;
}

std::vector<int64_t> ExampleCalls::sizes_of(const ExportedCall& call) const {
  std::vector<int64_t> sizes(request_.symbols.size());
  for (size_t i = 0; i < call.shapes.size(); ++i)
    for (size_t dim = 0; dim < call.shapes[i].size(); ++dim)
      if (const int32_t symbol = request_.inputs[i].shape[dim].symbol; symbol >= 0)
        sizes[static_cast<size_t>(symbol)] = call.shapes[i][dim];
  return sizes;
}

}  // namespace lucid::program
