#include "loop/interpret.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "base/error.h"
#include "loop/codes.h"
#include "loop/lane.h"

namespace lucid::loop {
namespace {

/// A register. A scalar is stored in lane 0.
using Lanes = std::array<Bits, kLanes>;

class Interpreter {
 public:
  Interpreter(const Kernel& kernel, void* const* arguments, const int64_t* params, int64_t begin, int64_t end)
      : kernel_(kernel),
        params_(params),
        begin_(begin),
        end_(end),
        values_of_(static_cast<size_t>(kernel.group), std::vector<Lanes>(kernel.instructions.size())),
        touches_(kernel.buffers.size()) {
    owned_.resize(kernel.buffers.size());
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
      const Buffer& buffer = kernel.buffers[i];
      if (buffer.kind == Buffer::Kind::kArgument) {
        memory_.push_back(static_cast<std::byte*>(arguments[i]));
        continue;
      }
      const size_t size = size_of(buffer.dtype);
      // Memory starts as garbage, so that a kernel that reads it before writing it does not happen to read zeros.
      owned_[i].assign(static_cast<size_t>(buffer.count) * size, std::byte{0xA5});
      for (size_t k = 0; k < buffer.table.size(); ++k) std::memcpy(&owned_[i][k * size], &buffer.table[k], size);
      memory_.push_back(owned_[i].data());
    }
  }

  void run() {
    select(0);
    if (kernel_.group == 1) return run_block(kernel_.blocks[0]);
    find_barriers(0);
    barrier();
    run_group(kernel_.blocks[0]);
  }

 private:
  // The members of a group run one after the other from barrier to barrier.

  void select(size_t member) {
    member_ = member;
    values_ = values_of_[member];
  }

  /// Calls `function` for each member. The order alternates, so that none depends on it.
  template <typename Function>
  void for_each_member(const Function& function) {
    descending_ = !descending_;
    const size_t count = values_of_.size();
    for (size_t i = 0; i < count; ++i) {
      select(descending_ ? count - 1 - i : i);
      function();
    }
  }

  /// Records which blocks contain barriers. Returns whether this one does.
  bool find_barriers(uint32_t index) {
    has_barrier_.resize(kernel_.blocks.size());
    for (Id id : kernel_.blocks[index].instructions) {
      if (kernel_.instructions[id].code == Code::kBarrier) has_barrier_[index] = true;
      for (uint32_t inner : kernel_.instructions[id].blocks)
        if (find_barriers(inner)) has_barrier_[index] = true;
    }
    return has_barrier_[index];
  }

  void barrier() {
    for (size_t i = 0; i < touches_.size(); ++i) {
      if (kernel_.buffers[i].kind == Buffer::Kind::kShared)
        touches_[i].assign(static_cast<size_t>(kernel_.buffers[i].count), Touch());
    }
  }

  void run_group(const Block& block) {
    const std::span<const Id> all(block.instructions);
    size_t first = 0;
    const auto run_until = [&](size_t last) {
      for_each_member([&] {
        for (Id id : all.subspan(first, last - first)) run_instruction(id);
      });
      first = last + 1;
    };
    for (size_t i = 0; i < all.size(); ++i) {
      const Instruction& x = kernel_.instructions[all[i]];
      const bool is_uniform = std::ranges::any_of(x.blocks, [&](uint32_t inner) { return has_barrier_[inner]; });
      if (x.code != Code::kBarrier && !is_uniform) continue;
      run_until(i);
      if (x.code == Code::kBarrier) {
        barrier();
      } else if (x.code == Code::kIf) {
        const size_t taken = operand(x, 0)[0] ? 0 : 1;
        if (taken < x.blocks.size()) run_group(kernel_.blocks[x.blocks[taken]]);
      } else {
        run_group_loop(x);
      }
    }
    run_until(all.size());
  }

  void run_group_loop(const Instruction& x) {
    const Block& body = kernel_.blocks[x.blocks[0]];
    for_each_member([&] { start_loop(x); });
    const auto high = static_cast<int64_t>(operand(x, 1)[0]);
    auto i = static_cast<int64_t>(operand(x, 0)[0]);
    while (i < high) {
      for_each_member([&] { values_[body.arguments[0]][0] = static_cast<Bits>(i); });
      run_group(body);
      for_each_member([&] { end_iteration(body); });
      if (__builtin_add_overflow(i, x.integer, &i)) return;
    }
  }

  /// Who accessed an element of a shared buffer since the last barrier. Every lane of every member has a number.
  struct Touch {
    static constexpr int kNone = -1;
    static constexpr int kSeveral = -2;
    int writer = kNone;
    int reader = kNone;
  };

