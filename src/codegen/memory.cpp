#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Metadata.h>

#include <bit>

#include "codegen/translator.h"

namespace lucid::codegen {

using loop::kLanes;

namespace {

constexpr int kLargestElement = 8;
/// The mask for the instructions that scatter bits to even positions (pdep) and gather them from there (pext).
constexpr uint32_t kEvenBits = 0x55555555;

llvm::Align alignment_of(Dtype dtype) { return llvm::Align(size_of(dtype)); }

}  // namespace

llvm::Value* Translator::element_pointer(const Instruction& current, Value* index) {
  return builder_.CreateGEP(memory_type(kernel_.buffers[current.buffer].dtype), buffers_[current.buffer], index);
}

llvm::Value* Translator::to_register(Value* memory, Dtype element) {
  return is_bool(element) ? builder_.CreateICmpNE(memory, llvm::Constant::getNullValue(memory->getType())) : memory;
}

llvm::Value* Translator::to_memory(Value* value, Dtype element) {
  return is_bool(element) ? builder_.CreateZExt(value, with_element(value->getType(), builder_.getInt8Ty())) : value;
}

bool Translator::has_masked_access(Dtype element) const {
  return target_ == CpuLevel::kAvx512 || (target_ == CpuLevel::kAvx2 && size_of(element) >= 4);
}

bool Translator::has_gather(Dtype element) const { return target_ == CpuLevel::kAvx512 && size_of(element) >= 4; }

llvm::Value* Translator::frame_slot(const char* name, int bytes, bool zeroed) {
  for (const auto& [known, slot] : frame_slots_) {
    if (known == name) return slot;
  }
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  llvm::BasicBlock& entry = function_->getEntryBlock();
  builder_.SetInsertPoint(&entry, entry.begin());
  auto* slot = builder_.CreateAlloca(llvm::ArrayType::get(builder_.getInt8Ty(), bytes), nullptr, name);
  slot->setAlignment(llvm::Align(bytes < kLanes ? bytes : kLanes));
  if (zeroed) builder_.CreateStore(llvm::Constant::getNullValue(builder_.getIntNTy(8 * bytes)), slot);
  frame_slots_.emplace_back(name, slot);
  return slot;
}

llvm::Value* Translator::load(const Instruction& current) {
  const Dtype element = current.type.element;
  Value* pointer = element_address(current.buffer, current.operands[0]);
  llvm::Type* type = current.type.vector ? vector_of(memory_type(element)) : memory_type(element);
  if (current.masked) return to_register(masked_load(type, pointer, operand(current, 1), element), element);
  auto* load = builder_.CreateAlignedLoad(type, pointer, alignment_of(element));
  if (kernel_.buffers[current.buffer].kind == loop::Buffer::Kind::kTable) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_->getContext(), {}));
  }
  return to_register(load, element);
}

void Translator::store(const Instruction& current) {
  const loop::Type type = operand_type(current, 1);
  Value* pointer = element_address(current.buffer, current.operands[0]);
  Value* value = to_memory(operand(current, 1), type.element);
  if (current.masked) return masked_store(value, pointer, operand(current, 2), type.element);
  builder_.CreateAlignedStore(value, pointer, alignment_of(type.element));
}

// If the target has no masked access, LLVM would emit sixteen branches, one per lane. Instead, masked_load and
// masked_store use a plain access if all lanes are active, as in all but the last iteration of a loop, and otherwise
// this loop over the active lanes.
template <typename Body>
void Translator::for_each_set_lane(Value* bits, const Body& body) {
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  llvm::BasicBlock* head = new_block("lane");
  llvm::BasicBlock* after = new_block("lanes_done");
  builder_.CreateCondBr(builder_.CreateICmpEQ(bits, builder_.getInt32(0)), after, head);
  builder_.SetInsertPoint(head);
  llvm::PHINode* left = builder_.CreatePHI(bits->getType(), 2);
  left->addIncoming(bits, before);
  Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder_.getTrue());
  body(builder_.CreateZExt(lane, builder_.getInt64Ty()));
  Value* next = builder_.CreateAnd(left, builder_.CreateSub(left, builder_.getInt32(1)));
  left->addIncoming(next, builder_.GetInsertBlock());
  builder_.CreateCondBr(builder_.CreateICmpEQ(next, builder_.getInt32(0)), after, head);
  builder_.SetInsertPoint(after);
}

