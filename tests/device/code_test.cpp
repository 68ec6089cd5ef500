#include <csignal>

#include "base/error.h"
#include "support.h"

namespace lucid {
namespace {

void expect_to_work(const Ref<LoadedCode>& code) {
  const Array<int64_t> x(std::vector<int64_t>(100, 5));
  Program program;
  program.add(code, 100, {x.address()}, {3, 1});
  program.run();
  EXPECT_EQ(x.read(), std::vector<int64_t>(100, 16));
}

TEST(GpuCode, IsLoadedFromObjects) {
  const auto generator = gpu().make_generator();
  const loop::Kernel kernel = affine_kernel();
  const std::string object = generator->compile(kernel, CpuLevel::kScalar);
  const Ref<LoadedCode> code = generator->load(kernel, object);
  EXPECT_EQ(code->function(), nullptr);
  EXPECT_GT(code->code_bytes(), 100u);
  EXPECT_GE(code->memory_bytes(), code->code_bytes());
  EXPECT_EQ(code->scratch_bytes(), 0u);
  expect_to_work(code);
  expect_to_work(gpu().make_generator()->load(kernel, object));
}

TEST(GpuCode, HasAVersionThatNamesTheGpu) {
  const std::string version = gpu().make_generator()->version();
  EXPECT_EQ(version, gpu().make_generator()->version());
  EXPECT_NE(version.find(gpu().name()), std::string::npos) << version;
  EXPECT_NE(version.find(gpu().driver()), std::string::npos) << version;
  EXPECT_NE(version.find(spirv::to_string(gpu().target())), std::string::npos) << version;
}

TEST(GpuCode, MalformedObjectsAreRejected) {
  const auto generator = gpu().make_generator();
  const loop::Kernel kernel = affine_kernel();
  const std::string object = generator->compile(kernel, CpuLevel::kScalar);
  const spirv::Shader shader = spirv::translate(kernel, gpu().target());
  const size_t shader_end = 16 + spirv::to_bytes(shader).size();
  for (size_t bytes = 0; bytes < shader_end; bytes += 1 + bytes / 16)
    EXPECT_THROW(generator->load(kernel, std::string_view(object).substr(0, bytes)), InternalError) << bytes;
  for (size_t at : {0, 7, 8, 15}) {
    std::string changed = object;
    changed[at] = static_cast<char>(changed[at] ^ 0x80);
    EXPECT_THROW(generator->load(kernel, changed), InternalError) << at;
  }
  EXPECT_THROW(generator->load(kernel, std::string(1000, '\xff')), InternalError);
}

TEST(GpuCode, DISABLED_WrongShader) {
  const auto generator = gpu().make_generator();
  const loop::Kernel kernel = affine_kernel();
  std::string object = generator->compile(kernel, CpuLevel::kScalar);
  // The last word of the shader is OpFunctionEnd.
  const size_t end = 16 + spirv::to_bytes(spirv::translate(kernel, gpu().target())).size();
  object.replace(end - 4, 4, std::string(4, '\0'));
  generator->load(kernel, object);
}
TEST(GpuCode, IsCheckedByTheValidationLayer) {
  EXPECT_EQ(status_of_test("GpuCode.DISABLED_WrongShader", {{"LUCID_GPU_VALIDATE", "1"}}), -SIGABRT);
}

TEST(GpuCode, CachesOfOtherDriversAreIgnored) {
  const auto generator = gpu().make_generator();
  const loop::Kernel kernel = affine_kernel();
  const std::string object = generator->compile(kernel, CpuLevel::kScalar);
  const size_t shader_end = 16 + spirv::to_bytes(spirv::translate(kernel, gpu().target())).size();
  // Without a cache, with a cut one, and with each byte of its header changed.
  for (size_t bytes : {shader_end, shader_end + 5, shader_end + 31})
    if (bytes < object.size()) expect_to_work(generator->load(kernel, std::string_view(object).substr(0, bytes)));
  for (size_t i = 0; i < 32 && shader_end + i < object.size(); ++i) {
    std::string changed = object;
    changed[shader_end + i] = static_cast<char>(changed[shader_end + i] ^ 0xff);
    generator->load(kernel, changed);
  }
}

TEST(GpuCode, MayBeDestroyedAtOnce) {
  for (int i = 0; i < 20; ++i) load(affine_kernel());
}

}  // namespace
}  // namespace lucid
