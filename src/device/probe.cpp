#include "device/probe.h"

#include <xmmintrin.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.h"
#include "loop/builder.h"

namespace lucid {
namespace {

/// The operations, in the order in which the kernel stores their results.
enum Operation { kAdd, kMultiply, kDivide, kSqrt, kFma, kOperations };
constexpr int64_t kCount = 4096;
/// Operands for the precision of results, followed by operands for subnormals.
constexpr int64_t kPreciseCount = kCount - 512;

/// Computes with the host's usual arithmetic, whatever mode the caller has set.
class StandardFloatScope {
 public:
  StandardFloatScope() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  StandardFloatScope(const StandardFloatScope&) = delete;
  StandardFloatScope& operator=(const StandardFloatScope&) = delete;
  ~StandardFloatScope() { _mm_setcsr(saved_); }

 private:
  const unsigned saved_;
};

/// A buffer of the gpu.
class Memory {
 public:
  Memory(Gpu& gpu, size_t bytes) : gpu_(gpu), bytes_(bytes), address_(gpu.allocate(bytes)) {}
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { gpu_.deallocate(address_, bytes_); }
  void* address() const { return address_; }

 private:
  Gpu& gpu_;
  const size_t bytes_;
  void* const address_;
};

/// All operations on sixteen elements of three operands.
loop::Kernel make_kernel(Dtype dtype) {
  loop::Builder b("probe");
  const loop::BufferRef x = b.argument(dtype), y = b.argument(dtype), z = b.argument(dtype), out = b.argument(dtype);
  b.for_loop(b.begin(), b.end(), loop::kLanes, [&](loop::Value i) {
    const loop::Value p = b.load_vector(x, i), q = b.load_vector(y, i), r = b.load_vector(z, i);
    const auto store = [&](Operation operation, loop::Value value) {
      b.store(out, i + b.index(operation * kCount), value);
    };
    store(kAdd, p + q);
    store(kMultiply, p * q);
    store(kDivide, p / q);
    store(kSqrt, b.unary(loop::Code::kSqrt, b.unary(loop::Code::kAbs, p)));
    store(kFma, b.fma(p, q, r));
  });
  return b.finish();
}

template <typename T>
struct Operands {
  std::vector<T> x, y, z;
};

template <typename T>
Operands<T> make_operands() {
  std::mt19937_64 random(1);
  const auto number = [&](int low, int high) {
    const double mantissa = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    const int exponent = low + static_cast<int>(random() % static_cast<uint64_t>(high - low + 1));
    return static_cast<T>(std::ldexp(random() & 1 ? mantissa : -mantissa, exponent));
  };
  Operands<T> operands;
  for (int64_t i = 0; i < kPreciseCount; ++i) {
    const T x = number(-20, 20), y = number(-20, 20);
    operands.x.push_back(x);
    operands.y.push_back(y);
    // Half of the sums cancel nearly: their low bits show whether the product was rounded.
    operands.z.push_back(i % 2 ? -x * y : number(-20, 20));
  }
  // Products of these are subnormal, and so are some of the operands.
  const int least = std::numeric_limits<T>::min_exponent - 1;
  for (int64_t i = kPreciseCount; i < kCount; ++i) {
    operands.x.push_back(i % 2 ? number(least / 2 - 6, least / 2) : number(least - 10, least - 1));
    operands.y.push_back(i % 2 ? number(least / 2 - 6, least / 2) : number(20, 40));
    operands.z.push_back(0);
  }
  return operands;
}

template <typename T>
T compute(int operation, T x, T y, T z) {
  switch (operation) {
    case kAdd:
      return x + y;
    case kMultiply:
      return x * y;
    case kDivide:
      return x / y;
    case kSqrt:
      return std::sqrt(std::abs(x));
    default:
      return std::fma(x, y, z);
  }
}

/// Runs the kernel; the results are ordered by operation.
template <typename T>
std::vector<T> run(Gpu& gpu, CodeGenerator& generator, Dtype dtype, const Operands<T>& operands) {
  const loop::Kernel kernel = make_kernel(dtype);
  const Ref<LoadedCode> code = generator.load(kernel, generator.compile(kernel, CpuLevel::kScalar));
  constexpr size_t kBytes = kCount * sizeof(T);
  const Memory x(gpu, kBytes), y(gpu, kBytes), z(gpu, kBytes), out(gpu, kOperations * kBytes);
  gpu.upload(x.address(), operands.x.data(), kBytes);
  gpu.upload(y.address(), operands.y.data(), kBytes);
  gpu.upload(z.address(), operands.z.data(), kBytes);
  const GpuLaunch launch{.code = code, .items = kCount, .grain = loop::kLanes};
  std::vector<uint64_t> words;
  for (const Memory* memory : {&x, &y, &z, &out}) words.push_back(std::bit_cast<uint64_t>(memory->address()));
  const size_t bytes = words.size() * sizeof(uint64_t);
  const auto commands = gpu.make_commands({launch}, std::move(words), bytes, GpuRunMode::kBatched);
  commands->start()->submit();
  std::vector<T> results(kOperations * kCount);
  gpu.download(results.data(), out.address(), kOperations * kBytes);
  return results;
}

template <typename T>
GpuArithmetic probe(Gpu& gpu, CodeGenerator& generator, Dtype dtype) {
  const StandardFloatScope scope;
  const Operands<T> operands = make_operands<T>();
  const std::vector<T> results = run(gpu, generator, dtype, operands);
  const auto differences = [&](int operation, int64_t from, int64_t to) {
    int64_t count = 0;
    for (int64_t i = from; i < to; ++i) {
      const auto at = static_cast<size_t>(i);
      const T expected = compute(operation, operands.x[at], operands.y[at], operands.z[at]);
      const T result = results[static_cast<size_t>(operation * kCount + i)];
      count += std::memcmp(&result, &expected, sizeof(T)) != 0;
    }
    return count;
  };
  const auto is_exact = [&](int operation) { return differences(operation, 0, kPreciseCount) == 0; };
  for (int operation : {kAdd, kMultiply})
    if (!is_exact(operation))
      throw RuntimeError("the gpu {} cannot be used: its {} of {} are not rounded to nearest", gpu.name(),
                         operation == kAdd ? "sums" : "products", name_of(dtype));
  GpuArithmetic found;
  found.fused_fma = is_exact(kFma);
  found.exact_divide = is_exact(kDivide);
  found.exact_sqrt = is_exact(kSqrt);
  found.keeps_subnormals =
      differences(kAdd, kPreciseCount, kCount) == 0 && differences(kMultiply, kPreciseCount, kCount) == 0;
  return found;
}

}  // namespace

GpuArithmetics probe_arithmetic(Gpu& gpu, CodeGenerator& generator) {
  return {probe<float>(gpu, generator, Dtype::kF32), probe<double>(gpu, generator, Dtype::kF64)};
}

}  // namespace lucid
