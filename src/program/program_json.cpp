#include "program/program_json.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "program/program_json_names.h"

namespace lucid::program {
namespace {

constexpr int64_t kMaxInt = std::numeric_limits<int64_t>::max();

const Json& member(const Json& json, const char* name) {
  if (!json.is_object()) fail_damaged(fmt::format("expected an object with '{}'", name));
  const auto found = json.find(name);
  if (found == json.end()) fail_damaged(fmt::format("'{}' is missing", name));
  return *found;
}

const Json& array(const Json& json, const char* name) {
  const Json& found = member(json, name);
  if (!found.is_array()) fail_damaged(fmt::format("'{}' is not an array", name));
  return found;
}

std::string text(const Json& json, const char* name) {
  const Json& found = member(json, name);
  if (!found.is_string()) fail_damaged(fmt::format("'{}' is not a string", name));
  return found.get<std::string>();
}

bool flag(const Json& json, const char* name) {
  const Json& found = member(json, name);
  if (!found.is_boolean()) fail_damaged(fmt::format("'{}' is not true or false", name));
  return found.get<bool>();
}

int64_t integer(const Json& json, int64_t low, int64_t high) {
  if (!json.is_number_integer()) fail_damaged("a number is not an integer");
  if (json.is_number_unsigned() && json.get<uint64_t>() > static_cast<uint64_t>(kMaxInt))
    fail_damaged("a number is too large");
  const int64_t value = json.get<int64_t>();
  if (value < low || value > high) fail_damaged(fmt::format("{} is not between {} and {}", value, low, high));
  return value;
}

int64_t integer(const Json& json, const char* name, int64_t low, int64_t high) {
  return integer(member(json, name), low, high);
}

/// An index of something of which there are `count`.
uint32_t index(const Json& json, size_t count) {
  if (count == 0) fail_damaged("an index refers to nothing");
  return static_cast<uint32_t>(integer(json, 0, static_cast<int64_t>(count) - 1));
}
uint32_t index(const Json& json, const char* name, size_t count) { return index(member(json, name), count); }

Dtype dtype(const Json& json, const char* name) {
  const auto found = parse_dtype(text(json, name));
  if (!found) fail_damaged("a dtype is unknown");
  return *found;
}

SizeFormula formula(const Json& json, size_t symbols) {
  if (json.is_string()) return SizeFormula(json.get_ref<const std::string&>(), symbols);
  return integer(json, std::numeric_limits<int64_t>::min(), kMaxInt);
}
SizeFormula formula(const Json& json, const char* name, size_t symbols) { return formula(member(json, name), symbols); }

std::vector<SizeFormula> formulas(const Json& json, const char* name, size_t symbols) {
  std::vector<SizeFormula> result;
  for (const Json& item : array(json, name)) result.push_back(formula(item, symbols));
  return result;
}

std::vector<SizeCondition> conditions(const Json& json, size_t symbols) {
  std::vector<SizeCondition> result;
  for (const Json& item : array(json, "conditions")) {
    if (!item.is_string()) fail_damaged("a condition is not a string");
    result.emplace_back(item.get_ref<const std::string&>(), symbols);
  }
  return result;
}

std::string from_hex(const std::string& text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    fail_damaged("a value is not hexadecimal");
  };
  if (text.size() % 2 != 0) fail_damaged("a value is not hexadecimal");
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
  return bytes;
}

void check_rank(size_t rank) {
  if (rank > static_cast<size_t>(kMaxRank)) fail_damaged(fmt::format("a tensor has {} dimensions", rank));
}

Signature read_signature(const Json& json, size_t symbols) {
  Signature signature{.name = text(json, "name"), .dtype = dtype(json, "dtype")};
  const Json& shape = array(json, "shape");
  check_rank(shape.size());
  for (const Json& size : shape) {
    Signature::Size& read = signature.shape.emplace_back();
    if (size.is_object())
      read.symbol = static_cast<int32_t>(index(size, "symbol", symbols));
    else
      read.number = integer(size, -1, kMaxInt);
  }
  return signature;
}

View read_view(const Json& json, size_t symbols) {
  View view{formulas(json, "shape", symbols), formulas(json, "strides", symbols), formula(json, "offset", symbols)};
  check_rank(view.shape.size());
  if (view.strides.size() != view.shape.size()) fail_damaged("a view has a wrong number of strides");
  return view;
}

/// Earlier files name no class.
ErrorClass error_class(const Json& json) {
  if (!json.contains("class")) return ErrorClass::kValue;
  const auto found = std::ranges::find(kErrorClasses, text(json, "class"), &std::pair<const char*, ErrorClass>::first);
  if (found == std::end(kErrorClasses)) fail_damaged("a class of errors is unknown");
  return found->second;
}

Call read_call(const Json& json, const ProgramFile& file) {
  Call call;
  for (const Json& item : array(json, "sizes")) {
    const uint32_t input = index(item, "input", file.inputs.size());
    call.sizes.push_back({input, index(item, "dim", file.inputs[input].shape.size())});
  }
  const size_t symbols = call.symbols();
  for (const Json& item : array(json, "shapes")) {
    std::vector<SizeFormula>& shape = call.shapes.emplace_back();
    if (!item.is_array()) fail_damaged("a shape is not an array");
    for (const Json& size : item) shape.push_back(formula(size, symbols));
  }
  if (call.shapes.size() != file.inputs.size()) fail_damaged("a call has a wrong number of inputs");
  for (size_t i = 0; i < call.shapes.size(); ++i)
    if (call.shapes[i].size() != file.inputs[i].shape.size()) fail_damaged("a shape has a wrong number of sizes");
  call.conditions = conditions(json, symbols);
  call.output_bytes = formulas(json, "outputs", symbols);
  const size_t outputs = call.output_bytes.size();
  for (const Json& item : array(json, "operands")) {
    Call::Operand& operand = call.operands.emplace_back();
    operand.is_state = flag(item, "is_state");
    operand.index = index(item, "index", operand.is_state ? file.state.size() : file.inputs.size());
    operand.dtype = dtype(item, "dtype");
    operand.first_byte = integer(item, "first_byte", 0, operand.is_state ? kMaxInt : 0);
    operand.view = read_view(item, symbols);
  }
  for (const Json& item : array(json, "reads"))
    call.reads.push_back({index(item, "output", outputs), from_hex(text(item, "expected")), text(item, "source")});
  for (const Json& item : array(json, "results"))
    call.results.push_back({index(item, "output", outputs), dtype(item, "dtype"), read_view(item, symbols)});
  if (call.results.size() != file.outputs.size()) fail_damaged("a call has a wrong number of results");
  for (size_t i = 0; i < call.results.size(); ++i) {
    if (call.results[i].dtype != file.outputs[i].dtype) fail_damaged("a result has a wrong dtype");
    if (call.results[i].view.shape.size() != file.outputs[i].shape.size())
      fail_damaged("a result has a wrong number of dimensions");
  }
  for (const Json& item : array(json, "writes"))
    call.writes.push_back({index(item, "output", outputs), index(item, "state", file.state.size())});
  for (const Json& item : array(json, "generators"))
    call.generators.push_back({index(item, "state", file.state.size()), integer(item, "count", 0, kMaxInt)});
  for (const Json& item : array(json, "updates"))
    call.updates.emplace_back(index(item, "operand", call.operands.size()), index(item, "output", outputs));
  for (const Json& item : array(json, "errors")) {
    Call::Errors& errors = call.errors.emplace_back();
    errors.op = text(item, "op");
    errors.error_class = error_class(item);
    for (const Json& message : array(item, "messages")) {
      if (!message.is_string()) fail_damaged("a message is not a string");
      errors.messages.push_back(message.get<std::string>());
    }
  }
  return call;
}

/// How many of each kind the places of a form may refer to.
struct Counts {
  size_t symbols = 0;
  size_t inputs = 0;
  size_t outputs = 0;
  size_t blocks = 0;
  size_t packed = 0;
  size_t kernels = 0;
};

PlanForm::Place read_place(const Json& json, const Counts& counts) {
  if (!json.is_array() || json.size() != 3 || !json[0].is_string()) fail_damaged("a place is malformed");
  const auto found = std::ranges::find(kAreas, json[0].get_ref<const std::string&>());
  if (found == std::end(kAreas)) fail_damaged("a place is malformed");
  const auto area = static_cast<Slot::Area>(found - std::begin(kAreas));
  const size_t limits[] = {counts.inputs, counts.outputs, counts.blocks, counts.packed, 1};
  return {area, index(json[1], limits[static_cast<size_t>(area)]), formula(json[2], counts.symbols)};
}

PlanForm::Step read_step(const Json& json, const Counts& counts) {
  PlanForm::Step step{.name = text(json, "name"), .kernel = index(json, "kernel", counts.kernels)};
  for (const Json& item : array(json, "launches")) {
    PlanForm::Launch& launch = step.launches.emplace_back();
    for (const Json& place : array(item, "places")) launch.places.push_back(read_place(place, counts));
    launch.params = formulas(item, "params", counts.symbols);
    launch.items = formula(item, "items", counts.symbols);
    if (launch.places.size() != step.launches.front().places.size()) fail_damaged("the launches of a step differ");
  }
  if (step.launches.empty()) fail_damaged("a step has no launch");
  step.is_copy = flag(json, "copies");
  if (step.is_copy && step.launches.front().places.size() != 2) fail_damaged("a step copies nothing");
  step.grain = integer(json, "grain", 1, kMaxInt);
  const Json& nanoseconds = member(json, "nanoseconds");
  if (!nanoseconds.is_number()) fail_damaged("a time is not a number");
  step.nanoseconds = nanoseconds.get<double>();
  // -1: none.
  if (const int64_t packs = integer(json, "packs", -1, static_cast<int64_t>(counts.inputs) - 1); packs >= 0) {
    step.packs = static_cast<uint32_t>(packs);
    const std::vector<PlanForm::Place>& places = step.launches.front().places;
    if (step.launches.size() != 1 || places.empty() || places.back().area != Slot::Area::kPacked)
      fail_damaged("a step packs nothing");
  }
  for (const Json& item : array(json, "checks"))
    step.checks.push_back({index(item, "output", counts.outputs), from_hex(text(item, "expected"))});
  return step;
}

/// The part of `all` that an item of an index names.
std::string_view part(const Json& json, std::string_view all) {
  const auto size = static_cast<int64_t>(all.size());
  const int64_t first = integer(json, "first", 0, size);
  const int64_t bytes = integer(json, "bytes", 0, size - first);
  return all.substr(static_cast<size_t>(first), static_cast<size_t>(bytes));
}

}  // namespace

