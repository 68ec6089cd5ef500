#include "loop/canonical.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "loop/codes.h"

namespace lucid::loop {
namespace {

constexpr Id kUnplaced = ~Id{0};

uint64_t bits_of(double real) {
  return std::bit_cast<uint64_t>(std::isnan(real) ? std::numeric_limits<double>::quiet_NaN() : real);
}

/// Marks the instructions that have no result, and all that they and the loops depend on.
std::vector<bool> find_used(const Kernel& kernel) {
  std::vector<bool> used(kernel.instructions.size());
  std::vector<Id> pending;
  auto visit = [&](Id id) {
    if (used[id]) return;
    used[id] = true;
    pending.push_back(id);
  };
  for (const Block& block : kernel.blocks) {
    for (Id id : block.arguments) visit(id);
    for (Id id : block.yields) visit(id);
    for (Id id : block.instructions) {
      if (!has_result(kernel.instructions[id].code)) visit(id);
    }
  }
  while (!pending.empty()) {
    const Id id = pending.back();
    pending.pop_back();
    for (Id operand : kernel.instructions[id].operands) visit(operand);
  }
  return used;
}

class Renumbering {
 public:
  Renumbering(const Kernel& source, const std::vector<bool>& used)
      : source_(source), used_(used), ids_(source.instructions.size(), kUnplaced) {}

  Kernel run() {
    result_.name = source_.name;
    result_.buffers = source_.buffers;
    result_.param_count = source_.param_count;
    result_.group = source_.group;
    result_.parts = source_.parts;
    result_.calls = source_.calls;
    result_.instructions.reserve(source_.instructions.size());
    result_.blocks.reserve(source_.blocks.size());
    copy_block(0);
    for (Instruction& instruction : result_.instructions) {
      for (Id& id : instruction.operands) id = renamed(id);
    }
    for (Block& block : result_.blocks) {
      for (Id& id : block.yields) id = renamed(id);
    }
    return std::move(result_);
  }

 private:
  Id renamed(Id id) const {
    LUCID_CHECK(ids_[id] != kUnplaced, "kernel {}: a {} is used but is not in any block", source_.name,
                name_of(source_.instructions[id].code));
    return ids_[id];
  }

  Id copy(Id id) {
    ids_[id] = static_cast<Id>(result_.instructions.size());
    result_.instructions.push_back(source_.instructions[id]);
    return ids_[id];
  }

  uint32_t copy_block(uint32_t source_block) {
    const Block& source = source_.blocks[source_block];
    const auto block = static_cast<uint32_t>(result_.blocks.size());
    result_.blocks.emplace_back();
    for (Id id : source.arguments) result_.blocks[block].arguments.push_back(copy(id));
    for (Id id : source.instructions) {
      if (!used_[id]) continue;
      const Id new_id = copy(id);
      result_.blocks[block].instructions.push_back(new_id);
      for (size_t k = 0; k < source_.instructions[id].blocks.size(); ++k) {
        const uint32_t inner = copy_block(source_.instructions[id].blocks[k]);
        result_.instructions[new_id].blocks[k] = inner;
      }
    }
    result_.blocks[block].yields = source.yields;
    return block;
  }

  const Kernel& source_;
  const std::vector<bool>& used_;
  std::vector<Id> ids_;
  Kernel result_;
};

}  // namespace

bool equal(const Instruction& a, const Instruction& b) {
  return a.code == b.code && (!has_result(a.code) || a.type == b.type) && a.operands == b.operands &&
         a.integer == b.integer && bits_of(a.real) == bits_of(b.real) && a.buffer == b.buffer && a.masked == b.masked &&
         a.blocks == b.blocks;
}

size_t hash_of(const Instruction& instruction) {
  uint64_t hash = 0;
  auto mix = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
    hash ^= hash >> 32;
  };
  mix(static_cast<uint64_t>(instruction.code) | static_cast<uint64_t>(instruction.type.element) << 8 |
      static_cast<uint64_t>(instruction.type.vector) << 16 | static_cast<uint64_t>(instruction.masked) << 17 |
      static_cast<uint64_t>(instruction.buffer) << 32);
  for (Id id : instruction.operands) mix(id);
  mix(static_cast<uint64_t>(instruction.integer));
  mix(bits_of(instruction.real));
  return hash;
}

Kernel canonical(const Kernel& kernel) { return Renumbering(kernel, find_used(kernel)).run(); }

