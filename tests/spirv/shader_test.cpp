#include "spirv/shader.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/error.h"
#include "random_kernel.h"
#include "shader_targets.h"

namespace lucid::spirv {
namespace {

TEST(Shader, IsTheSameForTheSameKernelAndTarget) {
  for (const auto& [name, target] : test::shader_targets()) {
    for (uint32_t seed = 0; seed < 20; ++seed)
      EXPECT_EQ(translate(loop::random_kernel(seed), target), translate(loop::random_kernel(seed), target)) << name;
  }
}

TEST(Shader, ParsesFromItsBytes) {
  for (const auto& [name, target] : test::shader_targets()) {
    for (uint32_t seed = 0; seed < 5; ++seed) {
      const Shader shader = translate(loop::random_kernel(seed), target);
      EXPECT_EQ(parse_shader(to_bytes(shader)), shader) << name;
    }
  }
  EXPECT_EQ(parse_shader(to_bytes(Shader())), Shader());
}

TEST(Shader, RejectsBytesOfAnotherLength) {
  const std::string bytes = to_bytes(translate(loop::random_kernel(1), {}));
  for (size_t length = 0; length < 64; ++length)
    EXPECT_THROW(parse_shader(std::string_view(bytes).substr(0, length)), InternalError) << length;
  for (size_t missing : {1, 2, 3, 4, 5, 8}) {
    EXPECT_THROW(parse_shader(std::string_view(bytes).substr(0, bytes.size() - missing)), InternalError) << missing;
    EXPECT_THROW(parse_shader(bytes + std::string(missing, '\0')), InternalError) << missing;
  }
}

TEST(Shader, RejectsNumbersThatNoShaderHas) {
  const std::string bytes = to_bytes(translate(loop::random_kernel(1), {}));
  // The size of scratch, the number of words, the number of clusters, and that of a group.
  constexpr size_t kHeaderBytes = 24;
  for (size_t at = 0; at < kHeaderBytes; ++at) {
    std::string wrong = bytes;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x80);
    // The low bytes of the scratch's size and of the number of clusters may have other values.
    if (at < 3 || at == 16) {
      EXPECT_NO_THROW(parse_shader(wrong)) << at;
    } else {
      EXPECT_THROW(parse_shader(wrong), InternalError) << at;
    }
  }
  Shader without_clusters = translate(loop::random_kernel(1), {});
  without_clusters.clusters = 0;
  EXPECT_THROW(parse_shader(to_bytes(without_clusters)), InternalError);
}

TEST(Shader, TargetsHaveDifferentTexts) {
  std::set<std::string> texts;
  const auto targets = test::shader_targets();
  for (const auto& [name, target] : targets) texts.insert(to_string(target));
  EXPECT_EQ(texts.size(), targets.size());

  constexpr bool Target::* kFlags[] = {&Target::fused_fma32,    &Target::fused_fma64,      &Target::exact_divide32,
                                       &Target::exact_divide64, &Target::exact_sqrt32,     &Target::exact_sqrt64,
                                       &Target::flush_results,  &Target::float_controls32, &Target::float_controls64};
  texts = {to_string(Target())};
  for (bool Target::* flag : kFlags) {
    Target target;
    target.*flag = !(target.*flag);
    texts.insert(to_string(target));
  }
  EXPECT_EQ(texts.size(), std::size(kFlags) + 1);
}

}  // namespace
}  // namespace lucid::spirv
