#include "spirv/shader.h"

#include <fmt/format.h>

#include <cstring>

#include "base/error.h"

namespace lucid::spirv {
namespace {

/// What precedes the words.
struct Header {
  uint64_t scratch_bytes;
  uint64_t word_count;
  uint32_t clusters;
  uint32_t group;
};

/// More clusters than a workgroup of any gpu has.
constexpr uint32_t kMaxClusters = 4096;

}  // namespace

std::string to_string(const Target& target) {
  return fmt::format("fma{:d}{:d} divide{:d}{:d} sqrt{:d}{:d} flush{:d} loops{:d} controls{:d}{:d} subgroup{} shared{}",
                     target.fused_fma32, target.fused_fma64, target.exact_divide32, target.exact_divide64,
                     target.exact_sqrt32, target.exact_sqrt64, target.flush_results, target.ends_loops_early,
                     target.float_controls32, target.float_controls64, target.subgroup_size, target.shared_bytes);
}

std::string to_bytes(const Shader& shader) {
  const Header header{shader.scratch_bytes, shader.words.size(), shader.clusters, shader.group};
  std::string bytes(sizeof header + shader.words.size() * sizeof(uint32_t), '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!shader.words.empty())
    std::memcpy(bytes.data() + sizeof header, shader.words.data(), bytes.size() - sizeof header);
  return bytes;
}

Shader parse_shader(std::string_view bytes) {
  Header header;
  LUCID_CHECK(bytes.size() >= sizeof header, "a shader of {} bytes", bytes.size());
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  LUCID_CHECK(bytes.size() % sizeof(uint32_t) == 0 && bytes.size() / sizeof(uint32_t) == header.word_count,
              "a shader of {} words in {} bytes", header.word_count, bytes.size());
  LUCID_CHECK(header.clusters >= 1 && header.clusters <= kMaxClusters && header.group >= 1 &&
                  header.clusters % header.group == 0,
              "a shader with workgroups of {} clusters in groups of {}", header.clusters, header.group);
  // Scratch in global memory is aligned, buffer by buffer, to 16 bytes.
  LUCID_CHECK(header.scratch_bytes <= 2 * loop::kMaxScratchBytes, "a shader with {} bytes of scratch",
              header.scratch_bytes);
  Shader shader{std::vector<uint32_t>(bytes.size() / sizeof(uint32_t)), header.clusters, header.group,
                header.scratch_bytes};
  if (!bytes.empty()) std::memcpy(shader.words.data(), bytes.data(), bytes.size());
  return shader;
}

}  // namespace lucid::spirv