bool Kernel::operator==(const Kernel& other) const {
  auto same_buffer = [](const Buffer& a, const Buffer& b) {
    return a.kind == b.kind && a.dtype == b.dtype && a.count == b.count && a.table == b.table;
  };
  auto same_block = [](const Block& a, const Block& b) {
    return a.arguments == b.arguments && a.instructions == b.instructions && a.yields == b.yields;
  };
  return name == other.name && param_count == other.param_count && group == other.group &&
         std::ranges::equal(buffers, other.buffers, same_buffer) &&
         std::ranges::equal(instructions, other.instructions, equal) &&
         std::ranges::equal(blocks, other.blocks, same_block) && calls == other.calls && parts == other.parts;
}

namespace {

/// Appends words and lists of words, each with its length, so that different kernels have different bytes.
class KeyWriter {
 public:
  explicit KeyWriter(std::string& key) : key_(key) {}

  void kernel(const Kernel& kernel) {
    word(kernel.name.size());
    key_ += kernel.name;
    word(static_cast<uint64_t>(kernel.param_count));
    word(static_cast<uint64_t>(kernel.group));
    word(kernel.buffers.size());
    for (const Buffer& buffer : kernel.buffers) {
      word(static_cast<uint64_t>(buffer.kind) | static_cast<uint64_t>(buffer.dtype) << 8);
      word(static_cast<uint64_t>(buffer.count));
      list(buffer.table);
    }
    word(kernel.instructions.size());
    for (const Instruction& instruction : kernel.instructions) add(instruction);
    word(kernel.blocks.size());
    for (const Block& block : kernel.blocks) {
      list(block.arguments);
      list(block.instructions);
      list(block.yields);
    }
    word(kernel.calls.size());
    for (const Call& call : kernel.calls) {
      word(call.part);
      list(call.buffers);
      word(static_cast<uint64_t>(call.first_param));
    }
    word(kernel.parts.size());
    for (const Kernel& part : kernel.parts) this->kernel(part);
  }

 private:
  void add(const Instruction& x) {
    const bool has_type = has_result(x.code);
    const bool has_numbers = x.integer != 0 || bits_of(x.real) != 0;
    word(static_cast<uint64_t>(x.code) | static_cast<uint64_t>(x.masked) << 8 |
         static_cast<uint64_t>(has_numbers) << 9 |
         (has_type ? static_cast<uint64_t>(x.type.element) << 10 | static_cast<uint64_t>(x.type.vector) << 15 : 0) |
         static_cast<uint64_t>(x.operands.size()) << 16 | static_cast<uint64_t>(x.blocks.size()) << 28 |
         static_cast<uint64_t>(x.buffer) << 32);
    bytes(x.operands.data(), x.operands.size());
    bytes(x.blocks.data(), x.blocks.size());
    if (!has_numbers) return;
    word(static_cast<uint64_t>(x.integer));
    word(bits_of(x.real));
  }
  void word(uint64_t value) { bytes(&value, 1); }
  template <typename T>
  void list(const std::vector<T>& values) {
    word(values.size());
    bytes(values.data(), values.size());
  }
  template <typename T>
  void bytes(const T* values, size_t count) {
    key_.append(reinterpret_cast<const char*>(values), count * sizeof(T));
  }

  std::string& key_;
};

}  // namespace

std::string key_of(const Kernel& kernel) {
  std::string key;
  key.reserve(64 + 40 * kernel.instructions.size());
  KeyWriter(key).kernel(kernel);
  return key;
}

std::vector<BufferAccess> accesses_of(const Kernel& kernel) {
  std::vector<BufferAccess> accesses(kernel.buffers.size());
  for (const Instruction& instruction : kernel.instructions) {
    if (info_of(instruction.code).family != Family::kMemory || instruction.code == Code::kPrefetch) continue;
    BufferAccess& access = accesses[instruction.buffer];
    (has_result(instruction.code) ? access.is_read : access.is_written) = true;
  }
  for (const Call& call : kernel.calls) {
    const std::vector<BufferAccess> by_part = accesses_of(kernel.parts[call.part]);
    for (size_t i = 0; i < call.buffers.size(); ++i) {
      accesses[call.buffers[i]].is_read |= by_part[i].is_read;
      accesses[call.buffers[i]].is_written |= by_part[i].is_written;
    }
  }
  return accesses;
}

}  // namespace lucid::loop
