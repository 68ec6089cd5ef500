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
GpuPlan::GpuPlan(const Plan& /*plan*/) : gpu_(Gpu::at(0)) {}
int64_t GpuPlan::run(const Plan& /*plan*/, std::span<void* const> /*inputs*/, std::span<void* const> /*outputs*/,
                     std::span<PackedForms* const> /*forms*/, std::span<double> /*nanoseconds*/) const {
  fail();
}

namespace program {

std::unique_ptr<PlanMaker> make_graph_plans() { return nullptr; }

}  // namespace program

}  // namespace lucid
