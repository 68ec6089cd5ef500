#include <algorithm>

#include "program/program_json.h"
#include "program/program_json_names.h"

namespace lucid::program {
namespace {

const char* name_of(ErrorClass error_class) {
  return std::ranges::find(kErrorClasses, error_class, &std::pair<const char*, ErrorClass>::second)->first;
}

std::string to_hex(std::string_view bytes) {
  std::string result;
  for (const char byte : bytes) result += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return result;
}

Json to_json(const SizeFormula& formula) {
  if (formula.is_constant()) return formula.constant();
  return formula.text();
}

Json to_json(const std::vector<SizeFormula>& formulas) {
  Json result = Json::array();
  for (const SizeFormula& formula : formulas) result.push_back(to_json(formula));
  return result;
}

Json to_json(const std::vector<SizeCondition>& conditions) {
  Json result = Json::array();
  for (const SizeCondition& condition : conditions) result.push_back(condition.text());
  return result;
}

template <typename Items, typename Convert>
Json list(const Items& items, const Convert& convert) {
  Json result = Json::array();
  for (const auto& item : items) result.push_back(convert(item));
  return result;
}

Json to_json(const Signature& signature) {
  return {{"name", signature.name},
          {"dtype", name_of(signature.dtype)},
          {"shape", list(signature.shape, [](const Signature::Size& size) {
             return size.symbol < 0 ? Json(size.number) : Json{{"symbol", size.symbol}};
           })}};
}

void add_view(Json& json, const View& view) {
  json["shape"] = to_json(view.shape);
  json["strides"] = to_json(view.strides);
  json["offset"] = to_json(view.offset);
}

Json to_json(const Call& call) {
  Json json;
  json["sizes"] =
      list(call.sizes, [](const Call::Size& size) { return Json{{"input", size.input}, {"dim", size.dim}}; });
  json["shapes"] = list(call.shapes, [](const auto& shape) { return to_json(shape); });
  json["conditions"] = to_json(call.conditions);
  json["outputs"] = to_json(call.output_bytes);
  json["operands"] = list(call.operands, [](const Call::Operand& operand) {
    Json item{{"is_state", operand.is_state},
              {"index", operand.index},
              {"dtype", name_of(operand.dtype)},
              {"first_byte", operand.first_byte}};
    add_view(item, operand.view);
    return item;
  });
  json["reads"] = list(call.reads, [](const Call::Read& read) {
    return Json{{"output", read.output}, {"expected", to_hex(read.expected)}, {"source", read.source}};
  });
  json["results"] = list(call.results, [](const Call::Result& result) {
    Json item{{"output", result.output}, {"dtype", name_of(result.dtype)}};
    add_view(item, result.view);
    return item;
  });
  json["writes"] = list(
      call.writes, [](const Call::Write& write) { return Json{{"output", write.output}, {"state", write.state}}; });
  json["generators"] = list(call.generators, [](const Call::Generator& generator) {
    return Json{{"state", generator.state}, {"count", generator.count}};
  });
  json["updates"] =
      list(call.updates, [](const auto& update) { return Json{{"operand", update.first}, {"output", update.second}}; });
  json["errors"] = list(call.errors, [](const Call::Errors& errors) {
    return Json{{"op", errors.op}, {"class", name_of(errors.error_class)}, {"messages", errors.messages}};
  });
  return json;
}

Json to_json(const PlanForm::Step& step) {
  Json json{{"name", step.name}, {"kernel", step.kernel}, {"grain", step.grain}};
  json["packs"] = step.packs ? static_cast<int64_t>(*step.packs) : -1;
  json["copies"] = step.is_copy;
  json["nanoseconds"] = step.nanoseconds;
  json["launches"] = list(step.launches, [](const PlanForm::Launch& launch) {
    Json item;
    item["places"] = list(launch.places, [](const PlanForm::Place& place) {
      return Json::array({kAreas[static_cast<size_t>(place.area)], place.index, to_json(place.byte_offset)});
    });
    item["params"] = to_json(launch.params);
    item["items"] = to_json(launch.items);
    return item;
  });
  json["checks"] = list(step.checks, [](const PlanStep::Check& check) {
    return Json{{"output", check.output}, {"expected", to_hex(check.expected)}};
  });
  return json;
}

Json to_json(const PlanForm& form) {
  Json json;
  json["outputs"] = list(form.outputs, [](const PlanForm::Output& output) {
    return Json{{"donor", output.donor}, {"safe", output.is_safe}};
  });
  json["blocks"] = list(form.blocks, [](const PlanForm::Block& block) {
    return Json{{"bytes", to_json(block.bytes)}, {"first", block.first_step}, {"last", block.last_step}};
  });
  json["reuses"] =
      list(form.reuses, [](const BlockReuse& reuse) { return Json{{"from", reuse.from}, {"to", reuse.to}}; });
  json["regions"] = list(form.regions, [](const PlanForm::Region& region) {
    return Json{{"output", region.output},
                {"bytes", to_json(region.bytes)},
                {"first", region.first_step},
                {"last", region.last_step}};
  });
  json["packed"] = to_json(form.packed_bytes);
  json["steps"] = list(form.steps, [](const PlanForm::Step& step) { return to_json(step); });
  return json;
}

}  // namespace

Json to_json(const ProgramFile& file) {
  Json json{{"version", kVersion}, {"name", file.name}};
  json["symbols"] = list(file.symbols, [](const Symbol& symbol) {
    return Json{{"name", symbol.name}, {"low", symbol.low}, {"high", symbol.high}};
  });
  json["inputs"] = list(file.inputs, [](const Signature& signature) { return to_json(signature); });
  json["outputs"] = list(file.outputs, [](const Signature& signature) { return to_json(signature); });
  json["state"] =
      list(file.state, [](const State& state) { return Json{{"name", state.name}, {"written", state.is_written}}; });
  json["calls"] = list(file.calls, [](const Call& call) { return to_json(call); });
  if (!file.structure.empty()) json["structure"] = file.structure;
  return json;
}

Json to_json(const WrittenCode& code, std::string& plans, std::string& objects) {
  Json json;
  json["kernels"] = list(code.kernels, [&](const KernelCode& kernel) {
    Json item{{"symbol", kernel.symbol},
              {"scratch", kernel.scratch_bytes},
              {"first", objects.size()},
              {"bytes", kernel.object.size()},
              {"parts", kernel.parts}};
    objects += kernel.object;
    return item;
  });
  json["calls"] = list(code.forms, [&](const std::vector<PlanForm>& forms) {
    return list(forms, [&](const PlanForm& form) {
      const std::string text = json_text(to_json(form));
      Json item{{"conditions", to_json(form.conditions)}, {"first", plans.size()}, {"bytes", text.size()}};
      plans += text;
      return item;
    });
  });
  return json;
}

}  // namespace lucid::program
