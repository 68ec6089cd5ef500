#pragma once

#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lucid {

/// The tensors of a file of lucid.export(), so that tests and fuzzers can change them. Nothing is checked that is not
/// needed to take the file apart.
class ProgramParts {
 public:
  using Json = nlohmann::json;

  struct Part {
    std::string name;
    /// As the header has them.
    Json dtype = "U8";
    Json shape;
    std::string bytes;
  };

  /// Nothing if the file is no safetensors file.
  static std::optional<ProgramParts> of(std::string_view file) {
    uint64_t length = 0;
    if (file.size() < sizeof length) return std::nullopt;
    std::memcpy(&length, file.data(), sizeof length);
    if (length > file.size() - sizeof length) return std::nullopt;
    const Json header = Json::parse(file.substr(sizeof length, length), nullptr, false);
    const std::string_view data = file.substr(sizeof length + length);
    if (!header.is_object()) return std::nullopt;
    ProgramParts result;
    for (const auto& [name, entry] : header.items()) {
      if (name == kMetadata) {
        result.metadata_ = entry;
        continue;
      }
      if (!entry.is_object()) return std::nullopt;
      const Json ends = entry.value("data_offsets", Json());
      if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number_unsigned() || !ends[1].is_number_unsigned())
        return std::nullopt;
      const auto begin = ends[0].get<uint64_t>(), end = ends[1].get<uint64_t>();
      if (begin > end || end > data.size()) return std::nullopt;
      if (name != kDigest)
        result.parts.push_back({name, entry.value("dtype", Json()), entry.value("shape", Json()),
                                std::string(data.substr(begin, end - begin))});
    }
    return result;
  }

  Part* find(std::string_view name) {
    const auto found = std::ranges::find(parts, name, &Part::name);
    return found == parts.end() ? nullptr : &*found;
  }
  /// What the file says about the program. Discarded JSON if it is malformed.
  Json program() {
    const Part* const part = find("lucid.program");
    return Json::parse(part ? part->bytes : "", nullptr, false);
  }
  void set(const std::string& name, std::string bytes) {
    Part* const part = find(name);
    (part ? *part : parts.emplace_back(Part{.name = name})).bytes = std::move(bytes);
  }
  void set_program(const Json& json) { set("lucid.program", dump(json)); }

  /// The file, with the digest that it should have.
  std::string sealed() const {
    Json header = Json::object();
    if (!metadata_.is_null()) header[kMetadata] = metadata_;
    std::string data;
    const auto add = [&](const Part& part) {
      const Json shape = part.name.starts_with("lucid.") ? Json::array({part.bytes.size()}) : part.shape;
      header[part.name] = {
          {"dtype", part.dtype}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + part.bytes.size()}}};
      data += part.bytes;
    };
    for (const Part& part : parts) add(part);
    add({.name = kDigest, .bytes = std::string(kDigestBytes, '\0')});
    const std::string text = dump(header);
    const uint64_t length = text.size();
    std::string file(reinterpret_cast<const char*>(&length), sizeof length);
    file += text + data;
    seal(file);
    return file;
  }

  /// Gives the bytes of a file the digest that they should have.
  static void seal(std::string& file) {
    if (file.size() < kDigestBytes) return;
    XXH128_canonical_t digest;
    XXH128_canonicalFromHash(&digest, XXH3_128bits(file.data(), file.size() - kDigestBytes));
    std::memcpy(file.data() + file.size() - kDigestBytes, digest.digest, kDigestBytes);
  }

  std::vector<Part> parts;

 private:
  static constexpr const char* kMetadata = "__metadata__";
  static constexpr const char* kDigest = "lucid.digest";
  static constexpr size_t kDigestBytes = 16;

  static std::string dump(const Json& json) {
    return json.dump(-1, ' ', false, nlohmann::detail::error_handler_t::replace);
  }

  Json metadata_;
};

}  // namespace lucid
