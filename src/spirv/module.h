#pragma once

#include <spirv/unified1/GLSL.std.450.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <span>
#include <spirv/unified1/spirv.hpp11>
#include <vector>

namespace lucid::spirv {

/// The number of a result in a SPIR-V module. 0 is none.
using Id = uint32_t;
using Words = std::vector<uint32_t>;

/// The types of values. All integers are unsigned; signed operations have opcodes of their own.
enum class Kind : uint8_t { kBool, kU8, kU16, kU32, kU64, kF32, kF64 };

constexpr bool is_real(Kind kind) { return kind == Kind::kF32 || kind == Kind::kF64; }
constexpr uint32_t width_of(Kind kind) {
  constexpr uint32_t widths[] = {1, 8, 16, 32, 64, 32, 64};
  return widths[static_cast<int>(kind)];
}

/// A SPIR-V module under construction, section by section. Types and constants are declared once. Capabilities that a
/// type needs are declared with it.
class Module {
 public:
  Id new_id() { return next_id_++; }
  void require(spv::Capability capability) { capabilities_.insert(static_cast<uint32_t>(capability)); }
  bool uses(Kind kind) const { return types_[static_cast<int>(kind)] != 0; }

  // Types, constants and variables of the module.
  Id type(spv::Op op, std::initializer_list<uint32_t> operands) { return declare_once(op, 0, Words(operands)); }
  Id type(Kind kind);
  Id void_type() { return type(spv::Op::OpTypeVoid, {}); }
  Id pointer(spv::StorageClass storage, Id type);
  Id array(Id element, uint32_t count);
  /// `bits` are those of the element, zero-extended.
  Id constant(Kind kind, uint64_t bits);
  Id composite(Id type, const Words& parts) { return declare_once(spv::Op::OpConstantComposite, type, parts); }
  Id variable(spv::StorageClass storage, Id type, Id initial = 0);
  Id input(spv::BuiltIn builtin, Id type);
  void decorate(Id id, spv::Decoration decoration, std::initializer_list<uint32_t> operands = {});
  void decorate_member(Id id, uint32_t member, spv::Decoration decoration, std::initializer_list<uint32_t> operands);
  void execution_mode(spv::ExecutionMode mode, std::initializer_list<uint32_t> operands);

  // The function under construction. At first that is the entry point.
  Id op(spv::Op op, Id type, std::initializer_list<uint32_t> operands);
  Id extended(GLSLstd450 op, Id type, std::initializer_list<uint32_t> operands);
  /// An instruction without a result.
  void effect(spv::Op op, std::initializer_list<uint32_t> operands);
  Id call(Id function, Id type, std::span<const Id> arguments);
  /// Starts a block.
  void label(Id id);
  Id block() const { return block_; }
  /// A phi whose operands are passed to complete_phi() when they are known.
  Id phi(Id type);
  void complete_phi(Id phi, Id value, Id block, Id other_value, Id other_block);

  /// Starts a function, which ends with end_function(). Its parameters are appended to `parameters`.
  Id begin_function(Id result, std::span<const Id> types, std::vector<Id>* parameters);
  void end_function();

  /// Completes the entry point and returns the words of the module.
  Words finish();

 private:
  static void append(Words& words, spv::Op op, std::span<const uint32_t> operands);
  Id declare_once(spv::Op op, Id type, const Words& operands);

  static constexpr Id kMain = 1;
  static constexpr Id kExtendedSet = 2;

  Id next_id_ = 3;
  Id block_ = 0;
  std::set<uint32_t> capabilities_;
  Words interface_, modes_, decorations_, globals_, functions_, body_;
  Words main_body_;  // while another function is under construction
  Id main_block_ = 0;
  std::map<Words, Id> declared_;
  Id types_[7] = {};
  std::map<Id, size_t> phis_;  // where the operands of incomplete ones are in body_
};

}  // namespace lucid::spirv
