#pragma once

#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/kernel.h"
#include "spirv/lane_access.h"
#include "spirv/module.h"
#include "spirv/shader.h"
#include "spirv/value.h"

namespace lucid::spirv {

/// The operand of accesses that other invocations see after a barrier.
constexpr auto kNonPrivate = static_cast<uint32_t>(spv::MemoryAccessMask::NonPrivatePointer);

/// Translates one verified kernel into one compute shader.
///
/// Lane j of a vector is a value of invocation j of a cluster of sixteen; a scalar is the same value in all of them.
/// kBool is a bool in registers and a byte in memory. The 16-bit floats are integers everywhere, since they are only
/// moved and converted.
class Translator {
 public:
  Translator(const loop::Kernel& kernel, const Target& target);
  Shader run();

 private:
  using Instruction = loop::Instruction;

  // translate.cpp: declarations, leaves and control flow.
  void plan_exchange();
  void declare_buffers();
  void load_arguments();
  void declare_float_modes();
  Value argument_word(Value arguments, uint64_t index);
  Value load_push_constant(Id variable, uint32_t index);
  void block(uint32_t index);
  Value instruction(const Instruction& instruction, loop::Id id);
  void for_loop(const Instruction& instruction, loop::Id id);
  /// Sets the fault word if the counter of a loop that has ended is below its end.
  void report_early_end(Value counter, Value end);
  void if_then(const Instruction& instruction);
  /// Runs `body` in the invocations for which the condition holds, in all if there is no condition.
  void where(Value condition, const std::function<void()>& body);
  /// An operand, of which a constant float that may be zero is hidden from the driver: drivers fold x * 0 to 0 and x +
  /// 0 to x, which is wrong for infinities and for -0, and take -0 for 0 in a select of constants.
  Value hidden_zero(const Instruction& instruction, size_t index);
  /// The same number, which the driver does not know when it compiles the shader.
  Value hidden(Value value);
  /// Whether an instruction makes a float from an integer or a bool. Its result is hidden, because drivers fold
  /// expressions of integers, such as b ^ b, and may so learn that it is zero.
  bool is_float_of_integer(const Instruction& instruction) const;
  /// Whether a driver can compute a value when it compiles the shader.
  bool is_constant(loop::Id id);

  // lanes.cpp: exchange of values between lanes, and the barriers that it needs.
  /// Accesses since the last barrier, which conflict with other accesses of their group that have other patterns.
  struct PendingAccess {
    uint32_t group;
    uint32_t pattern;
    bool is_write;
    auto operator<=>(const PendingAccess&) const = default;
  };
  /// Orders accesses of shared memory and, if `everywhere`, of global memory.
  void barrier(bool everywhere = true);
  /// Emits a barrier if the access conflicts with a pending one.
  void order(const PendingAccess& access);
  void order(loop::Id id, bool is_write);
  /// Adds all accesses of a block, which may be pending when it runs again.
  void add_accesses(uint32_t block, std::set<PendingAccess>* accesses) const;
  Value rotate(Value value, int64_t distance);
  /// The value that lane `lane`, a u32, has.
  Value from_lane(Value value, Value lane);
  Value any(Value mask);
  /// The bits of a value, in 32 or 64 bits, and back.
  Value widened_bits(Value value);
  Value from_widened_bits(Value bits, Kind kind);
  Value shuffle(Value bits, Value lane);
  /// Stores `bits` in this lane's slot of shared memory. Returns the slots, from which load_slot() loads.
  struct Slots {
    Id variable = 0;
    uint32_t group = 0;
    Kind kind = Kind::kU32;
  };
  Slots share(Value bits);
  Value load_slot(const Slots& slots, Value lane);

  // memory.cpp
  Value load(const Instruction& instruction, loop::Id id);
  void store(const Instruction& instruction, loop::Id id);
  /// The index of this lane's element.
  Value element_index(const Instruction& instruction, bool vector);
  /// A pointer to an element, and the operands of a load or store through it.
  struct Place {
    Id pointer = 0;
    uint32_t access = 0;
    uint32_t alignment = 0;
  };
  Place place(uint32_t buffer, Value index, bool ordered);
  /// Whether other lanes access the same elements.
  bool is_ordered(const Instruction& instruction, loop::Id id) const;
  Value load_from(const Place& place, Kind kind);
  void store_to(const Place& place, Value value);
  /// The mask of the lanes of a scatter whose index no later lane has.
  Value last_of_equal_indices(Value index, Value mask);
  Value to_register(Value memory, Dtype dtype);
  Value to_memory(Value value, Dtype dtype);

