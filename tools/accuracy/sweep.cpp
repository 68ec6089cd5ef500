// Measures the accuracy of the loop language's math functions and of their compositions: all f32 arguments of unary
// functions, random arguments of binary functions and of f64, with and without flushing of subnormal results. Prints a
// Markdown table. See docs/accuracy.md.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include "codegen/llvm_generator.h"
#include "composition_reference.h"
#include "run_code.h"
#include "vector_reference.h"

namespace lucid::math_reference {
namespace {

struct Options {
  uint64_t stride = 1;             // step between f32 arguments
  uint64_t pairs = 1'000'000'000;  // random arguments of a binary f32 function
  uint64_t doubles = 10'000'000;   // random f64 arguments
  unsigned threads = 1;
  std::vector<std::string> names;  // all if empty
};

constexpr size_t kBlock = 4096;

struct Worst {
  double error = 0;
  double x = 0, y = 0;
  void take(double new_error, double new_x, double new_y) {
    if (new_error > error) *this = {new_error, new_x, new_y};
  }
  void take(const Worst& other) { take(other.error, other.x, other.y); }
};

/// The worst errors without and with flushing.
using Result = std::array<Worst, 2>;

/// Arguments and the kernel's results.
template <typename T>
struct Block {
  std::vector<T> x = std::vector<T>(kBlock), y = std::vector<T>(kBlock), out = std::vector<T>(kBlock);
};

/// Computes the results of a block, with or without flushing.
template <typename T>
using Run = std::function<void(Block<T>& block, bool flushed)>;

template <typename T>
Run<T> run_kernel(const Ref<LoadedCode>& code, bool binary) {
  return [code, binary](Block<T>& block, bool flushed) {
    void* buffers[] = {block.x.data(), binary ? block.y.data() : block.out.data(), block.out.data()};
    FlushScope scope(flushed);
    run_code(*code, buffers, nullptr, 0, kBlock);
  };
}

template <typename T>
Run<T> run_composition(const Composition& composition) {
  return [&composition](Block<T>& block, bool flushed) {
    apply(composition, block.x.data(), block.out.data(), kBlock, flushed);
  };
}

template <typename T, typename Function>
void measure(const Function& function, const Run<T>& run, Block<T>& block, Result& result) {
  constexpr bool binary = std::is_same_v<Function, Binary>;
  std::vector<double> truth(kBlock);
  if constexpr (std::is_same_v<T, float>) fill_truth(function, block.x.data(), block.y.data(), truth.data(), kBlock);
  for (int mode = 0; mode < 2; ++mode) {
    const bool flushed = mode == 1;
    run(block, flushed);
    if constexpr (std::is_same_v<T, float>) {
      // Compare with the slow scalar functions only if the block may contain a new worst error.
      const double limit = result[mode].error * (1 - 1e-6);
      if (!any_above(limit, block.out.data(), truth.data(), kBlock, flushed)) continue;
    }
    for (size_t i = 0; i < kBlock; ++i) {
      double error = 0;
      if constexpr (binary) {
        error = ulp_error(block.out[i], exact(function, block.x[i], block.y[i]), flushed);
      } else {
        error = ulp_error(block.out[i], exact(function, block.x[i]), flushed);
      }
      result[mode].take(error, block.x[i], block.y[i]);
    }
  }
}

/// Runs `part(index, result)` on every thread and combines the results.
template <typename Part>
Result on_threads(unsigned count, const Part& part) {
  std::vector<Result> results(count);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < count; ++t) threads.emplace_back([&, t] { part(t, results[t]); });
  for (auto& thread : threads) thread.join();
  Result worst;
  for (const Result& result : results) {
    for (int mode = 0; mode < 2; ++mode) worst[mode].take(result[mode]);
  }
  return worst;
}

Result sweep_all(const Unary& function, const Run<float>& run, const Options& options) {
  return on_threads(options.threads, [&](unsigned thread, Result& result) {
    Block<float> block;
    const uint64_t total = (uint64_t{1} << 32) / options.stride;
    for (uint64_t start = thread * kBlock; start < total; start += options.threads * kBlock) {
      // The last block may wrap around to the first arguments.
      for (size_t i = 0; i < kBlock; ++i) {
        block.x[i] = std::bit_cast<float>(static_cast<uint32_t>((start + i) * options.stride));
      }
      measure(function, run, block, result);
    }
  });
}

template <typename T, typename Function>
Result sweep_random(const Function& function, const Run<T>& run, uint64_t count, const Options& options) {
  const std::vector<T> special = special_values<T>();
  return on_threads(options.threads, [&](unsigned thread, Result& result) {
    std::mt19937_64 generator(thread + 1);
    Block<T> block;
    for (uint64_t done = thread * kBlock; done < count; done += options.threads * kBlock) {
      // The first blocks hold all pairs of special values. Later blocks contain some of them.
      for (size_t i = 0; i < kBlock; ++i) {
        const uint64_t pair = done + i;
        const bool both = pair < special.size() * special.size();
        block.x[i] = both ? special[pair % special.size()] : random_number<T>(generator);
        block.y[i] = both ? special[pair / special.size()] : random_number<T>(generator);
      }
      if (done > special.size() * special.size()) {
        for (size_t i = 0; i < 64; ++i) block.x[i] = special[generator() % special.size()];
        for (size_t i = 64; i < 128; ++i) block.y[i] = special[generator() % special.size()];
      }
      measure(function, run, block, result);
    }
  });
}

std::string cell(const Worst& worst, bool binary) {
  const std::string arguments = binary ? fmt::format("{:a}, {:a}", worst.x, worst.y) : fmt::format("{:a}", worst.x);
  return fmt::format("{:.3f} ({})", worst.error, arguments);
}

void report(const char* name, const Result& f32, const Result& f64, bool binary) {
  fmt::print("| {} | {} | {} | {} | {} |\n", name, cell(f32[0], binary), cell(f32[1], binary), cell(f64[0], binary),
             cell(f64[1], binary));
  std::fflush(stdout);
}

Ref<LoadedCode> compiled(CodeGenerator& generator, const loop::Kernel& kernel) {
  return generator.load(kernel, generator.compile(kernel, host_level()));
}

void run(const Options& options) {
  const auto wanted = [&](const char* name) {
    return options.names.empty() || std::find(options.names.begin(), options.names.end(), name) != options.names.end();
  };
  const auto generator = codegen::make_llvm_generator();
  fmt::print("| function | f32 | f32, flushing | f64 | f64, flushing |\n|---|---|---|---|---|\n");
  for (const Unary& function : unary_functions()) {
    if (!wanted(function.name)) continue;
    const auto f32 = compiled(*generator, kernel_of(function, Dtype::kF32));
    const auto f64 = compiled(*generator, kernel_of(function, Dtype::kF64));
    report(function.name, sweep_all(function, run_kernel<float>(f32, false), options),
           sweep_random(function, run_kernel<double>(f64, false), options.doubles, options), false);
  }
  // Flushing is a process-wide setting for compositions, so they run on one thread.
  Options alone = options;
  alone.threads = 1;
  for (const Composition& composition : compositions()) {
    if (!wanted(composition.truth.name)) continue;
    report(composition.truth.name, sweep_all(composition.truth, run_composition<float>(composition), alone),
           sweep_random(composition.truth, run_composition<double>(composition), alone.doubles, alone), false);
  }
  for (const Binary& function : binary_functions()) {
    if (!wanted(function.name)) continue;
    const auto f32 = compiled(*generator, kernel_of(function, Dtype::kF32));
    const auto f64 = compiled(*generator, kernel_of(function, Dtype::kF64));
    report(function.name, sweep_random(function, run_kernel<float>(f32, true), options.pairs, options),
           sweep_random(function, run_kernel<double>(f64, true), options.doubles, options), true);
  }
}

}  // namespace
}  // namespace lucid::math_reference

int main(int argc, char** argv) {
  lucid::math_reference::Options options;
  for (int i = 1; i < argc; ++i) {
    const auto number = [&](const char* flag, auto& value) {
      if (std::strcmp(argv[i], flag) != 0 || i + 1 == argc) return false;
      value = static_cast<std::decay_t<decltype(value)>>(std::max(1ull, std::strtoull(argv[++i], nullptr, 10)));
      return true;
    };
    if (number("--stride", options.stride) || number("--pairs", options.pairs) ||
        number("--doubles", options.doubles) || number("--threads", options.threads)) {
      continue;
    }
    if (argv[i][0] == '-') {
      fmt::print(stderr, "usage: accuracy_sweep [--stride N] [--pairs N] [--doubles N] [--threads N] [function...]\n");
      return 1;
    }
    options.names.emplace_back(argv[i]);
  }
  lucid::math_reference::run(options);
}