llvm::Value* Translator::masked_load(llvm::Type* type, Value* pointer, Value* mask, Dtype element) {
  llvm::Constant* zero = llvm::Constant::getNullValue(type);
  if (has_masked_access(element)) {
    return builder_.CreateMaskedLoad(type, pointer, alignment_of(element), mask, zero);
  }
  llvm::BasicBlock* whole = new_block("load_whole");
  llvm::BasicBlock* partial = new_block("load_partial");
  llvm::BasicBlock* join = new_block("loaded");
  Value* bits = builder_.CreateZExt(builder_.CreateBitCast(mask, builder_.getInt16Ty()), builder_.getInt32Ty());
  builder_.CreateCondBr(builder_.CreateICmpEQ(bits, builder_.getInt32(0xffff)), whole, partial);

  builder_.SetInsertPoint(whole);
  Value* all = builder_.CreateAlignedLoad(type, pointer, alignment_of(element));
  builder_.CreateBr(join);

  builder_.SetInsertPoint(partial);
  Value* slot = frame_slot("lanes", kLanes * kLargestElement, /*zeroed=*/false);
  builder_.CreateAlignedStore(zero, slot, alignment_of(element));
  llvm::Type* scalar = memory_type(element);
  for_each_set_lane(bits, [&](Value* lane) {
    Value* value = builder_.CreateAlignedLoad(scalar, builder_.CreateGEP(scalar, pointer, lane), alignment_of(element));
    builder_.CreateAlignedStore(value, builder_.CreateGEP(scalar, slot, lane), alignment_of(element));
  });
  Value* some = builder_.CreateAlignedLoad(type, slot, alignment_of(element));
  llvm::BasicBlock* partial_end = builder_.GetInsertBlock();
  builder_.CreateBr(join);

  builder_.SetInsertPoint(join);
  llvm::PHINode* result = builder_.CreatePHI(type, 2);
  result->addIncoming(all, whole);
  result->addIncoming(some, partial_end);
  return result;
}

void Translator::masked_store(Value* value, Value* pointer, Value* mask, Dtype element) {
  if (has_masked_access(element)) {
    builder_.CreateMaskedStore(value, pointer, alignment_of(element), mask);
    return;
  }
  llvm::BasicBlock* whole = new_block("store_whole");
  llvm::BasicBlock* partial = new_block("store_partial");
  llvm::BasicBlock* join = new_block("stored");
  Value* bits = builder_.CreateZExt(builder_.CreateBitCast(mask, builder_.getInt16Ty()), builder_.getInt32Ty());
  builder_.CreateCondBr(builder_.CreateICmpEQ(bits, builder_.getInt32(0xffff)), whole, partial);

  builder_.SetInsertPoint(whole);
  builder_.CreateAlignedStore(value, pointer, alignment_of(element));
  builder_.CreateBr(join);

  builder_.SetInsertPoint(partial);
  Value* slot = frame_slot("lanes", kLanes * kLargestElement, /*zeroed=*/false);
  builder_.CreateAlignedStore(value, slot, alignment_of(element));
  llvm::Type* scalar = memory_type(element);
  for_each_set_lane(bits, [&](Value* lane) {
    Value* moved = builder_.CreateAlignedLoad(scalar, builder_.CreateGEP(scalar, slot, lane), alignment_of(element));
    builder_.CreateAlignedStore(moved, builder_.CreateGEP(scalar, pointer, lane), alignment_of(element));
  });
  builder_.CreateBr(join);
  builder_.SetInsertPoint(join);
}

llvm::Value* Translator::lane_pointers(const Instruction& current) {
  return element_pointer(current, operand(current, 0));
}

