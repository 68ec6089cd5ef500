#include "schedule/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "float_elements.h"
#include "gpu_traits.h"
#include "loop/interpret.h"

namespace lucid {
namespace {

using contraction::RegisterTile;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

enum class Mask { kNone, kBools, kNumbers };
/// The memory layout of q, k, v and the mask: plain, heads inside of rows as in models, or with gaps between elements.
enum class OperandLayout { kPlain, kHeadsInside, kStrided };
/// Elements of q, k, v and the mask: normal, zeros of both signs, some infinities and NaNs, or such that weights and
/// values are so small that products are 0.
enum class Fill { kNormal, kZeros, kSpecial, kSmall };

struct Case {
  int64_t queries = 1;
  int64_t keys = 1;
  int64_t width = 1;
  int64_t value_width = 1;
  bool causal = false;
  Mask mask = Mask::kNone;
  Dtype dtype = Dtype::kF32;
  OperandLayout layout = OperandLayout::kPlain;
  Fill fill = Fill::kNormal;
  int64_t batches = 1;
  int64_t heads = 1;
};

std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << name_of(test.dtype) << " " << test.batches << "x" << test.heads << " " << test.queries << " queries, "
             << test.keys << " keys, widths " << test.width << " and " << test.value_width
             << (test.causal ? ", causal" : "") << ", mask " << static_cast<int>(test.mask) << ", layout "
             << static_cast<int>(test.layout) << ", fill " << static_cast<int>(test.fill);
}

void write(Dtype dtype, std::byte* memory, int64_t index, float value) {
  if (is_bool(dtype))
    memory[index] = std::byte{value > 0};
  else
    test::write_float(dtype, memory, index, value);
}

/// An operand and its memory, which ends with its last element.
struct Operand {
  MemoryOperand description;
  std::vector<std::byte> memory;
};

/// A random element of operand `id`.
float random_element(Fill fill, int32_t id, std::mt19937& random) {
  static constexpr float kSpecial[] = {0.0f, -0.0f, kInfinity, -kInfinity, kNan, 1e30f};
  static constexpr float kSmall[] = {0.0f, -0.0f, 1e-30f, -1e-30f};
  const float normal = std::normal_distribution<float>()(random);
  switch (fill) {
    case Fill::kNormal:
      return normal;
    case Fill::kZeros:
      return std::copysign(0.0f, normal);
    case Fill::kSpecial:
      // A special element of k affects many queries.
      return random() % (id == 1 ? 1024 : 32) == 0 ? kSpecial[random() % std::size(kSpecial)] : normal;
    case Fill::kSmall:
      return id == 2 ? kSmall[random() % std::size(kSmall)] : 10 * normal;
  }
  return normal;
}

Operand make_operand(int32_t id, Dtype dtype, const Dims& sizes, OperandLayout layout, Fill fill,
                     std::mt19937& random) {
  const int64_t heads = sizes[1], rows = sizes[2], columns = sizes[3];
  Dims strides;
  switch (layout) {
    case OperandLayout::kPlain:
      strides = {heads * rows * columns, rows * columns, columns, 1};
      break;
    case OperandLayout::kHeadsInside:
      strides = {heads * rows * columns, columns, heads * columns, 1};
      break;
    case OperandLayout::kStrided:
      strides = {0, rows * columns * 2 + 5, 2, rows * 2 + 1};
      break;
  }
  Operand operand;
  operand.description = {.id = id, .dtype = dtype, .geometry = {.sizes = sizes, .strides = strides, .offset = 3}};
  int64_t elements = 4;
  for (size_t i = 0; i < 4; ++i) elements += std::max<int64_t>(sizes[i] - 1, 0) * strides[i];
  operand.memory.resize(static_cast<size_t>(elements) * size_of(dtype));
  for (int64_t i = 0; i < elements; ++i) write(dtype, operand.memory.data(), i, random_element(fill, id, random));
  return operand;
}

/// Excludes all keys of query 2, the first block of query 5 and the second block of query 7, for all heads.
void exclude_rows(Operand& mask) {
  const Geometry& geometry = mask.description.geometry;
  for (int64_t batch = 0; batch < geometry.sizes[0]; ++batch)
    for (int64_t head = 0; head < geometry.sizes[1]; ++head)
      for (int64_t query : {2, 5, 7})
        for (int64_t key = 0; key < geometry.sizes[3] && query < geometry.sizes[2]; ++key) {
          if ((query == 5 && key >= 64) || (query == 7 && (key < 64 || key >= 128))) continue;
          const int64_t at = geometry.offset + batch * geometry.strides[0] + head * geometry.strides[1] +
                             query * geometry.strides[2] + key * geometry.strides[3];
          write(mask.description.dtype, mask.memory.data(), at, -kInfinity);
        }
}

/// The results of a kernel. All NaNs are equal.
struct Results {
  std::vector<std::byte> out, logsumexp;
  bool operator==(const Results&) const = default;
};

void make_nans_equal(Dtype dtype, std::vector<std::byte>& memory) {
  for (int64_t i = 0; i < static_cast<int64_t>(memory.size() / size_of(dtype)); ++i)
    if (std::isnan(test::read_float(dtype, memory.data(), i))) write(dtype, memory.data(), i, kNan);
}

class Problem {
 public:
  explicit Problem(const Case& test) : test_(test) {
    std::mt19937 random(static_cast<uint32_t>(test.queries * 131 + test.keys * 17 + test.width));
    const auto operand = [&](int32_t id, Dtype dtype, int64_t rows, int64_t columns) {
      operands_.push_back(
          make_operand(id, dtype, {test.batches, test.heads, rows, columns}, test.layout, test.fill, random));
      return operands_.back().description;
    };
    problem_.q = operand(0, test.dtype, test.queries, test.width);
    problem_.k = operand(1, test.dtype, test.keys, test.width);
    problem_.v = operand(2, test.dtype, test.keys, test.value_width);
    if (test.mask != Mask::kNone) {
      const Dtype dtype = test.mask == Mask::kBools ? Dtype::kBool : test.dtype;
      problem_.mask = operand(3, dtype, test.queries, test.keys);
      exclude_rows(operands_.back());
    }
    problem_.out = result(4, test.dtype, {test.batches, test.heads, test.queries, test.value_width});
    problem_.logsumexp = result(5, compute_dtype(test.dtype), {test.batches, test.heads, test.queries});
    problem_.causal = test.causal;
    problem_.scale = 0.3;
  }

