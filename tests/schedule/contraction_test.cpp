#include "schedule/contraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "float_elements.h"
#include "loop/interpret.h"
#include "run_code.h"
#include "schedule/group_product.h"

namespace lucid {
namespace {

/// The memory layout of an operand.
enum class OperandLayout { kPlain, kTransposed, kStrided, kSharedBatch, kSharedRow };

struct Case {
  int64_t batches = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  OperandLayout a = OperandLayout::kPlain;
  OperandLayout b = OperandLayout::kPlain;
  Dtype dtype = Dtype::kF32;
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << name_of(test.dtype) << " " << test.batches << "x" << test.m << "x" << test.n << "x" << test.k
             << " layouts " << static_cast<int>(test.a) << " " << static_cast<int>(test.b);
}

int64_t read_integer(Dtype dtype, const void* memory, int64_t index) {
  switch (dtype) {
    case Dtype::kU8:
      return static_cast<const uint8_t*>(memory)[index];
    case Dtype::kI8:
      return static_cast<const int8_t*>(memory)[index];
    case Dtype::kI16:
      return static_cast<const int16_t*>(memory)[index];
    case Dtype::kI32:
      return static_cast<const int32_t*>(memory)[index];
    default:
      return static_cast<const int64_t*>(memory)[index];
  }
}

/// An operand and its memory, which ends with its last element.
struct Operand {
  MemoryOperand description;
  std::vector<std::byte> memory;
};

Operand make_operand(ValueId id, Dtype dtype, int64_t batches, int64_t rows, int64_t columns, OperandLayout layout,
                     std::mt19937& random) {
  Operand operand;
  Dims strides;
  switch (layout) {
    case OperandLayout::kPlain:
      strides = {rows * columns, columns, 1};
      break;
    case OperandLayout::kTransposed:
      strides = {rows * columns, 1, rows};
      break;
    case OperandLayout::kStrided:
      strides = {rows * columns * 6 + 5, columns * 3 + 2, 2};
      break;
    case OperandLayout::kSharedBatch:
      strides = {0, columns, 1};
      break;
    case OperandLayout::kSharedRow:
      strides = {columns, 0, 1};
      break;
  }
  const int64_t offset = 3;
  operand.description = {
      .id = id, .dtype = dtype, .geometry = {.sizes = {batches, rows, columns}, .strides = strides, .offset = offset}};
  const int64_t elements = offset + std::max<int64_t>(batches - 1, 0) * strides[0] +
                           std::max<int64_t>(rows - 1, 0) * strides[1] +
                           std::max<int64_t>(columns - 1, 0) * strides[2] + 1;
  operand.memory.resize(static_cast<size_t>(elements) * size_of(dtype));
  if (is_integer(dtype)) {
    for (std::byte& byte : operand.memory) byte = static_cast<std::byte>(random());
  } else {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < elements; ++i) test::write_float(dtype, operand.memory.data(), i, normal(random));
  }
  return operand;
}

int64_t offset_of(const Operand& operand, int64_t i, int64_t j, int64_t k) {
  const Geometry& geometry = operand.description.geometry;
  return geometry.offset + i * geometry.strides[0] + j * geometry.strides[1] + k * geometry.strides[2];
}

/// Chains over blocks of 512, added in order.
template <typename T>
T product_of(int64_t k, const std::function<T(int64_t)>& a, const std::function<T(int64_t)>& b) {
  T total = 0;
  for (int64_t first = 0; first < k; first += 512) {
    T chain = 0;
    for (int64_t i = first; i < std::min(k, first + 512); ++i) chain = std::fma(a(i), b(i), chain);
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

/// Sixteen lanes in blocks of 256, k padded with zeros to a multiple of 16; blocks are added as a binary counter does.
template <typename T>
T column_product_of(int64_t k, const std::function<T(int64_t)>& a, const std::function<T(int64_t)>& b) {
  using Lanes = std::array<T, 16>;
  auto sum = [](Lanes x, const Lanes& y) {
    for (size_t lane = 0; lane < 16; ++lane) x[lane] += y[lane];
    return x;
  };
  std::map<int, Lanes> levels;
  for (int64_t first = 0; first < k; first += 256) {
    Lanes block{};
    for (int64_t i = first; i < std::min(first + 256, (k + 15) / 16 * 16); ++i) {
      T& lane = block[static_cast<size_t>(i % 16)];
      lane = i < k ? std::fma(a(i), b(i), lane) : std::fma(T(0), T(0), lane);
    }
    int level = 0;
    for (; levels.contains(level); ++level) {
      block = sum(levels[level], block);
      levels.erase(level);
    }
    levels[level] = block;
  }
  std::optional<Lanes> total;
  for (const auto& [level, lanes] : levels) total = total ? sum(*total, lanes) : lanes;
  for (size_t distance = 8; distance > 0; distance /= 2) {
    for (size_t lane = 0; lane < distance; ++lane) (*total)[lane] += (*total)[lane + distance];
  }
  return (*total)[0];
}

template <typename T>
double float_element(const Case& test, const Operand& a, const Operand& b, int64_t i, int64_t m, int64_t n) {
  std::function<T(int64_t)> left = [&](int64_t k) {
    return static_cast<T>(test::read_float(test.dtype, a.memory.data(), offset_of(a, i, m, k)));
  };
  std::function<T(int64_t)> right = [&](int64_t k) {
    return static_cast<T>(test::read_float(test.dtype, b.memory.data(), offset_of(b, i, k, n)));
  };
  return test.n == 1 && test.k > 0 ? column_product_of<T>(test.k, left, right) : product_of<T>(test.k, left, right);
}

std::vector<std::byte> expected_result(const Case& test, const Operand& a, const Operand& b) {
  const size_t bytes = size_of(test.dtype);
  std::vector<std::byte> result(static_cast<size_t>(test.batches * test.m * test.n) * bytes);
  for (int64_t i = 0, at = 0; i < test.batches; ++i) {
    for (int64_t m = 0; m < test.m; ++m) {
      for (int64_t n = 0; n < test.n; ++n, ++at) {
        if (is_integer(test.dtype)) {
          uint64_t sum = 0;
          for (int64_t k = 0; k < test.k; ++k) {
            sum += static_cast<uint64_t>(read_integer(test.dtype, a.memory.data(), offset_of(a, i, m, k))) *
                   static_cast<uint64_t>(read_integer(test.dtype, b.memory.data(), offset_of(b, i, k, n)));
          }
          // The low bytes come first.
          std::memcpy(result.data() + static_cast<size_t>(at) * bytes, &sum, bytes);
        } else {
          test::write_float(test.dtype, result.data(), at,
                            test.dtype == Dtype::kF64 ? float_element<double>(test, a, b, i, m, n)
                                                      : float_element<float>(test, a, b, i, m, n));
        }
      }
    }
  }
  return result;
}

/// Runs one range of a step's items.
using Engine = std::function<void(const KernelStep&, void* const*, int64_t begin, int64_t end)>;

Engine interpreter() {
  return [](const KernelStep& step, void* const* buffers, int64_t begin, int64_t end) {
    const std::vector<int64_t> params(step.params.begin(), step.params.end());
    loop::interpret(*step.kernel, buffers, params.data(), begin, end);
  };
}

/// Machine code, cached by kernel text.
Engine compiled(CpuLevel target) {
  static const auto generator = codegen::make_llvm_generator();
  static std::map<std::pair<std::string, CpuLevel>, Ref<LoadedCode>> cache;
  return [target](const KernelStep& step, void* const* buffers, int64_t begin, int64_t end) {
    Ref<LoadedCode>& code = cache[{loop::to_text(*step.kernel), target}];
    if (!code) code = generator->load(*step.kernel, generator->compile(*step.kernel, target));
    const std::vector<int64_t> params(step.params.begin(), step.params.end());
    run_code(*code, buffers, params.data(), begin, end);
  };
}

/// Runs a schedule, each step's items in `pieces` ranges, the last first.
std::vector<std::byte> run(const Schedule& schedule, const Operand& a, const Operand& b, const Case& test,
                           const Engine& engine, int64_t pieces) {
  const size_t elements = static_cast<size_t>(test.batches * test.m * test.n);
  const size_t guard = 64;
  const std::byte filler{0xA5};
  std::vector<std::byte> c(elements * size_of(test.dtype) + guard, filler);
  std::vector<std::vector<std::byte>> scratch;
  for (int64_t bytes : schedule.scratch_bytes) scratch.emplace_back(static_cast<size_t>(bytes) + guard, filler);
  for (const KernelStep& step : schedule.steps) {
    std::vector<void*> buffers;
    for (const BufferUse& use : step.buffers) {
      std::byte* start = use.kind == BufferUse::Kind::kScratch ? scratch[static_cast<size_t>(use.index)].data()
                         : use.index == 0                      ? const_cast<std::byte*>(a.memory.data())
                         : use.index == 1                      ? const_cast<std::byte*>(b.memory.data())
                                                               : c.data();
      buffers.push_back(start + use.byte_offset);
    }
    for (int64_t piece = pieces; piece-- > 0;) {
      engine(step, buffers.data(), step.items * piece / pieces, step.items * (piece + 1) / pieces);
    }
  }
  for (const auto& area : scratch) {
    EXPECT_TRUE(std::all_of(area.end() - guard, area.end(), [&](std::byte byte) { return byte == filler; }))
        << "a kernel wrote past its scratch";
  }
  EXPECT_TRUE(std::all_of(c.end() - guard, c.end(), [&](std::byte byte) { return byte == filler; }))
      << "a kernel wrote past c";
  c.resize(c.size() - guard);
  return c;
}

class Problem {
 public:
  explicit Problem(const Case& test) : test_(test) {
    std::mt19937 random(static_cast<uint32_t>(test.m * 131 + test.n * 17 + test.k));
    a_ = make_operand(0, test.dtype, test.batches, test.m, test.k, test.a, random);
    b_ = make_operand(1, test.dtype, test.batches, test.k, test.n, test.b, random);
    expected_ = expected_result(test, a_, b_);
  }

  Schedule schedule(const Registers& registers) const {
    const Dims sizes{test_.batches, test_.m, test_.n};
    Schedule schedule;
    schedule_contraction(schedule, a_.description, b_.description,
                         {.id = 2,
                          .dtype = test_.dtype,
                          .geometry = {.sizes = sizes, .strides = contiguous_strides(sizes), .offset = 0}},
                         registers);
    return schedule;
  }

  /// Interprets the kernel for a gpu.
  void check_group(contraction::RegisterTile tile, int64_t pieces) const {
    const auto strides = [](const Geometry& geometry) {
      return contraction::Strides{geometry.strides[0], geometry.strides[1], geometry.strides[2]};
    };
    const auto use = [](const MemoryOperand& operand) {
      return BufferUse{.index = operand.id, .byte_offset = operand.geometry.offset * size_of(operand.dtype)};
    };
    const contraction::Product product{.dtype = test_.dtype,
                                       .batches = test_.batches,
                                       .m = test_.m,
                                       .n = test_.n,
                                       .k = test_.k,
                                       .a = strides(a_.description.geometry),
                                       .b = strides(b_.description.geometry),
                                       .a_use = use(a_.description),
                                       .b_use = use(b_.description),
                                       .c_use = {.index = 2}};
    Schedule schedule;
    schedule.steps.push_back(contraction::group_step(product, tile));
    loop::verify(*schedule.steps[0].kernel);
    EXPECT_EQ(run(schedule, a_, b_, test_, interpreter(), pieces), expected_)
        << test_ << ", tiles of " << tile.rows << " x " << tile.vectors << ", " << pieces << " pieces";
  }

  void check(const Registers& registers, const Engine& engine, int64_t pieces) const {
    EXPECT_EQ(run(schedule(registers), a_, b_, test_, engine, pieces), expected_)
        << test_ << ", registers of " << registers.bytes << " bytes, " << pieces << " pieces";
  }

 private:
  Case test_;
  Operand a_;
  Operand b_;
  std::vector<std::byte> expected_;
};

void check_compiled(const Case& test, std::initializer_list<int64_t> pieces = {1}) {
  const Problem problem(test);
  for (CpuLevel level : test::runnable_levels()) {
    for (int64_t count : pieces) problem.check(registers_of(level), compiled(level), count);
  }
}

TEST(Contraction, InterpretedKernelsFollowTheCanonicalOrder) {
  for (CpuLevel level : {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    for (const Case& test : {Case{1, 3, 5, 7}, Case{2, 17, 33, 20}, Case{1, 2, 18, 530},
                             Case{1, 15, 20, 40, OperandLayout::kTransposed, OperandLayout::kTransposed},
                             Case{2, 5, 1, 300, OperandLayout::kStrided, OperandLayout::kStrided},
                             Case{1, 3, 20, 520, OperandLayout::kPlain, OperandLayout::kPlain, Dtype::kBF16},
                             Case{1, 4, 20, 9, OperandLayout::kTransposed, OperandLayout::kStrided, Dtype::kI16}}) {
      Problem(test).check(registers_of(level), interpreter(), 2);
    }
  }
}

TEST(Contraction, SizesFromZeroToMoreThanATile) {
  for (int64_t m : {0, 1, 2, 7, 14, 15, 29, 64}) {
    for (int64_t n : {0, 1, 2, 16, 31, 48, 100}) {
      for (int64_t k : {0, 1, 5, 16, 33}) check_compiled({1, m, n, k});
    }
  }
}

TEST(Contraction, WideRowsAndLongProducts) {
  for (int64_t n : {15, 256, 300, 1030}) check_compiled({1, 1, n, 70});
  for (int64_t k : {255, 256, 257, 511, 512, 513, 1024, 1500}) {
    check_compiled({1, 20, 40, k});
    check_compiled({1, 1, 40, k});
    check_compiled({1, 6, 1, k});
  }
  for (int64_t k : {256 * 3, 256 * 7 + 5, 256 * 16, 256 * 21 + 1}) check_compiled({1, 3, 1, k});
}

TEST(Contraction, LayoutsDoNotChangeBits) {
  for (OperandLayout a : {OperandLayout::kPlain, OperandLayout::kTransposed, OperandLayout::kStrided,
                          OperandLayout::kSharedBatch, OperandLayout::kSharedRow}) {
    for (OperandLayout b : {OperandLayout::kPlain, OperandLayout::kTransposed, OperandLayout::kStrided,
                            OperandLayout::kSharedBatch, OperandLayout::kSharedRow}) {
      check_compiled({3, 17, 35, 600, a, b});
      check_compiled({2, 1, 35, 40, a, b});
      check_compiled({2, 5, 1, 300, a, b});
      check_compiled({2, 30, 10, 20, a, b});
    }
  }
}

TEST(Contraction, EveryDtype) {
  for (Dtype dtype :
       {Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64}) {
    for (OperandLayout a : {OperandLayout::kPlain, OperandLayout::kTransposed, OperandLayout::kStrided}) {
      for (OperandLayout b : {OperandLayout::kPlain, OperandLayout::kTransposed, OperandLayout::kStrided}) {
        check_compiled({2, 19, 37, 70, a, b, dtype});
        check_compiled({1, 5, 1, 40, a, b, dtype});
      }
    }
    check_compiled({1, 50, 40, 1100, OperandLayout::kPlain, OperandLayout::kPlain, dtype});
    check_compiled({1, 1, 40, 600, OperandLayout::kPlain, OperandLayout::kPlain, dtype});
    check_compiled({1, 3, 4, 0, OperandLayout::kPlain, OperandLayout::kPlain, dtype});
  }
}

TEST(Contraction, ItemsMayBeSplitAnywhere) {
  for (int64_t pieces : {1, 2, 7}) {
    check_compiled({1, 200, 300, 600}, {pieces});
    check_compiled({4, 30, 40, 50}, {pieces});
    check_compiled({1, 100, 1, 700}, {pieces});
    check_compiled({1, 64, 200, 784, OperandLayout::kPlain, OperandLayout::kTransposed}, {pieces});
    check_compiled({1, 90, 64, 1024, OperandLayout::kTransposed, OperandLayout::kPlain}, {pieces});
  }
}

TEST(Contraction, AnItemMayHaveMoreTilesThanAreCopiedAtOnce) {
  check_compiled({1, 160, 2, 513});
  check_compiled({1, 160, 2, 513, OperandLayout::kTransposed, OperandLayout::kTransposed});
  check_compiled({1, 160, 34, 70, OperandLayout::kTransposed, OperandLayout::kPlain});
  check_compiled({1, 400, 40, 20, OperandLayout::kStrided, OperandLayout::kStrided});
}

TEST(Contraction, OneKernelServesManySizes) {
  auto texts = [](const Case& test) {
    std::vector<std::string> texts;
    for (const KernelStep& step : Problem(test).schedule(registers_of(CpuLevel::kAvx512)).steps) {
      texts.push_back(loop::to_text(*step.kernel));
    }
    return texts;
  };
  EXPECT_EQ(texts({1, 64, 64, 64}), texts({1, 128, 96, 40}));
  EXPECT_EQ(texts({1, 1, 256, 784}), texts({1, 1, 512, 10}));
  EXPECT_EQ(texts({1, 5, 1, 784}), texts({3, 64, 1, 10}));
}

TEST(Contraction, PackedPanelsNameTheirInput) {
  const Schedule schedule = Problem({1, 64, 40, 30, OperandLayout::kPlain, OperandLayout::kTransposed})
                                .schedule(registers_of(CpuLevel::kAvx512));
  ASSERT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.steps[0].packs, 1);
  EXPECT_EQ(schedule.steps[0].buffers.back().kind, BufferUse::Kind::kScratch);
  EXPECT_EQ(schedule.steps[1].packs, -1);
}

using Tile = contraction::RegisterTile;

TEST(Contraction, GroupsFollowTheCanonicalOrder) {
  for (int64_t k : {1, 2, 15, 16, 17, 512, 513, 1100}) Problem({1, 3, 20, k}).check_group({1, 1}, 1);
  for (Tile tile : {Tile{1, 1}, Tile{2, 2}, Tile{4, 4}, Tile{8, 4}}) {
    const int64_t rows = 16 * tile.rows, columns = tile.columns();
    Problem({1, rows, columns, 5}).check_group(tile, 1);
    Problem({2, rows + 1, columns + 1, 19}).check_group(tile, 3);
    Problem({1, 1, 2, 3}).check_group(tile, 1);
  }
}

TEST(Contraction, GroupsTakeAnyStrides) {
  for (OperandLayout a : {OperandLayout::kPlain, OperandLayout::kTransposed, OperandLayout::kStrided,
                          OperandLayout::kSharedBatch, OperandLayout::kSharedRow}) {
    for (OperandLayout b : {OperandLayout::kPlain, OperandLayout::kTransposed, OperandLayout::kStrided,
                            OperandLayout::kSharedBatch, OperandLayout::kSharedRow}) {
      Problem({2, 18, 21, 20, a, b}).check_group({1, 1}, 2);
      Problem({2, 18, 21, 20, a, b}).check_group({2, 2}, 1);
    }
  }
}

TEST(Contraction, GroupsTakeEveryDtype) {
  for (Dtype dtype :
       {Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64}) {
    Problem({1, 18, 21, 530, OperandLayout::kPlain, OperandLayout::kTransposed, dtype}).check_group({1, 1}, 1);
    Problem({1, 30, 33, 18, OperandLayout::kTransposed, OperandLayout::kPlain, dtype}).check_group({4, 2}, 1);
  }
}

TEST(Contraction, GroupsHaveTilesForTheSizeOfTheProduct) {
  const auto tile_of = [](int64_t m, int64_t n, Dtype dtype = Dtype::kF32) {
    return contraction::choose_group_tile(dtype, 1, m, n);
  };
  EXPECT_EQ(tile_of(1024, 1024), (Tile{8, 4}));
  EXPECT_EQ(tile_of(512, 512), (Tile{4, 4}));
  EXPECT_EQ(tile_of(256, 256), (Tile{2, 2}));
  EXPECT_EQ(tile_of(100, 100), (Tile{1, 1}));
  EXPECT_EQ(tile_of(1, 1000), (Tile{1, 1}));
  EXPECT_EQ(tile_of(1024, 1024, Dtype::kF64), (Tile{4, 2}));
}

TEST(Contraction, OnlyGpusHaveGroups) {
  for (const Device device : {kCpuDevice, Device::gpu(0)}) {
    for (Dtype dtype : {Dtype::kF32, Dtype::kI32}) {
      const auto operand = [&](int32_t id, Dims sizes) {
        const Dims strides = contiguous_strides(sizes);
        return MemoryOperand{.id = id, .dtype = dtype, .geometry = {sizes, strides, 0}};
      };
      Schedule schedule;
      schedule.device = device;
      schedule_contraction(schedule, operand(0, {1, 90, 70}), operand(1, {1, 70, 80}), operand(2, {1, 90, 80}));
      EXPECT_EQ(schedule.steps.back().kernel->group, device.is_gpu() ? 16 : 1);
      if (device.is_gpu()) EXPECT_EQ(schedule.steps.size(), 1u);
    }
  }
}

TEST(Contraction, TilesFillTheRegistersOfTheTarget) {
  const contraction::Product product{.dtype = Dtype::kF32, .batches = 1, .m = 1024, .n = 1024, .k = 1024};
  for (const auto& [level, min, max] : {std::tuple(CpuLevel::kAvx512, 24, 28), std::tuple(CpuLevel::kAvx2, 6, 6),
                                        std::tuple(CpuLevel::kScalar, 2, 3)}) {
    const contraction::RegisterTile tile = contraction::choose_blocking(product, registers_of(level)).tile;
    EXPECT_GE(tile.rows * tile.vectors, min) << name_of(level);
    EXPECT_LE(tile.rows * tile.vectors, max) << name_of(level);
  }
}

}  // namespace
}  // namespace lucid
