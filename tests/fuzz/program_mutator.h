#pragma once

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "program_parts.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace lucid {

/// Changes a program as its author could have done on purpose: numbers whose products and sums overflow, views that
/// seem to fit, signatures that agree with them. The file keeps a correct digest.
class ProgramMutator {
 public:
  using Json = ProgramParts::Json;

  explicit ProgramMutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string_view file) {
    std::optional<ProgramParts> parts = ProgramParts::of(file);
    if (!parts || parts->parts.empty() || one_of(20)) return mutate_bytes(std::string(file));
    for (int changes = one_of(3) ? 2 : 1; changes > 0; --changes) change(*parts);
    return parts->sealed();
  }

 private:
  bool one_of(size_t count) { return below(count) == 0; }
  size_t below(size_t count) { return std::uniform_int_distribution<size_t>(0, count - 1)(random_); }
  template <typename Items>
  const auto& pick(const Items& items) {
    return items[below(std::size(items))];
  }

  static std::string mutate_bytes(std::string bytes) {
    const size_t size = bytes.size();
    bytes.resize(size + 64);
    bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), size, bytes.size()));
    ProgramParts::seal(bytes);
    return bytes;
  }

  /// Near powers of two, of either sign.
  Json number() {
    static constexpr std::array kPowers = {0, 0, 0, 1, 2, 4, 6, 8, 16, 20, 31, 32, 33, 47, 48, 60, 61, 62, 63};
    const uint64_t value = (uint64_t{1} << pick(kPowers)) + below(3) - 1;
    if (one_of(8)) return static_cast<int64_t>(0 - value);
    return one_of(16) ? Json(value) : Json(static_cast<int64_t>(value));
  }
  /// A size or a stride, as a number or as a formula of the sizes of a call.
  Json formula() {
    static const std::array<std::string, 5> kOperators = {"*", "+", "-", "/", "%"};
    const auto term = [&] { return one_of(2) ? "s" + std::to_string(below(2)) : number().dump(); };
    if (!one_of(4)) return number();
    const std::string& sign = pick(kOperators);
    const std::string text = term() + sign + term();
    return sign == "/" || sign == "%" ? '(' + text + ')' : text;
  }
  Json formulas(size_t count) {
    Json result = Json::array();
    while (count-- > 0) result.push_back(one_of(2) ? Json(below(3)) : formula());
    return result;
  }

  void change(ProgramParts& parts) {
    Json program = parts.program();
    const size_t way = below(10);
    if (way == 0 || !program.is_object()) {
      auto& part = parts.parts[below(parts.parts.size())];
      std::string bytes = part.bytes;
      bytes.resize(bytes.size() + 16);
      bytes.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(bytes.data()), part.bytes.size(), bytes.size()));
      part.bytes = std::move(bytes);
      return;
    }
    if (way == 1) {
      change_state(parts);
    } else if (way < 5) {
      change_anything(program);
    } else {
      change_view(program);
    }
    parts.set_program(program);
  }

  /// The header's entry of a weight.
  void change_state(ProgramParts& parts) {
    static constexpr std::array kDtypes = {"BOOL", "U8", "I64", "F16", "F64"};
    auto& part = parts.parts[below(parts.parts.size())];
    if (one_of(4)) part.dtype = pick(kDtypes);
    part.shape = Json::array();
    for (size_t rank = below(4); rank > 0; --rank) part.shape.push_back(number());
    if (!one_of(2)) return;
    part.shape.push_back(0);
    part.bytes.clear();
  }

  /// A place in the JSON of a program.
  struct Place {
    Json* parent;
    Json* value;
  };
  static void add_places(Json& json, std::vector<Place>& places) {
    if (!json.is_structured()) return;
    for (Json& item : json) {
      places.push_back({&json, &item});
      add_places(item, places);
    }
  }
  void change_anything(Json& program) {
    std::vector<Place> places;
    add_places(program, places);
    if (places.empty()) return;
    const Place& place = pick(places);
    Json& value = *place.value;
    switch (below(7)) {
      case 0:
        value = Json(*pick(places).value);
        break;
      case 1:
        if (place.parent->is_array()) place.parent->push_back(Json(value));
        break;
      case 2:
        if (place.parent->is_array())
          place.parent->erase(static_cast<size_t>(place.value - &place.parent->front()));
        else
          value = Json::array();
        break;
      case 3:
        value = formula();
        break;
      case 4:
        if (value.is_number_integer()) value = value.get<int64_t>() ^ 1;
        break;
      case 5:
        if (value.is_boolean()) value = !value.get<bool>();
        break;
      default:
        value = number();
    }
  }

  /// An array that a member of an object has, or null.
  static Json* array(Json& object, const char* name) {
    if (!object.is_object() || !object.contains(name) || !object[name].is_array()) return nullptr;
    return &object[name];
  }

  /// Gives a result, or another view of memory, any rank and sizes. Often the signature and the memory agree.
  void change_view(Json& program) {
    static constexpr std::array<size_t, 10> kRanks = {0, 1, 1, 1, 2, 3, 15, 16, 17, 64};
    Json* const calls = array(program, "calls");
    if (!calls || calls->empty()) return;
    Json& call = (*calls)[below(calls->size())];
    const bool is_result = !one_of(4);
    Json* const views = array(call, is_result ? "results" : "operands");
    if (!views || views->empty()) return;
    const size_t index = below(views->size());
    Json& view = (*views)[index];
    if (!view.is_object()) return;
    const size_t rank = pick(kRanks);
    view["shape"] = formulas(rank);
    view["strides"] = formulas(rank);
    if (one_of(2)) std::ranges::fill(view["strides"], Json(0));
    if (rank > 3 && one_of(2)) std::ranges::fill(view["shape"], Json(1 + below(2)));
    view["offset"] = one_of(3) ? formula() : Json(0);
    if (Json* const outputs = array(program, "outputs"); is_result && outputs && index < outputs->size()) {
      Json shape = Json::array();
      for (const Json& size : view["shape"]) shape.push_back(size.is_number() && !one_of(8) ? size : Json(-1));
      Json& output = (*outputs)[index];
      if (output.is_object() && !one_of(4)) output["shape"] = shape;
    }
    Json* const bytes = array(call, "outputs");
    if (bytes && !bytes->empty() && one_of(2)) (*bytes)[below(bytes->size())] = formula();
  }

  std::mt19937 random_;
};

}  // namespace lucid

/// libFuzzer calls it in place of its own mutations.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned seed) {
  const std::string changed = lucid::ProgramMutator(seed).mutate({reinterpret_cast<const char*>(data), size});
  if (changed.size() > max_size) return size;
  std::ranges::copy(changed, data);
  return changed.size();
}
