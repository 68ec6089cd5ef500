#include "schedule/contraction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/scalar.h"
#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "gpu_traits.h"
#include "loop/interpret.h"
#include "run_code.h"
#include "schedule/group_product.h"
#include "schedule/product_reference.h"

namespace lucid {
namespace {

using namespace lucid::product_reference;

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
std::vector<std::byte> run(const Schedule& schedule, const Factor& a, const Factor& b, const Case& test,
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
    a_ = make_factor(0, test.dtype, test.batches, test.m, test.k, test.a, random);
    b_ = make_factor(1, test.dtype, test.batches, test.k, test.n, test.b, random);
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
  Factor a_;
  Factor b_;
  std::vector<std::byte> expected_;
};

void check_compiled(const Case& test, std::initializer_list<int64_t> pieces = {1}) {
  const Problem problem(test);
  for (CpuLevel level : test::runnable_levels()) {
    for (int64_t count : pieces) problem.check(cpu_traits(level).registers, compiled(level), count);
  }
}

TEST(Contraction, InterpretedKernelsFollowTheCanonicalOrder) {
  for (CpuLevel level : {CpuLevel::kScalar, CpuLevel::kAvx2, CpuLevel::kAvx512}) {
    for (const Case& test : {Case{1, 3, 5, 7}, Case{2, 17, 33, 20}, Case{1, 2, 18, 530},
                             Case{1, 15, 20, 40, FactorLayout::kTransposed, FactorLayout::kTransposed},
                             Case{2, 5, 1, 300, FactorLayout::kStrided, FactorLayout::kStrided},
                             Case{1, 3, 20, 520, FactorLayout::kPlain, FactorLayout::kPlain, Dtype::kBF16},
                             Case{1, 4, 20, 9, FactorLayout::kTransposed, FactorLayout::kStrided, Dtype::kI16}}) {
      Problem(test).check(cpu_traits(level).registers, interpreter(), 2);
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
  for (FactorLayout a : {FactorLayout::kPlain, FactorLayout::kTransposed, FactorLayout::kStrided,
                         FactorLayout::kSharedBatch, FactorLayout::kSharedRow}) {
    for (FactorLayout b : {FactorLayout::kPlain, FactorLayout::kTransposed, FactorLayout::kStrided,
                           FactorLayout::kSharedBatch, FactorLayout::kSharedRow}) {
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
    for (FactorLayout a : {FactorLayout::kPlain, FactorLayout::kTransposed, FactorLayout::kStrided}) {
      for (FactorLayout b : {FactorLayout::kPlain, FactorLayout::kTransposed, FactorLayout::kStrided}) {
        check_compiled({2, 19, 37, 70, a, b, dtype});
        check_compiled({1, 5, 1, 40, a, b, dtype});
      }
    }
    check_compiled({1, 50, 40, 1100, FactorLayout::kPlain, FactorLayout::kPlain, dtype});
    check_compiled({1, 1, 40, 600, FactorLayout::kPlain, FactorLayout::kPlain, dtype});
    check_compiled({1, 3, 4, 0, FactorLayout::kPlain, FactorLayout::kPlain, dtype});
  }
}

TEST(Contraction, ItemsMayBeSplitAnywhere) {
  for (int64_t pieces : {1, 2, 7}) {
    check_compiled({1, 200, 300, 600}, {pieces});
    check_compiled({4, 30, 40, 50}, {pieces});
    check_compiled({1, 100, 1, 700}, {pieces});
    check_compiled({1, 64, 200, 784, FactorLayout::kPlain, FactorLayout::kTransposed}, {pieces});
    check_compiled({1, 90, 64, 1024, FactorLayout::kTransposed, FactorLayout::kPlain}, {pieces});
  }
}

TEST(Contraction, AnItemMayHaveMoreTilesThanAreCopiedAtOnce) {
  check_compiled({1, 160, 2, 513});
  check_compiled({1, 160, 2, 513, FactorLayout::kTransposed, FactorLayout::kTransposed});
  check_compiled({1, 160, 34, 70, FactorLayout::kTransposed, FactorLayout::kPlain});
  check_compiled({1, 400, 40, 20, FactorLayout::kStrided, FactorLayout::kStrided});
}

TEST(Contraction, OneKernelServesManySizes) {
  auto texts = [](const Case& test) {
    std::vector<std::string> texts;
    for (const KernelStep& step : Problem(test).schedule(cpu_traits(CpuLevel::kAvx512).registers).steps) {
      texts.push_back(loop::to_text(*step.kernel));
    }
    return texts;
  };
  EXPECT_EQ(texts({1, 64, 64, 64}), texts({1, 128, 96, 40}));
  EXPECT_EQ(texts({1, 1, 256, 784}), texts({1, 1, 512, 10}));
  EXPECT_EQ(texts({1, 5, 1, 784}), texts({3, 64, 1, 10}));
}

TEST(Contraction, PackedPanelsNameTheirInput) {
  const Schedule schedule = Problem({1, 64, 40, 30, FactorLayout::kPlain, FactorLayout::kTransposed})
                                .schedule(cpu_traits(CpuLevel::kAvx512).registers);
  ASSERT_EQ(schedule.steps.size(), 2u);
  EXPECT_EQ(schedule.steps[0].packs, 1);
  EXPECT_EQ(schedule.steps[0].buffers.back().kind, BufferUse::Kind::kScratch);
  EXPECT_EQ(schedule.steps[1].packs, std::nullopt);
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
  for (FactorLayout a : {FactorLayout::kPlain, FactorLayout::kTransposed, FactorLayout::kStrided,
                         FactorLayout::kSharedBatch, FactorLayout::kSharedRow}) {
    for (FactorLayout b : {FactorLayout::kPlain, FactorLayout::kTransposed, FactorLayout::kStrided,
                           FactorLayout::kSharedBatch, FactorLayout::kSharedRow}) {
      Problem({2, 18, 21, 20, a, b}).check_group({1, 1}, 2);
      Problem({2, 18, 21, 20, a, b}).check_group({2, 2}, 1);
    }
  }
}

TEST(Contraction, GroupsTakeEveryDtype) {
  for (Dtype dtype :
       {Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kU8, Dtype::kI8, Dtype::kI16, Dtype::kI32, Dtype::kI64}) {
    Problem({1, 18, 21, 530, FactorLayout::kPlain, FactorLayout::kTransposed, dtype}).check_group({1, 1}, 1);
    Problem({1, 30, 33, 18, FactorLayout::kTransposed, FactorLayout::kPlain, dtype}).check_group({4, 2}, 1);
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

TEST(Contraction, OnlyTargetsWithSharedMemoryHaveGroups) {
  for (const TargetTraits& target : {cpu_traits(), test::kGpuTraits}) {
    for (Dtype dtype : {Dtype::kF32, Dtype::kI32}) {
      const auto operand = [&](int32_t id, Dims sizes) {
        const Dims strides = contiguous_strides(sizes);
        return MemoryOperand{.id = id, .dtype = dtype, .geometry = {sizes, strides, 0}};
      };
      Schedule schedule;
      schedule.target = target;
      schedule_contraction(schedule, operand(0, {1, 90, 70}), operand(1, {1, 70, 80}), operand(2, {1, 90, 80}));
      EXPECT_EQ(schedule.steps.back().kernel->group, target.has_groups() ? 16 : 1);
      if (target.has_groups()) EXPECT_EQ(schedule.steps.size(), 1u);
    }
  }
}

TEST(Contraction, TilesFillTheRegistersOfTheTarget) {
  const contraction::Product product{.dtype = Dtype::kF32, .batches = 1, .m = 1024, .n = 1024, .k = 1024};
  for (const auto& [level, min, max] : {std::tuple(CpuLevel::kAvx512, 24, 28), std::tuple(CpuLevel::kAvx2, 6, 6),
                                        std::tuple(CpuLevel::kScalar, 2, 3)}) {
    const contraction::RegisterTile tile = contraction::choose_blocking(product, cpu_traits(level).registers).tile;
    EXPECT_GE(tile.rows * tile.vectors, min) << name_of(level);
    EXPECT_LE(tile.rows * tile.vectors, max) << name_of(level);
  }
}

}  // namespace
}  // namespace lucid