llvm::Value* Translator::permute_table(const Instruction& current) {
  const loop::Buffer& buffer = kernel_.buffers[current.buffer];
  if (buffer.kind != loop::Buffer::Kind::kTable || buffer.dtype != Dtype::kF32 || current.masked) return nullptr;
  if (buffer.table.size() != kLanes || target_ == CpuLevel::kScalar) return nullptr;
  llvm::Type* scalar = builder_.getFloatTy();
  const auto part = [&](size_t first, size_t count) {
    std::vector<llvm::Constant*> elements;
    for (size_t i = first; i < first + count; ++i)
      elements.push_back(llvm::ConstantFP::get(scalar, std::bit_cast<float>(static_cast<uint32_t>(buffer.table[i]))));
    return llvm::ConstantVector::get(elements);
  };
  Value* index = builder_.CreateTrunc(operand(current, 0), vector_of(builder_.getInt32Ty()));
  if (target_ == CpuLevel::kAvx512)
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_sf_512, {}, {part(0, kLanes), index});
  // AVX2 registers hold eight floats: look up both halves of the lanes in both halves of the table.
  constexpr int kHalf = kLanes / 2;
  const auto look_up = [&](int first_lane) {
    llvm::SmallVector<int> lanes;
    for (int lane = first_lane; lane < first_lane + kHalf; ++lane) lanes.push_back(lane);
    Value* half_index = builder_.CreateShuffleVector(index, lanes);
    const auto permuted = [&](size_t first) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permps, {}, {part(first, kHalf), half_index});
    };
    Value* upper = builder_.CreateICmpSGT(half_index, llvm::ConstantInt::get(half_index->getType(), kHalf - 1));
    return builder_.CreateSelect(upper, permuted(kHalf), permuted(0));
  };
  llvm::SmallVector<int> all;
  for (int lane = 0; lane < kLanes; ++lane) all.push_back(lane);
  return builder_.CreateShuffleVector(look_up(0), look_up(kHalf), all);
}

template <typename Index>
llvm::Value* Translator::load_lanes(const Instruction& current, Value* mask, const Index& index) {
  const Dtype element = current.type.element;
  llvm::Type* scalar = memory_type(element);
  // Inactive lanes load from a zero on the stack, without a branch.
  Value* zero = mask ? frame_slot("zero", kLargestElement, /*zeroed=*/true) : nullptr;
  Value* result = llvm::PoisonValue::get(vector_of(scalar));
  for (int lane = 0; lane < kLanes; ++lane) {
    Value* pointer = element_pointer(current, index(lane));
    if (mask) pointer = builder_.CreateSelect(builder_.CreateExtractElement(mask, lane), pointer, zero);
    Value* value = builder_.CreateAlignedLoad(scalar, pointer, alignment_of(element));
    result = builder_.CreateInsertElement(result, value, lane);
  }
  return to_register(result, element);
}

llvm::Value* Translator::mask_of_alternate(Value* mask, bool second_half) {
  if (target_ == CpuLevel::kAvx512) {
    Value* bits = builder_.CreateZExt(builder_.CreateBitCast(mask, builder_.getInt16Ty()), builder_.getInt32Ty());
    Value* spread =
        builder_.CreateIntrinsic(llvm::Intrinsic::x86_bmi_pdep_32, {}, {bits, builder_.getInt32(kEvenBits)});
    if (second_half) spread = builder_.CreateLShr(spread, kLanes - 1);
    return builder_.CreateBitCast(builder_.CreateTrunc(spread, builder_.getInt16Ty()), mask->getType());
  }
  int lanes[kLanes];
  for (int position = 0; position < kLanes; ++position) {
    const int twice = position + (second_half ? kLanes - 1 : 0);
    lanes[position] = twice % 2 == 0 ? twice / 2 : kLanes;
  }
  return builder_.CreateShuffleVector(mask, llvm::Constant::getNullValue(mask->getType()), lanes);
}

llvm::Value* Translator::mask_of_twice(Value* mask) {
  if (target_ == CpuLevel::kAvx512) {
    Value* bits = builder_.CreateZExt(builder_.CreateBitCast(mask, builder_.getInt16Ty()), builder_.getInt32Ty());
    Value* pairs = builder_.CreateOr(bits, builder_.CreateLShr(bits, 1));
    Value* packed =
        builder_.CreateIntrinsic(llvm::Intrinsic::x86_bmi_pext_32, {}, {pairs, builder_.getInt32(kEvenBits)});
    return builder_.CreateBitCast(builder_.CreateTrunc(packed, builder_.getInt8Ty()),
                                  llvm::FixedVectorType::get(builder_.getInt1Ty(), kLanes / 2));
  }
  int even[kLanes / 2], odd[kLanes / 2];
  for (int position = 0; position < kLanes / 2; ++position) {
    even[position] = 2 * position;
    odd[position] = 2 * position + 1;
  }
  return builder_.CreateOr(builder_.CreateShuffleVector(mask, even), builder_.CreateShuffleVector(mask, odd));
}

