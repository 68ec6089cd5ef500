// Where elements lie. LLVM could find out by itself which parts of an index do not change in a loop and which move with
// its counter, but that takes a third of the time to compile a kernel; here it is known.

#include "codegen/translator.h"

namespace lucid::codegen {

using loop::Code;

// Sums become steps from address to address, so that what does not change in a loop is added outside, and the last step
// may be part of an instruction.
llvm::Value* Translator::element_address(uint32_t buffer, loop::Id index) {
  const Instruction& sum = kernel_.instructions[index];
  llvm::Type* type = memory_type(kernel_.buffers[buffer].dtype);
  if (sum.code != Code::kAdd) return builder_.CreateGEP(type, buffers_[buffer], values_[index]);
  if (!walking_loops_.empty())
    if (Value* walking = walking_address(walking_loops_.back(), buffer, index)) return walking;
  return builder_.CreateGEP(type, element_address(buffer, sum.operands[0]), values_[sum.operands[1]]);
}

llvm::Value* Translator::walking_address(WalkingLoop& loop, uint32_t buffer, loop::Id index) {
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

void Translator::walk(const WalkingLoop& loop, llvm::BasicBlock* last) {
  for (const auto& [place, address] : loop.addresses)
    address.now->addIncoming(builder_.CreateGEP(builder_.getInt8Ty(), address.now, address.step), last);
}

}  // namespace lucid::codegen
