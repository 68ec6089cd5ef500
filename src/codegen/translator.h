#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <map>
#include <string>
#include <vector>

#include "code/code_generator.h"
#include "codegen/scratch.h"
#include "loop/kernel.h"

namespace lucid::codegen {

inline bool is_signed(Dtype dtype) { return dtype != Dtype::kU8 && dtype != Dtype::kBool; }

/// Translates one verified kernel into one function of an LLVM module.
///
/// Types in LLVM: kBool is i1 in registers and i8 in memory. The 16-bit floats are i16 everywhere, since they are only
/// moved and converted. All other types map to their LLVM equivalents. Vectors have 16 elements on every target; LLVM
/// splits them.
class Translator {
 public:
  Translator(const loop::Kernel& kernel, CpuLevel target, llvm::Module* module);
  void run();

 private:
  using Value = llvm::Value;
  using Instruction = loop::Instruction;

  // translate.cpp: leaves and control flow.
  void make_buffers(Value* arguments);
  Value* make_scratch(size_t index);
  void block(uint32_t index);
  bool carries_vectors(const loop::Block& block) const;
  Value* instruction(const Instruction& instruction);
  Value* constant(const Instruction& instruction);
  Value* iota(loop::Type type);
  void for_loop(const Instruction& instruction, loop::Id id);
  void if_then(const Instruction& instruction);
  void call(const Instruction& instruction);

  // arithmetic.cpp
  Value* arithmetic(const Instruction& instruction);
  Value* float_arithmetic(const Instruction& instruction);
  Value* integer_arithmetic(const Instruction& instruction);
  Value* comparison(const Instruction& instruction);
  Value* select(const Instruction& instruction);
  /// Hides a constant operand from LLVM if LLVM could otherwise remove the operation. LLVM simplifies x * 1 to x and
  /// folds operations on constants, but if denormal results are flushed, x * 1 is not x.
  Value* prevent_folding(Value* operand, Value* other);
  Value* opaque(Value* value);
  /// Hides from LLVM which bits of a product of 64-bit lanes may be set. LLVM would otherwise compute them repeatedly
  /// through all rounds of a random number generator, which takes a third of its compile time.
  Value* opaque_bits(Value* product);

  // convert.cpp
  Value* convert(Value* value, loop::Type from, loop::Type to);
  Value* bitcast(Value* value, loop::Type from, loop::Type to);
  Value* float_to_integer(Value* value, loop::Type from, loop::Type to);
  Value* f16_to_f32(Value* bits);
  Value* f32_to_f16(Value* value);
  Value* f32_to_f16_by_integers(Value* value);
  Value* f16_to_f32_by_integers(Value* bits);
  Value* bf16_to_f32(Value* bits);
  Value* f32_to_bf16(Value* value);

  // address.cpp
  /// A loop whose addresses are induction variables. Used for loops that carry vectors: they read few buffers, and
  /// their instructions are faster with a plain address than with a base and an index.
  struct InductionLoop {
    loop::Id counter;
    Value* low;
    int64_t step;
    llvm::BasicBlock* before;
    llvm::BasicBlock* head;
    std::vector<bool> outside;  // by instruction: whether it was computed before the loop
    struct Address {
      llvm::PHINode* now;
      Value* step;  // in bytes
    };
    std::map<std::pair<uint32_t, loop::Id>, Address> addresses = {};  // by buffer and index
  };
  /// The address of one element; `index` is a scalar.
  Value* element_address(uint32_t buffer, loop::Id index);
  /// The address for an index that is the sum of a loop-invariant value and a multiple of the loop variable. Returns
  /// null if `index` does not have this form.
  Value* induction_address(InductionLoop& loop, uint32_t buffer, loop::Id index);
  /// Advances the addresses at the end of an iteration, in its last block.
  void advance_addresses(const InductionLoop& loop, llvm::BasicBlock* last);

  // memory.cpp
  Value* load(const Instruction& instruction);
  void store(const Instruction& instruction);
  Value* load_shuffled(const Instruction& instruction);
  /// The masks of the elements that the active lanes load: of 32 elements for kLoadAlternate, in two halves, and of 8
  /// for kLoadTwice.
  Value* mask_of_alternate(Value* mask, bool second_half);
  Value* mask_of_twice(Value* mask);
  Value* gather(const Instruction& instruction);
  /// Loads each lane separately, from element `index(lane)`.
  template <typename Index>
  Value* load_lanes(const Instruction& instruction, Value* mask, const Index& index);
  /// Gathers from a table that fits into registers with a permute instruction. Returns null if there is none for it.
  Value* permute_table(const Instruction& instruction);
  void scatter(const Instruction& instruction);
  void prefetch(const Instruction& instruction);
  Value* masked_load(llvm::Type* type, Value* pointer, Value* mask, Dtype element);
  void masked_store(Value* value, Value* pointer, Value* mask, Dtype element);
  /// Runs `body(lane)` for each set lane of a mask, in ascending order.
  template <typename Body>
  void for_each_set_lane(Value* bits, const Body& body);
  Value* element_pointer(const Instruction& instruction, Value* index);
  Value* lane_pointers(const Instruction& instruction);
  bool has_masked_access(Dtype element) const;
  bool has_gather(Dtype element) const;
  Value* to_register(Value* memory, Dtype element);
  Value* to_memory(Value* value, Dtype element);
  /// A slot of the function's stack frame. Created once for each name and then shared.
  Value* frame_slot(const char* name, int bytes, bool zeroed);

  llvm::Type* element_type(Dtype dtype) const;
  llvm::Type* memory_type(Dtype dtype) const;
  llvm::Type* type_of(loop::Type type) const;
  /// `like` with another element type: a vector or a scalar, as `like` is.
  llvm::Type* with_element(llvm::Type* like, llvm::Type* element) const;
  llvm::Type* vector_of(llvm::Type* element) const;
  Value* operand(const Instruction& instruction, size_t index) const { return values_[instruction.operands[index]]; }
  loop::Type operand_type(const Instruction& instruction, size_t index) const {
    return kernel_.instructions[instruction.operands[index]].type;
  }
  llvm::BasicBlock* new_block(const char* name);

  const loop::Kernel& kernel_;
  const ScratchLayout scratch_;
  CpuLevel target_;
  llvm::Module* module_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_ = nullptr;
  std::vector<Value*> values_;  // by instruction; for kFor unused
  std::vector<Value*> params_;
  std::vector<Value*> buffers_;                    // base pointers
  std::vector<std::vector<Value*>> loop_results_;  // by instruction, for kFor
  std::vector<std::pair<std::string, Value*>> frame_slots_;
  std::vector<InductionLoop> induction_loops_;  // the innermost last
};

}  // namespace lucid::codegen
