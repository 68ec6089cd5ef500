#include "loop/interpret.h"

#include <array>
#include <cstring>

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
      : kernel_(kernel), params_(params), begin_(begin), end_(end), values_(kernel.instructions.size()) {
    owned_.resize(kernel.buffers.size());
    for (size_t i = 0; i < kernel.buffers.size(); ++i) {
      const Buffer& buffer = kernel.buffers[i];
      if (buffer.kind == Buffer::Kind::kArgument) {
        memory_.push_back(static_cast<std::byte*>(arguments[i]));
        continue;
      }
      const size_t size = size_of(buffer.dtype);
      // Scratch starts as garbage, so that a kernel that reads it before writing it does not happen to read zeros.
      owned_[i].assign(static_cast<size_t>(buffer.count) * size, std::byte{0xA5});
      for (size_t k = 0; k < buffer.table.size(); ++k) std::memcpy(&owned_[i][k * size], &buffer.table[k], size);
      memory_.push_back(owned_[i].data());
    }
  }

  void run() { run_block(kernel_.blocks[0]); }

 private:
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

  void run_loop(const Instruction& x) {
    const Block& body = kernel_.blocks[x.blocks[0]];
    for (size_t k = 2; k < x.operands.size(); ++k) values_[body.arguments[k - 1]] = operand(x, k);
    const auto high = static_cast<int64_t>(operand(x, 1)[0]);
    auto i = static_cast<int64_t>(operand(x, 0)[0]);
    while (i < high) {
      values_[body.arguments[0]][0] = static_cast<Bits>(i);
      run_block(body);
      std::vector<Lanes> next;
      for (Id id : body.yields) next.push_back(values_[id]);
      for (size_t k = 0; k < next.size(); ++k) values_[body.arguments[k + 1]] = next[k];
      if (__builtin_add_overflow(i, x.integer, &i)) return;
    }
  }

  const Kernel& kernel_;
  const int64_t* params_;
  int64_t begin_;
  int64_t end_;
  std::vector<Lanes> values_;
  std::vector<std::byte*> memory_;
  std::vector<std::vector<std::byte>> owned_;
};

}  // namespace

void interpret(const Kernel& kernel, void* const* buffers, const int64_t* params, int64_t begin, int64_t end) {
  Interpreter(kernel, buffers, params, begin, end).run();
}

}  // namespace lucid::loop
