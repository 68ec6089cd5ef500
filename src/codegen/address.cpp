// Addresses of elements. LLVM's loop strength reduction could find the loop-invariant parts of an index and those that
// advance with the loop variable, but that takes a third of the compile time of a kernel. Here both are known.

#include "codegen/translator.h"

namespace lucid::codegen {

using loop::Code;

// Each term of a sum becomes one GEP, so that loop-invariant terms are added outside of the loop, and the last GEP can
// be folded into the addressing mode of an instruction.
llvm::Value* Translator::element_address(uint32_t buffer, loop::Id index) {
  const Instruction& sum = kernel_.instructions[index];
  llvm::Type* type = memory_type(kernel_.buffers[buffer].dtype);
  if (sum.code != Code::kAdd) return builder_.CreateGEP(type, buffers_[buffer], values_[index]);
  if (!induction_loops_.empty())
    if (Value* induction = induction_address(induction_loops_.back(), buffer, index)) return induction;
  return builder_.CreateGEP(type, element_address(buffer, sum.operands[0]), values_[sum.operands[1]]);
}

llvm::Value* Translator::induction_address(InductionLoop& loop, uint32_t buffer, loop::Id index) {
  const loop::Id fixed = kernel_.instructions[index].operands[0];
  const loop::Id moving = kernel_.instructions[index].operands[1];
  if (!loop.outside[fixed]) return nullptr;
  const auto known = loop.addresses.find({buffer, index});
  if (known != loop.addresses.end()) return known->second.now;
  Value* factor = builder_.getInt64(1);
  if (moving != loop.counter) {
    const Instruction& multiple = kernel_.instructions[moving];
    const bool moves = multiple.code == Code::kMul && multiple.operands[0] == loop.counter;
    if (!moves || !loop.outside[multiple.operands[1]]) return nullptr;
    factor = values_[multiple.operands[1]];
  }
  const Dtype dtype = kernel_.buffers[buffer].dtype;
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(loop.before->getTerminator());
  Value* start =
      builder_.CreateGEP(memory_type(dtype), element_address(buffer, fixed), builder_.CreateMul(loop.low, factor));
  const auto bytes = static_cast<int64_t>(size_of(dtype));
  Value* step = builder_.CreateMul(factor, builder_.getInt64(loop.step * bytes));
  builder_.SetInsertPoint(loop.head, loop.head->begin());
  llvm::PHINode* now = builder_.CreatePHI(builder_.getPtrTy(), 2);
  now->addIncoming(start, loop.before);
  loop.addresses[{buffer, index}] = {now, step};
  return now;
}

void Translator::advance_addresses(const InductionLoop& loop, llvm::BasicBlock* last) {
  for (const auto& [key, address] : loop.addresses)
    address.now->addIncoming(builder_.CreateGEP(builder_.getInt8Ty(), address.now, address.step), last);
}

}  // namespace lucid::codegen
