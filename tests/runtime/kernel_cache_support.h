#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "loop/builder.h"
#include "runtime/kernel_cache.h"

namespace lucid {

namespace fs = std::filesystem;

/// Replaces LLVM: the "object code" is the kernel's name between marks, and loading it checks them.
class FakeGenerator : public CodeGenerator {
 public:
  struct Controls {
    std::atomic<int> compiles{0};
    std::atomic<int> loads{0};
    std::atomic<int> failures_left{0};
    std::atomic<int> compile_milliseconds{0};
    std::latch* together = nullptr;  // every compile waits for it
    std::string version = "fake 1";
    size_t padding = 100;
    LoadedParts last_parts;  // of the last kernel with parts
  };

  class FakeCode : public LoadedCode {
   public:
    explicit FakeCode(std::string object) : object_(std::move(object)) { code_bytes_ = memory_bytes_ = object_.size(); }

   private:
    std::string object_;
  };

  explicit FakeGenerator(Controls* controls) : controls_(controls) {}

  std::string compile(const loop::Kernel& kernel, CpuLevel target) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(controls_->compile_milliseconds));
    if (controls_->together) controls_->together->arrive_and_wait();
    controls_->compiles.fetch_add(1);
    if (controls_->failures_left.fetch_sub(1) > 0) throw InternalError("cannot compile {}", kernel.name);
    return fmt::format("<{} {} {}>", kernel.name, name_of(target), std::string(controls_->padding, 'x'));
  }

  Ref<LoadedCode> load(const loop::Kernel& kernel, std::string_view object, LoadedParts parts) override {
    controls_->loads.fetch_add(1);
    if (!parts.empty()) controls_->last_parts = std::move(parts);
    if (!object.starts_with("<" + kernel.name + " ")) throw InternalError("{} is not object code", object);
    return make_ref<FakeCode>(std::string(object));
  }

  std::string version() const override { return controls_->version; }

 private:
  Controls* controls_;
};

inline loop::Kernel kernel_named(const std::string& name) {
  loop::Builder b(name);
  const auto out = b.argument(Dtype::kF32);
  b.store(out, b.begin(), b.constant(Dtype::kF32, 1.0));
  return b.finish();
}

class KernelCacheTest : public ::testing::Test {
 protected:
  KernelCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "lucid_kernel_cache_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    directory_ = root_ + "/cache";
  }
  ~KernelCacheTest() override {
    ::chmod(directory_.c_str(), 0700);
    fs::remove_all(root_);
  }

  std::unique_ptr<KernelCache> make_cache(uint64_t limit = ObjectStore::kDefaultLimit) {
    return std::make_unique<KernelCache>(std::make_unique<FakeGenerator>(&controls_), directory_, limit);
  }

  /// The one file of the store.
  std::string only_file() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(directory_)) files.push_back(entry.path().string());
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : files[0];
  }

  static std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string root_, directory_;
  FakeGenerator::Controls controls_;
};

}  // namespace lucid