  /// Checks that a barrier separates conflicting accesses. All lanes load scalars, the first stores them.
  void touch(const Instruction& x, int64_t index, int lane, bool is_scalar, bool writes) {
    Touch& touch = touches_[x.buffer][static_cast<size_t>(index)];
    const int own = static_cast<int>(member_) * kLanes + lane;
    const auto is_other = [&](int one) { return one != Touch::kNone && one != own; };
    const bool read_by_all = is_scalar && !writes;
    const bool conflicts =
        (read_by_all && touch.writer != Touch::kNone) || is_other(touch.writer) || (writes && is_other(touch.reader));
    LUCID_CHECK(!conflicts, "kernel {}: {} of element {} of @{} by member {}: no barrier since another lane's access",
                kernel_.name, name_of(x.code), index, x.buffer, member_);
    if (writes) touch.writer = own;
    if (!writes) touch.reader = read_by_all || is_other(touch.reader) ? Touch::kSeveral : own;
  }

  void run_block(const Block& block) {
    for (Id id : block.instructions) run_instruction(id);
  }

  const Lanes& operand(const Instruction& x, size_t k) const { return values_[x.operands[k]]; }
  Type type_of(Id id) const { return kernel_.instructions[id].type; }
  static int lane_count(Type type) { return type.vector ? kLanes : 1; }

  void run_instruction(Id id) {
    const Instruction& x = kernel_.instructions[id];
    Lanes& result = values_[id];
    switch (info_of(x.code).family) {
      case Family::kLeaf:
        result = leaf(x);
        return;
      case Family::kUnary:
      case Family::kBinary:
      case Family::kFma:
      case Family::kComparison:
        result = arithmetic(x);
        return;
      case Family::kSelect: {
        const bool by_lane = type_of(x.operands[0]).vector;
        for (int j = 0; j < lane_count(x.type); ++j) {
          result[j] = operand(x, 0)[by_lane ? j : 0] ? operand(x, 1)[j] : operand(x, 2)[j];
        }
        return;
      }
      case Family::kConversion:
        for (int j = 0; j < lane_count(x.type); ++j) {
          const Bits bits = operand(x, 0)[j];
          const Dtype from = type_of(x.operands[0]).element;
          result[j] = x.code == Code::kBitcast ? bits : convert_lane(from, x.type.element, bits);
        }
        return;
      case Family::kLanes:
        result = move_lanes(x);
        return;
      case Family::kMemory:
        access(x, result);
        return;
      case Family::kControl:
        control(x, result);
        return;
    }
  }

  Lanes leaf(const Instruction& x) const {
    Lanes result{};
    switch (x.code) {
      case Code::kConst:
        result[0] = constant_bits(x);
        break;
      case Code::kParam:
        result[0] = static_cast<Bits>(params_[x.integer]);
        break;
      case Code::kBegin:
        result[0] = static_cast<Bits>(begin_);
        break;
      case Code::kEnd:
        result[0] = static_cast<Bits>(end_);
        break;
      case Code::kMember:
        result[0] = static_cast<Bits>(member_);
        break;
      default:  // kIota
        for (int j = 0; j < kLanes; ++j) result[j] = convert_lane(Dtype::kI64, x.type.element, static_cast<Bits>(j));
    }
    return result;
  }

  Lanes arithmetic(const Instruction& x) const {
    const Type type = type_of(x.operands[0]);
    Lanes result{};
    for (int j = 0; j < lane_count(type); ++j) {
      const Bits a = operand(x, 0)[j];
      const Bits b = x.operands.size() > 1 ? operand(x, 1)[j] : 0;
      const Bits c = x.operands.size() > 2 ? operand(x, 2)[j] : 0;
      result[j] = compute_lane(x.code, type.element, a, b, c);
    }
    return result;
  }

  Lanes move_lanes(const Instruction& x) const {
    const Lanes& source = operand(x, 0);
    Lanes result{};
    switch (x.code) {
      case Code::kSplat:
        result.fill(source[0]);
        break;
      case Code::kExtract:
        result[0] = source[x.integer];
        break;
      case Code::kRotate:
        for (int j = 0; j < kLanes; ++j) result[j] = source[(j + x.integer) % kLanes];
        break;
      default:  // kAny
        for (Bits lane : source) result[0] |= lane;
    }
    return result;
  }

  std::byte* element(const Instruction& x, int64_t index) const {
    const Buffer& buffer = kernel_.buffers[x.buffer];
    LUCID_CHECK(buffer.kind == Buffer::Kind::kArgument || (index >= 0 && index < buffer.count),
                "kernel {}: {} of element {} of @{}, which has {} elements", kernel_.name, name_of(x.code), index,
                x.buffer, buffer.count);
    return memory_[x.buffer] + index * static_cast<int64_t>(size_of(buffer.dtype));
  }