  const attention::Problem& description() const { return problem_; }

  /// Interprets kernels for a gpu with all tiles, and compares with the kernel for CPUs.
  void check(int64_t pieces = 1) const {
    Schedule cpu;
    schedule_attention(cpu, problem_);
    ASSERT_EQ(cpu.steps.size(), 1u);
    EXPECT_EQ(cpu.steps[0].kernel->group, 1);
    const Results expected = run(cpu.steps[0], 1);
    const std::optional<RegisterTile> chosen = attention::choose_group_tile(problem_);
    ASSERT_TRUE(chosen) << test_;
    for (const int rows : {1, 2, 4}) {
      if (rows > (test_.dtype == Dtype::kF64 ? 2 : 4) || rows * chosen->vectors > 16) continue;
      const KernelStep step = attention::group_step(problem_, {rows, chosen->vectors});
      loop::verify(*step.kernel);
      EXPECT_TRUE(run(step, pieces) == expected) << test_ << ", " << rows << " rows";
    }
  }

 private:
  static MemoryOperand result(int32_t id, Dtype dtype, const Dims& sizes) {
    return {.id = id, .dtype = dtype, .geometry = {.sizes = sizes, .strides = contiguous_strides(sizes), .offset = 0}};
  }

  /// Runs a step in `pieces` ranges of items, the last first.
  Results run(const KernelStep& step, int64_t pieces) const {
    constexpr size_t kGuard = 64;
    constexpr std::byte kFiller{0xA5};
    const auto rows = static_cast<size_t>(test_.batches * test_.heads * test_.queries);
    const size_t out_bytes = rows * static_cast<size_t>(test_.value_width) * size_of(test_.dtype);
    Results results{.out = std::vector(out_bytes + kGuard, kFiller),
                    .logsumexp = std::vector(rows * size_of(compute_dtype(test_.dtype)) + kGuard, kFiller)};
    std::vector<void*> buffers;
    for (const BufferUse& use : step.buffers) {
      std::byte* const start = use.index == 4 ? results.out.data()
                               : use.index == 5
                                   ? results.logsumexp.data()
                                   : const_cast<std::byte*>(operands_[static_cast<size_t>(use.index)].memory.data());
      buffers.push_back(start + use.byte_offset);
    }
    const std::vector<int64_t> params(step.params.begin(), step.params.end());
    for (int64_t piece = pieces; piece-- > 0;)
      loop::interpret(*step.kernel, buffers.data(), params.data(), step.items * piece / pieces,
                      step.items * (piece + 1) / pieces);
    for (auto* memory : {&results.out, &results.logsumexp}) {
      EXPECT_EQ(std::vector(memory->end() - kGuard, memory->end()), std::vector(kGuard, kFiller))
          << "wrote past a result";
      memory->resize(memory->size() - kGuard);
    }
    make_nans_equal(test_.dtype, results.out);
    make_nans_equal(compute_dtype(test_.dtype), results.logsumexp);
    return results;
  }

