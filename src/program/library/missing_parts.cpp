// Stands for what liblucid_runtime.so does not have: a compiler and gpus. Programs on gpus cannot be exported, so
// nothing here is reached but make_graph_plans().

#include "base/error.h"
#include "device/gpu.h"
#include "program/graph_plans.h"
#include "runtime/gpu_plan.h"

namespace lucid {

namespace {

[[noreturn]] void fail() { throw RuntimeError("liblucid_runtime.so does not use gpus"); }

}  // namespace

Gpu& Gpu::at(int /*index*/) { fail(); }
void* Gpu::allocate(size_t /*bytes*/) { fail(); }
void Gpu::deallocate(void* /*data*/, size_t /*bytes*/) noexcept {}
void Gpu::copy(void* /*to*/, const void* /*from*/, size_t /*bytes*/) { fail(); }
void Gpu::upload(void* /*to*/, const void* /*from*/, size_t /*bytes*/) { fail(); }
void Gpu::download(void* /*to*/, const void* /*from*/, size_t /*bytes*/) { fail(); }
struct GpuCommands::State {};
GpuCommands::~GpuCommands() = default;
GpuPlan::GpuPlan(const Plan& /*plan*/) : gpu_(Gpu::at(0)) {}
int64_t GpuPlan::run(const Plan& /*plan*/, std::span<void* const> /*inputs*/, std::span<void* const> /*outputs*/,
                     std::span<PackedForms* const> /*forms*/, std::span<double> /*nanoseconds*/) const {
  fail();
}

namespace program {

std::unique_ptr<PlanMaker> make_graph_plans() { return nullptr; }

}  // namespace program

}  // namespace lucid