// Contiguous loads and a shuffle. The loads start at the element of the first lane and end at the element of the last
// lane, so no memory beyond these is accessed.
llvm::Value* Translator::load_shuffled(const Instruction& current) {
  const Dtype element = current.type.element;
  const bool twice = current.code == loop::Code::kLoadTwice;
  Value* mask = current.masked ? operand(current, 1) : nullptr;
  if (mask && !has_masked_access(element)) {
    return load_lanes(current, mask, [&](int lane) {
      return builder_.CreateAdd(operand(current, 0), builder_.getInt64(twice ? lane / 2 : 2 * lane));
    });
  }
  llvm::Type* scalar = memory_type(element);
  Value* pointer = element_address(current.buffer, current.operands[0]);
  const auto part = [&](int first, int count, Value* touched) -> Value* {
    Value* start = builder_.CreateConstGEP1_64(scalar, pointer, first);
    auto* type = llvm::FixedVectorType::get(scalar, count);
    if (!touched) return builder_.CreateAlignedLoad(type, start, alignment_of(element));
    return builder_.CreateMaskedLoad(type, start, alignment_of(element), touched, llvm::Constant::getNullValue(type));
  };
  int lanes[kLanes];
  if (twice) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = lane / 2;
    Value* half = part(0, kLanes / 2, mask ? mask_of_twice(mask) : nullptr);
    Value* value = builder_.CreateShuffleVector(half, lanes);
    if (mask) value = builder_.CreateSelect(mask, value, llvm::Constant::getNullValue(value->getType()));
    return to_register(value, element);
  }
  // The second part starts one element early so that it does not end one too late; its odd elements are used.
  for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = lane < kLanes / 2 ? 2 * lane : 2 * lane + 1;
  Value* first = part(0, kLanes, mask ? mask_of_alternate(mask, false) : nullptr);
  Value* second = part(kLanes - 1, kLanes, mask ? mask_of_alternate(mask, true) : nullptr);
  return to_register(builder_.CreateShuffleVector(first, second, lanes), element);
}

llvm::Value* Translator::gather(const Instruction& current) {
  if (Value* found = permute_table(current)) return found;
  const Dtype element = current.type.element;
  llvm::Type* type = vector_of(memory_type(element));
  Value* mask = current.masked ? operand(current, 1) : nullptr;
  if (has_gather(element)) {
    Value* zero = llvm::Constant::getNullValue(type);
    Value* pointers = lane_pointers(current);
    return to_register(builder_.CreateMaskedGather(type, pointers, alignment_of(element), mask, zero), element);
  }
  return load_lanes(current, mask, [&](int lane) { return builder_.CreateExtractElement(operand(current, 0), lane); });
}

void Translator::scatter(const Instruction& current) {
  const Dtype element = operand_type(current, 1).element;
  Value* value = to_memory(operand(current, 1), element);
  Value* mask = current.masked ? operand(current, 2) : nullptr;
  if (has_gather(element)) {
    builder_.CreateMaskedScatter(value, lane_pointers(current), alignment_of(element), mask);
    return;
  }
  // Inactive lanes store to a stack slot that is never read.
  Value* sink = mask ? frame_slot("sink", kLargestElement, /*zeroed=*/false) : nullptr;
  for (int lane = 0; lane < kLanes; ++lane) {
    Value* pointer = element_pointer(current, builder_.CreateExtractElement(operand(current, 0), lane));
    if (mask) pointer = builder_.CreateSelect(builder_.CreateExtractElement(mask, lane), pointer, sink);
    builder_.CreateAlignedStore(builder_.CreateExtractElement(value, lane), pointer, alignment_of(element));
  }
}

void Translator::prefetch(const Instruction& current) {
  Value* pointer = element_address(current.buffer, current.operands[0]);
  // For reading, into all cache levels, as data.
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                           {pointer, builder_.getInt32(0), builder_.getInt32(3), builder_.getInt32(1)});
}

}  // namespace lucid::codegen
