// The overhead of one small eager op from C++.

#include <benchmark/benchmark.h>

#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/execute.h"

namespace lucid {
namespace {

TensorRef eight_floats() {
  const Value x = eager().full({8}, 1, Dtype::kF32);
  return TensorRef(tensor_of(x));
}

void add_number(benchmark::State& state) {
  const Value x(eight_floats());
  for (auto _ : state) benchmark::DoNotOptimize(eager().add(x, 1));
}
BENCHMARK(add_number);

void add_tensors(benchmark::State& state) {
  const Value x(eight_floats());
  const Value y(eight_floats());
  for (auto _ : state) benchmark::DoNotOptimize(eager().add(x, y));
}
BENCHMARK(add_tensors);

void make_empty(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(make_tensor(Dtype::kF32, Dims{8}));
}
BENCHMARK(make_empty);

}  // namespace
}  // namespace lucid

BENCHMARK_MAIN();