  Case test_;
  std::vector<Operand> operands_;
  attention::Problem problem_;
};

TEST(Attention, GroupsHaveTheBitsOfTheCpu) {
  for (int64_t queries : {1, 15, 16, 17, 63, 64, 65}) Problem({queries, 20, 3, 5}).check();
  for (int64_t keys : {0, 1, 15, 16, 17, 63, 64, 65, 130}) Problem({5, keys, 8, 9}).check();
  Problem({130, 130, 5, 17}).check(3);
}

TEST(Attention, GroupsTakeAnyWidth) {
  for (int64_t width : {1, 8, 15, 16, 17, 64, 128}) Problem({18, 70, width, 16}).check();
  for (int64_t width : {512, 513, 600, 1030}) Problem({3, 17, width, 4}).check();
  for (int64_t width : {1, 8, 16, 33, 64, 65, 128}) Problem({18, 70, 4, width}).check();
}

TEST(Attention, GroupsWithCausalMasks) {
  for (int64_t queries : {1, 15, 16, 17, 63, 64, 65, 130})
    for (int64_t keys : {0, 1, 40, 64, 70, 130}) Problem({queries, keys, 3, 5, true}).check();
}

TEST(Attention, GroupsWithMasks) {
  for (Mask mask : {Mask::kBools, Mask::kNumbers})
    for (bool causal : {false, true})
      for (auto [queries, keys] : {std::pair(1, 1), std::pair(19, 70), std::pair(70, 130), std::pair(66, 64)})
        Problem({queries, keys, 5, 9, causal, mask}).check();
}

TEST(Attention, GroupsWithSpecialNumbers) {
  for (Fill fill : {Fill::kZeros, Fill::kSpecial, Fill::kSmall})
    for (Mask mask : {Mask::kNone, Mask::kBools, Mask::kNumbers})
      for (bool causal : {false, true})
        Problem({40, 130, 6, 20, causal, mask, Dtype::kF32, OperandLayout::kPlain, fill}).check();
}

TEST(Attention, GroupsTakeEveryDtype) {
  for (Dtype dtype : {Dtype::kF64, Dtype::kF16, Dtype::kBF16})
    for (Mask mask : {Mask::kNone, Mask::kBools, Mask::kNumbers})
      for (bool causal : {false, true}) {
        Problem({35, 70, 18, 20, causal, mask, dtype}).check();
        Problem({17, 66, 3, 64, causal, mask, dtype, OperandLayout::kPlain, Fill::kSpecial}).check();
      }
}

TEST(Attention, GroupsTakeAnyStridesAndHeads) {
  for (OperandLayout layout : {OperandLayout::kPlain, OperandLayout::kHeadsInside, OperandLayout::kStrided})
    for (Mask mask : {Mask::kNone, Mask::kBools, Mask::kNumbers})
      for (bool causal : {false, true})
        Problem({33, 70, 17, 18, causal, mask, Dtype::kF32, layout, Fill::kNormal, 2, 2}).check(causal ? 3 : 1);
}

TEST(Attention, GroupsHaveTilesForTheSizeOfTheProblem) {
  const auto tile_of = [](int64_t heads, int64_t queries, int64_t value_width, Dtype dtype = Dtype::kF32) {
    Case test{queries, 3, 1, value_width};
    test.dtype = dtype;
    test.heads = heads;
    return attention::choose_group_tile(Problem(test).description());
  };
  EXPECT_EQ(tile_of(64, 1024, 64), (RegisterTile{4, 4}));
  EXPECT_EQ(tile_of(64, 1024, 20), (RegisterTile{4, 2}));
  EXPECT_EQ(tile_of(64, 1024, 128), (RegisterTile{2, 8}));
  EXPECT_EQ(tile_of(4, 200, 64), (RegisterTile{1, 4}));
  EXPECT_EQ(tile_of(64, 1, 64), (RegisterTile{1, 4}));
  EXPECT_EQ(tile_of(64, 1024, 64, Dtype::kF64), (RegisterTile{2, 4}));
  EXPECT_EQ(tile_of(1, 20, 129), std::nullopt);
  EXPECT_EQ(tile_of(1, 20, 65, Dtype::kF64), std::nullopt);
}

TEST(Attention, OnlyTargetsWithSharedMemoryHaveGroups) {
  for (const TargetTraits& target : {cpu_traits(), test::kGpuTraits})
    for (int64_t value_width : {0, 1, 128, 129})
      for (int64_t width : {0, 1, 600}) {
        Schedule schedule;
        schedule.target = target;
        schedule_attention(schedule, Problem({20, 30, width, value_width}).description());
        const bool suits = value_width >= 1 && value_width <= 128 && width > 0;
        ASSERT_EQ(schedule.steps.size(), 1u);
        EXPECT_EQ(schedule.steps[0].kernel->group, target.has_groups() && suits ? 16 : 1);
      }
}

TEST(Attention, OneKernelServesManySizes) {
  const auto text_of = [](const Case& test) {
    const Problem problem(test);
    return loop::to_text(*attention::group_step(problem.description(), {1, 4}).kernel);
  };
  EXPECT_EQ(text_of({20, 30, 8, 50}), text_of({100, 700, 64, 64}));
  EXPECT_EQ(text_of({20, 30, 600, 50}), text_of({1, 3, 1000, 33}));
}

}  // namespace
}  // namespace lucid