  // arithmetic.cpp
  Value arithmetic(const Instruction& instruction);
  Value float_arithmetic(const Instruction& instruction);
  Value integer_arithmetic(const Instruction& instruction);
  Value comparison(const Instruction& instruction);
  Value add(Value x, Value y) { return flushed(x + y); }
  Value subtract(Value x, Value y) { return flushed(x - y); }
  Value multiply(Value x, Value y);
  Value round_to_integer(GLSLstd450 op, Value x);
  Value copy_sign(Value magnitude, Value sign);

  // rounding.cpp: flushing, and what emulated operations have in common.
  /// Replaces a subnormal number by zero, if the target does that.
  Value flushed(Value result);
  /// Replaces the result by zero if the exact result, rounded without a limit on exponents, is subnormal.
  Value flushed_if(Value is_tiny, Value result);
  /// A finite number other than 0: its exponent, with bias, as if there were no limit on exponents, and its significand
  /// with the leading 1. Both are integers of the number's width.
  struct Parts {
    Value exponent;
    Value significand;
  };
  Parts parts_of(Value real);
  /// Rounds a significand with three more bits than the format has, of which the last is set if any bits after it are,
  /// and returns the bits of the number.
  Value round_to_bits(Value sign, Value exponent, Value significand, Kind kind);
  /// Calls a function of the module. `body` defines it at the first call.
  Value call(std::string_view name, std::initializer_list<Value> arguments,
             const std::function<Value(std::span<const Value>)>& body);

  // fma.cpp, divide.cpp
  Value fma(Value x, Value y, Value z);
  Value emulate_fma32(Value x, Value y, Value z);
  Value emulate_fma64(Value x, Value y, Value z);
  Value divide(Value x, Value y);
  Value emulate_divide(Value x, Value y);
  Value sqrt(Value x);
  Value emulate_sqrt(Value x);

  // convert.cpp
  Value convert(Value value, Dtype from, Dtype to);
  Value float_to_integer(Value value, Dtype to);
  Value f64_to_f32(Value value);
  Value f16_to_f32(Value half);
  Value f32_to_f16(Value value);
  Value bf16_to_f32(Value half);
  Value f32_to_bf16(Value value);

  Value u32(uint32_t value) { return constant(module_, Kind::kU32, value); }
  Value u64(uint64_t value) { return constant(module_, Kind::kU64, value); }
  Value operand(const Instruction& instruction, size_t index) const { return values_[instruction.operands[index]]; }
  Dtype operand_dtype(const Instruction& instruction, size_t index) const {
    return kernel_.instructions[instruction.operands[index]].type.element;
  }

  const loop::Kernel& kernel_;
  const Target& target_;
  const std::vector<LaneAccess> accesses_;
  Module module_;
  Shader shader_;
  bool shuffles_ = false;         // whether lanes exchange values by shuffles, otherwise through shared memory
  std::vector<Id> variables_;     // by buffer: tables and shared scratch
  std::vector<Value> addresses_;  // by buffer: all others
  std::vector<size_t> offsets_;   // by buffer: in the cluster's scratch in global memory
  std::vector<Value> params_;
  std::vector<Value> values_;                     // by instruction
  std::vector<std::optional<bool>> constant_;     // by instruction: is_constant(), where it is known
  std::vector<std::vector<Value>> loop_results_;  // by instruction, for kFor
  Value begin_, end_, lane_, subgroup_lane_;
  Value member_;        // the index of this cluster in its group
  Value group_;         // the index of the group
  Value fault_;         // the address of the fault word
  Value unknown_zero_;  // a u64 that is 0, which the driver does not know
  std::set<PendingAccess> pending_;
  std::map<std::pair<Kind, int>, Slots> slots_;
  int last_slots_ = 0;
  std::map<std::string, Id, std::less<>> functions_;
};

/// The kind of an element in registers and in memory.
Kind kind_of(Dtype dtype);
Kind memory_kind_of(Dtype dtype);
/// Whether an instruction needs the values of other lanes.
bool moves_between_lanes(loop::Code code);
inline bool is_signed(Dtype dtype) { return dtype != Dtype::kU8 && dtype != Dtype::kBool; }

}  // namespace lucid::spirv