void read_program(const Json& json, ProgramFile& file) {
  if (const int64_t version = integer(json, "version", 1, kMaxInt); version != kVersion)
    throw ValueError("load_program: the file has version {}, this library reads {}; export the program again", version,
                     kVersion);
  file.name = text(json, "name");
  for (const Json& item : array(json, "symbols")) {
    file.symbols.push_back({text(item, "name"), integer(item, "low", 0, kMaxInt), integer(item, "high", 0, kMaxInt)});
  }
  for (const Json& item : array(json, "inputs")) file.inputs.push_back(read_signature(item, file.symbols.size()));
  for (const Json& item : array(json, "outputs")) file.outputs.push_back(read_signature(item, file.symbols.size()));
  if (json.contains("structure")) file.structure = text(json, "structure");
  for (const Json& item : array(json, "state")) {
    State& state = file.state.emplace_back();
    state.name = text(item, "name");
    state.is_written = flag(item, "written");
  }
  for (const Json& item : array(json, "calls")) file.calls.push_back(read_call(item, file));
}

PlanForm read_form(const Json& json, const Call& call, size_t kernels) {
  PlanForm form;
  Counts counts{.symbols = call.symbols(),
                .inputs = call.operands.size(),
                .outputs = call.output_bytes.size(),
                .blocks = array(json, "blocks").size(),
                .packed = array(json, "packed").size(),
                .kernels = kernels};
  const size_t steps = array(json, "steps").size();
  for (const Json& item : array(json, "outputs"))
    form.outputs.push_back({static_cast<int32_t>(integer(item, "donor", -1, static_cast<int64_t>(counts.inputs) - 1)),
                            flag(item, "safe")});
  if (form.outputs.size() != counts.outputs) fail_damaged("a plan has a wrong number of outputs");
  for (const Json& item : array(json, "blocks"))
    form.blocks.push_back(
        {formula(item, "bytes", counts.symbols), index(item, "first", steps), index(item, "last", steps)});
  for (const Json& item : array(json, "reuses"))
    form.reuses.push_back({index(item, "from", counts.blocks), index(item, "to", counts.blocks)});
  for (const Json& item : array(json, "regions"))
    form.regions.push_back({index(item, "output", counts.outputs), formula(item, "bytes", counts.symbols),
                            index(item, "first", steps), index(item, "last", steps)});
  form.packed_bytes = formulas(json, "packed", counts.symbols);
  for (const Json& item : array(json, "steps")) form.steps.push_back(read_step(item, counts));
  return form;
}

TargetCode read_index(const Json& json, std::string_view plans, std::string_view objects, std::span<const Call> calls) {
  TargetCode code;
  for (const Json& item : array(json, "kernels")) {
    KernelCode kernel{.symbol = text(item, "symbol"), .object = part(item, objects)};
    constexpr int64_t kMaxScratch = int64_t{1} << 32;
    kernel.scratch_bytes = static_cast<size_t>(integer(item, "scratch", 0, kMaxScratch));
    for (const Json& each : array(item, "parts")) kernel.parts.push_back(index(each, code.kernels.size()));
    code.kernels.push_back(std::move(kernel));
  }
  const Json& forms = array(json, "calls");
  if (forms.size() != calls.size()) fail_damaged("the plans belong to other calls");
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!forms[i].is_array()) fail_damaged("plans are not an array");
    std::vector<TargetCode::StoredForm>& read = code.forms.emplace_back();
    for (const Json& item : forms[i]) read.push_back({conditions(item, calls[i].symbols()), part(item, plans)});
  }
  return code;
}

}  // namespace lucid::program
