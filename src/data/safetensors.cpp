#include "data/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>

#include "base/checked_int.h"
#include "data/json.h"

namespace lucid {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors files are little endian");

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr JsonLimits kHeaderLimits = {"the header", 4};
constexpr size_t kMaxDimensions = 64;
constexpr const char* kMetadata = "__metadata__";

constexpr std::array<std::pair<const char*, Dtype>, 10> kDtypes = {{{"BOOL", Dtype::kBool},
                                                                    {"U8", Dtype::kU8},
                                                                    {"I8", Dtype::kI8},
                                                                    {"I16", Dtype::kI16},
                                                                    {"I32", Dtype::kI32},
                                                                    {"I64", Dtype::kI64},
                                                                    {"F16", Dtype::kF16},
                                                                    {"BF16", Dtype::kBF16},
                                                                    {"F32", Dtype::kF32},
                                                                    {"F64", Dtype::kF64}}};

template <typename... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw ValueError("load: not a valid safetensors file: " + fmt::format(format, std::forward<Arguments>(arguments)...));
}

Dtype dtype_of_name(const std::string& tensor, const Json& name) {
  if (!name.is_string()) fail("the dtype of '{}' is not a string", abbreviated(tensor));
  for (const auto& [known, dtype] : kDtypes)
    if (name.get_ref<const std::string&>() == known) return dtype;
  fail("'{}' has dtype {}, which Lucid does not support", abbreviated(tensor),
       abbreviated(name.get_ref<const std::string&>()));
}

const char* name_of_dtype(Dtype dtype) {
  for (const auto& [name, known] : kDtypes)
    if (known == dtype) return name;
  LUCID_CHECK(false, "dtype {} has no name in safetensors files", name_of(dtype));
  return "";
}

uint64_t natural(const std::string& tensor, const char* what, const Json& number) {
  if (!number.is_number_unsigned()) fail("{} of '{}' is not a non-negative integer", what, abbreviated(tensor));
  return number.get<uint64_t>();
}

const Json& member(const std::string& tensor, const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) fail("'{}' has no {}", abbreviated(tensor), name);
  return *found;
}

SafetensorsEntry read_entry(const std::string& name, const Json& object, uint64_t data_bytes) {
  if (!object.is_object()) fail("the entry of '{}' is not an object", abbreviated(name));
  SafetensorsEntry entry;
  entry.name = name;
  entry.dtype = dtype_of_name(name, member(name, object, "dtype"));
  const Json& shape = member(name, object, "shape");
  if (!shape.is_array() || shape.size() > kMaxDimensions)
    fail("the shape of '{}' is not a list of at most {} numbers", abbreviated(name), kMaxDimensions);
  // A size that does not fit is negative here.
  for (const Json& item : shape) entry.shape.push_back(static_cast<int64_t>(natural(name, "a size", item)));
  const CheckedInt bytes = checked_bytes(entry.shape, size_of(entry.dtype));
  if (!bytes.has_value()) fail("the sizes of '{}' are too large", abbreviated(name));
  const Json& offsets = member(name, object, "data_offsets");
  if (!offsets.is_array() || offsets.size() != 2)
    fail("the data_offsets of '{}' are not two numbers", abbreviated(name));
  entry.begin = natural(name, "an offset", offsets[0]);
  entry.end = natural(name, "an offset", offsets[1]);
  if (entry.begin > entry.end || entry.end > data_bytes)
    fail("the data of '{}' is at [{}, {}), but the file has {} bytes of data; it may have been cut short",
         abbreviated(name), entry.begin, entry.end, data_bytes);
  if (bytes != entry.end - entry.begin)
    fail("'{}' needs {} bytes, but has {}", abbreviated(name), *bytes.value(), entry.end - entry.begin);
  return entry;
}

void check_coverage(const std::vector<SafetensorsEntry>& entries, uint64_t data_bytes) {
  std::vector<const SafetensorsEntry*> order;
  for (const SafetensorsEntry& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(),
            [](const auto* a, const auto* b) { return a->begin != b->begin ? a->begin < b->begin : a->end < b->end; });
  uint64_t covered = 0;
  for (const SafetensorsEntry* entry : order) {
    if (entry->begin < covered) fail("the data of '{}' overlaps that of another tensor", abbreviated(entry->name));
    if (entry->begin > covered)
      fail("the {} bytes before '{}' belong to no tensor", entry->begin - covered, abbreviated(entry->name));
    covered = entry->end;
  }
  if (covered != data_bytes) fail("the last {} bytes belong to no tensor", data_bytes - covered);
}

}  // namespace

SafetensorsHeader read_safetensors_header(const ByteSource& source) {
  uint64_t length = 0;
  if (source.size() < sizeof(length)) fail("it has only {} bytes", source.size());
  source.read(0, &length, sizeof(length));
  const uint64_t rest = source.size() - sizeof(length);
  if (length > kMaxHeaderBytes)
    fail("its header would have {} bytes, more than the maximum of {}", length, kMaxHeaderBytes);
  if (length > rest)
    fail("its header should have {} bytes, but only {} follow; it may have been cut short", length, rest);
  std::string text(length, '\0');
  source.read(sizeof(length), text.data(), length);
  if (text.empty() || text[0] != '{') fail("its header does not begin with a brace");

  SafetensorsHeader header;
  header.data_start = sizeof(length) + length;
  const uint64_t data_bytes = rest - length;
  parse_json_members(text, kHeaderLimits, [&](const std::string& name, const Json& value) {
    if (name != kMetadata) {
      header.entries.push_back(read_entry(name, value, data_bytes));
      return;
    }
    if (!value.is_object()) fail("its metadata is not an object");
    for (const auto& [key, item] : value.items()) {
      if (!item.is_string()) fail("the metadata '{}' is not a string", abbreviated(key));
      header.metadata.emplace_back(key, item.get<std::string>());
    }
  });
  check_coverage(header.entries, data_bytes);
  return header;
}

std::string write_safetensors_header(SafetensorsHeader& header) {
  std::vector<size_t> order(header.entries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const size_t size_a = size_of(header.entries[a].dtype);
    const size_t size_b = size_of(header.entries[b].dtype);
    return size_a != size_b ? size_a > size_b : a < b;
  });
  uint64_t offset = 0;
  for (size_t i : order) {
    SafetensorsEntry& entry = header.entries[i];
    entry.begin = offset;
    offset += static_cast<uint64_t>(numel(entry.shape)) * size_of(entry.dtype);
    entry.end = offset;
  }
  std::string text = "{";
  const auto add = [&](const std::string& name, const std::string& value) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", json_text(name), value);
  };
  if (!header.metadata.empty()) {
    Json metadata = Json::object();
    for (const auto& [key, value] : header.metadata) metadata[key] = value;
    add(kMetadata, json_text(metadata));
  }
  for (const SafetensorsEntry& entry : header.entries)
    add(entry.name, fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})", name_of_dtype(entry.dtype),
                                to_string(DimsView(entry.shape)), entry.begin, entry.end));
  text += '}';
  text.resize((text.size() + 7) / 8 * 8, ' ');  // the data starts at a multiple of 8
  if (text.size() > kMaxHeaderBytes)
    throw ValueError("save: the names and the structure take {} bytes, more than the maximum of {}", text.size(),
                     kMaxHeaderBytes);
  const uint64_t length = text.size();
  header.data_start = sizeof(length) + length;
  std::string bytes(sizeof(length), '\0');
  std::memcpy(bytes.data(), &length, sizeof(length));
  return bytes + text;
}

}  // namespace lucid
