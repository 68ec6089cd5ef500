// Matrix products as the scheduler tiles them, on one and two threads. `matmul_peers.py` times torch on the same
// shapes.
//   matmul/<m>x<k>x<n>/<threads>         both operands row-major
//   matmul_cached/...                    the same, with b packed in advance, as for a weight that did not change
//   matmul_weight/...                    b as the weight of a linear layer, [n, k]

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "codegen/llvm_generator.h"
#include "runtime/thread_pool.h"
#include "schedule/contraction.h"

namespace lucid {
namespace {

struct Shape {
  int64_t m;
  int64_t k;
  int64_t n;
};

constexpr Shape kShapes[] = {{64, 64, 64},    {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024},
                             {64, 784, 256},  {1, 784, 256},   {64, 400, 120},  {512, 128, 512},
                             {64, 768, 3072}, {64, 84, 10},    {1024, 1024, 1}};

/// Memory aligned to cache lines, like that of tensors.
class Area {
 public:
  explicit Area(int64_t bytes)
      : memory_(static_cast<float*>(std::aligned_alloc(64, static_cast<size_t>(bytes + 63) / 64 * 64)), &std::free) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (int64_t i = 0; i < bytes / 4; ++i) memory_.get()[i] = uniform(random);
  }
  void* data() const { return memory_.get(); }

 private:
  std::unique_ptr<float, decltype(&std::free)> memory_;
};

/// Scratch for a call of the code on this thread.
void* scratch_of(const LoadedCode& code) {
  thread_local std::optional<Area> area;
  thread_local size_t bytes = 0;
  if (code.scratch_bytes() > bytes) {
    bytes = code.scratch_bytes();
    area.emplace(static_cast<int64_t>(bytes));
  }
  return area ? area->data() : nullptr;
}

/// A scheduled product with its machine code and memory.
class Job {
 public:
  Job(const Shape& shape, bool transposed_b) {
    const auto [m, k, n] = shape;
    auto operand = [](ValueId id, Dims sizes, Dims strides) {
      return MemoryOperand{
          .id = id, .dtype = Dtype::kF32, .geometry = {.sizes = sizes, .strides = strides, .offset = 0}};
    };
    schedule_contraction(schedule_, operand(0, {1, m, k}, {m * k, k, 1}),
                         operand(1, {1, k, n}, transposed_b ? Dims{k * n, 1, k} : Dims{k * n, n, 1}),
                         operand(2, {1, m, n}, {m * n, n, 1}));
    for (int64_t elements : {m * k, k * n, m * n}) values_.emplace_back(4 * elements);
    for (const SymInt bytes : schedule_.scratch_bytes) scratch_.emplace_back(bytes);
    const auto generator = codegen::make_llvm_generator();
    const CpuLevel target = host_level();
    for (const KernelStep& step : schedule_.steps) {
      code_.push_back(generator->load(*step.kernel, generator->compile(*step.kernel, target)));
      params_.emplace_back(step.params.begin(), step.params.end());
      std::vector<void*>& buffers = buffers_.emplace_back();
      for (const BufferUse& use : step.buffers) {
        const auto& areas = use.kind == BufferUse::Kind::kScratch ? scratch_ : values_;
        buffers.push_back(areas[static_cast<size_t>(use.index)].data());
      }
    }
  }

  void run(bool pack) const {
    for (size_t i = 0; i < schedule_.steps.size(); ++i) {
      const KernelStep& step = schedule_.steps[i];
      if (!pack && step.packs >= 0) continue;
      parallel_for(step.items, grain_of(step), [&](int64_t begin, int64_t end) {
        code_[i]->function()(buffers_[i].data(), params_[i].data(), begin, end, scratch_of(*code_[i]));
      });
    }
  }

 private:
  Schedule schedule_;
  std::vector<Area> values_;
  std::vector<Area> scratch_;
  std::vector<Ref<LoadedCode>> code_;
  std::vector<std::vector<int64_t>> params_;
  std::vector<std::vector<void*>> buffers_;
};

void measure(benchmark::State& state, const Shape& shape, int threads, bool transposed_b, bool cached) {
  set_thread_count(threads);
  const Job job(shape, transposed_b);
  job.run(true);
  for (auto _ : state) job.run(!cached);
  state.counters["GFLOP/s"] = benchmark::Counter(2e-9 * static_cast<double>(shape.m * shape.k * shape.n),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

const bool registered = [] {
  for (const Shape& shape : kShapes) {
    for (int threads : {1, 2}) {
      const std::string name = std::to_string(shape.m) + "x" + std::to_string(shape.k) + "x" + std::to_string(shape.n) +
                               "/" + std::to_string(threads);
      auto add = [&](const std::string& kind, bool transposed_b, bool cached) {
        benchmark::RegisterBenchmark(
            (kind + "/" + name).c_str(),
            [=](benchmark::State& state) { measure(state, shape, threads, transposed_b, cached); })
            ->UseRealTime()
            ->Unit(benchmark::kMicrosecond);
      };
      add("matmul", false, false);
      add("matmul_cached", false, true);
      add("matmul_weight", true, false);
    }
  }
  return true;
}();

}  // namespace
}  // namespace lucid