  /// Offset of a lane's element from the first element of an access.
  static Bits lane_offset(Code code, int lane) {
    return static_cast<Bits>(code == Code::kLoadAlternate ? 2 * lane : code == Code::kLoadTwice ? lane / 2 : lane);
  }

  void access(const Instruction& x, Lanes& result) {
    if (x.code == Code::kPrefetch) return;
    const bool writes = x.code == Code::kStore || x.code == Code::kScatter;
    const bool indexed = x.code == Code::kGather || x.code == Code::kScatter;
    const Dtype dtype = kernel_.buffers[x.buffer].dtype;
    const Lanes indices = operand(x, 0);
    const Lanes mask = x.masked ? values_[x.operands.back()] : Lanes{};
    const int count = lane_count(writes ? type_of(x.operands[1]) : x.type);
    for (int j = 0; j < count; ++j) {
      if (!writes) result[j] = 0;
      if (x.masked && !mask[j]) continue;
      const auto index = static_cast<int64_t>(indexed ? indices[j] : indices[0] + lane_offset(x.code, j));
      std::byte* address = element(x, index);
      if (kernel_.buffers[x.buffer].kind == Buffer::Kind::kShared) touch(x, index, j, count == 1, writes);
      if (writes) {
        std::memcpy(address, &operand(x, 1)[j], size_of(dtype));
      } else {
        std::memcpy(&result[j], address, size_of(dtype));
        if (dtype == Dtype::kBool) result[j] = result[j] != 0;
      }
    }
  }

  void control(const Instruction& x, Lanes& result) {
    if (x.code == Code::kFor) {
      run_loop(x);
    } else if (x.code == Code::kIf) {
      const size_t taken = operand(x, 0)[0] ? 0 : 1;
      if (taken < x.blocks.size()) run_block(kernel_.blocks[x.blocks[taken]]);
    } else if (x.code == Code::kCall) {
      call(x);
    } else {  // kResult: after the loop, the arguments of its body hold the final carried values
      const Block& body = kernel_.blocks[kernel_.instructions[x.operands[0]].blocks[0]];
      result = values_[body.arguments[static_cast<size_t>(x.integer) + 1]];
    }
  }

  void call(const Instruction& x) {
    const Call& call = kernel_.calls[static_cast<size_t>(x.integer)];
    std::vector<void*> buffers;
    size_t origin = 2;
    for (uint32_t index : call.buffers) {
      const Buffer& buffer = kernel_.buffers[index];
      const bool is_scratch = buffer.kind == Buffer::Kind::kScratch;
      const auto skipped = is_scratch ? static_cast<int64_t>(operand(x, origin++)[0]) : 0;
      buffers.push_back(memory_[index] - skipped * static_cast<int64_t>(size_of(buffer.dtype)));
    }
    interpret(kernel_.parts[call.part], buffers.data(), params_ + call.first_param,
              static_cast<int64_t>(operand(x, 0)[0]), static_cast<int64_t>(operand(x, 1)[0]));
  }

  void start_loop(const Instruction& x) {
    const Block& body = kernel_.blocks[x.blocks[0]];
    for (size_t k = 2; k < x.operands.size(); ++k) values_[body.arguments[k - 1]] = operand(x, k);
  }

  void end_iteration(const Block& body) {
    std::vector<Lanes> next;
    for (Id id : body.yields) next.push_back(values_[id]);
    for (size_t k = 0; k < next.size(); ++k) values_[body.arguments[k + 1]] = next[k];
  }

  void run_loop(const Instruction& x) {
    const Block& body = kernel_.blocks[x.blocks[0]];
    start_loop(x);
    const auto high = static_cast<int64_t>(operand(x, 1)[0]);
    auto i = static_cast<int64_t>(operand(x, 0)[0]);
    while (i < high) {
      values_[body.arguments[0]][0] = static_cast<Bits>(i);
      run_block(body);
      end_iteration(body);
      if (__builtin_add_overflow(i, x.integer, &i)) return;
    }
  }

  const Kernel& kernel_;
  const int64_t* params_;
  int64_t begin_;
  int64_t end_;
  std::vector<std::vector<Lanes>> values_of_;  // by member
  std::span<Lanes> values_;                    // of the selected member
  size_t member_ = 0;
  bool descending_ = true;
  std::vector<bool> has_barrier_;            // by block
  std::vector<std::vector<Touch>> touches_;  // by buffer and element
  std::vector<std::byte*> memory_;
  std::vector<std::vector<std::byte>> owned_;
};

}  // namespace

void interpret(const Kernel& kernel, void* const* buffers, const int64_t* params, int64_t begin, int64_t end) {
  Interpreter(kernel, buffers, params, begin, end).run();
}

}  // namespace lucid::loop
